//! Mode `operator`: a cluster of the environment, made by Strimzi.
//!
//! An environment reconcile asks for the cluster, and goes on when Strimzi has reported how to reach it. An app reconcile asks for
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
    kinds, names,
    providers::{
        app_config::{BrokerConfig, KafkaConfig},
        component::Component,
        cyndi,
        provider::{AppRender, Context, EnvironmentRender, ProviderError},
        pullsecret,
    },
};

const CLUSTER_FAILED: &str = "failed to provision kafka cluster";

pub(super) fn environment(ctx: &mut EnvironmentRender<'_>) -> Result<(), ProviderError> {
    register(ctx.set);
    let context = ctx.shared;
    let places = Places::of(&context);
    add_policy(ctx, &places)?;
    let metrics = metrics::build(&context, &places);
    ctx.set.add(UNIT, &metrics)?;
    let name = names::name(&metrics.metadata);
    ctx.set.write_even_if_later_units_fail(&ObjectKey::new(
        kinds::CONFIG_MAP,
        places.namespace,
        name,
    ));
    let live = context.lookup.reported(&places.cluster_key());
    check_environment(&context, live.as_ref(), |other| {
        format!(
            "kafka cluster named '{}' found in ns '{}' but tied to env '{other}'",
            places.cluster, places.namespace
        )
    })
    .map_err(|cause| ProviderError::caused(CLUSTER_FAILED, cause))?;
    let copies = pullsecret::copy_early(&context, ctx.set, places.namespace)
        .map_err(|error| error.within(CLUSTER_FAILED))?;
    add_early(ctx.set, &cluster::build(&context, &places, &copies))?;
    let brokers = known_brokers(&context, &places, live.as_ref())?;
    add_early(ctx.set, &users::build_for_connect(&context, &places))?;
    connect::add(
        ctx,
        &places,
        &Connect {
            brokers: &brokers,
            config: connect::config_of_own_cluster(),
            trust: &places.ca_secret(),
            user: &users::connect_user(&context),
        },
    )
}

/// An object that carries the name of another environment is that one's.
pub(super) fn check_environment(
    context: &Context<'_>,
    facts: Option<&Value>,
    words: impl FnOnce(&str) -> String,
) -> Result<(), String> {
    let holder = facts.and_then(|facts| facts.get("label:env")?.as_str());
    match holder {
        Some(other) if other != context.environment_name() => Err(words(other)),
        _ => Ok(()),
    }
}

/// Lets apps in. Parity: as long as there are none, everybody.
fn add_policy(ctx: &mut EnvironmentRender<'_>, places: &Places<'_>) -> Result<(), ProviderError> {
    let context = ctx.shared;
    let apps = context.lookup.apps(context.environment_name());
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
        ..Component::of_environment(&context, places.cluster.to_owned())
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
    ctx.set.add(UNIT, &policy)?;
    ctx.set.write_even_if_later_units_fail(&ObjectKey::new(
        kinds::NETWORK_POLICY,
        places.namespace,
        places.cluster,
    ));
    Ok(())
}

/// The brokers, once Strimzi has reported them.
fn known_brokers(
    context: &Context<'_>,
    places: &Places<'_>,
    live: Option<&Value>,
) -> Result<Vec<BrokerConfig>, ProviderError> {
    let unable = |cause| ProviderError::caused(super::managed::NO_BROKERS, cause);
    let listeners = live.and_then(brokers::listeners);
    let listeners = listeners.ok_or_else(|| unable(brokers::no_status(places)))?;
    let brokers = brokers::of_listeners(listeners, &ca(context, places)?);
    if brokers.is_empty() {
        return Err(unable(brokers::no_listeners(places)));
    }
    Ok(brokers)
}

/// The certificate of the cluster; empty as long as there is none.
fn ca(context: &Context<'_>, places: &Places<'_>) -> Result<String, ProviderError> {
    let secret = context
        .lookup
        .secret(places.namespace, &places.ca_secret())?;
    let ca = secret.and_then(|secret| secret.text("ca.crt"));
    Ok(ca.unwrap_or_default())
}

pub(super) fn app(ctx: &mut AppRender<'_>) -> Result<(), ProviderError> {
    let context = ctx.shared;
    let places = Places::of(&context);
    let live = context.lookup.reported(&places.cluster_key());
    let live = live.ok_or_else(|| {
        let text = format!("Kafka.kafka.strimzi.io \"{}\" not found", places.cluster);
        ProviderError::Failed(text)
    })?;
    let ca = ca(&context, &places)?;
    ctx.associations.track_for_environment(
        context.lookup,
        places.namespace,
        &places.ca_secret(),
    )?;
    let listeners = brokers::listeners(&live).ok_or_else(|| {
        ProviderError::caused(super::managed::NO_BROKERS, brokers::no_status(&places))
    })?;
    let mut config = KafkaConfig {
        brokers: brokers::of_listeners(listeners, &ca),
        topics: Vec::new(),
    };
    let spec = &ctx.app.spec;
    if spec.cyndi.enabled {
        cyndi::provide(ctx, &places)?;
    }
    let asks_who_is_there = !context
        .environment
        .spec
        .providers
        .kafka
        .enable_legacy_strimzi;
    if !spec.kafka_topics.is_empty() {
        config.topics = topics::add_own(ctx, &places)?;
        if asks_who_is_there {
            let user = users::build_for_app(ctx, &places, &config.topics);
            let key = user.key();
            add_early(ctx.set, &user)?;
            ctx.set.needs_kinds(&key, &[kinds::KAFKA_TOPIC]);
            users::log_in(ctx, &key, &mut config.brokers)?;
        }
    }
    ctx.config.kafka = Some(config);
    Ok(())
}
