//! `cdappconfig.json`: the contract between the platform and every app on it.
//!
//! Field order is output order, an unset option is left out, and the escapes are those of the original's encoder, so
//! the bytes, and with them the hash on the pods, are the same.

use std::{collections::BTreeMap, fmt};

use serde::Serialize;

/// The whole document.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(
    missing_docs,
    reason = "the names are the contract, and docs/reference explains them"
)]
pub struct AppConfig {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub database: Option<DatabaseConfig>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dependency_endpoints: Option<EndpointsV2>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub endpoints: Vec<Endpoint>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub feature_flags: Option<FeatureFlagsConfig>,
    #[serde(rename = "h2cPrivatePort", skip_serializing_if = "Option::is_none")]
    pub h2c_private_port: Option<i32>,
    #[serde(rename = "h2cPublicPort", skip_serializing_if = "Option::is_none")]
    pub h2c_public_port: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hash_cache: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hostname: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_memory_db: Option<InMemoryDbConfig>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kafka: Option<KafkaConfig>,
    pub logging: LoggingConfig,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<AppMetadata>,
    pub metrics_path: String,
    pub metrics_port: i32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object_store: Option<ObjectStoreConfig>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub private_dependency_endpoints: Option<EndpointsV2>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub private_endpoints: Vec<PrivateEndpoint>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub private_port: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prometheus_gateway: Option<PrometheusGatewayConfig>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub public_port: Option<i32>,
    #[serde(rename = "tlsCAPath", skip_serializing_if = "Option::is_none")]
    pub tls_ca_path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub web_port: Option<i32>,
}

/// Types that hold passwords, keys or tokens say no more than their names: what is printed for a developer ends up in a
/// log one day.
macro_rules! without_content {
    ($($name:ident),* $(,)?) => {$(
        impl fmt::Debug for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }
    )*};
}

without_content!(
    DatabaseConfig,
    FeatureFlagsConfig,
    InMemoryDbConfig,
    SaslConfig,
    CloudWatchConfig,
    ObjectStoreConfig,
    BucketConfig,
);

/// How to reach the database.
#[derive(Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the names are the contract")]
pub struct DatabaseConfig {
    pub admin_password: String,
    pub admin_username: String,
    pub hostname: String,
    pub name: String,
    pub password: String,
    pub port: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rds_ca: Option<String>,
    pub ssl_mode: String,
    pub username: String,
}

/// Endpoints by app and name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "the names are the contract")]
pub struct EndpointsV2 {
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub v2: BTreeMap<String, BTreeMap<String, EndpointV2>>,
}

/// One address.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "the names are the contract")]
pub struct EndpointV2 {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ca_certificate: Option<String>,
    pub uri: String,
}

/// A public endpoint of this app or a dependency.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the names are the contract")]
pub struct Endpoint {
    pub api_path: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub api_paths: Vec<String>,
    pub app: String,
    #[serde(rename = "h2cPort")]
    pub h2c_port: i32,
    #[serde(rename = "h2cTLSPort")]
    pub h2c_tls_port: i32,
    pub hostname: String,
    pub name: String,
    pub port: i32,
    #[serde(rename = "tlsCAPath", skip_serializing_if = "Option::is_none")]
    pub tls_ca_path: Option<String>,
    pub tls_port: i32,
}

/// A private endpoint of this app or a dependency.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the names are the contract")]
pub struct PrivateEndpoint {
    pub app: String,
    #[serde(rename = "h2cPort")]
    pub h2c_port: i32,
    #[serde(rename = "h2cTLSPort")]
    pub h2c_tls_port: i32,
    pub hostname: String,
    pub name: String,
    pub port: i32,
    #[serde(rename = "tlsCAPath", skip_serializing_if = "Option::is_none")]
    pub tls_ca_path: Option<String>,
    pub tls_port: i32,
}

/// How to reach the feature flags.
#[derive(Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the names are the contract")]
pub struct FeatureFlagsConfig {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_access_token: Option<String>,
    pub hostname: String,
    pub port: i32,
    pub scheme: String,
}

/// How to reach the in-memory database.
#[derive(Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the names are the contract")]
pub struct InMemoryDbConfig {
    pub hostname: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub password: Option<String>,
    pub port: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ssl_mode: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub username: Option<String>,
}

/// How to reach Kafka.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "the names are the contract")]
pub struct KafkaConfig {
    pub brokers: Vec<BrokerConfig>,
    pub topics: Vec<TopicConfig>,
}

/// A Kafka broker.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the names are the contract")]
pub struct BrokerConfig {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub authtype: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cacert: Option<String>,
    pub hostname: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub port: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sasl: Option<SaslConfig>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub security_protocol: Option<String>,
}

/// How to log in to a Kafka broker.
#[derive(Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the names are the contract")]
pub struct SaslConfig {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub password: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sasl_mechanism: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub security_protocol: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub username: Option<String>,
}

