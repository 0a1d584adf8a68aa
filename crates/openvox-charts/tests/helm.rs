//! The charts, as Helm renders them.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::{collections::BTreeMap, fs, process::Command, sync::LazyLock};

use mainstay_control_plane::tools::{Tool, Tools};
use mainstay_openvox_charts::{Operator, operator, postgres, stack};
use mainstay_package::{File, Image};
use mainstay_yaml::{Limits, SourceName, parse_documents};
use serde_json::{Value, json};
use tempfile::TempDir;

static TOOLS: LazyLock<Tools> =
    LazyLock::new(|| Tools::find_or_build(&|_| {}).expect("the tools can be built"));

/// Objects by kind and name.
type Objects = BTreeMap<(String, String), Value>;

fn rules() -> Vec<Value> {
    vec![json!({"apiGroups": [""], "resources": ["secrets"], "verbs": ["get", "list"]})]
}

fn operator_files() -> Vec<File> {
    let image = Image::tagged("registry.test/openvox", "1.2.3");
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "pools.openvox.voxpupuli.org"},
    });
    operator(&Operator {
        definitions: vec![("pools.yaml".to_owned(), definition)],
        rules: &rules(),
        validated: &[("pools", "pool"), ("servers", "server")],
        image: &image,
        version: "1.2.3",
    })
}

struct Charts(TempDir);

impl Charts {
    fn new() -> Self {
        let directory = TempDir::new().unwrap();
        let all = [operator_files(), stack("1.2.3"), postgres("1.2.3")];
        for file in all.iter().flatten() {
            let path = directory.path().join(&file.path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(
                path,
                file.print(|documents| mainstay_yaml::print_documents(documents)),
            )
            .unwrap();
        }
        Self(directory)
    }

    fn helm(&self, arguments: &[&str]) -> Result<String, String> {
        let ended = Command::new(TOOLS.path(Tool::Helm))
            .args(arguments)
            .env("HOME", self.0.path())
            .current_dir(self.0.path())
            .output()
            .unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        if ended.status.success() {
            Ok(text(&ended.stdout))
        } else {
            Err(text(&ended.stderr))
        }
    }

    /// What a release `r` in the namespace `home` consists of.
    fn release(&self, chart: &str, values: &Value) -> Result<Objects, String> {
        let file = self.0.path().join("values.json");
        fs::write(&file, values.to_string()).unwrap();
        let file = file.display().to_string();
        let printed = self.helm(&[
            "template",
            "r",
            chart,
            "--namespace",
            "home",
            "--values",
            &file,
        ])?;
        let documents = parse_documents(&printed, &SourceName::new("release"), &Limits::default());
        let documents = documents.unwrap();
        let count = documents.len();
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let named = documents.into_iter().map(|document| {
            let value = document.value;
            let key = (text(&value["kind"]), text(&value["metadata"]["name"]));
            (key, value)
        });
        let objects: Objects = named.collect();
        assert_eq!(objects.len(), count, "each is there once: {printed}");
        Ok(objects)
    }
}

fn object<'a>(objects: &'a Objects, kind: &str, name: &str) -> &'a Value {
    let found = objects.get(&(kind.to_owned(), name.to_owned()));
    assert!(found.is_some(), "{kind} {name} among {:?}", objects.keys());
    found.unwrap()
}

fn names(objects: &Objects) -> Vec<String> {
    let keys = objects.keys();
    keys.map(|(kind, name)| format!("{kind} {name}")).collect()
}

#[test]
fn helm_finds_nothing_wrong_with_the_charts() {
    let charts = Charts::new();
    for chart in ["openvox-operator", "openvox-stack", "openvox-db-postgres"] {
        let said = charts.helm(&["lint", chart, "--strict"]).unwrap();
        assert!(
            said.contains("1 chart(s) linted, 0 chart(s) failed"),
            "{said}"
        );
        for word in ["[WARNING]", "[ERROR]"] {
            assert!(!said.contains(word), "{said}");
        }
    }
}

