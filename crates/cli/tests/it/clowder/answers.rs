//! Plays Strimzi: reports on its objects, and makes what goes with them.

use std::time::Duration;

use kube::{
    Api,
    api::{DynamicObject, ListParams, Patch, PatchParams},
};
use mainstay_testkit::{Namespace, namespace::object_when};
use serde_json::{Value, json};
use tokio::task::AbortHandle;

use super::stage::{Resource, SECRET, Stage, create, resource};

const STRIMZI: &str = "kafka.strimzi.io/v1beta2";
pub(super) const KAFKA: Resource = resource(STRIMZI, "Kafka", "kafkas");
pub(super) const KAFKA_CONNECT: Resource = resource(STRIMZI, "KafkaConnect", "kafkaconnects");
pub(super) const KAFKA_TOPIC: Resource = resource(STRIMZI, "KafkaTopic", "kafkatopics");
pub(super) const KAFKA_USER: Resource = resource(STRIMZI, "KafkaUser", "kafkausers");
pub(super) const CYNDI_PIPELINE: Resource = resource(
    "cyndi.cloud.redhat.com/v1alpha1",
    "CyndiPipeline",
    "cyndipipelines",
);

/// The certificate of every cluster: the same in every run, because its hash is told to apps.
pub(super) const CERTIFICATE: &str = "certificate of a cluster";
/// The password of every user.
pub(super) const PASSWORD: &str = "scrambled";

impl Stage {
    /// Creates an object of somebody else here, with a status.
    pub(super) async fn create_foreign(&self, kind: Resource, name: &str, status: Value) {
        let object = json!({"apiVersion": kind.api_version, "kind": kind.kind,
            "metadata": {"name": name}, "spec": {}});
        create(&self.api(kind), object).await;
        self.report(kind, name, status).await;
    }

    /// Reports something about an object here.
    pub(super) async fn report(&self, kind: Resource, name: &str, status: Value) {
        report(&self.namespace, kind, name, status).await;
    }

    /// Waits for an object here, reports that it is ready, and returns it.
    pub(super) async fn answered(&self, kind: Resource, name: &str) -> Value {
        let object = object_when(&self.api(kind), name, "is there", |_| true).await;
        answer(&self.namespace, kind, &object).await;
        object
    }

    /// Reports on everything here until it is dropped, as Strimzi would.
    pub(super) fn strimzi(&self) -> Strimzi {
        let namespace = self.namespace.clone();
        let task = tokio::spawn(async move {
            loop {
                for kind in [KAFKA, KAFKA_CONNECT, KAFKA_TOPIC, KAFKA_USER] {
                    answer_all(&namespace, kind).await;
                }
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        });
        Strimzi(task.abort_handle())
    }
}

/// Somebody who reports; ends when dropped.
pub(super) struct Strimzi(AbortHandle);

impl Drop for Strimzi {
    fn drop(&mut self) {
        self.0.abort();
    }
}

fn api(namespace: &Namespace, kind: Resource) -> Api<DynamicObject> {
    namespace.api(kind.api_version, kind.kind, kind.plural)
}

async fn answer_all(namespace: &Namespace, kind: Resource) {
    let Ok(list) = api(namespace, kind).list(&ListParams::default()).await else {
        return;
    };
    for object in list.items {
        let object = serde_json::to_value(object).unwrap();
        if object["status"]["observedGeneration"] != object["metadata"]["generation"] {
            answer(namespace, kind, &object).await;
        }
    }
}

async fn answer(namespace: &Namespace, kind: Resource, object: &Value) {
    let name = object["metadata"]["name"].as_str().unwrap();
    if kind.kind == KAFKA.kind {
        let certificate = json!({"ca.crt": CERTIFICATE});
        put_secret(namespace, &format!("{name}-cluster-ca-cert"), certificate).await;
    }
    if kind.kind == KAFKA_USER.kind {
        put_secret(namespace, name, json!({"password": PASSWORD})).await;
    }
    report(namespace, kind, name, status(kind, object)).await;
}

async fn report(namespace: &Namespace, kind: Resource, name: &str, status: Value) {
    let patch = Patch::Merge(json!({"status": status}));
    let params = PatchParams::default();
    let api = api(namespace, kind);
    api.patch_status(name, &params, &patch).await.unwrap();
}

async fn put_secret(namespace: &Namespace, name: &str, data: Value) {
    let secret = json!({"apiVersion": "v1", "kind": "Secret",
        "metadata": {"name": name, "labels": {"strimzi.io/kind": "Kafka"}}, "stringData": data});
    let params = PatchParams::apply("strimzi").force();
    let api = api(namespace, SECRET);
    api.patch(name, &params, &Patch::Apply(&secret))
        .await
        .unwrap();
}

/// What Strimzi says when all is well.
fn status(kind: Resource, object: &Value) -> Value {
    let (name, namespace) = (
        &object["metadata"]["name"],
        &object["metadata"]["namespace"],
    );
    let mut status = json!({
        "observedGeneration": object["metadata"]["generation"],
        "conditions": [{"type": "Ready", "status": "True"}],
    });
    if kind.kind == KAFKA.kind {
        let host = format!(
            "{}-kafka-bootstrap.{}.svc",
            name.as_str().unwrap(),
            namespace.as_str().unwrap()
        );
        let asked = object["spec"]["kafka"]["listeners"].as_array().unwrap();
        let listeners = asked.iter().map(|listener| {
            json!({"name": listener["name"], "addresses": [{"host": host, "port": listener["port"]}]})
        });
        status["listeners"] = listeners.collect();
    }
    if kind.kind == KAFKA_USER.kind {
        status["username"] = name.clone();
        status["secret"] = name.clone();
    }
    status
}
