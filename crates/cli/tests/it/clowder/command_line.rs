//! `plan`, `apply` and `tree` in a cluster where an operator runs, or where not everything may be seen.

use futures::future::join_all;
use kube::api::{DeleteParams, Patch, PatchParams};
use mainstay_clowder::package::{Admission, installation};
use mainstay_testkit::{
    audit::Mark,
    plane::{Plane, dynamic},
    program::Ended,
};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::stage::{RunningOperator, Stage, deployment, web_app};
use crate::{run, shared::clowder::account};

const GROUP_VERSION: &str = "cloud.redhat.com/v1alpha1";

/// The configuration and the Deployment of the shipped installation, in a namespace, without pods.
struct Shipped<'stage> {
    stage: &'stage Stage,
    namespace: String,
}

impl<'stage> Shipped<'stage> {
    async fn install(stage: &'stage Stage, namespace: &str) -> Self {
        let shipped = Self {
            stage,
            namespace: namespace.to_owned(),
        };
        let client = &stage.namespace.client;
        let home =
            json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}});
        let namespaces = dynamic(client, "", "v1", "Namespace", "namespaces");
        let params = PatchParams::apply("mainstay-tests").force();
        let made = namespaces
            .patch(namespace, &params, &Patch::Apply(&home))
            .await;
        made.unwrap();
        for mut object in objects() {
            object["metadata"]["namespace"] = json!(namespace);
            let name = object["metadata"]["name"].as_str().unwrap();
            let api = shipped.api(&object);
            let made = api.patch(name, &params, &Patch::Apply(&object)).await;
            made.unwrap();
        }
        shipped
    }

    fn api(&self, object: &Value) -> kube::Api<kube::api::DynamicObject> {
        let kind = object["kind"].as_str().unwrap();
        let version = object["apiVersion"].as_str().unwrap();
        let plural = format!("{}s", kind.to_lowercase());
        let client = &self.stage.namespace.client;
        dynamic(client, &self.namespace, version, kind, &plural)
    }

    /// Others on this cluster must not find it.
    async fn remove(self) {
        for object in objects() {
            let name = object["metadata"]["name"].as_str().unwrap();
            let api = self.api(&object);
            let gone = api.delete(name, &DeleteParams::default()).await;
            gone.unwrap();
        }
    }
}

fn objects() -> Vec<Value> {
    let objects = installation("registry.test/operator:1", Admission::Policy);
    let wanted = objects
        .into_iter()
        .filter(|object| object["kind"] == "ConfigMap" || object["kind"] == "Deployment");
    let mut wanted: Vec<Value> = wanted.collect();
    for object in &mut wanted {
        if object["kind"] == "Deployment" {
            // The operator of these tests is a process beside the cluster.
            object["spec"]["replicas"] = json!(0);
        }
    }
    assert_eq!(wanted.len(), 2);
    wanted
}

/// What of the shipped configuration differs from that of other tests.
fn shipped_features() -> Value {
    json!({
        "disableWebhooks": true, "enableKedaResources": false,
        "enableExternalStrimzi": true, "disableStrimziFinalizer": true,
    })
}

fn file(documents: &[Value]) -> String {
    let texts = documents.iter().map(ToString::to_string);
    texts.collect::<Vec<_>>().join("\n---\n")
}

fn app(stage: &Stage, name: &str, mut spec: Value) -> Value {
    spec["envName"] = json!(stage.environment);
    json!({
        "apiVersion": GROUP_VERSION, "kind": "ClowdApp",
        "metadata": {"name": name, "namespace": stage.namespace.name}, "spec": spec,
    })
}

async fn mainstay(plane: &Plane, arguments: &[&str], input: &str) -> Ended {
    let program = run(arguments).kubeconfig(&plane.kubeconfig());
    program.input(input).run().await
}

/// An environment with a Kafka cluster, an object store and Prometheus, and an app with a topic.
fn kafka_documents(stage: &Stage) -> String {
    let mut spec = web_app();
    spec["kafkaTopics"] = json!([{"topicName": "orders"}]);
    let environment = stage.environment_with(&json!({"providers": {
        "kafka": {"mode": "operator", "cluster": {"replicas": 3}},
        "objectStore": {"mode": "minio"},
        "metrics": {"mode": "operator"},
    }}));
    file(&[environment, app(stage, "shop", spec)])
}

