//! Stages of loading: what a config means once it is read.

use std::collections::BTreeMap;

use mainstay_opencenter::{
    config::{
        AdoptionMode, ExportOptions, LoadOptions, NoSurroundings, Provider, Purpose, SecretState,
        StorageType, Surroundings, load, origin::Origin,
    },
    finding::{Code, Severity, has_errors},
};
use mainstay_yaml::SourceName;

use crate::{config, findings, load_for, valid};

struct World(BTreeMap<&'static str, &'static str>);

impl Surroundings for World {
    fn variable(&self, name: &str) -> Option<String> {
        self.0.get(name).map(|value| (*value).to_owned())
    }

    fn file(&self, path: &str) -> Result<String, String> {
        self.0
            .get(path)
            .map(|value| (*value).to_owned())
            .ok_or_else(|| "no such file".into())
    }
}

#[test]
fn fills_defaults_from_types_catalog_provider_and_rules() {
    let text = config(&[(
        "@services",
        "    loki: {enabled: true}\n    velero: {enabled: true}\n    keycloak: {enabled: false}",
    )]);
    let loaded = load_for(&text, Purpose::Render).config.unwrap();
    assert_eq!(loaded.cluster_name(), "demo");
    assert_eq!(loaded.fqdn(), "demo.ord1.k8s.opencenter.cloud");
    assert_eq!(
        loaded
            .opencenter
            .infrastructure
            .storage
            .default_storage_class,
        "csi-cinder-sc-delete"
    );
    let loki = loaded.services().loki.as_ref().unwrap();
    assert_eq!(loki.common.namespace.as_deref(), Some("observability"));
    assert_eq!(loki.settings.storage_type, StorageType::S3);
    assert_eq!(loki.settings.bucket_name, "demo-loki");
    assert_eq!(
        loki.settings.s3_endpoint,
        "https://swift.api.ord1.rackspacecloud.com"
    );
    assert_eq!(
        loaded
            .services()
            .velero
            .as_ref()
            .unwrap()
            .settings
            .storage_type,
        StorageType::Swift
    );
    let keycloak = &loaded.services().keycloak.as_ref().unwrap().settings;
    assert_eq!(keycloak.hostname, "auth.demo.ord1.k8s.opencenter.cloud");
    assert!(keycloak.pin_operator_version && keycloak.start_optimized);
    assert!(loaded.services().tempo.is_none());
    let origin = |path: &str| loaded.origins().get(path).unwrap().to_string();
    assert_eq!(origin("opencenter.meta.region"), "line 6");
    assert_eq!(origin("opencenter.meta.env"), "default");
    assert_eq!(
        origin("opencenter.services.loki.namespace"),
        "default of the service"
    );
    assert_eq!(
        origin("opencenter.services.loki.bucket_name"),
        "derived: <name>-<service>"
    );
    assert!(
        origin("opencenter.infrastructure.storage.default_storage_class")
            .starts_with("default of the provider")
    );
    assert!(loaded.is_explicit("opencenter.services.loki.enabled"));
    assert!(!loaded.is_explicit("opencenter.services.loki.bucket_name"));
}

#[test]
fn explicit_false_is_honoured() {
    let text = config(&[(
        "@services",
        "    keycloak: {enabled: false, start_optimized: false, tls_enabled: false}",
    )]);
    let keycloak = valid(&text).services().keycloak.clone().unwrap().settings;
    assert!(!keycloak.start_optimized && !keycloak.tls_enabled && keycloak.cache_enabled);
}

