//! What Strimzi would answer, where no cluster is there to ask.

use mainstay_engine::ObjectKey;
use serde_json::{Value, json};

use crate::{kinds, names};
use mainstay_engine::snapshot::{Alphabet, FileSnapshot, Snapshot as _};

/// Letters of a password.
const PASSWORD: usize = 32;

/// Adds an object to a lookup of files, with what Strimzi would report about it and make for it. What files say wins.
pub(super) fn add(snapshot: &mut FileSnapshot, mut object: Value) {
    let Some(key) = ObjectKey::of(&object) else {
        return;
    };
    let reported = match key.kind.kind.as_ref() {
        "Kafka" => cluster(&key, &object),
        "KafkaUser" => json!({"username": key.name, "secret": key.name}),
        _ => {
            snapshot.add(object);
            return;
        }
    };
    let known = snapshot.get(&key).and_then(|known| known.get("status"));
    object["status"] = known.cloned().unwrap_or(reported);
    let secret = secret(snapshot, &key);
    if snapshot.get(&secret.0).is_none() {
        snapshot.add(secret.1);
    }
    snapshot.add(object);
}

/// One address for each listener that a cluster is asked for.
fn cluster(key: &ObjectKey, cluster: &Value) -> Value {
    let service = names::part(&key.name, "kafka-bootstrap");
    let host = names::host(&service, &key.namespace);
    let asked = cluster
        .pointer("/spec/kafka/listeners")
        .and_then(Value::as_array);
    let listeners = asked.into_iter().flatten().map(|listener| {
        json!({"name": listener["name"], "addresses": [{"host": host, "port": listener["port"]}]})
    });
    json!({"listeners": listeners.collect::<Vec<Value>>()})
}

/// The certificate of a cluster, or the password of a user: placeholders that say so.
fn secret(snapshot: &FileSnapshot, key: &ObjectKey) -> (ObjectKey, Value) {
    let (name, values) = if key.kind == kinds::KAFKA {
        let placeholder = format!("placeholder for {}", key.name);
        let ca = format!("-----BEGIN CERTIFICATE-----\n{placeholder}\n-----END CERTIFICATE-----\n");
        (
            names::part(&key.name, "cluster-ca-cert"),
            json!({"ca.crt": ca}),
        )
    } else {
        let field = format!("{}/password", key.name);
        let password = snapshot.generated(&field, Alphabet::Alphanumeric, PASSWORD);
        (key.name.clone(), json!({"password": password}))
    };
    let secret = json!({
        "apiVersion": "v1", "kind": "Secret",
        "metadata": {"namespace": key.namespace, "name": name}, "stringData": values,
    });
    (
        ObjectKey::new(kinds::SECRET, key.namespace.as_str(), name),
        secret,
    )
}
