//! Mode `managed`: a cluster that a Secret describes.

use std::sync::Arc;

use super::{brokers::SASL, users::SASL_SSL};
use crate::{
    providers::{
        app_config::{BrokerConfig, KafkaConfig, SaslConfig, TopicConfig},
        credentials,
        provider::{AppRender, Context, ProviderError},
    },
    views::SecretFacts,
};

/// Why an environment has to wait.
pub(super) const NO_BROKERS: &str = "unable to determine kafka broker addresses";
/// Mechanism of logins unless the Secret says otherwise.
const PLAIN: &str = "PLAIN";

pub(super) fn app(ctx: &mut AppRender<'_>) -> Result<(), ProviderError> {
    let wanted = &ctx.app.spec.kafka_topics;
    if wanted.is_empty() {
        return Ok(());
    }
    let prefix = &ctx.shared.environment.spec.providers.kafka.managed_prefix;
    let topics = wanted.iter().map(|topic| TopicConfig {
        name: format!("{prefix}{}", topic.topic_name),
        requested_name: topic.topic_name.clone(),
    });
    ctx.config.kafka = Some(KafkaConfig {
        brokers: tracked_brokers(ctx)?,
        topics: topics.collect(),
    });
    Ok(())
}

/// The brokers for an app, whose pods restart when the Secret changes.
pub(super) fn tracked_brokers(ctx: &mut AppRender<'_>) -> Result<Vec<BrokerConfig>, ProviderError> {
    let context = ctx.shared;
    let secret = secret(&context)?;
    let reference = &context.environment.spec.providers.kafka.managed_secret_ref;
    ctx.associations.track_for_environment(
        context.lookup,
        &reference.namespace,
        &reference.name,
    )?;
    brokers(&secret)
}

/// The Secret that describes the cluster.
pub(super) fn secret(context: &Context<'_>) -> Result<Arc<SecretFacts>, ProviderError> {
    let reference = &context.environment.spec.providers.kafka.managed_secret_ref;
    if reference.name.is_empty() && reference.namespace.is_empty() {
        return Err(ProviderError::bare(
            "no secret ref defined for managed Kafka",
        ));
    }
    let secret = credentials::stored(context.lookup, &reference.namespace, &reference.name)?;
    secret.map_err(ProviderError::Failed)
}

/// Reads the brokers off the Secret: one for each host, all with the same port and login.
pub(super) fn brokers(secret: &SecretFacts) -> Result<Vec<BrokerConfig>, ProviderError> {
    let text = |key| secret.text(key).unwrap_or_default();
    let port = credentials::integer(&text("port"))
        .and_then(|number| {
            let out_of_range = "strconv.Atoi: parsing a value: value out of range";
            i32::try_from(number).map_err(|_| out_of_range.to_owned())
        })
        .map_err(ProviderError::Failed)?;
    let hosts = secret.text("hostnames").unwrap_or_else(|| text("hostname"));
    // Parity: hosts are not trimmed, and a list without any is one host without a name.
    let brokers = hosts.split(',').map(|host| BrokerConfig {
        authtype: Some(SASL.to_owned()),
        cacert: secret.text("cacert").filter(|ca| !ca.is_empty()),
        hostname: host.to_owned(),
        port: Some(port),
        sasl: Some(SaslConfig {
            password: Some(text("password")),
            sasl_mechanism: Some(
                secret
                    .text("saslMechanism")
                    .unwrap_or_else(|| PLAIN.to_owned()),
            ),
            security_protocol: Some(SASL_SSL.to_owned()),
            username: Some(text("username")),
        }),
        security_protocol: Some(SASL_SSL.to_owned()),
    });
    Ok(brokers.collect())
}