#[test]
fn the_operator_runs_with_the_rights_and_limits_that_it_needs() {
    let release = Charts::new()
        .release("openvox-operator", &json!({}))
        .unwrap();
    let name = "r-openvox-operator";
    assert_eq!(
        names(&release),
        [
            "ClusterRole",
            "ClusterRoleBinding",
            "Deployment",
            "ServiceAccount"
        ]
        .map(|kind| format!("{kind} {name}"))
    );
    let selector =
        json!({"app.kubernetes.io/name": "openvox-operator", "app.kubernetes.io/instance": "r"});
    assert_eq!(
        object(&release, "Deployment", name)["spec"],
        json!({
            "replicas": 1,
            "selector": {"matchLabels": selector},
            "template": {
                "metadata": {"labels": selector},
                "spec": {
                    "serviceAccountName": name,
                    "securityContext": {"runAsNonRoot": true, "seccompProfile": {"type": "RuntimeDefault"}},
                    "terminationGracePeriodSeconds": 10,
                    "containers": [{
                        "name": "manager",
                        "image": "registry.test/openvox:1.2.3",
                        "imagePullPolicy": "Always",
                        "args": ["--leader-elect"],
                        "ports": [{"name": "health", "containerPort": 8081, "protocol": "TCP"}],
                        "livenessProbe": {
                            "httpGet": {"path": "/healthz", "port": "health"},
                            "initialDelaySeconds": 15, "periodSeconds": 20,
                        },
                        "readinessProbe": {
                            "httpGet": {"path": "/readyz", "port": "health"},
                            "initialDelaySeconds": 5, "periodSeconds": 10,
                        },
                        "resources": {
                            "limits": {"cpu": "500m", "memory": "256Mi"},
                            "requests": {"cpu": "10m", "memory": "128Mi"},
                        },
                        "securityContext": {
                            "allowPrivilegeEscalation": false, "readOnlyRootFilesystem": true,
                            "capabilities": {"drop": ["ALL"]},
                        },
                    }],
                },
            },
        })
    );
    let role = object(&release, "ClusterRole", name);
    assert_eq!(role["rules"], json!(rules()));
    assert_eq!(
        role["metadata"]["labels"],
        json!({
            "helm.sh/chart": "openvox-operator-1.2.3", "app.kubernetes.io/name": "openvox-operator",
            "app.kubernetes.io/instance": "r", "app.kubernetes.io/version": "1.2.3",
            "app.kubernetes.io/managed-by": "Helm",
        })
    );
}

#[test]
fn in_one_namespace_the_operator_has_rights_there_alone() {
    let charts = Charts::new();
    for (namespace, expected) in [("", "home"), ("other", "other")] {
        let values = json!({
            "scope": {"mode": "namespace", "watchNamespace": namespace}, "leaderElect": false,
            "gatewayAPI": {"enabled": false}, "fullnameOverride": "ov", "image": {"digest": "sha256:1"},
            "serviceAccount": {"create": false},
        });
        let release = charts.release("openvox-operator", &values).unwrap();
        assert_eq!(
            names(&release),
            ["Deployment ov", "Role ov", "RoleBinding ov"]
        );
        let role = object(&release, "Role", "ov");
        assert_eq!(role["metadata"]["namespace"], expected);
        let binding = object(&release, "RoleBinding", "ov");
        assert_eq!(binding["metadata"]["namespace"], expected);
        assert_eq!(binding["roleRef"]["kind"], "Role");
        assert_eq!(
            binding["subjects"],
            json!([{"kind": "ServiceAccount", "name": "default", "namespace": "home"}])
        );
        let container =
            &object(&release, "Deployment", "ov")["spec"]["template"]["spec"]["containers"][0];
        assert_eq!(
            container["args"],
            json!([
                format!("--watch-namespace={expected}"),
                "--enable-gateway-api=false"
            ])
        );
        assert_eq!(container["image"], "registry.test/openvox@sha256:1");
    }
    let refused = charts.release("openvox-operator", &json!({"scope": {"mode": "some"}}));
    assert!(
        refused
            .unwrap_err()
            .contains("scope.mode is `cluster` or `namespace`, not `some`")
    );
}

