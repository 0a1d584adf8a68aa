//! Addresses of brokers.

use serde_json::Value;

use super::places::Places;
use crate::providers::app_config::{BrokerConfig, SaslConfig};

/// How brokers ask who is there.
pub(super) const SASL: &str = "sasl";

/// `<host>:<port>`, or the host alone.
pub fn address(broker: &BrokerConfig) -> String {
    match broker.port {
        Some(port) => format!("{}:{port}", broker.hostname),
        None => broker.hostname.clone(),
    }
}

/// The addresses of brokers in one text.
pub fn addresses(brokers: &[BrokerConfig]) -> String {
    let addresses: Vec<String> = brokers.iter().map(address).collect();
    addresses.join(",")
}

/// The listeners that Strimzi reports for a cluster; `None` if it does not report any yet.
pub(super) fn listeners(facts: &Value) -> Option<&Vec<Value>> {
    facts.get("listeners")?.as_array()
}

/// The brokers behind the listeners that apps can use; others are for other clients.
pub(super) fn of_listeners(listeners: &[Value], ca: &str) -> Vec<BrokerConfig> {
    let brokers = listeners.iter().filter_map(|listener| {
        let port = listener.get("port").and_then(Value::as_i64);
        let plain = BrokerConfig {
            hostname: listener.get("host")?.as_str()?.to_owned(),
            port: port.and_then(|port| i32::try_from(port).ok()),
            ..BrokerConfig::default()
        };
        match listener.get("name")?.as_str()? {
            "tls" => Some(BrokerConfig {
                authtype: Some(SASL.to_owned()),
                // Parity: told even if it is empty.
                cacert: Some(ca.to_owned()),
                sasl: Some(SaslConfig::default()),
                ..plain
            }),
            "tcp" | "plain" => Some(plain),
            _ => None,
        }
    });
    brokers.collect()
}

/// Strimzi has not reported how to reach the cluster.
pub(super) fn no_status(places: &Places<'_>) -> String {
    format!(
        "kafka cluster '{}' in ns '{}' has no listener status",
        places.cluster, places.namespace
    )
}

/// Strimzi has reported listeners, and none that apps can use.
pub(super) fn no_listeners(places: &Places<'_>) -> String {
    format!(
        "kafka cluster '{}' in ns '{}' has no listeners",
        places.cluster, places.namespace
    )
}
