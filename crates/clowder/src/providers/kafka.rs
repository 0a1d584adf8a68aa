//! Provider `kafka`: where apps find Kafka, their topics in it, and the copy of the host inventory that comes through it.
//!
//! | Module | Content |
//! |---|---|
//! | `operator` | mode `operator`: a cluster of the environment, made by Strimzi |
//! | `app_interface` | mode `app-interface`: a cluster and topics that somebody else made |
//! | `managed` | mode `managed`: a cluster that a Secret describes, and how to read the Secret |
//! | `ephemeral` | mode `ephem-msk`: such a cluster, shared by environments |
//! | `places` | names and namespaces of the clusters |
//! | `cluster`, `metrics`, `connect`, `topics`, `users` | the objects of Strimzi |
//! | `brokers` | addresses |

mod app_interface;
pub mod brokers;
mod cluster;
mod connect;
mod ephemeral;
mod managed;
mod metrics;
mod operator;
pub mod places;
pub(crate) mod topics;
mod users;

use mainstay_api::clowder::environment::kafka::KafkaMode;
use mainstay_engine::{Kind, ObjectSet};

use super::custom::CustomObject;
use crate::{
    kinds,
    providers::provider::{AppRender, EnvironmentRender, Provider, ProviderError},
};

/// Name of the provider.
pub const UNIT: &str = "kafka";

/// The provider.
#[derive(Debug)]
pub struct Kafka;

impl Provider for Kafka {
    fn name(&self) -> &'static str {
        UNIT
    }

    fn environment(&self, ctx: &mut EnvironmentRender<'_>) -> Result<(), ProviderError> {
        match &ctx.shared.environment.spec.providers.kafka.mode {
            KafkaMode::Operator => operator::environment(ctx),
            KafkaMode::AppInterface => app_interface::environment(ctx),
            KafkaMode::EphemeralMsk => ephemeral::environment(ctx),
            KafkaMode::Managed => Ok(()),
            mode => without_kafka(mode),
        }
    }

    fn app(&self, ctx: &mut AppRender<'_>) -> Result<(), ProviderError> {
        match &ctx.shared.environment.spec.providers.kafka.mode {
            KafkaMode::Operator => operator::app(ctx),
            KafkaMode::AppInterface => app_interface::app(ctx),
            KafkaMode::EphemeralMsk => ephemeral::app(ctx),
            KafkaMode::Managed => managed::app(ctx),
            mode => without_kafka(mode),
        }
    }
}

/// Topics of apps are not looked at: the environment has nowhere to put them.
fn without_kafka(mode: &KafkaMode) -> Result<(), ProviderError> {
    match mode.as_str() {
        "none" | "" => Ok(()),
        mode => Err(ProviderError::no_mode("kafka", mode)),
    }
}

/// What the failure to write an object of this provider is called. The original writes most of them in the middle of the
/// provider, so that it is the provider that fails; what it writes at the end of the reconcile is called nothing.
pub fn write_context(kind: &Kind) -> Option<&'static str> {
    match kind.kind.as_ref() {
        "Kafka" | "ConfigMap" => Some("kafka: failed to provision kafka cluster"),
        "KafkaConnect" => Some("kafka: failed to provision kafka connect cluster"),
        "KafkaTopic" | "KafkaUser" | "NetworkPolicy" => Some("kafka"),
        _ => None,
    }
}

/// Adds an object that does not wait for the rest: Strimzi has to act on it before the reconcile can come to its end.
fn add_early(set: &mut ObjectSet, object: &CustomObject) -> Result<(), ProviderError> {
    set.add(UNIT, object)?;
    set.write_even_if_later_units_fail(&object.key());
    Ok(())
}

/// What is left over of these kinds goes. Topics never do: there is data in them.
fn register(set: &mut ObjectSet) {
    for kind in [kinds::KAFKA, kinds::KAFKA_CONNECT, kinds::CONFIG_MAP] {
        set.prune.kind(kind);
    }
}

#[cfg(test)]
mod tests;