#[test]
fn webhooks_come_with_a_certificate_of_cert_manager_or_of_the_user() {
    let charts = Charts::new();
    let on = json!({"fullnameOverride": "ov", "webhook": {"enabled": true}});
    let release = charts.release("openvox-operator", &on).unwrap();
    assert_eq!(
        names(&release),
        [
            "Certificate ov-ca",
            "Certificate ov-webhook",
            "ClusterRole ov",
            "ClusterRoleBinding ov",
            "Deployment ov",
            "Issuer ov-ca-issuer",
            "Issuer ov-selfsigned",
            "Service ov-webhook",
            "ServiceAccount ov",
            "ValidatingWebhookConfiguration ov",
        ]
    );
    let configuration = object(&release, "ValidatingWebhookConfiguration", "ov");
    assert_eq!(
        configuration["metadata"]["annotations"],
        json!({"cert-manager.io/inject-ca-from": "home/ov-webhook"})
    );
    assert_eq!(
        configuration["webhooks"][0],
        json!({
            "name": "vpool.kb.io", "admissionReviewVersions": ["v1"], "failurePolicy": "Fail", "sideEffects": "None",
            "clientConfig": {"service": {
                "name": "ov-webhook", "namespace": "home",
                "path": "/validate-openvox-voxpupuli-org-v1alpha1-pool",
            }},
            "rules": [{
                "apiGroups": ["openvox.voxpupuli.org"], "apiVersions": ["v1alpha1"],
                "operations": ["CREATE", "UPDATE"], "resources": ["pools"],
            }],
        })
    );
    let certificate = &object(&release, "Certificate", "ov-webhook")["spec"];
    assert_eq!(certificate["secretName"], "ov-webhook-cert");
    assert_eq!(
        certificate["dnsNames"],
        json!([
            "ov-webhook",
            "ov-webhook.home",
            "ov-webhook.home.svc",
            "ov-webhook.home.svc.cluster.local"
        ])
    );
    assert_eq!(certificate["duration"], "8760h");
    let pod =
        |release: &Objects| object(release, "Deployment", "ov")["spec"]["template"]["spec"].clone();
    assert_eq!(
        pod(&release)["containers"][0]["args"],
        json!(["--leader-elect", "--enable-webhooks"])
    );
    assert_eq!(
        pod(&release)["volumes"][0]["secret"]["secretName"],
        "ov-webhook-cert"
    );

    let own = json!({"fullnameOverride": "ov", "webhook": {
        "enabled": true, "certManager": {"enabled": false}, "tls": {"certSecret": "mine", "caBundle": "QUJD"},
    }});
    let release = charts.release("openvox-operator", &own).unwrap();
    assert_eq!(pod(&release)["volumes"][0]["secret"]["secretName"], "mine");
    let configuration = object(&release, "ValidatingWebhookConfiguration", "ov");
    assert_eq!(
        configuration["webhooks"][1]["clientConfig"]["caBundle"],
        "QUJD"
    );
    assert_eq!(configuration["metadata"].get("annotations"), None);
    assert!(
        !names(&release)
            .iter()
            .any(|name| name.starts_with("Certificate"))
    );
}

#[test]
fn a_stack_without_values_is_an_authority_and_two_kinds_of_servers() {
    let release = Charts::new().release("openvox-stack", &json!({})).unwrap();
    assert_eq!(
        names(&release),
        [
            "Certificate r-ca",
            "Certificate r-server",
            "CertificateAuthority r-ca",
            "Config r",
            "Pool r-ca",
            "Pool r-server",
            "Server r-ca",
            "Server r-server",
        ]
    );
    let spec = |kind: &str, name: &str| object(&release, kind, name)["spec"].clone();
    assert_eq!(
        spec("Config", "r"),
        json!({
            "authorityRef": "r-ca",
            "image": {"repository": "ghcr.io/slauger/openvox-server", "tag": "latest", "pullPolicy": "Always"},
            "puppet": {"storeconfigs": false, "reports": "store"},
            "readOnlyRootFilesystem": false,
        })
    );
    assert_eq!(
        spec("CertificateAuthority", "r-ca"),
        json!({"ttl": "5y", "storage": {"size": "1Gi"}})
    );
    let resources =
        json!({"limits": {"memory": "2Gi"}, "requests": {"cpu": "500m", "memory": "1Gi"}});
    assert_eq!(
        spec("Server", "r-ca"),
        json!({
            "configRef": "r", "certificateRef": "r-ca", "poolRefs": ["r-ca", "r-server"], "ca": true, "server": true,
            "replicas": 1, "resources": resources,
        })
    );
    assert_eq!(
        spec("Server", "r-server"),
        json!({
            "configRef": "r", "certificateRef": "r-server", "poolRefs": ["r-server"], "ca": false, "server": true,
            "replicas": 2, "resources": resources,
        })
    );
    assert_eq!(
        spec("Certificate", "r-ca"),
        json!({"authorityRef": "r-ca", "certname": "puppet", "dnsAltNames": ["r-ca", "puppet"]})
    );
    assert_eq!(
        spec("Certificate", "r-server"),
        json!({"authorityRef": "r-ca", "certname": "server", "dnsAltNames": ["r-server", "puppet"]})
    );
    assert_eq!(
        spec("Pool", "r-ca"),
        json!({"service": {"type": "ClusterIP", "port": 8140}})
    );
    assert_eq!(
        object(&release, "Pool", "r-ca")["metadata"]["namespace"],
        "home"
    );
}

