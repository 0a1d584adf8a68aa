//! Providers, one folder or file each, under the original's names and in its order; and what they share: [`provider`], the
//! document of an app ([`app_config`]), [`credentials`], [`images`], and what they want done outside the cluster ([`effect`]).

pub mod app_config;
pub mod autoscaler;
pub mod component;
pub mod confighash;
pub mod credentials;
pub mod cronjob;
pub mod custom;
pub mod cyndi;
pub mod database;
pub mod dependencies;
pub mod deployment;
pub mod effect;
pub mod featureflags;
#[cfg(test)]
pub(crate) mod fixture;
pub mod images;
pub mod ingress;
pub mod inmemorydb;
pub mod kafka;
pub mod logging;
pub mod metrics;
pub mod objectstore;
pub mod pod;
pub mod postgres;
pub mod provider;
pub mod pullsecret;
pub mod reverseproxy;
pub mod service;
pub mod serviceaccount;
pub mod servicemesh;
pub mod sidecar;
pub mod web;

use crate::providers::provider::Provider;

/// All providers. Position is the order: the original numbers them and leaves ties open; these are the ones observed.
/// Its provider `namespace` is not here: the API server itself keeps the label that it would add.
pub static PROVIDERS: &[&dyn Provider] = &[
    &cronjob::CronJobs,
    &deployment::Deployments,
    &web::Web,
    &metrics::Metrics,
    &dependencies::Dependencies,
    &objectstore::ObjectStore,
    &inmemorydb::InMemoryDb,
    &logging::Logging,
    &database::Database,
    &featureflags::FeatureFlags,
    &kafka::Kafka,
    &reverseproxy::ReverseProxy,
    &autoscaler::Autoscaler,
    &serviceaccount::ServiceAccounts,
    &pullsecret::PullSecrets,
    &servicemesh::ServiceMesh,
    &sidecar::Sidecars,
    &confighash::ConfigHash,
];
