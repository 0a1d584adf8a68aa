//! The Kafka cluster, as Strimzi is asked for it.

use mainstay_engine::quantity;
use serde_json::{Map, Value, json};

use super::{metrics, places::Places};
use crate::{
    kinds, names,
    providers::{custom::CustomObject, images::first, provider::Context},
};

/// Version of Kafka unless the environment says otherwise.
pub(super) const VERSION: &str = "3.8.0";
const STORAGE: &str = "1Gi";
/// The largest volume that Zookeeper gets.
const ZOOKEEPER_STORAGE: &str = "50Gi";

/// The cluster. Its pods pull their images with these Secrets.
pub(super) fn build(
    context: &Context<'_>,
    places: &Places<'_>,
    pull_secrets: &[String],
) -> CustomObject {
    let metadata = names::metadata(
        (places.namespace, places.cluster),
        environment_label(context),
        &names::environment_owner(context.environment),
    );
    let spec = json!({
        "kafka": brokers(context, places, pull_secrets),
        "zookeeper": zookeeper(context, pull_secrets),
        "entityOperator": entity_operator(context, pull_secrets),
    });
    CustomObject::new(kinds::KAFKA, metadata, spec)
}

/// The label by which an environment knows what it may clean up.
pub(super) fn environment_label(context: &Context<'_>) -> names::Labels {
    names::Labels::from([("env".to_owned(), context.environment_name().to_owned())])
}

/// Pods are pulled with these Secrets.
pub(super) fn pull_references(pull_secrets: &[String]) -> Map<String, Value> {
    let references: Vec<Value> = pull_secrets
        .iter()
        .map(|name| json!({"name": name}))
        .collect();
    let filled = Some(references).filter(|references| !references.is_empty());
    filled
        .map(|references| ("imagePullSecrets".to_owned(), Value::Array(references)))
        .into_iter()
        .collect()
}

fn replicas(context: &Context<'_>) -> i32 {
    context
        .environment
        .spec
        .providers
        .kafka
        .cluster
        .replicas
        .max(1)
}

fn labelled() -> Value {
    json!({"metadata": {"labels": {"service": "strimziKafka"}}})
}

fn pod_template(pull_secrets: &[String]) -> Value {
    let mut template = labelled();
    if let Some(fields) = template.as_object_mut() {
        fields.extend(pull_references(pull_secrets));
    }
    template
}

fn brokers(context: &Context<'_>, places: &Places<'_>, pull_secrets: &[String]) -> Value {
    let kafka = &context.environment.spec.providers.kafka;
    let cluster = &kafka.cluster;
    let given = &cluster.resources;
    let size = first(&[&cluster.storage_size, STORAGE]);
    let mut brokers = json!({
        "version": first(&[&cluster.version, VERSION]),
        "replicas": replicas(context),
        "config": broker_config(context),
        "jvmOptions": cluster.jvm_options,
        "resources": {
            "requests": or_amounts(given.requests.as_ref(), ("250m", "600Mi")),
            "limits": or_amounts(given.limits.as_ref(), ("500m", "1Gi")),
        },
        "listeners": listeners(context),
        "metricsConfig": {
            "type": "jmxPrometheusExporter",
            "valueFrom": {"configMapKeyRef": {
                "name": metrics::name(places), "key": metrics::KEY, "optional": false,
            }},
        },
        "storage": storage(context, size),
        "template": {"perPodService": labelled(), "pod": pod_template(pull_secrets)},
    });
    if !kafka.enable_legacy_strimzi {
        brokers["authorization"] = json!({"type": "simple"});
    }
    brokers
}

/// Parity: what is given takes the place of everything that is usual.
fn broker_config(context: &Context<'_>) -> Value {
    let given = &context.environment.spec.providers.kafka.cluster.config;
    if !given.is_empty() {
        return json!(given);
    }
    let replicas = replicas(context);
    json!({"offsets.topic.replication.factor": replicas, "default.replication.factor": replicas})
}

/// What is given, or processor time and memory.
pub(super) fn or_amounts(given: Option<&Value>, (cpu, memory): (&str, &str)) -> Value {
    given
        .cloned()
        .unwrap_or_else(|| json!({"cpu": cpu, "memory": memory}))
}

fn listeners(context: &Context<'_>) -> Vec<Value> {
    let is_legacy = context
        .environment
        .spec
        .providers
        .kafka
        .enable_legacy_strimzi;
    let internal = if is_legacy {
        json!({"name": "tcp", "port": 9092, "tls": false, "type": "internal"})
    } else {
        json!({"name": "tls", "port": 9093, "tls": true, "type": "internal",
            "authentication": {"type": super::users::MECHANISM}})
    };
    let external = context
        .settings
        .config
        .features
        .enable_external_strimzi
        .then(|| {
            json!({"name": "ext", "port": 9094, "tls": false, "type": "nodeport",
            "configuration": {"brokers": [
                {"broker": 0, "advertisedHost": "localhost", "advertisedPort": 9094},
            ]}})
        });
    [internal].into_iter().chain(external).collect()
}

fn storage(context: &Context<'_>, size: &str) -> Value {
    let kafka = &context.environment.spec.providers.kafka;
    if !kafka.persistent {
        return json!({"type": "ephemeral"});
    }
    json!({"type": "persistent-claim", "size": size, "deleteClaim": kafka.cluster.delete_claim})
}

/// Zookeeper stores less than brokers do.
fn zookeeper_size(size: &str) -> &str {
    let most = quantity::parse(ZOOKEEPER_STORAGE);
    match quantity::parse(size) {
        Some(wanted) if Some(wanted) < most => size,
        _ => ZOOKEEPER_STORAGE,
    }
}

fn zookeeper(context: &Context<'_>, pull_secrets: &[String]) -> Value {
    let given = &context
        .environment
        .spec
        .providers
        .kafka
        .cluster
        .storage_size;
    let size = zookeeper_size(first(&[given, STORAGE]));
    json!({
        "replicas": replicas(context),
        "resources": {
            "requests": or_amounts(None, ("200m", "400Mi")),
            "limits": or_amounts(None, ("350m", "800Mi")),
        },
        "storage": storage(context, size),
        "template": {"nodesService": labelled(), "pod": pod_template(pull_secrets)},
    })
}

fn entity_operator(context: &Context<'_>, pull_secrets: &[String]) -> Value {
    let finalizers = !context.settings.config.features.disable_strimzi_finalizer;
    let requests = or_amounts(None, ("50m", "250Mi"));
    json!({
        "template": {
            "pod": pod_template(pull_secrets),
            "topicOperatorContainer": {
                "env": [{"name": "STRIMZI_USE_FINALIZERS", "value": finalizers.to_string()}],
            },
        },
        "topicOperator": {"resources": {
            "requests": requests, "limits": or_amounts(None, ("200m", "500Mi")),
        }},
        "userOperator": {"resources": {
            "requests": requests, "limits": or_amounts(None, ("400m", "500Mi")),
        }},
    })
}
