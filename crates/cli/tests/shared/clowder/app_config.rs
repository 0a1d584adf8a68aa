//! The shape of the configuration that apps get.

use serde_json::Value;

/// What the schema of `cdappconfig.json` requires of each part that is there. A list stands for its elements.
const REQUIRED_KEYS: [(&str, &[&str]); 11] = [
    ("", &["metricsPort", "metricsPath", "logging"]),
    ("/logging", &["type"]),
    (
        "/logging/cloudwatch",
        &["accessKeyId", "secretAccessKey", "region", "logGroup"],
    ),
    ("/metadata/deployments", &["name", "image"]),
    (
        "/database",
        &[
            "name",
            "username",
            "password",
            "hostname",
            "port",
            "adminUsername",
            "adminPassword",
            "sslMode",
        ],
    ),
    ("/objectStore", &["hostname", "port", "tls"]),
    ("/objectStore/buckets", &["name", "requestedName"]),
    ("/featureFlags", &["hostname", "port", "scheme"]),
    ("/inMemoryDb", &["hostname", "port"]),
    (
        "/endpoints",
        &["name", "hostname", "port", "app", "apiPath"],
    ),
    ("/privateEndpoints", &["name", "hostname", "port", "app"]),
];

/// Checks that every part which is there has its keys.
pub(crate) fn check_required_keys(config: &Value) {
    for (pointer, keys) in REQUIRED_KEYS {
        let parts = match config.pointer(pointer) {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::Array(elements)) => elements.iter().collect(),
            Some(part) => vec![part],
        };
        for part in parts {
            for key in keys {
                assert!(!part[key].is_null(), "{pointer} lacks {key}: {config}");
            }
        }
    }
    assert!(config["metricsPort"].is_i64(), "{config}");
}
