//! Two tenants who may write apps and invocations in their own namespaces, and nothing else: what one of them gets that
//! is not theirs, as with the original and with grants required.

use std::{collections::BTreeSet, path::Path};

use kube::{
    Api, Client, Config,
    api::DynamicObject,
    config::{KubeConfigOptions, Kubeconfig},
};
use mainstay_testkit::{namespace::object_when, plane::dynamic};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{
    answers::CYNDI_PIPELINE,
    invocations::{GROUP_VERSION, tested},
    stage::{
        INGRESS, RunningOperator, SECRET, Stage, create, deployment, failure, merge, patch_object,
        web_app, web_local,
    },
};
use crate::shared::clowder::account;

/// Texts that can only come from Secrets of the environment.
const PULL: &str = "pUlL-cAnArY";
const VAULT: &str = "vAuLt-cAnArY";

/// A namespace, and somebody who may write apps and invocations there.
struct Tenant {
    stage: Stage,
    client: Client,
}

/// What the tenant of `market` asks for that is not theirs, by the app that does.
const ATTEMPTS: [&str; 4] = ["plain", "thief", "bus", "pipe"];

impl Tenant {
    async fn new(platform: &Stage, name: &str) -> Self {
        let mut stage = platform.beside(name).await;
        stage.environment.clone_from(&platform.environment);
        let user = format!("tenant-{}", stage.namespace.name);
        let role = json!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role",
            "metadata": {"name": "tenant", "namespace": stage.namespace.name},
            "rules": [{"apiGroups": ["cloud.redhat.com"], "resources": ["clowdapps", "clowdjobinvocations"],
                "verbs": ["*"]}],
        });
        let binding = json!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding",
            "metadata": {"name": "tenant", "namespace": stage.namespace.name},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "tenant"},
            "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user}],
        });
        for (object, kind, plural) in [
            (role, "Role", "roles"),
            (binding, "RoleBinding", "rolebindings"),
        ] {
            let api = stage
                .namespace
                .api("rbac.authorization.k8s.io/v1", kind, plural);
            create(&api, object).await;
        }
        let client = client_of(&user, &stage.plane.kubeconfig()).await;
        Self { stage, client }
    }

    fn api(&self, kind: &str, plural: &str) -> Api<DynamicObject> {
        let namespace = &self.stage.namespace.name;
        dynamic(&self.client, namespace, GROUP_VERSION, kind, plural)
    }

    async fn app(&self, name: &str, changes: Value) {
        let mut spec = web_app();
        merge(&mut spec, &changes);
        spec["envName"] = json!(self.stage.environment);
        let app = json!({"apiVersion": GROUP_VERSION, "kind": "ClowdApp", "metadata": {"name": name}, "spec": spec});
        create(&self.api("ClowdApp", "clowdapps"), app).await;
    }

    async fn tests(&self, name: &str, app: &str) {
        let invocation = json!({
            "apiVersion": GROUP_VERSION, "kind": "ClowdJobInvocation", "metadata": {"name": name},
            "spec": {"appName": app, "testing": {"iqe": {"imageTag": "1"}}, "runOnNotReady": true},
        });
        create(
            &self.api("ClowdJobInvocation", "clowdjobinvocations"),
            invocation,
        )
        .await;
    }

    /// All values of Secrets that somebody who runs pods here can read.
    async fn readable(&self) -> String {
        let mut all = String::new();
        for name in self.stage.names(SECRET).await {
            all.extend(self.stage.secret(&name).await.into_values());
        }
        all
    }

    /// Waits until an app or invocation fails with a text that holds this one.
    async fn held(&self, kind: &str, plural: &str, name: &str, text: &str) {
        let what = format!("is held with {text:?}");
        object_when(&self.api(kind, plural), name, &what, |object| {
            failure(object).is_some_and(|said| said.contains(text))
        })
        .await;
    }
}

async fn client_of(user: &str, kubeconfig: &Path) -> Client {
    let directory = TempDir::new().unwrap();
    let path = account::kubeconfig_of(user, kubeconfig, directory.path());
    let kubeconfig = Kubeconfig::read_from(path).unwrap();
    let options = KubeConfigOptions::default();
    let config = Config::from_custom_kubeconfig(kubeconfig, &options);
    Client::try_from(config.await.unwrap()).unwrap()
}

async fn operator(platform: &Stage, requires_grants: bool) -> RunningOperator {
    let config = json!({
        "features": {"disableWebhooks": true},
        "settings": {"requireEnvironmentGrant": requires_grants},
    });
    let kubeconfig = platform.plane.kubeconfig();
    let mut operator = RunningOperator::with_config(&kubeconfig, &config, &[]);
    operator.process.ready().await;
    operator
}

