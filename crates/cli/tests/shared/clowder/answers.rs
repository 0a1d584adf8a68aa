//! Other operators, played by KWOK with the stages of the control plane: what they say of an object, and when.
//!
//! They say at once that all is well, except in namespaces whose name begins with [`UNANSWERED`]: there they wait until
//! they are told what to say.

use mainstay_testkit::namespace::object_when;
use serde_json::{Value, json};

use super::stage::{Resource, Stage, create, patch_object, resource};

const STRIMZI: &str = "kafka.strimzi.io/v1beta2";
pub(crate) const KAFKA: Resource = resource(STRIMZI, "Kafka", "kafkas");
pub(crate) const KAFKA_CONNECT: Resource = resource(STRIMZI, "KafkaConnect", "kafkaconnects");
pub(crate) const KAFKA_TOPIC: Resource = resource(STRIMZI, "KafkaTopic", "kafkatopics");
pub(crate) const KAFKA_USER: Resource = resource(STRIMZI, "KafkaUser", "kafkausers");
pub(crate) const CYNDI_PIPELINE: Resource = resource(
    "cyndi.cloud.redhat.com/v1alpha1",
    "CyndiPipeline",
    "cyndipipelines",
);

/// How namespaces begin in which nobody reports by himself.
pub(crate) const UNANSWERED: &str = "unanswered";

/// What the operator of an object says of it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Answer {
    /// All is well.
    Ready,
    /// A Kafka cluster can be reached, and that is all.
    Listeners,
    /// It is wrong, or what it needs is.
    Failure,
}

impl Answer {
    /// The word that the stages go by.
    const fn word(self) -> &'static str {
        match self {
            Self::Ready => "ready",
            Self::Listeners => "listeners",
            Self::Failure => "failure",
        }
    }
}

impl Stage {
    /// Creates an object of somebody else here.
    pub(crate) async fn create_foreign(&self, kind: Resource, name: &str, spec: Value) {
        let object = json!({"apiVersion": kind.api_version, "kind": kind.kind,
            "metadata": {"name": name}, "spec": spec});
        create(&self.api(kind), object).await;
    }

    /// Waits for an object here, lets its operator say this, and returns it as it was.
    pub(crate) async fn answer(&self, kind: Resource, name: &str, answer: Answer) -> Value {
        let api = self.api(kind);
        let object = object_when(&api, name, "is there", |_| true).await;
        let word = json!({"metadata": {"annotations": {"mainstay.test/answer": answer.word()}}});
        patch_object(&api, name, word).await;
        object
    }
}
