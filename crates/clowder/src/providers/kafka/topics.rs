//! Topics that Strimzi is asked for.

use mainstay_api::clowder::app::needs::KafkaTopic;
use mainstay_engine::ObjectKey;
use serde_json::json;

use super::{add_early, places::Places};
use crate::{
    app_config::TopicConfig,
    images::first,
    kinds,
    names::{self, Labels},
    provider::{AppRender, ProviderError},
    providers::custom::CustomObject,
    topics::TopicWishes,
};

/// Topics in the cluster of the environment.
pub(super) fn add_own(
    ctx: &mut AppRender<'_>,
    places: &Places<'_>,
) -> Result<Vec<TopicConfig>, ProviderError> {
    let context = ctx.shared;
    let features = &context.settings.config.features;
    let suffix = if features.use_complex_strimzi_topic_names {
        format!("-{}-{}", context.environment_name(), ctx.namespace())
    } else {
        String::new()
    };
    add(ctx, places.namespace, places.cluster, |topic| {
        format!("{topic}{suffix}")
    })
}

/// Topics of the environment in a cluster that is shared with others.
pub(super) fn add_ephemeral(ctx: &mut AppRender<'_>) -> Result<Vec<TopicConfig>, ProviderError> {
    let context = ctx.shared;
    let kafka = &context.environment.spec.providers.kafka;
    let namespace = first(&[&kafka.topic_namespace, context.target_namespace]);
    add(ctx, namespace, &kafka.cluster_annotation, |topic| {
        names::part(context.environment_name(), topic)
    })
}

/// Adds the topics of the app. Every app that uses a topic renders it from the wishes of all of them, so it does not
/// matter whose pass writes it.
fn add(
    ctx: &mut AppRender<'_>,
    namespace: &str,
    cluster: &str,
    actual: impl Fn(&str) -> String,
) -> Result<Vec<TopicConfig>, ProviderError> {
    let mut topics = Vec::new();
    for wish in &ctx.app.spec.kafka_topics {
        let name = actual(&wish.topic_name);
        let key = ObjectKey::new(kinds::KAFKA_TOPIC, namespace, name.as_str());
        if ctx.set.get(&key).is_some() {
            return Err(ProviderError::Failed(format!(
                "cannot create: ident store [kafka_topic] already has item named [{namespace}/{name}]"
            )));
        }
        let topic = build(ctx, wish, &key, cluster)?;
        add_early(ctx.set, &topic)?;
        topics.push(TopicConfig {
            name,
            requested_name: wish.topic_name.clone(),
        });
    }
    Ok(topics)
}

fn build(
    ctx: &AppRender<'_>,
    wish: &KafkaTopic,
    key: &ObjectKey,
    cluster: &str,
) -> Result<CustomObject, ProviderError> {
    let environment = ctx.shared.environment;
    let app = &ctx.app.spec;
    let lookup = ctx.shared.lookup;
    let all = lookup.topic(&app.environment_name, &wish.topic_name);
    let mut wishes = TopicWishes::clone(&all);
    wishes.add(wish);
    let config = wishes.config().map_err(ProviderError::bare)?;
    let brokers = environment.spec.providers.kafka.cluster.replicas;
    let spec = json!({
        "config": config,
        "partitions": wishes.partitions(),
        "replicas": wishes.replicas(brokers),
    });
    let labels = [
        ("strimzi.io/cluster", cluster),
        ("env", &app.environment_name),
    ];
    let labels = names::overlaid(Labels::new(), &labels);
    let place = (key.namespace.as_str(), key.name.as_str());
    let metadata = names::metadata(place, labels, &names::environment_owner(environment));
    Ok(CustomObject::new(kinds::KAFKA_TOPIC, metadata, spec))
}
