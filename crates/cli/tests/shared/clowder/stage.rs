//! Where these tests play: a namespace with an environment in it, and an operator for the whole cluster.

use std::{
    collections::BTreeMap,
    sync::{Arc, Weak},
};

use futures::future::join_all;
use k8s_openapi::api::core::v1::Secret;
use kube::{
    Api,
    api::{DeleteParams, DynamicObject, ListParams, Patch, PatchParams, PostParams},
};
use mainstay_testkit::{
    Namespace, Plane,
    namespace::{object_gone, object_when},
    plane::dynamic,
    wait::eventually,
};
use serde_json::{Value, json};
use tokio::sync::{Mutex, RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::{account, app_config::check_required_keys};
pub(crate) use super::{input::*, resource::*, running::RunningOperator};

const GROUP_VERSION: &str = "cloud.redhat.com/v1alpha1";

/// An operator sees every environment of the cluster. Most tests share one; those that end it, race it or count its
/// requests want the cluster for themselves.
static CLUSTER: RwLock<()> = RwLock::const_new(());
/// The operator that tests share; it ends with the last of them.
static SHARED: Mutex<Weak<RunningOperator>> = Mutex::const_new(Weak::new());

/// How long the operator of a stage lives; it ends before the cluster is given back.
enum ClusterUse {
    Shared {
        _operator: Arc<RunningOperator>,
        _cluster: RwLockReadGuard<'static, ()>,
    },
    Alone {
        _cluster: RwLockWriteGuard<'static, ()>,
    },
    OwnPlane,
}

/// A namespace, and the name of the environment whose target it is.
pub(crate) struct Stage {
    pub(crate) plane: Plane,
    pub(crate) namespace: Namespace,
    /// The same as that of the namespace, which is unique.
    pub(crate) environment: String,
    _cluster: ClusterUse,
}

impl Stage {
    /// A stage with the operator that others use as well.
    pub(crate) async fn shared(prefix: &str) -> Self {
        let cluster = CLUSTER.read().await;
        let plane = Plane::clowder().await;
        let mut shared = SHARED.lock().await;
        let operator = if let Some(operator) = shared.upgrade() {
            operator
        } else {
            purge(&plane).await;
            account::grant(&plane.client().await).await;
            let started = RunningOperator::start(&plane.kubeconfig(), &[]).await;
            let started = Arc::new(started);
            *shared = Arc::downgrade(&started);
            started
        };
        drop(shared);
        let cluster = ClusterUse::Shared {
            _operator: operator,
            _cluster: cluster,
        };
        Self::on(plane, prefix, cluster).await
    }

    /// A stage without an operator, in a cluster without other environments.
    pub(crate) async fn alone(prefix: &str) -> Self {
        let cluster = CLUSTER.write().await;
        let plane = Plane::clowder().await;
        purge(&plane).await;
        Self::on(plane, prefix, ClusterUse::Alone { _cluster: cluster }).await
    }

    /// A stage on a plane that belongs to the test.
    pub(crate) async fn own(plane: &Plane, prefix: &str) -> Self {
        Self::on(plane.clone(), prefix, ClusterUse::OwnPlane).await
    }

    async fn on(plane: Plane, prefix: &str, cluster: ClusterUse) -> Self {
        let namespace = Namespace::create(&plane.client().await, prefix).await;
        account::grant(&namespace.client).await;
        account::grant_lease(&namespace).await;
        Self {
            environment: namespace.name.clone(),
            plane,
            namespace,
            _cluster: cluster,
        }
    }

    /// Another namespace and environment for the same operator.
    pub(crate) async fn beside(&self, prefix: &str) -> Self {
        Self::on(self.plane.clone(), prefix, ClusterUse::OwnPlane).await
    }

    /// An operator for a stage without one.
    pub(crate) async fn operator(&self, arguments: &[&str]) -> RunningOperator {
        RunningOperator::start(&self.plane.kubeconfig(), arguments).await
    }

    /// Environments of the cluster.
    pub(crate) fn environments(&self) -> Api<DynamicObject> {
        let client = &self.namespace.client;
        dynamic(
            client,
            "",
            GROUP_VERSION,
            "ClowdEnvironment",
            "clowdenvironments",
        )
    }

    /// Apps here.
    pub(crate) fn apps(&self) -> Api<DynamicObject> {
        self.namespace.api(GROUP_VERSION, "ClowdApp", "clowdapps")
    }

    /// References to apps elsewhere.
    pub(crate) fn app_refs(&self) -> Api<DynamicObject> {
        self.namespace
            .api(GROUP_VERSION, "ClowdAppRef", "clowdapprefs")
    }

    /// The environment as a user writes it: everything off, the namespace as its target, and these changes.
    pub(crate) fn environment_with(&self, changes: &Value) -> Value {
        let mut spec = quiet_environment(&self.namespace.name);
        merge(&mut spec, changes);
        json!({
            "apiVersion": GROUP_VERSION, "kind": "ClowdEnvironment",
            "metadata": {"name": self.environment}, "spec": spec,
        })
    }

    /// Creates the environment with these changes.
    pub(crate) async fn create_environment(&self, changes: Value) {
        create(&self.environments(), self.environment_with(&changes)).await;
    }

    /// Creates the environment and waits until it is ready.
    pub(crate) async fn ready_environment(&self, changes: Value) -> Value {
        self.create_environment(changes).await;
        self.environment_ready().await
    }

    /// Waits until the environment is.
    pub(crate) async fn environment_when(
        &self,
        what: &str,
        question: impl Fn(&Value) -> bool,
    ) -> Value {
        object_when(&self.environments(), &self.environment, what, question).await
    }

    /// Waits until the current generation of the environment is ready.
    pub(crate) async fn environment_ready(&self) -> Value {
        self.environment_when("is ready", is_ready).await
    }

    /// Changes the environment as a user would.
    pub(crate) async fn patch_environment(&self, patch: Value) {
        patch_object(&self.environments(), &self.environment, patch).await;
    }

    /// Creates an app of the environment.
    pub(crate) async fn create_app(&self, name: &str, mut spec: Value) {
        spec["envName"] = json!(self.environment);
        let app = json!({
            "apiVersion": GROUP_VERSION, "kind": "ClowdApp",
            "metadata": {"name": name, "namespace": self.namespace.name}, "spec": spec,
        });
        create(&self.apps(), app).await;
    }

    /// Changes an app as a user would.
    pub(crate) async fn patch_app(&self, name: &str, patch: Value) {
        patch_object(&self.apps(), name, patch).await;
    }

    /// Deletes an app without waiting for its end.
    pub(crate) async fn delete_app(&self, name: &str) {
        let params = DeleteParams::default();
        self.apps().delete(name, &params).await.unwrap();
    }

    /// Waits until an app is.
    pub(crate) async fn app_when(
        &self,
        name: &str,
        what: &str,
        question: impl Fn(&Value) -> bool,
    ) -> Value {
        object_when(&self.apps(), name, what, question).await
    }

    /// Waits until everything of the current generation of an app is written.
    pub(crate) async fn app_done(&self, name: &str) -> Value {
        self.app_when(name, "is reconciled", is_done).await
    }

    /// Waits until it also runs.
    pub(crate) async fn app_ready(&self, name: &str) -> Value {
        self.app_when(name, "is ready", is_ready).await
    }

    /// Waits until an app says that it failed with a text that holds this one, and returns the text.
    pub(crate) async fn app_failed(&self, name: &str, text: &str) -> String {
        let app = self
            .app_when(name, &format!("fails with {text:?}"), |app| {
                failure(app).is_some_and(|message| message.contains(text))
            })
            .await;
        failure(&app).unwrap()
    }

    /// Any object here; it has to exist.
    pub(crate) async fn get(&self, kind: Resource, name: &str) -> Value {
        let found = self.find(kind, name).await;
        found.unwrap_or_else(|| panic!("there is no {} {name}", kind.kind))
    }

    /// Any object here, if there is one.
    pub(crate) async fn find(&self, kind: Resource, name: &str) -> Option<Value> {
        let found = self.api(kind).get_opt(name).await.unwrap();
        found.map(|object| serde_json::to_value(object).unwrap())
    }

    /// The API of a kind here.
    pub(crate) fn api(&self, kind: Resource) -> Api<DynamicObject> {
        self.namespace.api(kind.api_version, kind.kind, kind.plural)
    }

    /// The names of a kind here, without those that every namespace has.
    pub(crate) async fn names(&self, kind: Resource) -> Vec<String> {
        let list = self.api(kind).list(&ListParams::default()).await.unwrap();
        let names = list.items.into_iter().filter_map(|item| item.metadata.name);
        let own = names.filter(|name| name != "default" && name != "kube-root-ca.crt");
        own.collect()
    }

    /// The values of a Secret here as texts.
    pub(crate) async fn secret(&self, name: &str) -> BTreeMap<String, String> {
        let api: Api<Secret> = Api::namespaced(self.namespace.client.clone(), &self.namespace.name);
        let secret = api.get(name).await.unwrap();
        let data = secret.data.unwrap_or_default().into_iter();
        let texts = data.map(|(key, value)| (key, String::from_utf8(value.0).unwrap()));
        texts.collect()
    }

    /// Creates or replaces a Secret of somebody else here.
    pub(crate) async fn put_secret(&self, name: &str, annotations: Value, data: Value) {
        let secret = json!({
            "apiVersion": "v1", "kind": "Secret",
            "metadata": {"name": name, "annotations": annotations}, "stringData": data,
        });
        let params = PatchParams::apply("user").force();
        let api = self.api(SECRET);
        api.patch(name, &params, &Patch::Apply(&secret))
            .await
            .unwrap();
    }

    /// The configuration that an app gets; it has the keys that the schema demands.
    pub(crate) async fn config(&self, app: &str) -> Value {
        let secret = self.secret(app).await;
        let config: Value = serde_json::from_str(&secret["cdappconfig.json"]).unwrap();
        check_required_keys(&config);
        config
    }

    /// Waits until the configuration of an app is.
    pub(crate) async fn config_when(
        &self,
        app: &str,
        what: &str,
        question: impl Fn(&Value) -> bool,
    ) -> Value {
        eventually(&format!("the configuration of {app} {what}"), || async {
            self.find(SECRET, app).await?;
            let config = self.config(app).await;
            question(&config).then_some(config)
        })
        .await
    }

    /// Reasons and messages of the events about an object, each once.
    pub(crate) async fn events(&self, namespace: &str, about: &str) -> Vec<String> {
        let api = dynamic(&self.namespace.client, namespace, "v1", "Event", "events");
        let params = ListParams::default().fields(&format!("involvedObject.name={about}"));
        let list = api.list(&params).await.unwrap();
        let texts = list.items.into_iter().map(|event| {
            let text = |field: &str| event.data[field].as_str().unwrap_or_default().to_owned();
            format!("{} {}: {}", text("type"), text("reason"), text("message"))
        });
        let mut texts: Vec<String> = texts.collect();
        texts.sort();
        texts.dedup();
        texts
    }

    /// Waits for an event.
    pub(crate) async fn event(&self, namespace: &str, about: &str, text: &str) {
        eventually(&format!("there is the event {text:?}"), || async {
            let events = self.events(namespace, about).await;
            events.iter().any(|event| event == text).then_some(())
        })
        .await;
    }

    /// Waits until there is no such object here.
    pub(crate) async fn gone(&self, kind: Resource, name: &str) {
        object_gone(&self.api(kind), name).await;
    }
}

/// Creates an object as a user would.
pub(crate) async fn create(api: &Api<DynamicObject>, object: Value) {
    let object: DynamicObject = serde_json::from_value(object).unwrap();
    api.create(&PostParams::default(), &object).await.unwrap();
}

/// Changes an object as a user would, by merge patch.
pub(crate) async fn patch_object(api: &Api<DynamicObject>, name: &str, patch: Value) {
    let params = PatchParams {
        field_manager: Some("user".to_owned()),
        ..PatchParams::default()
    };
    api.patch(name, &params, &Patch::Merge(&patch))
        .await
        .unwrap();
}

/// Whether the current generation came to a good end.
pub(crate) fn is_done(object: &Value) -> bool {
    let status = &object["status"];
    status["generation"] == object["metadata"]["generation"]
        && status["generation"].is_i64()
        && condition(object, "ReconciliationSuccessful") == Some("True".to_owned())
}

/// Whether all of it also runs.
pub(crate) fn is_ready(object: &Value) -> bool {
    is_done(object) && object["status"]["ready"] == true
}

/// Text of the failure of an app or environment.
pub(crate) fn failure(object: &Value) -> Option<String> {
    let conditions = object["status"]["conditions"].as_array()?;
    let failed = conditions.iter().find(|condition| {
        condition["type"] == "ReconciliationFailed" && condition["status"] == "True"
    })?;
    failed["message"].as_str().map(ToOwned::to_owned)
}

/// Status of a condition.
pub(crate) fn condition(object: &Value, r#type: &str) -> Option<String> {
    let conditions = object["status"]["conditions"].as_array()?;
    let mut of_type = conditions.iter();
    let found = of_type.find(|condition| condition["type"] == r#type)?;
    found["status"].as_str().map(ToOwned::to_owned)
}

/// The values of one field of all elements of a list.
pub(crate) fn each(list: &Value, field: &str) -> Vec<Value> {
    let elements = list.as_array().into_iter().flatten();
    elements.map(|element| element[field].clone()).collect()
}

/// The first container of a Deployment's pods.
pub(crate) fn container(deployment: &Value) -> &Value {
    &deployment["spec"]["template"]["spec"]["containers"][0]
}

/// Removes what earlier tests and runs left behind; nobody else uses the cluster now.
pub(crate) async fn purge(plane: &Plane) {
    let client = plane.client().await;
    // Installations that a test left when it failed: commands would take them for the operator.
    let deployments = dynamic(&client, "", "apps/v1", "Deployment", "deployments");
    let installed = ListParams::default().labels("operator-name=clowder");
    for left in deployments.list(&installed).await.unwrap() {
        let namespace = left.metadata.namespace.unwrap_or_default();
        let api = dynamic(&client, &namespace, "apps/v1", "Deployment", "deployments");
        let name = left.metadata.name.unwrap();
        let _ = api.delete(&name, &DeleteParams::default()).await;
    }
    for (kind, plural) in [
        ("ClowdJobInvocation", "clowdjobinvocations"),
        ("ClowdApp", "clowdapps"),
        ("ClowdAppRef", "clowdapprefs"),
        ("ClowdEnvironment", "clowdenvironments"),
    ] {
        let everywhere = dynamic(&client, "", GROUP_VERSION, kind, plural);
        let left = everywhere.list(&ListParams::default()).await.unwrap();
        join_all(left.items.into_iter().map(|object| {
            let namespace = object.metadata.namespace.unwrap_or_default();
            let api = dynamic(&client, &namespace, GROUP_VERSION, kind, plural);
            let name = object.metadata.name.unwrap();
            async move {
                let released = Patch::Merge(json!({"metadata": {"finalizers": null}}));
                let _ = api.delete(&name, &DeleteParams::default()).await;
                let _ = api.patch(&name, &PatchParams::default(), &released).await;
                object_gone(&api, &name).await;
            }
        }))
        .await;
    }
}
