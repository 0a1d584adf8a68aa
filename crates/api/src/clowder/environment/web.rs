//! Services and the way to them from outside.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    absence::{is_default, or_default},
    word::word,
};

/// Services and the way to them from outside.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WebProvider {
    /// Port of public services.
    #[serde(default)]
    #[schemars(!default)]
    pub port: i32,

    /// Port of private services. Zero: 10000.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub private_port: i32,

    /// Port of public services for HTTP/2 without TLS. Zero: there is none.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub h2c_port: i32,

    /// Port of private services for HTTP/2 without TLS. Zero: there is none.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub h2c_private_port: i32,

    /// Port of the authenticating sidecar, in mode `local`. The key is misspelled, and users rely on it. Zero: 8080.
    #[serde(
        rename = "aiuthPort",
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub auth_port: i32,

    /// Not used.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub api_prefix: String,

    /// What stands in front of the services.
    #[serde(default)]
    #[schemars(!default)]
    pub mode: WebMode,

    /// Not used.
    #[serde(
        rename = "bopURL",
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub bop_url: String,

    /// Class of the Ingresses, in mode `local`. Empty: `nginx`.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub ingress_class: String,

    /// Version of Keycloak, for its Secret. It does not choose the image. Empty: `23.0.1`.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub keycloak_version: String,

    /// Whether Keycloak keeps its data on a volume of its own.
    #[serde(
        rename = "keycloakPVC",
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub keycloak_persistent: bool,

    /// Images.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub images: WebImages,

    /// Services that speak TLS.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub tls: Tls,

    /// Certificates of the gateway.
    #[serde(
        rename = "gatewayCert",
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub gateway_certificate: GatewayCertificate,
}

word! {
    /// What stands in front of the services.
    pub enum WebMode {
        /// Nothing.
        None = "none",
        /// What others run.
        Operator = "operator",
        /// A gateway and a login server of the environment.
        Local = "local",
    }
}

/// Images of the gateway and the login server. Empty: those of the operator.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WebImages {
    /// Image of the entitlements stand-in.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub mocktitlements: String,

    /// Image of Keycloak.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub keycloak: String,

    /// Image of the authenticating sidecar.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub caddy: String,

    /// Image of the gateway.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub caddy_gateway: String,

    /// Image of the sidecar that ends TLS.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub caddy_proxy: String,

    /// Image of the back-office stand-in.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub mock_bop: String,
}

/// Services that speak TLS. In effect only if both `port` and `privatePort` are set.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Tls {
    /// Whether services that do not say so themselves speak TLS.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub enabled: bool,

    /// Port of public services.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub port: i32,

    /// Port of private services.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub private_port: i32,

    /// Port of public services for HTTP/2.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub h2c_port: i32,

    /// Port of private services for HTTP/2.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub h2c_private_port: i32,
}

/// Certificates of the gateway.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GatewayCertificate {
    /// Whether the gateway gets a certificate.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub enabled: bool,

    /// Who issues the certificate.
    #[serde(
        rename = "certMode",
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub mode: GatewayCertificateMode,

    /// ConfigMap with the certificates of authorities that the gateway trusts.
    #[serde(
        rename = "localCAConfigMap",
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub local_ca_config_map: String,

    /// Address that the issuer writes to, in mode `acme`.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub email_address: String,
}

word! {
    /// Who issues the certificate of the gateway.
    pub enum GatewayCertificateMode {
        /// The environment itself.
        SelfSigned = "self-signed",
        /// An ACME server.
        Acme = "acme",
        /// Nobody.
        None = "none",
    }
}