/// An environment, a tenant of it and another who wants what the first has.
struct Scene {
    platform: Stage,
    cellar: Tenant,
    market: Tenant,
    _operator: RunningOperator,
}

impl Scene {
    async fn new(prefix: &str, requires_grants: bool) -> Self {
        let platform = Stage::alone(prefix).await;
        let (cellar, market) = (
            Tenant::new(&platform, "cellar").await,
            Tenant::new(&platform, "market").await,
        );
        let operator = operator(&platform, requires_grants).await;
        let scene = Self {
            platform,
            cellar,
            market,
            _operator: operator,
        };
        scene.begin().await;
        scene
    }

    /// The environment, and the apps of its first tenant.
    async fn begin(&self) {
        let platform = &self.platform;
        let here = platform.namespace.name.as_str();
        platform
            .put_secret("pull", json!({}), json!({"token": PULL}))
            .await;
        platform
            .put_secret("vault", json!({}), json!({"secretId": VAULT}))
            .await;
        let mut changes = tested(here);
        merge(
            &mut changes,
            &json!({"providers": {
                "db": {"mode": "local"}, "kafka": {"mode": "operator"},
                "pullSecrets": [{"name": "pull", "namespace": here}],
            }}),
        );
        let mut environment = platform.environment_with(&changes);
        environment["metadata"]["annotations"] =
            json!({"mainstay/join-namespaces": self.cellar.stage.namespace.name});
        create(&platform.environments(), environment).await;
        platform.environment_ready().await;
        let database = |name: &str| json!({"database": {"name": name}});
        self.cellar.app("stock", database("goods")).await;
        self.cellar.app("host-inventory", database("hosts")).await;
        self.cellar
            .app("bus", json!({"kafkaTopics": [{"topicName": "orders"}]}))
            .await;
        for app in ["stock", "host-inventory", "bus"] {
            self.cellar.stage.app_done(app).await;
        }
    }

    /// The other one asks for all of it.
    async fn attempt(&self) {
        let market = &self.market;
        market.app("plain", json!({})).await;
        let shared = json!({"dependencies": ["stock"], "database": {"sharedDbAppName": "stock"}});
        market.app("thief", shared).await;
        market
            .app("bus", json!({"kafkaTopics": [{"topicName": "orders"}]}))
            .await;
        let pipeline =
            json!({"database": {"name": "copies"}, "cyndi": {"enabled": true, "appName": "stock"}});
        market.app("pipe", pipeline).await;
        market.tests("run", "plain").await;
    }

    async fn done(&self, apps: &[&str]) {
        for app in apps {
            self.market.stage.app_done(app).await;
        }
    }

    async fn annotate(&self, annotations: Value) {
        let patch = json!({"metadata": {"annotations": annotations}});
        self.platform.patch_environment(patch).await;
    }

    /// What the tenant of `market` has got that is not theirs.
    async fn crossed(&self) -> BTreeSet<&'static str> {
        let readable = self.market.readable().await;
        let database = self.cellar.stage.secret("stock-db").await["password"].clone();
        let user = format!("{}-bus", self.platform.environment);
        let user = self.platform.secret(&user).await["password"].clone();
        let hosts = self.cellar.stage.secret("host-inventory-db").await["password"].clone();
        let mut crossed: BTreeSet<&str> = [
            ("pull secret", PULL),
            ("vault", VAULT),
            ("database", &database),
            ("Kafka user", &user),
            ("configuration", &hosts),
        ]
        .into_iter()
        .filter(|(_, secret)| readable.contains(secret))
        .map(|(name, _)| name)
        .collect();
        if self.platform.find(CYNDI_PIPELINE, "stock").await.is_some() {
            crossed.insert("pipeline");
        }
        let environment = self.platform.environment_ready().await;
        let listed = environment["status"]["apps"].to_string();
        if ATTEMPTS
            .iter()
            .any(|name| *name != "bus" && listed.contains(&format!("\"{name}\"")))
        {
            crossed.insert("list of apps");
        }
        crossed
    }
}

const EVERYTHING: [&str; 7] = [
    "Kafka user",
    "configuration",
    "database",
    "list of apps",
    "pipeline",
    "pull secret",
    "vault",
];

#[tokio::test]
async fn without_the_setting_an_environment_gives_everything_to_whoever_names_it() {
    let scene = Scene::new("open", false).await;
    scene.attempt().await;
    scene.done(&ATTEMPTS).await;
    let invocations = scene.market.stage.invocations();
    object_when(&invocations, "run", "has started its tests", |run| {
        run["status"]["jobMap"]
            .as_object()
            .is_some_and(|jobs| !jobs.is_empty())
    })
    .await;
    assert_eq!(scene.crossed().await, BTreeSet::from(EVERYTHING));
}

