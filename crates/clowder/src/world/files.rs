//! A world made of files: for rendering without a cluster, and for tests.

use std::{collections::BTreeMap, sync::Arc};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use mainstay_api::clowder::{ClowdApp, ClowdAppRef, ClowdEnvironment};
use mainstay_engine::{ObjectKey, live::LiveObject};
use serde::Deserialize as _;
use serde_json::{Map, Value};

use super::{Alphabet, Fact, NamespaceFacts, SecretFacts, TrackedFacts, TrackedKind, World};
use crate::{
    effect::Effect, facts, index::Index, kinds, providers::confighash,
    settings::RESTARTER_ANNOTATION, summary::AppSummary, topics::TopicWishes,
};

/// Facts from a list of objects. What is not in it does not exist, except namespaces; effects are taken as done.
#[derive(Debug, Default)]
pub struct FileWorld {
    index: Index,
    objects: BTreeMap<ObjectKey, Value>,
    live: BTreeMap<ObjectKey, Arc<LiveObject>>,
    effects: BTreeMap<Effect, Result<String, String>>,
    /// Annotation of what restarts pods; empty means the usual one.
    restarter_annotation: String,
}

impl FileWorld {
    /// A world of these objects.
    pub fn new(objects: impl IntoIterator<Item = Value>) -> Self {
        let mut world = Self::default();
        for object in objects {
            world.add(object);
        }
        world
    }

    /// The same, with pods restarted by what has this annotation.
    #[must_use]
    pub fn restarting_by(mut self, annotation: &str) -> Self {
        annotation.clone_into(&mut self.restarter_annotation);
        self
    }

    /// Adds an object; one without identity is ignored.
    pub fn add(&mut self, mut object: Value) {
        store_plain_texts(&mut object);
        if let Some(key) = ObjectKey::of(&object) {
            self.index.learn(&key, &object);
            self.objects.insert(key, object);
        }
    }

    /// An object as it was added.
    pub fn get(&self, key: &ObjectKey) -> Option<&Value> {
        self.objects.get(key)
    }

    /// States what is known of a live object of ours.
    pub fn add_live(&mut self, live: LiveObject) {
        self.live.insert(live.key.clone(), Arc::new(live));
    }

    /// States how an effect ends.
    pub fn add_effect(&mut self, effect: Effect, result: Result<String, String>) {
        self.effects.insert(effect, result);
    }
}

/// Moves `stringData` to `data`, as the API server does.
pub fn store_plain_texts(object: &mut Value) {
    let plain = object
        .as_object_mut()
        .and_then(|object| object.remove("stringData"));
    let Some(Value::Object(plain)) = plain else {
        return;
    };
    let texts = plain
        .iter()
        .filter_map(|(key, value)| Some((key, value.as_str()?)));
    let encoded: Vec<(String, Value)> = texts
        .map(|(key, text)| (key.clone(), Value::String(STANDARD.encode(text))))
        .collect();
    if !object["data"].is_object() {
        object["data"] = Value::Object(Map::new());
    }
    if let Some(data) = object["data"].as_object_mut() {
        data.extend(encoded);
    }
}

/// Reads a Secret off its JSON; `stringData` counts, as it does for the API server.
pub fn secret_facts(object: &Value) -> SecretFacts {
    let texts = |pointer: &str| {
        let map = object.pointer(pointer).and_then(Value::as_object);
        map.into_iter()
            .flatten()
            .filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned())))
    };
    let stored =
        texts("/data").map(|(key, value)| (key, STANDARD.decode(value).unwrap_or_default()));
    let plain = texts("/stringData").map(|(key, value)| (key, value.into_bytes()));
    let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str);
    SecretFacts {
        name: text("/metadata/name").unwrap_or_default().to_owned(),
        annotations: texts("/metadata/annotations").collect(),
        kind: text("/type").map(str::to_owned),
        data: stored.chain(plain).collect(),
    }
}

/// Reads what is tracked of a Secret or `ConfigMap` off its JSON.
pub fn tracked_facts(object: &Value, restarter_annotation: &str) -> TrackedFacts {
    let annotations = object.pointer("/metadata/annotations");
    let restarts = annotations
        .and_then(|annotations| annotations.get(restarter_annotation)?.as_str())
        == Some("true");
    TrackedFacts {
        hash: confighash::content_hash(object.get("data")),
        restarts,
    }
}

impl World for FileWorld {
    fn environment(&self, name: &str) -> Option<Arc<ClowdEnvironment>> {
        self.index.environment(name)
    }

    fn apps(&self, environment: &str) -> Vec<Arc<AppSummary>> {
        self.index.apps(environment)
    }

    fn apps_named(&self, environment: &str, name: &str) -> Vec<Arc<AppSummary>> {
        self.index.apps_named(environment, name)
    }

    fn app(&self, namespace: &str, name: &str) -> Option<Arc<ClowdApp>> {
        let object = self
            .objects
            .get(&ObjectKey::new(kinds::CLOWD_APP, namespace, name))?;
        Some(Arc::new(ClowdApp::deserialize(object).ok()?))
    }

