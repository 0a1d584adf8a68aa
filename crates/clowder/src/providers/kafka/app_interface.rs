//! Mode `app-interface`: a cluster and topics that somebody else made. Nothing is made here, only looked for.

use mainstay_engine::ObjectKey;

use super::places::Places;
use crate::{
    kinds, names,
    providers::{
        app_config::{BrokerConfig, KafkaConfig, TopicConfig},
        credentials, cyndi,
        provider::{AppRender, EnvironmentRender, ProviderError},
    },
};

const PORT: i32 = 9092;
const TLS_PORT: i32 = 9093;

/// Makes sure that there is a cluster.
pub(super) fn environment(ctx: &mut EnvironmentRender<'_>) -> Result<(), ProviderError> {
    let places = Places::of(&ctx.shared);
    let (namespace, service) = (places.namespace, places.bootstrap_service());
    if ctx.shared.lookup.service_exists(namespace, &service)? {
        return Ok(());
    }
    Err(ProviderError::bare(format!(
        "Cannot find kafka bootstrap service {namespace}:{service}"
    )))
}

pub(super) fn app(ctx: &mut AppRender<'_>) -> Result<(), ProviderError> {
    let places = Places::of(&ctx.shared);
    if ctx.app.spec.cyndi.enabled {
        cyndi::check(ctx, &places)?;
    }
    if ctx.app.spec.kafka_topics.is_empty() {
        return Ok(());
    }
    ctx.config.kafka = Some(KafkaConfig {
        brokers: vec![broker(ctx, &places)?],
        topics: topics(ctx, &places)?,
    });
    Ok(())
}

fn broker(ctx: &mut AppRender<'_>, places: &Places<'_>) -> Result<BrokerConfig, ProviderError> {
    let plain = BrokerConfig {
        hostname: names::host(&places.bootstrap_service(), places.namespace),
        port: Some(PORT),
        ..BrokerConfig::default()
    };
    let context = ctx.shared;
    if !context.environment.spec.providers.kafka.cluster.force_tls {
        return Ok(plain);
    }
    let name = places.ca_secret();
    let secret = credentials::stored(context.lookup, places.namespace, &name)?;
    let secret = secret.map_err(ProviderError::Failed)?;
    ctx.associations
        .track_for_environment(context.lookup, places.namespace, &name)?;
    Ok(BrokerConfig {
        cacert: Some(secret.text("ca.crt").unwrap_or_default()),
        port: Some(TLS_PORT),
        security_protocol: Some("SSL".to_owned()),
        ..plain
    })
}

/// The topics, all of which have to be there.
fn topics(ctx: &AppRender<'_>, places: &Places<'_>) -> Result<Vec<TopicConfig>, ProviderError> {
    let namespace = places.namespace;
    let topics = ctx.app.spec.kafka_topics.iter().map(|topic| {
        let name = &topic.topic_name;
        let key = ObjectKey::new(kinds::KAFKA_TOPIC, namespace, name.as_str());
        if ctx.shared.lookup.reported(&key).is_none() {
            let details = format!("No KafkaTopic named '{name}' found in namespace '{namespace}'");
            return Err(ProviderError::missing("kafka", [details.as_str()]));
        }
        Ok(TopicConfig {
            name: name.clone(),
            requested_name: name.clone(),
        })
    });
    topics.collect()
}
