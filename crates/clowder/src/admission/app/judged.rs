//! As much of a `ClowdApp` as the rules look at.
//!
//! Anybody who reaches the webhook can send it an app, so what is kept of one must never be much larger than what was
//! sent: a text is kept as the answer to the one question that is asked about it.

use std::{fmt, marker::PhantomData};

use serde::{
    Deserialize, Deserializer,
    de::{Error as _, IgnoredAny, SeqAccess, Visitor},
};

use super::RECREATE;
use crate::providers::sidecar::{OTEL_COLLECTOR, TOKEN_REFRESHER};

/// Most deployments, and most jobs, of an app that is judged.
const MOST_PARTS: usize = 10_000;

/// As much of an app as the rules look at. The API server has checked the rest against the definition of the kind.
#[derive(Debug, Deserialize)]
pub struct JudgedApp {
    #[serde(default)]
    metadata: Metadata,
    pub(super) spec: Spec,
}

impl JudgedApp {
    /// Whether it is on its way out.
    pub(super) fn is_leaving(&self) -> bool {
        self.metadata.deletion_timestamp.is_some()
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Metadata {
    deletion_timestamp: Option<IgnoredAny>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Spec {
    #[serde(deserialize_with = "or_nothing")]
    pub(super) database: Database,
    #[serde(deserialize_with = "or_nothing")]
    pub(super) cyndi: Switch,
    #[serde(deserialize_with = "parts")]
    pub(super) deployments: Vec<Deployment>,
    #[serde(deserialize_with = "parts")]
    pub(super) jobs: Vec<Job>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Database {
    #[serde(rename = "name", deserialize_with = "is_given")]
    pub(super) is_named: bool,
    #[serde(rename = "sharedDbAppName", deserialize_with = "is_given")]
    pub(super) is_shared: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Switch {
    #[serde(deserialize_with = "or_nothing")]
    pub(super) enabled: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Deployment {
    #[serde(deserialize_with = "or_nothing")]
    pub(super) pod_spec: PodSpec,
    #[serde(deserialize_with = "or_nothing")]
    pub(super) web_services: WebServices,
    #[serde(rename = "deploymentStrategy", deserialize_with = "or_nothing")]
    pub(super) strategy: Strategy,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Job {
    #[serde(rename = "schedule", deserialize_with = "is_given")]
    pub(super) is_scheduled: bool,
    #[serde(deserialize_with = "or_nothing")]
    pub(super) pod_spec: PodSpec,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct PodSpec {
    #[serde(deserialize_with = "or_nothing")]
    pub(super) sidecars: Vec<Sidecar>,
    #[serde(deserialize_with = "or_nothing")]
    pub(super) init_containers: Vec<InitContainer>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Sidecar {
    #[serde(rename = "name", deserialize_with = "is_sidecar")]
    pub(super) is_known: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct InitContainer {
    #[serde(rename = "name", deserialize_with = "is_given")]
    pub(super) is_named: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct WebServices {
    #[serde(deserialize_with = "or_nothing")]
    pub(super) public: Switch,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Strategy {
    #[serde(rename = "privateStrategy", deserialize_with = "is_recreate")]
    pub(super) recreates: bool,
}

/// `null` is as good as nothing.
fn or_nothing<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

fn is_given<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    or_nothing(deserializer).map(|text: String| !text.is_empty())
}

fn is_sidecar<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    let known = |text: String| matches!(text.as_str(), TOKEN_REFRESHER | OTEL_COLLECTOR);
    or_nothing(deserializer).map(known)
}

fn is_recreate<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    or_nothing(deserializer).map(|text: String| text == RECREATE)
}

fn parts<'de, D, T>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    deserializer.deserialize_any(Parts(PhantomData))
}

/// Reads a list that has an end.
struct Parts<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for Parts<T> {
    type Value = Vec<T>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "a list of at most {MOST_PARTS} items")
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Vec::new())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = list.next_element()? {
            if items.len() == MOST_PARTS {
                return Err(A::Error::invalid_length(MOST_PARTS + 1, &self));
            }
            items.push(item);
        }
        Ok(items)
    }
}
