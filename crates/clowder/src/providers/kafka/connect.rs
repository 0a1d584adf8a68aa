//! Kafka Connect, as Strimzi is asked for it.

use std::collections::BTreeMap;

use mainstay_engine::{ObjectKey, options::Options};
use serde_json::{Value, json};

use super::{
    UNIT, brokers,
    cluster::{VERSION, environment_label, or_amounts, pull_references},
    operator::check_environment,
    places::Places,
};
use crate::{
    kinds, names,
    providers::{
        app_config::BrokerConfig,
        custom::CustomObject,
        images::first,
        provider::{Context, EnvironmentRender, ProviderError},
        pullsecret,
    },
};

const IMAGE: &str = "quay.io/redhat-services-prod/hcm-eng-prod-tenant/kafka-connect";
const FAILED: &str = "failed to provision kafka connect cluster";

/// Which cluster it connects to, and how.
#[derive(Debug)]
pub(super) struct Connect<'render> {
    /// The brokers.
    pub(super) brokers: &'render [BrokerConfig],
    /// Its configuration.
    pub(super) config: BTreeMap<&'static str, String>,
    /// Secret with the certificate of the brokers.
    pub(super) trust: &'render str,
    /// User that it logs in as, and Secret with the password.
    pub(super) user: &'render str,
}

/// Adds Kafka Connect to the reconcile, and the Secrets that its pods are pulled with.
pub(super) fn add(
    ctx: &mut EnvironmentRender<'_>,
    places: &Places<'_>,
    connect: &Connect<'_>,
) -> Result<(), ProviderError> {
    let context = ctx.shared;
    let (name, namespace) = (places.connect, places.connect_namespace);
    let key = ObjectKey::new(kinds::KAFKA_CONNECT, namespace, name);
    let live = context.lookup.reported(&key);
    check_environment(&context, live.as_ref(), |other| {
        format!(
            "kafka connect cluster named '{name}' found in ns '{namespace}' but tied to env '{other}'"
        )
    })
    .map_err(|cause| ProviderError::caused(FAILED, cause))?;
    let copies = pullsecret::copy_early(&context, ctx.set, namespace)
        .map_err(|error| error.within(FAILED))?;
    let spec = spec(&context, connect, &copies);
    let mut metadata = names::metadata(
        (namespace, name),
        environment_label(&context),
        &names::environment_owner(context.environment),
    );
    let annotation = ("strimzi.io/use-connector-resources", "true");
    let annotation = [(annotation.0.to_owned(), annotation.1.to_owned())];
    metadata.annotations = Some(annotation.into());
    let object = CustomObject::new(kinds::KAFKA_CONNECT, metadata, spec);
    // Parity: one that no environment has is taken over.
    ctx.set.add_with(UNIT, &object, Options::adopting)?;
    ctx.set.write_even_if_later_units_fail(&key);
    Ok(())
}

fn spec(context: &Context<'_>, connect: &Connect<'_>, copies: &[String]) -> Value {
    let kafka = &context.environment.spec.providers.kafka;
    let wanted = &kafka.connect;
    let mut spec = json!({
        "replicas": wanted.replicas.max(1),
        "version": first(&[&wanted.version, VERSION]),
        "image": first(&[&wanted.image, IMAGE]),
        "bootstrapServers": brokers::addresses(connect.brokers),
        "config": connect.config,
        "resources": {
            "requests": or_amounts(wanted.resources.requests.as_ref(), ("200m", "2Gi")),
            "limits": or_amounts(wanted.resources.limits.as_ref(), ("500m", "2Gi")),
        },
        "jvmOptions": {"-Xms": "2G", "-Xmx": "2G"},
        "template": {"pod": pull_references(copies)},
    });
    if !kafka.enable_legacy_strimzi {
        spec["tls"] = json!({"trustedCertificates": [
            {"certificate": "ca.crt", "secretName": connect.trust},
        ]});
        spec["authentication"] = json!({
            "type": super::users::MECHANISM,
            "username": connect.user,
            "passwordSecret": {"secretName": connect.user, "password": "password"},
        });
    }
    spec
}

/// Configuration for the cluster of an environment: its own topics, and connectors that read Secrets.
pub(super) fn config_of_own_cluster() -> BTreeMap<&'static str, String> {
    let mut config = config(1, "");
    let class = "io.strimzi.kafka.KubernetesSecretConfigProvider";
    config.insert("config.providers", "secrets".to_owned());
    config.insert("config.providers.secrets.class", class.to_owned());
    config
}

/// Configuration with topics whose names begin like this, on so many brokers each.
pub(super) fn config(replicas: i64, prefix: &str) -> BTreeMap<&'static str, String> {
    BTreeMap::from([
        ("config.storage.replication.factor", replicas.to_string()),
        (
            "config.storage.topic",
            format!("{prefix}connect-cluster-configs"),
        ),
        ("connector.client.config.override.policy", "All".to_owned()),
        ("group.id", "connect-cluster".to_owned()),
        ("offset.storage.replication.factor", replicas.to_string()),
        (
            "offset.storage.topic",
            format!("{prefix}connect-cluster-offsets"),
        ),
        ("status.storage.replication.factor", replicas.to_string()),
        (
            "status.storage.topic",
            format!("{prefix}connect-cluster-status"),
        ),
    ])
}
