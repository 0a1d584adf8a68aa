//! Environment variables of sidecars: a narrower shape than that of containers.

use k8s_openapi::api::core::v1::{
    ConfigMapKeySelector, EnvVar, EnvVarSource, ObjectFieldSelector, SecretKeySelector,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    absence::{is_default, or_default},
    embedded,
};

/// An environment variable of a sidecar.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SidecarVariable {
    /// Name of the variable.
    #[serde(default)]
    #[schemars(!default)]
    pub name: String,

    /// Its value.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub value: String,

    /// Where the value is taken from, if it is not given.
    #[serde(default, skip_serializing_if = "is_default")]
    pub value_from: Option<SidecarVariableSource>,
}

/// Where the value of an environment variable is taken from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SidecarVariableSource {
    /// A key of a ConfigMap in the namespace of the pod.
    #[serde(default, skip_serializing_if = "is_default")]
    pub config_map_key_ref: Option<KeyReference>,

    /// A key of a Secret in the namespace of the pod.
    #[serde(default, skip_serializing_if = "is_default")]
    pub secret_key_ref: Option<KeyReference>,

    /// A field of the pod.
    #[serde(default, skip_serializing_if = "is_default")]
    #[schemars(schema_with = "embedded::field_reference::<ObjectFieldSelector>")]
    pub field_ref: Option<ObjectFieldSelector>,
}

/// A key of a ConfigMap or Secret.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KeyReference {
    /// Name of the ConfigMap or Secret.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub name: String,

    /// The key.
    #[serde(default)]
    #[schemars(!default)]
    pub key: String,

    /// Whether the pod may start without the object or the key.
    #[serde(default, skip_serializing_if = "is_default")]
    pub optional: Option<bool>,
}

impl From<SidecarVariable> for EnvVar {
    fn from(variable: SidecarVariable) -> Self {
        let SidecarVariable {
            name,
            value,
            value_from,
        } = variable;
        Self {
            name,
            value: Some(value).filter(|value| !value.is_empty()),
            value_from: value_from.map(EnvVarSource::from),
        }
    }
}

impl From<SidecarVariableSource> for EnvVarSource {
    fn from(source: SidecarVariableSource) -> Self {
        Self {
            config_map_key_ref: source.config_map_key_ref.map(|key| ConfigMapKeySelector {
                name: key.name,
                key: key.key,
                optional: key.optional,
            }),
            secret_key_ref: source.secret_key_ref.map(|key| SecretKeySelector {
                name: key.name,
                key: key.key,
                optional: key.optional,
            }),
            field_ref: source.field_ref,
            ..Self::default()
        }
    }
}
