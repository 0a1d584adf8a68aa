//! Scaling by KEDA.

use std::collections::BTreeMap;

use mainstay_api::clowder::app::autoscaler::{
    Advanced, AutoScaler, Fallback, FallbackBehavior, Trigger,
};
use serde::Serialize;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

use crate::{
    kinds, names,
    providers::{
        kafka::brokers::addresses,
        metrics::prometheus,
        provider::{AppRender, ProviderError},
    },
};

const DEFAULT_MINIMUM: i32 = 1;
const DEFAULT_MAXIMUM: i32 = 10;

/// A `ScaledObject`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ScaledObject {
    api_version: String,
    kind: String,
    metadata: ObjectMeta,
    spec: ScaledObjectSpec,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ScaledObjectSpec {
    scale_target_ref: ScaleTarget,
    #[serde(skip_serializing_if = "Option::is_none")]
    polling_interval: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cooldown_period: Option<i32>,
    min_replica_count: i32,
    max_replica_count: i32,
    #[serde(skip_serializing_if = "Option::is_none")]
    advanced: Option<Advanced>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fallback: Option<Fallback>,
    triggers: Vec<Trigger>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ScaleTarget {
    api_version: String,
    kind: String,
    name: String,
}

/// The `ScaledObject` of a deployment.
pub(super) fn build(
    ctx: &AppRender<'_>,
    deployment: &str,
    scaler: &AutoScaler,
) -> Result<ScaledObject, ProviderError> {
    let name = ctx.part(deployment);
    let labels = names::overlaid(names::app_labels(ctx.app), &[("pod", &name)]);
    let place = (ctx.namespace(), name.as_str());
    let triggers = scaler
        .triggers
        .iter()
        .map(|trigger| connected(ctx, trigger));
    Ok(ScaledObject {
        api_version: kinds::SCALED_OBJECT.api_version(),
        kind: kinds::SCALED_OBJECT.kind.into_owned(),
        metadata: names::metadata(place, labels, &names::app_owner(ctx.app)),
        spec: ScaledObjectSpec {
            triggers: triggers.collect::<Result<_, _>>()?,
            scale_target_ref: ScaleTarget {
                api_version: kinds::DEPLOYMENT.api_version(),
                kind: kinds::DEPLOYMENT.kind.into_owned(),
                name,
            },
            polling_interval: scaler.polling_interval,
            cooldown_period: scaler.cooldown_period,
            min_replica_count: scaler.min_replica_count.unwrap_or(DEFAULT_MINIMUM),
            max_replica_count: scaler.max_replica_count.unwrap_or(DEFAULT_MAXIMUM),
            advanced: scaler.advanced.clone(),
            fallback: scaler.fallback.as_ref().map(plain_fallback),
        },
    })
}

/// The API server writes the default behaviour into every app; older versions of KEDA refuse a field that says it.
fn plain_fallback(fallback: &Fallback) -> Fallback {
    let mut fallback = fallback.clone();
    if fallback.behavior == FallbackBehavior::Static {
        fallback.behavior = FallbackBehavior::default();
    }
    fallback
}

/// The trigger with the addresses that only the environment knows.
fn connected(ctx: &AppRender<'_>, trigger: &Trigger) -> Result<Trigger, ProviderError> {
    let mut trigger = trigger.clone();
    match trigger.trigger_type.as_str() {
        "kafka" => connect_kafka(ctx, &mut trigger.metadata)?,
        "prometheus" => {
            let context = ctx.shared;
            let address = prometheus::server_address(context.environment, context.target_namespace);
            trigger.metadata.insert("serverAddress".to_owned(), address);
        }
        _ => {}
    }
    Ok(trigger)
}

fn connect_kafka(
    ctx: &AppRender<'_>,
    metadata: &mut BTreeMap<String, String>,
) -> Result<(), ProviderError> {
    let brokers = ctx
        .config
        .kafka
        .as_ref()
        .map(|kafka| kafka.brokers.as_slice());
    let Some(brokers @ [first, ..]) = brokers else {
        return Err(ProviderError::bare(
            "a kafka trigger needs an environment that provides kafka",
        ));
    };
    metadata.insert("bootstrapServers".to_owned(), addresses(brokers));
    if let Some(login) = &first.sasl {
        let mechanism = login.sasl_mechanism.clone().ok_or_else(|| {
            ProviderError::bare("a kafka trigger needs an app that uses kafka topics")
        })?;
        metadata.insert("sasl".to_owned(), mechanism);
        metadata.insert("tls".to_owned(), "enable".to_owned());
    }
    Ok(())
}
