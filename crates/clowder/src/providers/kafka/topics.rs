//! Topics that Strimzi is asked for.

use std::collections::BTreeSet;

use mainstay_api::clowder::{app::needs::KafkaTopic, environment::kafka::KafkaMode};
use mainstay_engine::ObjectKey;
use serde_json::json;

use super::{add_early, places::Places};
use crate::{
    kinds,
    names::{self, Labels},
    providers::{
        app_config::TopicConfig,
        custom::CustomObject,
        images::first,
        provider::{AppRender, Context, ProviderError},
    },
    views::topics::TopicWishes,
};

/// Topics in the cluster of the environment.
pub(super) fn add_own(
    ctx: &mut AppRender<'_>,
    places: &Places<'_>,
) -> Result<Vec<TopicConfig>, ProviderError> {
    let (context, namespace) = (ctx.shared, ctx.namespace());
    add(ctx, places.namespace, places.cluster, |topic| {
        own_name(&context, topic, namespace)
    })
}

/// Name of a topic in the cluster of the environment, for an app of a namespace.
fn own_name(context: &Context<'_>, topic: &str, namespace: &str) -> String {
    let features = &context.settings.config.features;
    if features.use_complex_strimzi_topic_names {
        format!("{topic}-{}-{namespace}", context.environment_name())
    } else {
        topic.to_owned()
    }
}

/// The topics that Strimzi is asked for by the apps of an environment.
pub(crate) fn of_apps(context: &Context<'_>) -> BTreeSet<ObjectKey> {
    let kafka = &context.environment.spec.providers.kafka;
    let places = Places::of(context);
    let apps = match kafka.mode {
        KafkaMode::Operator | KafkaMode::EphemeralMsk => {
            context.lookup.apps(context.environment_name())
        }
        _ => return BTreeSet::new(),
    };
    let wishes = apps.iter().flat_map(|app| {
        let topics = app.topic_names();
        topics.map(move |topic| (app, topic))
    });
    let keys = wishes.map(|(app, topic)| {
        let (namespace, name) = if kafka.mode == KafkaMode::Operator {
            (places.namespace, own_name(context, topic, &app.namespace))
        } else {
            (ephemeral_namespace(context), ephemeral_name(context, topic))
        };
        ObjectKey::new(kinds::KAFKA_TOPIC, namespace, name)
    });
    keys.collect()
}

fn ephemeral_namespace<'render>(context: &Context<'render>) -> &'render str {
    let kafka = &context.environment.spec.providers.kafka;
    first(&[&kafka.topic_namespace, context.target_namespace])
}

fn ephemeral_name(context: &Context<'_>, topic: &str) -> String {
    names::part(context.environment_name(), topic)
}

/// Topics of the environment in a cluster that is shared with others.
pub(super) fn add_ephemeral(ctx: &mut AppRender<'_>) -> Result<Vec<TopicConfig>, ProviderError> {
    let context = ctx.shared;
    let kafka = &context.environment.spec.providers.kafka;
    let namespace = ephemeral_namespace(&context);
    add(ctx, namespace, &kafka.cluster_annotation, |topic| {
        ephemeral_name(&context, topic)
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