#[tokio::test]
async fn apply_leaves_alone_what_the_operator_makes_by_the_shipped_configuration() {
    let stage = Stage::alone("shipped").await;
    let shipped = Shipped::install(&stage, "clowder-system").await;
    let kubeconfig = stage.plane.kubeconfig();
    let mut operator = RunningOperator::configured(&kubeconfig, &shipped_features(), &[]);
    operator.process.ready().await;
    let text = kafka_documents(&stage);
    let first = mainstay(&stage.plane, &["apply", "-f", "-", "--wait"], &text).await;
    assert_eq!(first.code, Some(0), "{first}");
    stage.environment_ready().await;
    stage.app_ready("shop").await;

    let here = &stage.namespace.name;
    let mark = Mark::quiet(stage.plane.audit_log(), here).await;
    let again = mainstay(&stage.plane, &["apply", "-f", "-"], &text).await;
    assert_eq!(again.code, Some(0), "{again}");
    assert!(
        again.stderr.contains(
            "note: configuration of Clowder: ConfigMap clowder-system/clowder-config of the operator clowder-system/clowder-controller-manager"
        ),
        "{again}"
    );
    mark.settled(here).await;
    assert_eq!(mark.carried_out(here), Vec::<String>::new(), "{again}");
    let planned = mainstay(&stage.plane, &["plan", "-f", "-"], &text).await;
    assert_eq!(planned.code, Some(0), "{planned}");

    // Other settings would undo what the operator did.
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("own.json");
    std::fs::write(&path, "{}").unwrap();
    let path = path.to_str().unwrap();
    let arguments = ["plan", "-f", "-", "--clowder-config", path];
    let other = mainstay(&stage.plane, &arguments, &text).await;
    assert_eq!(other.code, Some(1), "{other}");
    assert!(other.stdout.contains("listeners"), "{other}");
    assert!(other.stderr.contains(path), "{other}");
    shipped.remove().await;
}

#[tokio::test]
async fn plan_and_apply_know_the_namespace_of_the_operator() {
    let stage = Stage::alone("at-home").await;
    let environment =
        stage.environment_with(&json!({"providers": {"objectStore": {"mode": "minio"}}}));
    let text = file(&[environment]);
    let without = mainstay(&stage.plane, &["plan", "-f", "-"], &text).await;
    assert!(
        without
            .stdout
            .contains("/allow-from-clowder-system-namespace "),
        "{without}"
    );
    assert!(
        without
            .stderr
            .contains("configuration of Clowder: defaults"),
        "{without}"
    );
    let home = stage.beside("operators").await;
    let home = home.namespace.name.clone();
    let shipped = Shipped::install(&stage, &home).await;
    let policy = format!("/allow-from-{home}-namespace ");
    let planned = mainstay(&stage.plane, &["plan", "-f", "-"], &text).await;
    assert!(planned.stdout.contains(&policy), "{planned}");
    let applied = mainstay(&stage.plane, &["apply", "-f", "-"], &text).await;
    assert!(applied.stdout.contains(&policy), "{applied}");
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("environment.json");
    std::fs::write(&path, &text).unwrap();
    let path = path.to_str().unwrap();
    let arguments = ["render", "-f", path, "-o", "name", "--clowder-from-cluster"];
    let rendered = mainstay(&stage.plane, &arguments, "").await;
    assert!(rendered.stdout.contains(policy.trim_end()), "{rendered}");
    shipped.remove().await;
}

