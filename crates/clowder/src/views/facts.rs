//! What is kept of live objects besides the fields that we own.

mod strimzi;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use mainstay_engine::{Kind, live::LiveObject};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::{names, providers::confighash};

/// Facts of a child: what renders, counts and pruning read, and nothing else.
pub fn facts(kind: &Kind, object: &Value) -> Value {
    let mut facts = match kind.kind.as_ref() {
        "Deployment" => deployment(object),
        "Service" => service(object),
        "ServiceAccount" => service_account(object),
        "Secret" => secret(object),
        "Kafka" => strimzi::cluster(object),
        "KafkaConnect" | "KafkaTopic" => strimzi::readiness(object),
        "KafkaUser" => strimzi::user(object),
        "CyndiPipeline" => strimzi::pipeline(object),
        "Job" => job(object),
        _ => Map::new(),
    };
    let labels = object.pointer("/metadata/labels");
    for label in ["app", "env"] {
        if let Some(value) = labels.and_then(|labels| labels.get(label)) {
            facts.insert(format!("label:{label}"), value.clone());
        }
    }
    if facts.is_empty() {
        return Value::Null;
    }
    Value::Object(facts)
}

/// The value of one of the labels that pruning goes by.
pub fn label<'live>(live: &'live LiveObject, name: &str) -> Option<&'live str> {
    live.facts.get(format!("label:{name}"))?.as_str()
}

/// Whether a Deployment or an object of Strimzi is ready, by its facts.
pub fn is_ready(live: &LiveObject) -> bool {
    live.facts.get("ready") == Some(&Value::Bool(true))
}

/// How a Job ended, by its facts: `Complete` or `Failed`.
pub fn job_end(live: &LiveObject) -> Option<&str> {
    live.facts.get("end")?.as_str()
}

fn job(object: &Value) -> Map<String, Value> {
    let conditions = object
        .pointer("/status/conditions")
        .and_then(Value::as_array);
    let types = conditions
        .into_iter()
        .flatten()
        .filter_map(|condition| condition.get("type")?.as_str());
    let mut end = types.filter(|word| matches!(*word, "Complete" | "Failed"));
    Map::from_iter(end.next_back().map(|word| ("end".to_owned(), json!(word))))
}

fn deployment(object: &Value) -> Map<String, Value> {
    let number = |pointer: &str| object.pointer(pointer).and_then(Value::as_i64);
    let replicas = number("/spec/replicas");
    let conditions = object
        .pointer("/status/conditions")
        .and_then(Value::as_array);
    let is_available =
        |condition: &Value| condition["type"] == "Available" && condition["status"] == "True";
    let wanted = replicas.unwrap_or(1);
    let ready = number("/metadata/generation") <= number("/status/observedGeneration")
        && conditions.is_some_and(|conditions| conditions.iter().any(is_available))
        && number("/status/availableReplicas").unwrap_or(0) == wanted
        && number("/status/updatedReplicas").unwrap_or(0) == wanted;
    let mut facts = Map::from_iter([("ready".to_owned(), json!(ready))]);
    facts.extend(replicas.map(|replicas| ("replicas".to_owned(), json!(replicas))));
    let selector = object.pointer("/spec/selector/matchLabels");
    facts.extend(selector.map(|selector| ("selector".to_owned(), selector.clone())));
    facts
}

fn service(object: &Value) -> Map<String, Value> {
    let ports = object.pointer("/spec/ports").and_then(Value::as_array);
    let assigned = ports.into_iter().flatten().filter_map(|port| {
        let name = port.get("name")?.as_str()?.to_owned();
        let number = port
            .get("nodePort")?
            .as_i64()
            .filter(|&number| number != 0)?;
        Some((name, json!(number)))
    });
    let assigned: Map<String, Value> = assigned.collect();
    if assigned.is_empty() {
        return assigned;
    }
    Map::from_iter([("nodePorts".to_owned(), Value::Object(assigned))])
}

fn service_account(object: &Value) -> Map<String, Value> {
    let secrets = object.get("imagePullSecrets").and_then(Value::as_array);
    let names: Vec<Value> = secrets
        .into_iter()
        .flatten()
        .filter_map(|secret| secret.get("name").cloned())
        .collect();
    if names.is_empty() {
        return Map::new();
    }
    Map::from_iter([("imagePullSecrets".to_owned(), Value::Array(names))])
}

/// Second half of the hash in `cdappconfig.json`, if it has the form that both operators give it.
fn stored_hash(secret: &Value) -> Option<String> {
    let document = secret.get("data")?.get(names::CONFIG_KEY)?.as_str()?;
    let document = STANDARD.decode(document).ok()?;
    let stored: StoredHash = serde_json::from_slice(&document).ok()?;
    let (own, environment) = stored.hash_cache.split_at_checked(64)?;
    let is_hash =
        |half: &str| half.len() == 64 && half.bytes().all(|byte| byte.is_ascii_hexdigit());
    (is_hash(own) && is_hash(environment)).then(|| environment.to_owned())
}