#[test]
fn everything_in_a_stack_can_be_named_and_added_to() {
    let values = json!({
        "fullnameOverride": "big",
        "config": {
            "name": "conf", "code": {"image": "registry.test/code:1", "imagePullSecret": "pull"},
            "puppet": {"environmentTimeout": "unlimited", "extraConfig": {"main": {"certname": "puppet"}}},
            "puppetserver": {"maxRequestsPerInstance": 1000}, "logging": {"level": "DEBUG"},
        },
        "ca": {"name": "root", "allowAutoRenewal": false, "crlRefreshInterval": "1m", "external": {"url": "https://ca"}},
        "signingPolicies": [{"any": true}, {"name": "named", "pattern": {"allow": ["*.x"]}}],
        "reportProcessors": [{"url": "https://a"}],
        "nodeClassifier": {"enabled": true, "url": "https://enc", "cache": {"enabled": true}},
        "database": {
            "enabled": true, "name": "db", "certificate": {"certname": "db.x", "dnsAltNames": ["db"]},
            "postgres": {"host": "pg-rw", "credentialsSecretRef": "pg-app"},
        },
        "servers": [{"name": "one", "poolRefs": ["p"], "pdb": {"enabled": true},
            "certificate": {"name": "cert", "certname": "c", "dnsAltNames": ["puppet", "extra"], "renewBefore": "30d"}}],
        "pools": [{"name": "p", "fullName": "pool", "route": {"enabled": true, "hostname": "p.x"}}],
        "gateway": {"name": "gate", "sectionName": "tls"},
    });
    let release = Charts::new().release("openvox-stack", &values).unwrap();
    assert_eq!(
        names(&release),
        [
            "Certificate cert",
            "Certificate db",
            "CertificateAuthority root",
            "Config conf",
            "Database db",
            "NodeClassifier big-enc",
            "Pool pool",
            "ReportProcessor big-report-processor-0",
            "Server big-one",
            "SigningPolicy big-signing-policy-0",
            "SigningPolicy named",
        ]
    );
    let spec = |kind: &str, name: &str| object(&release, kind, name)["spec"].clone();
    assert_eq!(
        spec("Config", "conf"),
        json!({
            "authorityRef": "root", "databaseRef": "db", "nodeClassifierRef": "big-enc", "readOnlyRootFilesystem": false,
            "image": {"repository": "ghcr.io/slauger/openvox-server", "tag": "latest", "pullPolicy": "Always"},
            "puppet": {
                "storeconfigs": true, "reports": "store", "environmentTimeout": "unlimited",
                "extraConfig": {"main": {"certname": "puppet"}},
            },
            "puppetserver": {"maxRequestsPerInstance": 1000}, "logging": {"level": "DEBUG"},
            "code": {"image": "registry.test/code:1", "imagePullSecret": "pull", "imagePullPolicy": "IfNotPresent"},
        })
    );
    assert_eq!(
        spec("CertificateAuthority", "root"),
        json!({
            "ttl": "5y", "storage": {"size": "1Gi"}, "allowAutoRenewal": false, "crlRefreshInterval": "1m",
            "external": {"url": "https://ca"},
        })
    );
    assert_eq!(
        spec("Certificate", "cert"),
        json!({
            "authorityRef": "root", "certname": "c", "dnsAltNames": ["big-one", "puppet", "extra"], "renewBefore": "30d",
        })
    );
    assert_eq!(
        spec("Server", "big-one"),
        json!({"configRef": "conf", "certificateRef": "cert", "poolRefs": ["big-p"], "pdb": {"enabled": true}})
    );
    assert_eq!(
        spec("Pool", "pool"),
        json!({"service": {}, "route": {"enabled": true, "hostname": "p.x", "gatewayRef": {"name": "gate", "sectionName": "tls"}}})
    );
    assert_eq!(
        spec("SigningPolicy", "named"),
        json!({"certificateAuthorityRef": "root", "pattern": {"allow": ["*.x"]}})
    );
    assert_eq!(
        spec("ReportProcessor", "big-report-processor-0"),
        json!({"configRef": "conf", "url": "https://a"})
    );
    assert_eq!(
        spec("NodeClassifier", "big-enc"),
        json!({"url": "https://enc", "request": {}, "response": {}, "timeoutSeconds": 10, "cache": {"enabled": true}})
    );
    assert_eq!(
        spec("Certificate", "db"),
        json!({"authorityRef": "root", "certname": "db.x", "dnsAltNames": ["db"]})
    );
    assert_eq!(
        spec("Database", "db"),
        json!({
            "certificateRef": "db", "replicas": 1,
            "image": {"repository": "ghcr.io/slauger/openvox-db", "tag": "latest", "pullPolicy": "Always"},
            "postgres": {"host": "pg-rw", "credentialsSecretRef": "pg-app", "sslMode": "require"},
            "resources": {"limits": {"memory": "1Gi"}, "requests": {"cpu": "250m", "memory": "512Mi"}},
        })
    );
}