#[tokio::test]
async fn apply_beside_an_operator_is_no_failure() {
    const ROUNDS: usize = 4;
    const APPS: usize = 25;
    let stage = Stage::alone("beside").await;
    let _operator = stage.operator(&[]).await;
    for round in 0..ROUNDS {
        let names: Vec<String> = (0..APPS)
            .map(|number| format!("app{round}-{number}"))
            .collect();
        let mut documents: Vec<Value> = Vec::from([stage.environment_with(&json!({}))]);
        let apps = names.iter().map(|name| app(&stage, name, web_app()));
        documents.extend(apps);
        let text = file(&documents);
        // Every second time nobody waits for the end.
        let arguments: &[&str] = match round % 2 {
            0 => &["apply", "-f", "-", "--wait"],
            _ => &["apply", "-f", "-"],
        };
        let applied = mainstay(&stage.plane, arguments, &text).await;
        assert_eq!(applied.code, Some(0), "round {round}: {applied}");
        assert!(!applied.stdout.contains("failed"), "{applied}");
        join_all(names.iter().map(|name| stage.app_ready(name))).await;
    }
}

/// A kubeconfig of somebody who may do what the operator may, except with these resources.
async fn without_rights(stage: &Stage, directory: &TempDir, denied: &[&str]) -> std::path::PathBuf {
    let user = format!("somebody-{}", stage.namespace.name);
    let objects = mainstay_clowder::package::permissions().into_iter();
    let mut role = objects
        .clone()
        .find(|object| object["metadata"]["name"] == "clowder-manager-role")
        .unwrap();
    role["metadata"]["name"] = json!(user);
    for rule in role["rules"].as_array_mut().unwrap() {
        let resources = rule["resources"].as_array_mut().unwrap();
        resources.retain(|resource| denied.iter().all(|denied| *resource != json!(denied)));
        if resources.is_empty() {
            resources.push(json!("nothing"));
        }
        if rule["apiGroups"] == json!(["cloud.redhat.com"]) {
            rule["verbs"] = json!(["get", "list", "watch", "patch", "create"]);
        }
    }
    let binding = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
        "metadata": {"name": user},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": user},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user}],
    });
    for object in [role, binding] {
        account::apply_cluster_wide(&stage.namespace.client, &object).await;
    }
    account::kubeconfig_of(&user, &stage.plane.kubeconfig(), directory.path())
}

#[tokio::test]
async fn plan_and_tree_go_on_without_what_may_not_be_seen_and_say_so() {
    let stage = Stage::alone("unseen").await;
    let mut app = app(&stage, "shop", json!({"deployments": [deployment("web")]}));
    app["spec"]["database"] = json!({"name": "goods"});
    let environment = stage.environment_with(&json!({"providers": {"db": {"mode": "local"}}}));
    let text = file(&[environment, app]);
    let directory = TempDir::new().unwrap();
    let denied = ["networkpolicies", "services", "deployments"];
    let kubeconfig = without_rights(&stage, &directory, &denied).await;
    let run_as = async |arguments: &[&str], input: &str| {
        run(arguments)
            .kubeconfig(&kubeconfig)
            .input(input)
            .run()
            .await
    };
    let planned = run_as(&["plan", "-f", "-"], &text).await;
    assert_eq!(planned.code, Some(1), "{planned}");
    for resource in denied {
        let told = format!("could not list {resource}, the plan is made as if there were none: ");
        assert!(planned.stderr.contains(&told), "{planned}");
    }
    assert!(planned.stderr.contains("`mainstay rbac`"), "{planned}");
    assert!(!planned.stderr.contains("Status {"), "{planned}");
    let claim = format!("create    Secret {}/shop-db", stage.namespace.name);
    assert!(planned.stdout.contains(&claim), "{planned}");
    let applied = run_as(&["apply", "-f", "-"], &text).await;
    assert_eq!(applied.code, Some(2), "{applied}");
    assert!(applied.stderr.contains("nothing was applied"), "{applied}");

    mainstay(&stage.plane, &["apply", "-f", "-", "--wait"], &text)
        .await
        .success();
    let here = stage.namespace.name.as_str();
    let tree = run_as(&["tree", "app/shop", "-n", here], "").await;
    assert_eq!(tree.code, Some(0), "{tree}");
    assert!(tree.stdout.contains("Secret shop-db"), "{tree}");
    assert!(!tree.stdout.contains("Deployment"), "{tree}");
    let told = "could not list deployments, its objects are left out: ";
    assert!(tree.stderr.contains(told), "{tree}");
    assert!(tree.stderr.contains("`mainstay rbac`"), "{tree}");
}