/// The one field of the document that matters here; the rest is skipped unread.
#[derive(Deserialize)]
struct StoredHash {
    #[serde(rename = "hashCache")]
    hash_cache: String,
}

/// What the Secret with the configuration of an app says about its hash: the second half, and what that half stands for
/// if it is not our own.
pub fn environment_hash(live: &LiveObject) -> Option<(&str, Option<&str>)> {
    let hash = live.facts.get("hash")?.as_str()?;
    Some((hash, live.facts.get("standsFor").and_then(Value::as_str)))
}

/// Secrets without labels hold values that were generated, and passes need them. The configuration of a whole
/// environment has no labels either, and nobody needs it again. Of the configuration of an app the hash is kept that
/// stands for what it uses through its environment.
fn secret(object: &Value) -> Map<String, Value> {
    if let Some(hash) = stored_hash(object) {
        let annotation = confighash::STANDS_FOR.replace('/', "~1");
        let annotation = object.pointer(&format!("/metadata/annotations/{annotation}"));
        let stands_for = annotation.map(|hash| ("standsFor".to_owned(), hash.clone()));
        let hash = ("hash".to_owned(), json!(hash));
        return std::iter::once(hash).chain(stands_for).collect();
    }
    let has_labels = object.pointer("/metadata/labels").is_some();
    let data = object.get("data").filter(|_| !has_labels);
    let data = data.filter(|data| data.get(names::ENVIRONMENT_CONFIG_KEY).is_none());
    Map::from_iter(data.map(|data| ("data".to_owned(), data.clone())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kinds;

    fn with(mut object: Value, pointer: &str, value: Value) -> Value {
        *object.pointer_mut(pointer).unwrap() = value;
        object
    }

    #[test]
    fn a_deployment_is_ready_when_all_its_replicas_are_new_and_available() {
        let ready = json!({
            "metadata": {"generation": 2},
            "spec": {"replicas": 2},
            "status": {"observedGeneration": 2, "availableReplicas": 2, "updatedReplicas": 2,
                "conditions": [{"type": "Available", "status": "True"}]},
        });
        let says = |object: &Value| facts(&kinds::DEPLOYMENT, object)["ready"].clone();
        assert_eq!(says(&ready), true);
        for (pointer, value) in [
            ("/metadata/generation", json!(3)),
            ("/status/availableReplicas", json!(1)),
            ("/status/updatedReplicas", json!(1)),
            ("/status/conditions/0/status", json!("False")),
        ] {
            assert_eq!(
                says(&with(ready.clone(), pointer, value)),
                false,
                "{pointer}"
            );
        }
        let none = json!({"metadata": {"generation": 1}, "spec": {"replicas": 0},
            "status": {"observedGeneration": 1, "conditions": [{"type": "Available", "status": "True"}]}});
        assert_eq!(says(&none), true, "no replicas are all there");
        assert_eq!(
            says(&json!({"metadata": {"generation": 1}, "spec": {}})),
            false
        );
    }

    #[test]
    fn only_generated_secrets_keep_their_values() {
        let generated = json!({"metadata": {"name": "a"}, "data": {"password": "eA=="}});
        assert_eq!(
            facts(&kinds::SECRET, &generated)["data"]["password"],
            "eA=="
        );
        let configuration =
            json!({"metadata": {"name": "a", "labels": {"app": "shop"}}, "data": {"x": "eA=="}});
        assert_eq!(
            facts(&kinds::SECRET, &configuration),
            json!({"label:app": "shop"})
        );
    }

    #[test]
    fn a_job_has_ended_when_it_says_so_whatever_else_it_says() {
        let job = |types: &[&str]| {
            let conditions: Vec<Value> = types.iter().map(|word| json!({"type": word})).collect();
            facts(&kinds::JOB, &json!({"status": {"conditions": conditions}}))
        };
        assert_eq!(job(&["SuccessCriteriaMet", "Complete"])["end"], "Complete");
        assert_eq!(job(&["FailureTarget", "Failed"])["end"], "Failed");
        assert_eq!(job(&["Suspended"]), Value::Null);
    }

    #[test]
    fn the_configuration_of_an_environment_is_not_kept() {
        let secret =
            json!({"metadata": {"name": "smoke-iqe"}, "data": {"cdenvconfig.json": "e30="}});
        assert_eq!(facts(&kinds::SECRET, &secret), Value::Null);
    }

    #[test]
    fn node_ports_are_kept_by_name() {
        let service = json!({"spec": {"ports": [{"name": "public", "nodePort": 30001}, {"name": "metrics"}]}});
        assert_eq!(
            facts(&kinds::SERVICE, &service),
            json!({"nodePorts": {"public": 30001}})
        );
        assert_eq!(facts(&kinds::INGRESS, &json!({})), Value::Null);
    }
}
