//! A fresh namespace per test, and the few things that every test does in it.

use std::{
    fmt,
    sync::atomic::{AtomicU32, Ordering},
};

use k8s_openapi::api::core::v1::Namespace as KubeNamespace;
use kube::{
    Api, Client,
    api::{DeleteParams, DynamicObject, ObjectMeta, Patch, PatchParams, PostParams},
};
use serde_json::{Value, json};

use crate::{plane::dynamic, wait::eventually};

/// Name of the quota that stops pods.
const QUOTA: &str = "no-pods";

/// A namespace of this test alone.
#[derive(Clone)]
pub struct Namespace {
    /// Its name.
    pub name: String,
    /// Client of an administrator.
    pub client: Client,
}

impl fmt::Debug for Namespace {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_tuple("Namespace")
            .field(&self.name)
            .finish()
    }
}

impl Namespace {
    /// Creates one whose name starts with the prefix.
    pub async fn create(client: &Client, prefix: &str) -> Self {
        static COUNTER: AtomicU32 = AtomicU32::new(0);
        let number = COUNTER.fetch_add(1, Ordering::Relaxed);
        let name = format!("{prefix}-{}-{number}", std::process::id());
        let namespace = KubeNamespace {
            metadata: ObjectMeta {
                name: Some(name.clone()),
                ..ObjectMeta::default()
            },
            ..KubeNamespace::default()
        };
        let api: Api<KubeNamespace> = Api::all(client.clone());
        api.create(&PostParams::default(), &namespace)
            .await
            .unwrap();
        Self {
            name,
            client: client.clone(),
        }
    }

    /// The API of any kind here.
    pub fn api(&self, api_version: &str, kind: &str, plural: &str) -> Api<DynamicObject> {
        dynamic(&self.client, &self.name, api_version, kind, plural)
    }

    /// Kaotos here.
    pub fn kaotos(&self) -> Api<DynamicObject> {
        self.api("designer.kaoto.io/v1alpha1", "Kaoto", "kaotoes")
    }

    /// Deployments here.
    pub fn deployments(&self) -> Api<DynamicObject> {
        self.api("apps/v1", "Deployment", "deployments")
    }

    /// Services here.
    pub fn services(&self) -> Api<DynamicObject> {
        self.api("v1", "Service", "services")
    }

    /// Ingresses here.
    pub fn ingresses(&self) -> Api<DynamicObject> {
        self.api("networking.k8s.io/v1", "Ingress", "ingresses")
    }

    /// Routes here.
    pub fn routes(&self) -> Api<DynamicObject> {
        self.api("route.openshift.io/v1", "Route", "routes")
    }

    /// Creates a Kaoto.
    pub async fn create_kaoto(&self, name: &str, spec: Value) {
        let kaoto = json!({
            "apiVersion": "designer.kaoto.io/v1alpha1", "kind": "Kaoto",
            "metadata": {"name": name, "namespace": self.name}, "spec": spec,
        });
        let kaoto: DynamicObject = serde_json::from_value(kaoto).unwrap();
        self.kaotos()
            .create(&PostParams::default(), &kaoto)
            .await
            .unwrap();
    }

    /// Changes a Kaoto as a user would, by merge patch.
    pub async fn patch_kaoto(&self, name: &str, patch: Value) {
        let params = PatchParams {
            field_manager: Some("user".to_owned()),
            ..PatchParams::default()
        };
        self.kaotos()
            .patch(name, &params, &Patch::Merge(&patch))
            .await
            .unwrap();
    }

    /// Deletes a Kaoto as a user would, without waiting for its end.
    pub async fn delete_kaoto(&self, name: &str) {
        self.kaotos()
            .delete(name, &DeleteParams::default())
            .await
            .unwrap();
    }

    /// Waits until a Kaoto is gone.
    pub async fn kaoto_gone(&self, name: &str) {
        object_gone(&self.kaotos(), name).await;
    }

    /// Waits until a Deployment has rolled out: until then kube-controller-manager keeps writing its status, and
    /// whoever changes it as well has to try again.
    pub async fn deployment_at_rest(&self, name: &str) {
        let api = self.deployments();
        eventually(&format!("Deployment {name} has rolled out"), || async {
            let deployment = api.get_opt(name).await.ok()??;
            let status = &deployment.data["status"];
            let generation = deployment.metadata.generation;
            let seen = status["observedGeneration"].as_i64() == generation;
            let one = |field: &str| status[field] == 1;
            let old_is_gone = status["terminatingReplicas"].as_i64().unwrap_or_default() == 0;
            let rolled_out = one("replicas") && one("updatedReplicas") && one("availableReplicas");
            (seen && rolled_out && old_is_gone).then_some(())
        })
        .await;
    }

    /// From now on no pod starts here.
    pub async fn forbid_pods(&self) {
        let quota = json!({
            "apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": QUOTA},
            "spec": {"hard": {"pods": "0"}},
        });
        let quota: DynamicObject = serde_json::from_value(quota).unwrap();
        let params = PostParams::default();
        self.quotas().create(&params, &quota).await.unwrap();
        // Whoever counts, whoever refuses and whoever created it know of it independently.
        let pod = json!({
            "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "refused"},
            "spec": {"containers": [{"name": "refused", "image": "registry.test/refused:1"}]},
        });
        let pod: DynamicObject = serde_json::from_value(pod).unwrap();
        let pods = self.api("v1", "Pod", "pods");
        let params = PostParams {
            dry_run: true,
            ..PostParams::default()
        };
        eventually("no pod is admitted", || async {
            let refused = pods.create(&params, &pod).await.err()?;
            refused.to_string().contains("exceeded quota").then_some(())
        })
        .await;
    }

    /// From now on pods start again.
    pub async fn allow_pods(&self) {
        let params = DeleteParams::default();
        self.quotas().delete(QUOTA, &params).await.unwrap();
    }

    fn quotas(&self) -> Api<DynamicObject> {
        self.api("v1", "ResourceQuota", "resourcequotas")
    }

    /// Waits until a Kaoto's status satisfies a question, and returns it.
    pub async fn kaoto_when(
        &self,
        name: &str,
        what: &str,
        question: impl Fn(&Value) -> bool,
    ) -> Value {
        object_when(&self.kaotos(), name, what, question).await
    }

    /// Waits until the operator has dealt with the current generation and says Ready.
    pub async fn kaoto_ready(&self, name: &str) -> Value {
        self.kaoto_when(name, "is Ready", |kaoto| {
            kaoto["status"]["phase"] == "Ready"
                && kaoto["status"]["observedGeneration"] == kaoto["metadata"]["generation"]
        })
        .await
    }
}

/// Waits until an object satisfies a question, and returns it.
pub async fn object_when(
    api: &Api<DynamicObject>,
    name: &str,
    what: &str,
    question: impl Fn(&Value) -> bool,
) -> Value {
    eventually(&format!("{name} {what}"), || async {
        let object = serde_json::to_value(api.get_opt(name).await.ok()??).unwrap();
        question(&object).then_some(object)
    })
    .await
}

/// Waits until there is no such object.
pub async fn object_gone(api: &Api<DynamicObject>, name: &str) {
    eventually(&format!("{name} is gone"), || async {
        api.get_opt(name).await.ok()?.is_none().then_some(())
    })
    .await;
}