#[test]
fn legacy_keys_mean_the_same_and_point_to_their_place() {
    let text = config(&[
        (
            "@gitops",
            "    git_dir: /srv/repo\n    gitops_base_release: \"2026.01\"\n    git_ssh_key: keys/a",
        ),
        (
            "@opencenter",
            "  managed-service:\n    alert-proxy: {enabled: false, uri: 'ssh://git@h/p.git', image_tag: \"17\"}\n  storage: {default_storage_class: fast}",
        ),
    ]);
    let loaded = load_for(&text, Purpose::Render);
    assert!(!has_errors(&loaded.findings), "{:#?}", loaded.findings);
    let warnings = loaded
        .findings
        .iter()
        .filter(|finding| finding.code == Code::Oc1122)
        .count();
    assert_eq!(warnings, 7);
    let config = loaded.config.unwrap();
    let gitops = &config.opencenter.gitops;
    assert_eq!(gitops.repository.local_dir, "/srv/repo");
    assert_eq!(gitops.base_repo.release.as_deref(), Some("2026.01"));
    assert_eq!(
        gitops.auth.ssh.as_ref().unwrap().private_key.as_deref(),
        Some("keys/a")
    );
    assert_eq!(
        config
            .opencenter
            .infrastructure
            .storage
            .default_storage_class,
        "fast"
    );
    let proxy = config.managed_services().alert_proxy.as_ref().unwrap();
    assert_eq!(proxy.common.image.tag.as_deref(), Some("17"));
    let path = "opencenter.managed_services.alert-proxy.source.repo";
    let Some(Origin::Alias { legacy, position }) = config.origins().get(path) else {
        panic!("{:?}", config.origins().get(path));
    };
    assert_eq!(
        (legacy.as_str(), position.line),
        ("opencenter.managed-service.alert-proxy.uri", 14)
    );
}

#[test]
fn spellings_are_normalized() {
    let text = config(&[
        (
            "@opencenter",
            "  infrastructure: {provider: VSphere, cloud: {vmware: {}}}",
        ),
        (
            "@services",
            "    keycloak: {enabled: false, log_level: debug}",
        ),
        ("@secrets", "  sops_age_key_file: keys/age.txt"),
    ]);
    let config = valid(&text);
    assert_eq!(config.opencenter.infrastructure.provider, Provider::Vmware);
    assert_eq!(
        config.secrets.sops.age_key_file.as_deref(),
        Some("keys/age.txt")
    );
    assert_eq!(
        config
            .services()
            .keycloak
            .as_ref()
            .unwrap()
            .settings
            .log_level
            .as_str(),
        "DEBUG"
    );
}

#[test]
fn references_lead_to_values_variables_and_files() {
    let text = config(&[
        ("@opencenter", "  cluster:\n    base_domain: \"${ref:opencenter.meta.region}.${ref:opencenter.gitops.repository.branch}.org\"\n    kubernetes: {api_port: \"${ref:opencenter.services.loki.volume_size}\"}"),
        ("@services", "    loki: {enabled: false, volume_size: 6443}"),
        ("@secrets", "  keycloak: {admin_password: \"${env:PASSWORD}\", client_secret: \"${file:~/secret}\"}"),
    ])
    .replace("clusters.git\n", "clusters.git\n      branch: main\n");
    let world = World(BTreeMap::from([
        ("PASSWORD", "hunter2"),
        ("~/secret", "  s3cret\n"),
    ]));
    let loaded = load(
        text.as_bytes(),
        &SourceName::new("demo.yaml"),
        &world,
        &LoadOptions::default(),
    );
    assert!(!has_errors(&loaded.findings), "{:#?}", loaded.findings);
    let config = loaded.config.unwrap();
    assert_eq!(config.opencenter.cluster.base_domain, "ord1.main.org");
    assert_eq!(config.opencenter.cluster.kubernetes.api_port, 6443);
    assert_eq!(
        config
            .secrets
            .keycloak
            .admin_password
            .as_ref()
            .unwrap()
            .expose(),
        "hunter2"
    );
    assert_eq!(
        config
            .secrets
            .keycloak
            .client_secret
            .as_ref()
            .unwrap()
            .expose(),
        "s3cret"
    );
    let origin = config
        .origins()
        .get("opencenter.cluster.base_domain")
        .unwrap()
        .to_string();
    assert!(origin.contains("${ref:opencenter.meta.region}"), "{origin}");
    assert!(
        config
            .origins()
            .is_tainted("secrets.keycloak.admin_password")
    );
}

#[test]
fn references_cannot_grow_without_bounds() {
    let level = |index: usize| {
        format!(
            "    l{index}: \"{}\"\n",
            format!("${{ref:opentofu.deep.l{}}}", index + 1).repeat(40)
        )
    };
    let levels: String = (0..9).map(level).collect();
    let text = config(&[(
        "@root",
        &format!("opentofu:\n  deep:\n{levels}    l9: xxxxxxxxxx"),
    )]);
    assert!(
        findings(&text)
            .iter()
            .any(|finding| finding.code == Code::Oc1131)
    );
}

