//! Least privilege: the operator lives with exactly the roles that it prints, and whatever is taken from them is missed.

use std::{
    fs,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use k8s_openapi::api::{
    authentication::v1::{TokenRequest, TokenRequestSpec},
    authorization::v1::SelfSubjectRulesReview,
    core::v1::ServiceAccount,
    rbac::v1::{PolicyRule, Role, RoleBinding},
};
use kube::{
    Api, Client, Config,
    api::{ListParams, PostParams},
    config::{KubeConfigOptions, Kubeconfig},
};
use mainstay_testkit::{
    Namespace, Operator, Plane, fault::Fault, operator::http_get_text, plane::dynamic,
    proxy::Proxy, wait::eventually,
};
use mainstay_yaml::{Limits, SourceName, parse_bytes};
use serde_json::json;
use tempfile::TempDir;

use crate::{mainstay, run};

/// Name of everything that is created for the operator.
const NAME: &str = "operator";

/// The rules of the one role of a kind that `mainstay rbac` prints.
async fn rules(kind: &str) -> Vec<PolicyRule> {
    let text = run(&["rbac", "--systems", "kaoto"]).run().await.success();
    let source = SourceName::new("role");
    let documents = parse_bytes(text.as_bytes(), &source, &Limits::default()).unwrap();
    let mut roles = documents.into_iter().map(|document| document.value);
    let role = roles.find(|role| role["kind"] == kind).unwrap();
    serde_json::from_value(role["rules"].clone()).unwrap()
}

/// For the work.
async fn printed_rules() -> Vec<PolicyRule> {
    rules("ClusterRole").await
}

/// For the election.
async fn election_rules() -> Vec<PolicyRule> {
    rules("Role").await
}

/// Rules without the one about a resource.
fn without(rules: Vec<PolicyRule>, resource: &str) -> Vec<PolicyRule> {
    let before = rules.len();
    let named = |rule: &PolicyRule| {
        let mut resources = rule.resources.iter().flatten();
        resources.any(|name| name == resource)
    };
    let rest: Vec<PolicyRule> = rules.into_iter().filter(|rule| !named(rule)).collect();
    assert_eq!(rest.len() + 1, before, "one rule is about {resource}");
    rest
}

/// A service account, as the kubeconfig of its token. Its home is where the lease lies; its work is elsewhere.
struct Account {
    home: Namespace,
    namespace: Namespace,
    directory: TempDir,
}

impl Account {
    /// With rules for the work and rules for the election at home.
    async fn create(plane: &Plane, work: Vec<PolicyRule>, election: Vec<PolicyRule>) -> Self {
        let client = plane.client().await;
        let home = Namespace::create(&client, "home").await;
        let namespace = Namespace::create(&client, "work").await;
        let accounts: Api<ServiceAccount> = Api::namespaced(client, &home.name);
        let account = json!({"metadata": {"name": NAME}});
        let account = serde_json::from_value(account).unwrap();
        accounts
            .create(&PostParams::default(), &account)
            .await
            .unwrap();
        grant(&home, &home, election).await;
        grant(&namespace, &home, work).await;
        let token = token(&home).await;
        let administrator = Kubeconfig::read_from(plane.kubeconfig()).unwrap();
        let cluster = administrator.clusters[0].cluster.clone().unwrap();
        let kubeconfig = json!({
            "apiVersion": "v1", "kind": "Config", "current-context": NAME,
            "clusters": [{"name": NAME, "cluster": {
                "server": cluster.server, "certificate-authority": cluster.certificate_authority,
            }}],
            "users": [{"name": NAME, "user": {"token": token}}],
            "contexts": [{"name": NAME, "context": {"cluster": NAME, "user": NAME}}],
        });
        let directory = TempDir::new().unwrap();
        let account = Self {
            home,
            namespace,
            directory,
        };
        fs::write(account.kubeconfig(), kubeconfig.to_string()).unwrap();
        account.granted().await;
        account
    }

    /// Waits until the API server goes by the roles: it hears of them later than whoever creates them.
    async fn granted(&self) {
        let client = self.client().await;
        let reviews: Api<SelfSubjectRulesReview> = Api::all(client);
        for namespace in [&self.home, &self.namespace] {
            let roles: Api<Role> = Api::namespaced(namespace.client.clone(), &namespace.name);
            let role = roles.get(NAME).await.unwrap();
            let resources = role.rules.into_iter().flatten();
            let resources = resources.flat_map(|rule| rule.resources.unwrap_or_default());
            let resources: Vec<String> = resources.collect();
            let review = json!({"spec": {"namespace": namespace.name}});
            let review = serde_json::from_value(review).unwrap();
            eventually("the roles are in force", || async {
                let answer = reviews.create(&PostParams::default(), &review).await.ok()?;
                let rules = answer.status?.resource_rules.into_iter();
                let known: Vec<String> = rules
                    .flat_map(|rule| rule.resources.unwrap_or_default())
                    .collect();
                resources
                    .iter()
                    .all(|name| known.contains(name))
                    .then_some(())
            })
            .await;
        }
    }

    fn kubeconfig(&self) -> PathBuf {
        self.directory.path().join("kubeconfig")
    }

    async fn client(&self) -> Client {
        let file = Kubeconfig::read_from(self.kubeconfig()).unwrap();
        let config = Config::from_custom_kubeconfig(file, &KubeConfigOptions::default()).await;
        Client::try_from(config.unwrap()).unwrap()
    }

    fn operator(&self) -> Operator {
        let arguments = [
            "--systems",
            "kaoto",
            "--watch-namespace",
            &self.namespace.name,
            "--leader-election-namespace",
            &self.home.name,
        ];
        Operator::start_with(mainstay(), &self.kubeconfig(), &arguments)
    }
}

/// Grants rules in a namespace to the account of another.
async fn grant(namespace: &Namespace, home: &Namespace, rules: Vec<PolicyRule>) {
    let metadata = json!({"name": NAME, "namespace": namespace.name});
    let role: Role = serde_json::from_value(json!({"metadata": metadata, "rules": rules})).unwrap();
    let binding: RoleBinding = serde_json::from_value(json!({
        "metadata": metadata,
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": NAME},
        "subjects": [{"kind": "ServiceAccount", "name": NAME, "namespace": home.name}],
    }))
    .unwrap();
    let (client, name) = (&namespace.client, namespace.name.as_str());
    let params = PostParams::default();
    let roles: Api<Role> = Api::namespaced(client.clone(), name);
    roles.create(&params, &role).await.unwrap();
    let bindings: Api<RoleBinding> = Api::namespaced(client.clone(), name);
    bindings.create(&params, &binding).await.unwrap();
}

async fn token(namespace: &Namespace) -> String {
    let accounts: Api<ServiceAccount> = Api::namespaced(namespace.client.clone(), &namespace.name);
    let request = TokenRequest {
        spec: TokenRequestSpec::default(),
        ..TokenRequest::default()
    };
    let answer = accounts
        .create_token_request(NAME, &PostParams::default(), &request)
        .await
        .unwrap();
    answer.status.unwrap().token
}

#[tokio::test]
async fn the_printed_roles_are_enough_for_a_whole_life() {
    let plane = Plane::vanilla().await;
    let account = Account::create(&plane, printed_rules().await, election_rules().await).await;
    let mut operator = account.operator();
    operator.ready().await;
    let namespace = &account.namespace;
    let exposed = json!({"ingress": {"host": "studio.test"}});
    namespace.create_kaoto("studio", exposed).await;
    namespace.kaoto_ready("studio").await;
    let change = json!({"spec": {"image": "registry.test/app:2", "ingress": null}});
    namespace.patch_kaoto("studio", change).await;
    namespace.kaoto_ready("studio").await;
    namespace.delete_kaoto("studio").await;
    namespace.kaoto_gone("studio").await;
    assert_eq!(operator.terminate().await.code(), Some(0));
    let log = operator.log();
    assert!(!log.contains("forbidden"), "{log}");
    let lease = account
        .home
        .api("coordination.k8s.io/v1", "Lease", "leases");
    let lease = lease.get("9aa9f118.kaoto.io").await.unwrap();
    assert_eq!(lease.data["spec"]["holderIdentity"], "", "given back");
}

#[tokio::test]
async fn the_printed_roles_open_nothing_else() {
    let plane = Plane::vanilla().await;
    let account = Account::create(&plane, printed_rules().await, election_rules().await).await;
    let client = account.client().await;
    let list = async |api_version: &str, kind: &str, plural: &str| {
        let api = dynamic(&client, &account.namespace.name, api_version, kind, plural);
        api.list(&ListParams::default()).await
    };
    assert!(list("v1", "Service", "services").await.is_ok());
    for (api_version, kind, plural) in [
        ("v1", "Secret", "secrets"),
        ("v1", "Pod", "pods"),
        ("v1", "ServiceAccount", "serviceaccounts"),
        ("rbac.authorization.k8s.io/v1", "Role", "roles"),
    ] {
        let refused = list(api_version, kind, plural).await;
        assert!(
            matches!(&refused, Err(kube::Error::Api(status)) if status.is_forbidden()),
            "{plural}: {refused:?}"
        );
    }
}

/// Without a rule of a watched kind the probe names the kind, and the log the missing permission. Routes are not watched
/// here, and `kaotoes/finalizers` is checked by OpenShift alone.
#[tokio::test]
async fn a_missing_rule_of_a_watched_kind_is_named() {
    let plane = Plane::vanilla().await;
    for (resource, kind) in [
        ("kaotoes", "Kaoto"),
        ("services", "Service"),
        ("ingresses", "Ingress"),
        ("deployments", "Deployment"),
    ] {
        let rules = without(printed_rules().await, resource);
        let account = Account::create(&plane, rules, election_rules().await).await;
        let operator = account.operator();
        let permission = format!(r#"cannot list resource \"{resource}\""#);
        eventually(&format!("the log names {resource}"), || async {
            operator.log().contains(&permission).then_some(())
        })
        .await;
        let reason = format!("the list of {kind} is not complete");
        eventually(&format!("the probe names {kind}"), || async {
            let answer = http_get_text(operator.probe(), "/readyz").await?;
            (answer.contains(" 503 ") && answer.ends_with(&reason)).then_some(())
        })
        .await;
    }
}

#[tokio::test]
async fn a_kind_that_cannot_be_listed_stops_the_others_for_half_a_minute_at_most() {
    let plane = Plane::vanilla().await;
    let namespace = Namespace::create(&plane.client().await, "unlisted").await;
    let tries = Arc::new(AtomicU64::new(0));
    let proxy = Proxy::start(&plane, {
        let tries = tries.clone();
        move |seen| {
            if seen.is_write() || !seen.path.contains("/ingresses") {
                return Fault::None;
            }
            tries.fetch_add(1, Ordering::SeqCst);
            Fault::Refuse(403)
        }
    })
    .await;
    let arguments = ["--systems", "kaoto", "--watch-namespace", &namespace.name];
    let started = Instant::now();
    let mut operator = Operator::start(mainstay(), &proxy.kubeconfig(), &arguments);
    namespace.create_kaoto("studio", json!({})).await;
    namespace.kaoto_ready("studio").await;
    operator.ready().await;
    let took = started.elapsed();
    let tries = tries.load(Ordering::SeqCst);
    println!("worked {took:?} after the start, after {tries} tries");
    assert!(took > Duration::from_secs(29), "not before: {took:?}");
    assert!(tries <= 1 + took.as_secs() / 30, "{tries} in {took:?}");
    let log = operator.log();
    let said = log.matches("A permission is missing").count();
    assert_eq!(said, 1, "{log}");
    for part in [
        r#""resource":"ingresses.networking.k8s.io""#,
        r#""verb":"list""#,
    ] {
        assert!(log.contains(part), "{log}");
    }
}

#[tokio::test]
async fn a_missing_rule_of_the_status_is_named() {
    let plane = Plane::vanilla().await;
    let rules = without(printed_rules().await, "kaotoes/status");
    let account = Account::create(&plane, rules, election_rules().await).await;
    let mut operator = account.operator();
    operator.ready().await;
    account.namespace.create_kaoto("studio", json!({})).await;
    eventually("the log names the status", || async {
        operator.log().contains("kaotoes/status").then_some(())
    })
    .await;
    let deployment = account.namespace.deployments().get_opt("studio").await;
    assert!(deployment.unwrap().is_some(), "the objects are there");
}

#[tokio::test]
async fn without_the_lease_nobody_leads_and_without_events_everything_else_works() {
    let plane = Plane::vanilla().await;
    let election = without(election_rules().await, "leases");
    let account = Account::create(&plane, printed_rules().await, election).await;
    let operator = account.operator();
    eventually("the log names the lease", || async {
        let log = operator.log();
        log.contains(r#"cannot get resource \"leases\""#)
            .then_some(())
    })
    .await;
    assert!(!operator.log().contains("Became leader"));

    let election = without(election_rules().await, "events");
    let account = Account::create(&plane, printed_rules().await, election).await;
    let operator = account.operator();
    account.namespace.create_kaoto("studio", json!({})).await;
    account.namespace.kaoto_ready("studio").await;
    eventually("the log names the events", || async {
        let log = operator.log();
        log.contains(r#"cannot create resource \"events\""#)
            .then_some(())
    })
    .await;
}
