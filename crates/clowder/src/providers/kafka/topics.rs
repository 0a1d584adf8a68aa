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
    provider::{AppPass, ProviderError},
    providers::custom::CustomObject,
};

/// Topics in the cluster of the environment.
pub(super) fn add_own(
    pass: &mut AppPass<'_>,
    places: &Places<'_>,
) -> Result<Vec<TopicConfig>, ProviderError> {
    let scene = pass.scene;
    let features = &scene.settings.config.features;
    let suffix = if features.use_complex_strimzi_topic_names {
        format!("-{}-{}", scene.environment_name(), pass.namespace())
    } else {
        String::new()
    };
    add(pass, places.namespace, places.cluster, |topic| {
        format!("{topic}{suffix}")
    })
}

/// Topics of the environment in a cluster that is shared with others.
pub(super) fn add_ephemeral(pass: &mut AppPass<'_>) -> Result<Vec<TopicConfig>, ProviderError> {
    let scene = pass.scene;
    let kafka = &scene.environment.spec.providers.kafka;
    let namespace = first(&[&kafka.topic_namespace, scene.target_namespace]);
    add(pass, namespace, &kafka.cluster_annotation, |topic| {
        names::part(scene.environment_name(), topic)
    })
}

/// Adds the topics of the app. Every app that uses a topic renders it from the wishes of all of them, so it does not
/// matter whose pass writes it.
fn add(
    pass: &mut AppPass<'_>,
    namespace: &str,
    cluster: &str,
    actual: impl Fn(&str) -> String,
) -> Result<Vec<TopicConfig>, ProviderError> {
    let mut topics = Vec::new();
    for wish in &pass.app.spec.kafka_topics {
        let name = actual(&wish.topic_name);
        let key = ObjectKey::new(kinds::KAFKA_TOPIC, namespace, name.as_str());
        if pass.set.get(&key).is_some() {
            return Err(ProviderError::Failed(format!(
                "cannot create: ident store [kafka_topic] already has item named [{namespace}/{name}]"
            )));
        }
        let topic = build(pass, wish, &key, cluster)?;
        add_early(pass.set, &topic)?;
        topics.push(TopicConfig {
            name,
            requested_name: wish.topic_name.clone(),
        });
    }
    Ok(topics)
}

fn build(
    pass: &AppPass<'_>,
    wish: &KafkaTopic,
    key: &ObjectKey,
    cluster: &str,
) -> Result<CustomObject, ProviderError> {
    let environment = pass.scene.environment;
    let app = &pass.app.spec;
    let mut wishes = pass
        .scene
        .world
        .topic(&app.environment_name, &wish.topic_name);
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