#[test]
fn a_value_from_the_environment_is_never_shown() {
    let text = config(&[("@opencenter", "  cluster: {admin_email: \"${env:MAIL}\"}")]);
    let world = World(BTreeMap::from([("MAIL", "not-an-address")]));
    let loaded = load(
        text.as_bytes(),
        &SourceName::new("demo.yaml"),
        &world,
        &LoadOptions::default(),
    );
    let finding = loaded
        .findings
        .iter()
        .find(|finding| finding.code == Code::Oc2003)
        .unwrap();
    assert!(
        !finding.to_text().contains("not-an-address"),
        "{}",
        finding.to_text()
    );
}

#[test]
fn secrets_never_show_in_findings_debug_or_export() {
    let text = config(&[
        (
            "@opencenter",
            "  infrastructure:\n    cloud: {openstack: {application_credential_secret: topsecret1}}\n    bastion: {password: topsecret2}",
        ),
        ("@services", "    loki: {enabled: true}"),
        (
            "@secrets",
            "  loki: {s3_access_key_id: topsecret3}\n  service_secrets: {own: {key: topsecret4}}\n  keycloak: {admin_password: [topsecret5]}\n  customer_managed: {a: {identity: topsecret6}}",
        ),
    ]);
    let loaded = load_for(&text, Purpose::Deploy);
    let config = loaded.config.unwrap();
    let shown = format!(
        "{:?} {config:?} {:?} {:?} {} {}",
        loaded.findings,
        config.origins(),
        config.redacted(),
        config.export(ExportOptions {
            redact: true,
            show_origin: true
        }),
        loaded
            .findings
            .iter()
            .map(mainstay_opencenter::finding::Finding::to_text)
            .collect::<String>(),
    );
    assert!(!shown.contains("topsecret"), "{shown}");
}

#[test]
fn exports_the_effective_config_with_origins() {
    let text = config(&[(
        "@services",
        "    loki: {enabled: true, bucket_name: \"007\"}",
    )]);
    let config = valid(&text);
    let plain = config.export(ExportOptions::default());
    assert!(
        plain.starts_with("---\nschema_version: \"2.0\"\n"),
        "{plain}"
    );
    assert!(plain.contains("\n    loki:\n      enabled: true\n"));
    assert!(plain.contains("      bucket_name: \"007\"\n"));
    assert!(!plain.contains("{}"), "{plain}");
    let with_origin = config.export(ExportOptions {
        redact: true,
        show_origin: true,
    });
    assert!(with_origin.contains("    region: ord1  # line 6\n"));
    assert!(with_origin.contains("    env: dev  # default\n"));
    assert!(with_origin.contains("  # derived: <cluster_name>.<region>.<base_domain>\n"));
    // The export is a config again, and means the same.
    let again = load_for(&plain, Purpose::Render);
    let again = again.config.unwrap();
    assert_eq!(again.services(), config.services());
    assert_eq!(again.opencenter.cluster, config.opencenter.cluster);
}

#[test]
fn severity_follows_the_purpose() {
    let text = config(&[
        ("@opencenter", "  infrastructure: {provider: aws}"),
        ("@services", "    kube-prometheus-stack: {enabled: true}"),
        (
            "@secrets",
            "  grafana: {admin_password: PLACEHOLDER-GRAFANA}",
        ),
    ]);
    let severity = |purpose, code| {
        let found = load_for(&text, purpose).findings;
        found
            .iter()
            .find(|finding| finding.code == code)
            .map(|finding| finding.severity)
    };
    assert_eq!(
        severity(Purpose::Render, Code::Oc2005),
        Some(Severity::Warning)
    );
    assert_eq!(
        severity(Purpose::Validate, Code::Oc2005),
        Some(Severity::Error)
    );
    assert_eq!(
        severity(Purpose::Validate, Code::Oc3031),
        Some(Severity::Warning)
    );
    assert_eq!(
        severity(Purpose::Deploy, Code::Oc3031),
        Some(Severity::Error)
    );
    let text = config(&[("@services", "    kube-prometheus-stack: {enabled: true}")]);
    let options = LoadOptions {
        allow_missing_secrets: true,
        ..LoadOptions::default()
    };
    let loaded = load(
        text.as_bytes(),
        &SourceName::new("demo.yaml"),
        &NoSurroundings,
        &options,
    );
    assert!(loaded.into_result().is_ok());
}