#[test]
fn entries_may_stand_in_a_mapping_and_an_outside_database_wins() {
    let values = json!({
        "servers": {"web": {"certificate": {"certname": "w"}}}, "pools": {},
        "config": {"puppetdb": {"serverUrls": ["https://db:8081"]}},
        "database": {
            "enabled": true, "name": "db", "certificate": {"certname": "db"},
            "postgres": {"host": "h", "credentialsSecretRef": "s"},
        },
    });
    let release = Charts::new().release("openvox-stack", &values).unwrap();
    let config = &object(&release, "Config", "r")["spec"];
    assert_eq!(
        config["puppetdb"],
        json!({"serverUrls": ["https://db:8081"]})
    );
    assert_eq!(config.get("databaseRef"), None);
    assert_eq!(
        object(&release, "Server", "r-web")["spec"]["certificateRef"],
        "r-web"
    );
}

#[test]
fn what_is_required_is_asked_for_by_name() {
    let charts = Charts::new();
    let mut database = json!({"enabled": true});
    for (path, field) in [
        ("/name", "database.name"),
        ("/certificate", "database.certificate.certname"),
        ("/postgres", "database.postgres.host"),
        ("/postgres", "database.postgres.credentialsSecretRef"),
    ] {
        let refused = charts.release("openvox-stack", &json!({"database": database}));
        let refused = refused.unwrap_err();
        let reason = format!("{field} is required when database.enabled is true");
        assert!(refused.contains(&reason), "{refused}");
        match (path, field.rsplit('.').next().unwrap()) {
            ("/name", _) => database["name"] = json!("db"),
            ("/certificate", field) => database["certificate"][field] = json!("db"),
            (_, field) => database["postgres"][field] = json!("x"),
        }
    }
    assert!(
        charts
            .release("openvox-stack", &json!({"database": database}))
            .is_ok()
    );
    let nameless = charts.release("openvox-stack", &json!({"servers": [{}]}));
    assert!(
        nameless
            .unwrap_err()
            .contains("servers[0].name is required")
    );
}

#[test]
fn the_database_is_a_cluster_with_the_extension_that_openvox_db_needs() {
    let charts = Charts::new();
    let release = charts.release("openvox-db-postgres", &json!({})).unwrap();
    let cluster = object(&release, "Cluster", "r");
    assert_eq!(cluster["apiVersion"], "postgresql.cnpg.io/v1");
    assert_eq!(
        cluster["spec"],
        json!({
            "instances": 1, "storage": {"size": "1Gi"},
            "bootstrap": {"initdb": {
                "database": "openvoxdb", "owner": "app",
                "postInitApplicationSQL": ["CREATE EXTENSION IF NOT EXISTS pg_trgm"],
            }},
        })
    );
    let values = json!({
        "name": "pg", "instances": 3, "storage": {"storageClass": "fast"}, "postInitSQL": ["SELECT 1"],
    });
    let release = charts.release("openvox-db-postgres", &values).unwrap();
    let spec = &object(&release, "Cluster", "pg")["spec"];
    assert_eq!(
        spec["storage"],
        json!({"size": "1Gi", "storageClass": "fast"})
    );
    assert_eq!(
        spec["bootstrap"]["initdb"]["postInitApplicationSQL"],
        json!(["CREATE EXTENSION IF NOT EXISTS pg_trgm", "SELECT 1"])
    );
}