/// A Kafka topic.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the names are the contract")]
pub struct TopicConfig {
    pub name: String,
    pub requested_name: String,
}

/// Where to log to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "the names are the contract")]
pub struct LoggingConfig {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cloudwatch: Option<CloudWatchConfig>,
    #[serde(rename = "type")]
    pub kind: String,
}

/// How to reach `CloudWatch`.
#[derive(Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the names are the contract")]
pub struct CloudWatchConfig {
    pub access_key_id: String,
    pub log_group: String,
    pub region: String,
    pub secret_access_key: String,
}

/// What the app is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the names are the contract")]
pub struct AppMetadata {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub deployments: Vec<DeploymentMetadata>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub env_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// A deployment of the app.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "the names are the contract")]
pub struct DeploymentMetadata {
    pub image: String,
    pub name: String,
}

/// How to reach the object store.
#[derive(Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the names are the contract")]
pub struct ObjectStoreConfig {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub access_key: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub buckets: Vec<BucketConfig>,
    pub hostname: String,
    pub port: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret_key: Option<String>,
    pub tls: bool,
}

/// A bucket.
#[derive(Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the names are the contract")]
pub struct BucketConfig {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub access_key: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<String>,
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub region: Option<String>,
    pub requested_name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret_key: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tls: Option<bool>,
}

/// How to reach the Prometheus push gateway.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "the names are the contract")]
pub struct PrometheusGatewayConfig {
    pub hostname: String,
    pub port: i32,
}

/// Why a conversion to JSON cannot fail here: only keys that are no texts, or a type that refuses, have no JSON.
const HAS_JSON: &str = "texts, numbers, lists and maps by name always convert to JSON";

/// Compact JSON with the escapes of the original's encoder, which protects HTML and JavaScript.
pub fn to_json(value: &impl Serialize) -> String {
    escaped(&serde_json::to_string(value).expect(HAS_JSON))
}

/// JSON over several lines, with the same escapes.
pub fn to_pretty_json(value: &impl Serialize) -> String {
    escaped(&serde_json::to_string_pretty(value).expect(HAS_JSON))
}

fn escaped(plain: &str) -> String {
    let mut escaped = String::with_capacity(plain.len());
    // These characters can only stand inside texts, so the escapes are always valid.
    for character in plain.chars() {
        match character {
            '<' => escaped.push_str("\\u003c"),
            '>' => escaped.push_str("\\u003e"),
            '&' => escaped.push_str("\\u0026"),
            '\u{2028}' => escaped.push_str("\\u2028"),
            '\u{2029}' => escaped.push_str("\\u2029"),
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{
        providers::{
            effect::{Effect, Hidden},
            fixture::secret,
        },
        views::SecretFacts,
    };

    #[test]
    fn what_is_printed_for_developers_holds_no_secret() {
        const CANARY: &str = "canary-of-this-test";
        let text = || CANARY.to_owned();
        let config = AppConfig {
            database: Some(DatabaseConfig {
                admin_password: text(),
                password: text(),
                username: text(),
                ..DatabaseConfig::default()
            }),
            feature_flags: Some(FeatureFlagsConfig {
                client_access_token: Some(text()),
                ..FeatureFlagsConfig::default()
            }),
            in_memory_db: Some(InMemoryDbConfig {
                password: Some(text()),
                ..InMemoryDbConfig::default()
            }),
            kafka: Some(KafkaConfig {
                brokers: vec![BrokerConfig {
                    sasl: Some(SaslConfig {
                        password: Some(text()),
                        ..SaslConfig::default()
                    }),
                    ..BrokerConfig::default()
                }],
                ..KafkaConfig::default()
            }),
            logging: LoggingConfig {
                cloudwatch: Some(CloudWatchConfig {
                    access_key_id: text(),
                    secret_access_key: text(),
                    ..CloudWatchConfig::default()
                }),
                ..LoggingConfig::default()
            },
            object_store: Some(ObjectStoreConfig {
                access_key: Some(text()),
                buckets: vec![BucketConfig {
                    secret_key: Some(text()),
                    ..BucketConfig::default()
                }],
                secret_key: Some(text()),
                ..ObjectStoreConfig::default()
            }),
            ..AppConfig::default()
        };
        assert_eq!(to_json(&config).matches(CANARY).count(), 11);
        let effect = Effect::Bucket {
            host: "host".to_owned(),
            port: 1,
            access_key: Hidden(text()),
            secret_key: Hidden(text()),
            name: "photos".to_owned(),
        };
        let facts = SecretFacts::of(&secret("market", "login", json!({"password": CANARY})));
        assert_eq!(facts.text("password").as_deref(), Some(CANARY));
        let shown = format!("{config:?} {effect:?} {facts:?}");
        assert!(!shown.contains(CANARY), "{shown}");
        assert!(
            shown.contains("login") && shown.contains("photos"),
            "{shown}"
        );
    }
}
