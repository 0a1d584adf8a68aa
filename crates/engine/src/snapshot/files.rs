//! A snapshot made of files: for rendering without a cluster, and for tests.

use std::{collections::BTreeMap, sync::Arc};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Map, Value, json};

use super::{
    Alphabet, Answer, AnyIndex, AnyView, Effect, EffectResult, IndexStore, Projected, Snapshot,
};
use crate::{
    key::{Kind, ObjectKey},
    kind::{KindTable, Scope},
    live::{LiveObject, LiveView},
};

/// What is kept of an object that is followed as a whole: see [`Snapshot::reported`].
pub type Facts = fn(&Kind, &Value) -> Value;

/// Answers from a list of objects. What is not in it does not exist, except objects of kinds that are assumed; effects
/// are taken as done.
#[derive(Debug, Default)]
pub struct FileSnapshot {
    declared: KindTable,
    indexes: IndexStore,
    facts: Option<Facts>,
    assumed: Vec<Kind>,
    objects: BTreeMap<ObjectKey, Value>,
    live: BTreeMap<ObjectKey, Arc<LiveObject>>,
    effects: BTreeMap<String, EffectResult>,
}

impl FileSnapshot {
    /// A snapshot of a system without objects: with its kinds, its indexes, what it keeps of objects that are followed, and kinds
    /// whose objects are taken to exist.
    pub fn new(
        declared: KindTable,
        indexes: &'static [&'static dyn AnyIndex],
        facts: Facts,
        assumed: &[Kind],
    ) -> Self {
        Self {
            declared,
            indexes: IndexStore::new(indexes),
            facts: Some(facts),
            assumed: assumed.to_vec(),
            ..Self::default()
        }
    }

    /// Adds an object; one without identity is ignored.
    pub fn add(&mut self, mut object: Value) {
        store_plain_texts(&mut object);
        if let Some(mut key) = ObjectKey::of(&object) {
            let row = self.declared.find(&key.kind);
            // Files may be read as if all of them were in some namespace.
            if row.is_some_and(|row| row.scope == Scope::Cluster) {
                key.namespace.clear();
            }
            self.indexes.learn(&key, Some(&object));
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
    pub fn add_effect(&mut self, effect: &dyn Effect, result: EffectResult) {
        self.effects.insert(effect.fingerprint(), result);
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
    if let Some(fields) = object.as_object_mut() {
        let data = fields.entry("data").or_insert(Value::Null);
        if !data.is_object() {
            *data = Value::Object(Map::new());
        }
        if let Some(data) = data.as_object_mut() {
            data.extend(encoded);
        }
    }
}

impl LiveView for FileSnapshot {
    fn get(&self, key: &ObjectKey) -> Option<Arc<LiveObject>> {
        self.live.get(key).cloned()
    }

    fn owned_by(&self, owner_uid: &str) -> Vec<Arc<LiveObject>> {
        let live = self.live.values();
        live.filter(|live| live.belongs_to(owner_uid))
            .cloned()
            .collect()
    }
}

impl Snapshot for FileSnapshot {
    fn object(&self, key: &ObjectKey, view: &'static dyn AnyView) -> Answer<Option<Projected>> {
        if let Some(object) = self.objects.get(key) {
            return Ok(view.project(object));
        }
        if self.assumed.contains(&key.kind) {
            return Ok(view.project(&json!({"metadata": {"name": key.name}})));
        }
        Ok(None)
    }

    fn objects(
        &self,
        kind: &Kind,
        namespace: &str,
        view: &'static dyn AnyView,
    ) -> Answer<Vec<Projected>> {
        let objects = self.objects.iter();
        let objects = objects.filter(|(key, _)| key.kind == *kind && key.namespace == namespace);
        Ok(objects
            .filter_map(|(_, object)| view.project(object))
            .collect())
    }

    fn members(&self, index: &'static dyn AnyIndex, key: &str) -> Vec<Projected> {
        self.indexes.members(index, key)
    }

    fn folded(&self, index: &'static dyn AnyIndex, key: &str) -> Option<Projected> {
        self.indexes.folded(index, key)
    }

    fn exists(&self, key: &ObjectKey) -> Answer<bool> {
        Ok(self.objects.contains_key(key))
    }

    fn reported(&self, key: &ObjectKey) -> Option<Value> {
        let object = self.objects.get(key)?;
        Some(
            self.facts
                .map_or(Value::Null, |facts| facts(&key.kind, object)),
        )
    }

    fn fresh(&self, root: &ObjectKey) -> Answer<Option<String>> {
        let version = self.objects.get(root).map(|object| {
            let version = object.pointer("/metadata/resourceVersion");
            version.and_then(Value::as_str).unwrap_or_default()
        });
        Ok(version.map(str::to_owned))
    }

    fn effect(&self, effect: Arc<dyn Effect>) -> Answer<EffectResult> {
        let known = self.effects.get(&effect.fingerprint()).cloned();
        Ok(known.unwrap_or_else(|| Ok(effect.dry_run())))
    }

    fn generated(&self, field: &str, alphabet: Alphabet, length: usize) -> String {
        placeholder(field, alphabet, length)
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
}
