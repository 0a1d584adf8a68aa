//! Mode `operator`: a cluster of the environment, made by Strimzi.
//!
//! An environment pass asks for the cluster, and goes on when Strimzi has reported how to reach it. An app pass asks for
//! topics and a user, and goes on when Strimzi has made the user. What is asked for is written at once; the rest waits.

use k8s_openapi::{
    api::networking::v1::{
        NetworkPolicy, NetworkPolicyIngressRule, NetworkPolicyPeer, NetworkPolicySpec,
    },
    apimachinery::pkg::apis::meta::v1::LabelSelector,
};
use mainstay_engine::ObjectKey;
use serde_json::Value;

use super::{
    UNIT, add_early, brokers, cluster,
    connect::{self, Connect},
    metrics,
    places::Places,
    register, topics, users,
};
use crate::{
    app_config::{BrokerConfig, KafkaConfig},
    kinds, names,
    provider::{AppPass, EnvironmentPass, ProviderError, Scene},
    providers::{component::Component, cyndi, pullsecret},
};

const CLUSTER_FAILED: &str = "failed to provision kafka cluster";

pub(super) fn environment(pass: &mut EnvironmentPass<'_>) -> Result<(), ProviderError> {
    register(pass.set);
    let scene = pass.scene;
    let places = Places::of(&scene);
    add_policy(pass, &places)?;
    let metrics = metrics::build(&scene, &places);
    pass.set.add(UNIT, &metrics)?;
    let name = names::name(&metrics.metadata);
    pass.set.write_even_if_later_units_fail(&ObjectKey::new(
        kinds::CONFIG_MAP,
        places.namespace,
        name,
    ));
    let live = scene.world.reported(&places.cluster_key());
    check_environment(&scene, live.as_ref(), |other| {
        format!(
            "kafka cluster named '{}' found in ns '{}' but tied to env '{other}'",
            places.cluster, places.namespace
        )
    })
    .map_err(|cause| ProviderError::caused(CLUSTER_FAILED, cause))?;
    let copies = pullsecret::copy_early(&scene, pass.set, places.namespace)
        .map_err(|error| error.within(CLUSTER_FAILED))?;
    add_early(pass.set, &cluster::build(&scene, &places, &copies))?;
    let brokers = known_brokers(&scene, &places, live.as_ref())?;
    add_early(pass.set, &users::build_for_connect(&scene, &places))?;
    connect::add(
        pass,
        &places,
        &Connect {
            brokers: &brokers,
            config: connect::config_of_own_cluster(),
            trust: &places.ca_secret(),
            user: &users::connect_user(&scene),
        },
    )
}

/// An object that carries the name of another environment is that one's.
pub(super) fn check_environment(
    scene: &Scene<'_>,
    facts: Option<&Value>,
    words: impl FnOnce(&str) -> String,
) -> Result<(), String> {
    let holder = facts.and_then(|facts| facts.get("label:env")?.as_str());
    match holder {
        Some(other) if other != scene.environment_name() => Err(words(other)),
        _ => Ok(()),
    }
}

/// Lets apps in. Parity: as long as there are none, everybody.
fn add_policy(pass: &mut EnvironmentPass<'_>, places: &Places<'_>) -> Result<(), ProviderError> {
    let scene = pass.scene;
    let apps = scene.world.apps(scene.environment_name());
    let mut namespaces: Vec<String> = apps.iter().map(|app| app.namespace.clone()).collect();
    namespaces.sort();
    namespaces.dedup();
    let peers = namespaces.into_iter().map(|namespace| NetworkPolicyPeer {
        namespace_selector: Some(LabelSelector {
            match_labels: Some([("kubernetes.io/metadata.name".to_owned(), namespace)].into()),
            match_expressions: None,
        }),
        ..NetworkPolicyPeer::default()
    });
    let peers: Vec<NetworkPolicyPeer> = peers.collect();
    let component = Component {
        namespace: places.namespace,
        ..Component::of_environment(&scene, places.cluster.to_owned())
    };
    let policy = NetworkPolicy {
        metadata: component.metadata(component.base_labels.clone()),
        spec: Some(NetworkPolicySpec {
            pod_selector: Some(LabelSelector::default()),
            policy_types: Some(vec!["Ingress".to_owned()]),
            ingress: Some(vec![NetworkPolicyIngressRule {
                from: Some(peers).filter(|peers| !peers.is_empty()),
                ports: None,
            }]),
            egress: None,
        }),
    };
    pass.set.add(UNIT, &policy)?;
    pass.set.write_even_if_later_units_fail(&ObjectKey::new(
        kinds::NETWORK_POLICY,
        places.namespace,
        places.cluster,
    ));
    Ok(())
}

/// The brokers, once Strimzi has reported them.
fn known_brokers(
    scene: &Scene<'_>,
    places: &Places<'_>,
    live: Option<&Value>,
) -> Result<Vec<BrokerConfig>, ProviderError> {
    let unable = |cause| ProviderError::caused(super::managed::NO_BROKERS, cause);
    let listeners = live.and_then(brokers::listeners);
    let listeners = listeners.ok_or_else(|| unable(brokers::no_status(places)))?;
    let brokers = brokers::of_listeners(listeners, &ca(scene, places)?);
    if brokers.is_empty() {
        return Err(unable(brokers::no_listeners(places)));
    }
    Ok(brokers)
}

/// The certificate of the cluster; empty as long as there is none.
fn ca(scene: &Scene<'_>, places: &Places<'_>) -> Result<String, ProviderError> {
    let secret = scene.world.secret(places.namespace, &places.ca_secret())?;
    let ca = secret.and_then(|secret| secret.text("ca.crt"));
    Ok(ca.unwrap_or_default())
}

pub(super) fn app(pass: &mut AppPass<'_>) -> Result<(), ProviderError> {
    let scene = pass.scene;
    let places = Places::of(&scene);
    let live = scene.world.reported(&places.cluster_key());
    let live = live.ok_or_else(|| {
        let text = format!("Kafka.kafka.strimzi.io \"{}\" not found", places.cluster);
        ProviderError::Failed(text)
    })?;
    let ca = ca(&scene, &places)?;
    pass.associations
        .track_for_environment(scene.world, places.namespace, &places.ca_secret())?;
    let listeners = brokers::listeners(&live).ok_or_else(|| {
        ProviderError::caused(super::managed::NO_BROKERS, brokers::no_status(&places))
    })?;
    let mut config = KafkaConfig {
        brokers: brokers::of_listeners(listeners, &ca),
        topics: Vec::new(),
    };
    let spec = &pass.app.spec;
    if spec.cyndi.enabled {
        cyndi::provide(pass, &places)?;
    }
    let asks_who_is_there = !scene.environment.spec.providers.kafka.enable_legacy_strimzi;
    if !spec.kafka_topics.is_empty() {
        config.topics = topics::add_own(pass, &places)?;
        if asks_who_is_there {
            let user = users::build_for_app(pass, &places, &config.topics);
            let key = user.key();
            add_early(pass.set, &user)?;
            users::log_in(pass, &key, &mut config.brokers)?;
        }
    }
    pass.config.kafka = Some(config);
    Ok(())
}