#[tokio::test]
async fn with_the_setting_nothing_crosses_that_the_environment_does_not_grant() {
    let scene = Scene::new("granted", true).await;
    let market = &scene.market;
    scene.attempt().await;
    let (name, here) = (&scene.platform.environment, &market.stage.namespace.name);
    let not_granted = format!(
        "namespace \"{here}\" may not join ClowdEnvironment \"{name}\": name the namespace in the annotation \
         mainstay/join-namespaces of the environment, or select its labels in mainstay/join-selector"
    );
    for app in ATTEMPTS {
        market
            .held("ClowdApp", "clowdapps", app, &not_granted)
            .await;
    }
    let event = format!("Warning EnvironmentNotGranted: {not_granted}");
    market.stage.event(here, "plain", &event).await;
    let run = ("ClowdJobInvocation", "clowdjobinvocations", "run");
    market.held(run.0, run.1, run.2, &not_granted).await;
    assert_eq!(scene.crossed().await, BTreeSet::new());

    // A selector and a label together are a grant; the label came first and was none.
    let namespaces = dynamic(
        &scene.platform.namespace.client,
        "",
        "v1",
        "Namespace",
        "namespaces",
    );
    patch_object(
        &namespaces,
        here,
        json!({"metadata": {"labels": {"team": "market"}}}),
    )
    .await;
    scene
        .annotate(json!({"mainstay/join-selector": "team in (market)"}))
        .await;
    scene.done(&["plain"]).await;
    for (app, text) in [
        (
            "thief",
            "spec.database.sharedDbAppName names ClowdApp \"stock\"",
        ),
        ("bus", "has the name \"bus\""),
        ("pipe", "spec.cyndi.appName names ClowdApp \"stock\""),
    ] {
        market.held("ClowdApp", "clowdapps", app, text).await;
    }
    market
        .held(
            run.0,
            run.1,
            run.2,
            "the tests would read the configuration of ClowdApp",
        )
        .await;
    let own = BTreeSet::from(["list of apps", "pull secret"]);
    assert_eq!(
        scene.crossed().await,
        own,
        "what the environment gives to whoever joins"
    );

    // The label goes and with it the grant.
    patch_object(
        &namespaces,
        here,
        json!({"metadata": {"labels": {"team": null}}}),
    )
    .await;
    market
        .held("ClowdApp", "clowdapps", "plain", &not_granted)
        .await;

    scene
        .annotate(json!({"mainstay/share-namespaces": here}))
        .await;
    scene.done(&ATTEMPTS).await;
    object_when(
        &market.stage.invocations(),
        "run",
        "has started its tests",
        |run| {
            run["status"]["jobMap"]
                .as_object()
                .is_some_and(|jobs| !jobs.is_empty())
        },
    )
    .await;
    assert_eq!(scene.crossed().await, BTreeSet::from(EVERYTHING));
}

#[tokio::test]
async fn a_path_that_an_app_of_another_namespace_has_is_held_and_told() {
    let platform = Stage::alone("paths").await;
    let (cellar, market) = (
        Tenant::new(&platform, "cellar").await,
        Tenant::new(&platform, "market").await,
    );
    let _operator = operator(&platform, true).await;
    let mut environment = platform.environment_with(&web_local(&json!({})));
    let both = format!(
        "{},{}",
        cellar.stage.namespace.name, market.stage.namespace.name
    );
    environment["metadata"]["annotations"] = json!({"mainstay/join-namespaces": both});
    create(&platform.environments(), environment).await;
    platform.environment_ready().await;
    let published = |path: &str| {
        let mut deployment = deployment("web");
        deployment["webServices"]["public"]["apiPath"] = json!(path);
        json!({"deployments": [deployment]})
    };
    cellar.app("stock", published("stock")).await;
    cellar.stage.app_done("stock").await;
    cellar.stage.get(INGRESS, "stock-web").await;
    // Times of creation have seconds, and of one second the order of namespaces decides: `cellar` comes first.
    market.app("thief", published("stock/own")).await;
    market.stage.app_done("thief").await;
    assert_eq!(market.stage.find(INGRESS, "thief-web").await, None);
    let (there, here) = (&cellar.stage.namespace.name, &market.stage.namespace.name);
    let event = format!(
        "Warning PathHeld: path /api/stock/own/ is not published: ClowdApp {there}/stock has it; choose another one, or \
         let both have it: name the namespace in the annotation mainstay/share-namespaces of the environment, or select \
         its labels in mainstay/share-selector"
    );
    market.stage.event(here, "thief", &event).await;
    // It heals when the other one lets go.
    let patch = json!({"spec": published("goods")});
    cellar.stage.patch_app("stock", patch).await;
    object_when(
        &market.stage.api(INGRESS),
        "thief-web",
        "is published",
        |_| true,
    )
    .await;
}