    fn newest(&self, root: &ObjectKey) -> Fact<Option<String>> {
        let version = self.objects.get(root).map(|object| {
            let version = object.pointer("/metadata/resourceVersion");
            version.and_then(Value::as_str).unwrap_or_default()
        });
        Ok(version.map(str::to_owned))
    }

    fn app_refs_named(&self, environment: &str, name: &str) -> Vec<Arc<ClowdAppRef>> {
        self.index.app_refs_named(environment, name)
    }

    fn ingress_domain(&self) -> Option<String> {
        self.index.ingress_domain()
    }

    fn namespace(&self, name: &str) -> Fact<Option<NamespaceFacts>> {
        let key = ObjectKey::new(kinds::NAMESPACE, "", name);
        let deleted = self
            .objects
            .get(&key)
            .and_then(|object| object.pointer("/metadata/deletionTimestamp"));
        Ok(Some(NamespaceFacts {
            terminating: deleted.is_some(),
        }))
    }

    fn secret(&self, namespace: &str, name: &str) -> Fact<Option<Arc<SecretFacts>>> {
        let key = ObjectKey::new(kinds::SECRET, namespace, name);
        let object = self.objects.get(&key);
        Ok(object.map(|object| Arc::new(secret_facts(object))))
    }

    fn secrets_in(&self, namespace: &str) -> Fact<Vec<Arc<SecretFacts>>> {
        let secrets = self
            .objects
            .iter()
            .filter(|(key, _)| key.kind == kinds::SECRET && key.namespace == namespace);
        Ok(secrets
            .map(|(_, object)| Arc::new(secret_facts(object)))
            .collect())
    }

    fn tracked(
        &self,
        kind: TrackedKind,
        namespace: &str,
        name: &str,
    ) -> Fact<Option<TrackedFacts>> {
        let object = self
            .objects
            .get(&ObjectKey::new(kind.kind(), namespace, name));
        let annotation = match self.restarter_annotation.as_str() {
            "" => RESTARTER_ANNOTATION,
            annotation => annotation,
        };
        Ok(object.map(|object| tracked_facts(object, annotation)))
    }

    fn live(&self, key: &ObjectKey) -> Option<Arc<LiveObject>> {
        self.live.get(key).cloned()
    }

    fn topic(&self, environment: &str, topic: &str) -> TopicWishes {
        self.index.topic(environment, topic)
    }

    fn reported(&self, key: &ObjectKey) -> Option<Value> {
        let object = self.objects.get(key);
        object.map(|object| facts::facts(&key.kind, object))
    }

    fn service_exists(&self, namespace: &str, name: &str) -> Fact<bool> {
        let key = ObjectKey::new(kinds::SERVICE, namespace, name);
        Ok(self.objects.contains_key(&key))
    }

    fn effect(&self, effect: &Effect) -> Fact<Result<String, String>> {
        let known = self.effects.get(effect).cloned();
        Ok(known.unwrap_or_else(|| Ok(done(effect))))
    }

    fn random(&self, field: &str, alphabet: Alphabet, length: usize) -> String {
        placeholder(field, alphabet, length)
    }
}

/// What an effect would have brought. Only certificates are ever fetched.
fn done(effect: &Effect) -> String {
    match effect {
        Effect::Fetch { url } => {
            format!(
                "-----BEGIN CERTIFICATE-----\nplaceholder for {url}\n-----END CERTIFICATE-----\n"
            )
        }
        Effect::Database { .. } | Effect::Bucket { .. } => String::new(),
    }
}

/// A value that is the same every time and says that it is none, as far as its letters allow.
fn placeholder(field: &str, alphabet: Alphabet, length: usize) -> String {
    let letters = alphabet.letters();
    let words = format!("placeholder{field}");
    let usable: Vec<char> = words
        .chars()
        .filter(|letter| letters.contains(*letter))
        .collect();
    usable.iter().cycle().take(length).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_have_the_form_of_what_they_stand_for() {
        assert_eq!(
            placeholder("shop-db/password", Alphabet::Alphanumeric, 16),
            "placeholdershopd"
        );
        let hex = placeholder("x", Alphabet::Hexadecimal, 32);
        assert_eq!(hex.len(), 32);
        assert!(hex.chars().all(|digit| digit.is_ascii_hexdigit()));
    }

    #[test]
    fn both_forms_of_secret_data_are_read() {
        let secret = serde_json::json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a", "namespace": "n"},
            "data": {"old": "b2xk"}, "stringData": {"new": "new"}});
        let world = FileWorld::new([secret]);
        let facts = world.secret("n", "a").unwrap().unwrap();
        assert_eq!(
            (facts.text("old").as_deref(), facts.text("new").as_deref()),
            (Some("old"), Some("new"))
        );
        assert_eq!(world.secret("n", "b"), Ok(None));
        assert_eq!(world.secrets_in("n").unwrap().len(), 1);
    }
}