#[test]
fn an_external_service_satisfies_dependencies() {
    let text = config(&[(
        "@services",
        "    gateway: {enabled: true}\n    gateway-api: {enabled: true, adoption_mode: external}",
    )]);
    let config = valid(&text);
    assert!(!config.is_active("gateway-api") && config.is_external("gateway-api"));
    assert_eq!(
        config.services().get("gateway-api").unwrap().adoption_mode,
        AdoptionMode::External
    );
    assert!(config.is_active("fluxcd") && config.is_active("sources"));
}

#[test]
fn route53_needs_credentials_elsewhere_than_on_aws() {
    let service = (
        "@services",
        "    cert-manager: {enabled: true, dns_provider: route53}",
    );
    let severity = |text: &str| {
        let found = findings(text);
        found
            .iter()
            .find(|finding| finding.code == Code::Oc3020)
            .map(|finding| finding.severity)
    };
    assert_eq!(severity(&config(&[service])), Some(Severity::Error));
    let secrets = "  cert_manager: {aws: {main: {enabled: true, aws_access_key: a, aws_secret_access_key: b, dns_zones: [x.y]}}}";
    assert_eq!(
        severity(&config(&[service, ("@secrets", secrets)])),
        Some(Severity::Warning)
    );
}

#[test]
fn says_which_place_of_a_chain_won() {
    let text = config(&[
        (
            "@services",
            "    loki: {enabled: true}\n    keycloak: {enabled: false}",
        ),
        (
            "@secrets",
            "  loki: {s3_access_key_id: CHANGEME, s3_secret_access_key: CHANGEME}\n  global: {aws: {application: {access_key: a, secret_access_key: b}}}",
        ),
    ]);
    let config = valid(&text);
    let loki = config.service_secrets("loki");
    assert_eq!(loki.sources, ["secrets.global.aws.application"]);
    let key = loki
        .fields
        .iter()
        .find(|field| field.path == "secrets.loki.s3_access_key_id")
        .unwrap();
    assert_eq!((key.state, key.required), (SecretState::Placeholder, false));
    let grafana = valid(
        &text
            .replace(
                "keycloak: {enabled: false}",
                "kube-prometheus-stack: {enabled: true}",
            )
            .replace("  global:", "  grafana: {admin_password: x}\n  global:"),
    );
    let status = grafana.service_secrets("kube-prometheus-stack");
    let password = status
        .fields
        .iter()
        .find(|field| field.path == "secrets.grafana.admin_password")
        .unwrap();
    assert_eq!(
        (password.state, password.required),
        (SecretState::Set, true)
    );
}

#[test]
fn what_older_tools_write_is_no_reason_to_warn() {
    let text = config(&[(
        "@services",
        "    kyverno:\n      enabled: true\n      has_override_values: false\n      kustomization_content: |\n        apiVersion: kustomize.config.k8s.io/v1beta1\n        kind: Kustomization\n        resources:\n          - \"../base/kyverno/default-ruleset\"\n    loki:\n      enabled: true\n      source_name: opencenter-observability\n      override_depends_on: [sources]\n      override_values_renderer: loki\n    postgres-operator: {enabled: true, override_values: 'a: 1'}",
    )]);
    assert!(
        !findings(&text)
            .iter()
            .any(|finding| finding.code == Code::Oc3010),
        "{:#?}",
        findings(&text)
    );
    let text = config(&[(
        "@services",
        "    kyverno: {enabled: true, override_values: 'a: 1', kustomization_name: x}",
    )]);
    let count = findings(&text)
        .iter()
        .filter(|finding| finding.code == Code::Oc3010)
        .count();
    assert_eq!(count, 2);
}

#[test]
fn refuses_giants_and_other_files() {
    let giant = format!("# {}\n{}", "x".repeat(10 * 1024 * 1024), config(&[]));
    assert_eq!(findings(&giant)[0].code, Code::Oc1105);
    for text in [
        "",
        "---\n",
        "- a\n",
        "just text\n",
        "a: 1\n---\nb: 2\n",
        "\u{0}",
    ] {
        let loaded = load_for(text, Purpose::Render);
        assert!(loaded.into_result().is_err(), "{text:?}");
    }
    let source = SourceName::new("demo.yaml");
    let loaded = load(
        &[0xff, 0xfe, 0x00],
        &source,
        &NoSurroundings,
        &LoadOptions::default(),
    );
    assert_eq!(loaded.findings[0].code, Code::Oc1101);
}
