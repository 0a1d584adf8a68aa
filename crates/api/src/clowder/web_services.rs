//! What a deployment offers over the network.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::absence::{is_default, or_default};

/// The services of a deployment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WebServices {
    /// The service that the outside world may reach through the gateway.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub public: PublicWebService,

    /// The service for other applications of the environment.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub private: PrivateWebService,

    /// The metrics service; every deployment has one and it has no options.
    #[serde(default, skip_serializing_if = "is_default")]
    pub metrics: Option<MetricsWebService>,
}

/// The service that the outside world may reach through the gateway.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PublicWebService {
    /// Whether the deployment has this service.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub enabled: bool,

    /// Whether the service also speaks HTTP/2 without TLS.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub h2c_enabled: bool,

    /// Port of the container that speaks HTTP/2 without TLS. Absent: the port of the environment.
    #[serde(default, skip_serializing_if = "is_default")]
    pub h2c_target_port: Option<i32>,

    /// Whether the service speaks TLS. Absent: as the environment says.
    #[serde(default, skip_serializing_if = "is_default")]
    pub tls: Option<bool>,

    /// Deprecated, see `apiPaths`: last part of the path `/api/<part>/`.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub api_path: String,

    /// Paths that the gateway sends to this deployment. Absent: made from `apiPath`.
    #[serde(default, skip_serializing_if = "is_default")]
    #[schemars(
        with = "Vec<String>",
        inner(regex(pattern = r"^\/api\/[a-zA-Z0-9-]+\/$"))
    )]
    pub api_paths: Option<Vec<String>>,

    /// Paths that need no login.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub whitelist_paths: Vec<String>,

    /// Whether requests of one client go to the same pod.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub session_affinity: bool,
}

/// The service for other applications of the environment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PrivateWebService {
    /// Whether the deployment has this service.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub enabled: bool,

    /// Whether the service also speaks HTTP/2 without TLS.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub h2c_enabled: bool,

    /// Port of the container that speaks HTTP/2 without TLS. Absent: the port of the environment.
    #[serde(default, skip_serializing_if = "is_default")]
    pub h2c_target_port: Option<i32>,

    /// Whether the service speaks TLS. Absent: as the environment says.
    #[serde(default, skip_serializing_if = "is_default")]
    pub tls: Option<bool>,
}

/// The metrics service, which has no options.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MetricsWebService {}
