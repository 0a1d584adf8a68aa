//! The fields of a live object that our field manager owns.
//!
//! `managedFields` says which fields a server-side apply of ours set. Together with the live values
//! this is exactly what we applied last, kept by the API server: it survives our restarts, costs no
//! annotation, and shows drift (a field that somebody else changed is no longer ours). A desired
//! object equal to it needs no request. See `docs/decisions/0001-unchanged-objects.md`.

mod key_index;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use self::key_index::KeyIndex;
use crate::{field_change::FieldChange, quantity, server_defaults};

/// Owned part of a value, shaped by the field set of `managedFields`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Owned {
    /// An atomic value, owned whole.
    #[serde(rename = "v")]
    Whole(Value),
    /// Some fields of an object.
    #[serde(rename = "f")]
    Fields(BTreeMap<String, Self>),
    /// Some items of a list whose items are told apart by key fields, in live order.
    #[serde(rename = "i")]
    Items(Vec<(Map<String, Value>, Self)>),
    /// Some values of a set.
    #[serde(rename = "s")]
    Set(Vec<Value>),
}

impl Default for Owned {
    fn default() -> Self {
        Self::Fields(BTreeMap::new())
    }
}

impl Owned {
    /// Fills the field set that our manager applied (`fieldsV1`) with the values of the live object.
    pub fn from_field_set(fields: &Value, object: &Value) -> Self {
        project(fields, object).unwrap_or_default()
    }

    /// Every difference that an apply of `desired` would mend; empty if the apply would be a no-op.
    pub fn differences(&self, desired: &Value) -> Vec<FieldChange> {
        let mut desired = desired.clone();
        strip_identity(&mut desired);
        let mut comparison = Comparison::default();
        comparison.compare(&Place::default(), Some(&desired), Some(self));
        comparison.changes
    }

    /// The owned part at a JSON pointer of fields; `None` if nothing there is ours.
    pub fn at(&self, pointer: &str) -> Option<&Self> {
        let mut names = pointer.split('/').skip(1);
        names.try_fold(self, |owned, name| match owned {
            Self::Fields(fields) => fields.get(name),
            _ => None,
        })
    }

    /// Adds to a desired object what we own at these places and it no longer has. What it has wins.
    pub fn keep(&self, desired: &mut Value, places: &[&str]) {
        for pointer in places {
            let Some(owned) = self.at(pointer) else {
                continue;
            };
            let Some(place) = place_at(desired, pointer) else {
                continue;
            };
            match (place, owned) {
                (Value::Object(fields), Self::Fields(kept)) => {
                    for (name, value) in kept {
                        fields.entry(name.clone()).or_insert_with(|| value.plain());
                    }
                }
                (place @ Value::Null, owned) => *place = owned.plain(),
                _ => {}
            }
        }
    }

    /// The owned value in plain JSON, for people.
    fn plain(&self) -> Value {
        match self {
            Self::Whole(value) => value.clone(),
            Self::Fields(fields) => fields
                .iter()
                .map(|(name, field)| (name.clone(), field.plain()))
                .collect(),
            Self::Items(items) => items.iter().map(|(_, item)| item.plain()).collect(),
            Self::Set(values) => Value::Array(values.clone()),
        }
    }
}

/// Items of the lists in `spec` that we apply some items of and did not apply these: JSON pointers, last ones first, so
/// that each still holds when those before it have been removed.
pub fn foreign_items(fields: &Value, object: &Value) -> Vec<String> {
    let mut found = Vec::new();
    if let (Some(fields), Some(spec)) = (fields.get("f:spec"), object.get("spec")) {
        find_intruders(fields, spec, "/spec", &mut found);
    }
    found.reverse();
    found
}

fn find_intruders(fields: &Value, live: &Value, pointer: &str, found: &mut Vec<String>) {
    let Some(children) = fields.as_object() else {
        return;
    };
    for (name, child) in children {
        if let Some(field) = name.strip_prefix("f:")
            && let Some(value) = live.get(field)
        {
            find_intruders(child, value, &format!("{pointer}/{field}"), found);
        }
    }
    let (keys, children): (Vec<_>, Vec<_>) = keyed(children).unzip();
    if keys.is_empty() {
        return;
    }
    let mut index = KeyIndex::new(&keys);
    for (position, item) in live.as_array().into_iter().flatten().enumerate() {
        let pointer = format!("{pointer}/{position}");
        match index.find(item).and_then(|at| children.get(at)) {
            Some(child) => find_intruders(child, item, &pointer, found),
            None => found.push(pointer),
        }
    }
}

/// The items of a list in a field set: their keys and what is owned of each.
fn keyed(children: &Map<String, Value>) -> impl Iterator<Item = (Map<String, Value>, &Value)> {
    children.iter().filter_map(|(name, child)| {
        let key = serde_json::from_str(name.strip_prefix("k:")?).ok()?;
        Some((key, child))
    })
}

/// The place of a pointer in an object, made if it is missing and its parent is there.
fn place_at<'value>(value: &'value mut Value, pointer: &str) -> Option<&'value mut Value> {
    let (parent, name) = pointer.rsplit_once('/')?;
    let parent = value.pointer_mut(parent)?.as_object_mut()?;
    Some(parent.entry(name).or_insert(Value::Null))
}

/// Identity is not part of the field set.
fn strip_identity(desired: &mut Value) {
    if let Some(object) = desired.as_object_mut() {
        object.remove("apiVersion");
        object.remove("kind");
        if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
            metadata.remove("name");
            metadata.remove("namespace");
            if metadata.is_empty() {
                object.remove("metadata");
            }
        }
    }
}

/// Fills the field set with live values; `None` where the live object has no such field.
fn project(fields: &Value, live: &Value) -> Option<Owned> {
    let children = fields.as_object()?;
    let mut members = BTreeMap::new();
    let mut values = Vec::new();
    for (name, child) in children {
        if let Some(field) = name.strip_prefix("f:") {
            if let Some(owned) = live.get(field).and_then(|value| project(child, value)) {
                members.insert(field.to_owned(), owned);
            }
        } else if let Some(value) = name.strip_prefix("v:") {
            values.push(serde_json::from_str(value).ok()?);
        } else if name != "." && !name.starts_with("k:") {
            return Some(Owned::Whole(live.clone()));
        }
    }
    let items = project_items(children, live)?;
    Some(if !items.is_empty() {
        Owned::Items(items)
    } else if !values.is_empty() {
        Owned::Set(values)
    } else if !members.is_empty() {
        Owned::Fields(members)
    } else if children.is_empty() {
        Owned::Whole(live.clone())
    } else if live.is_array() {
        Owned::Items(Vec::new())
    } else {
        Owned::default()
    })
}

/// The items of a field set that the live list has, in live order; `None` if there should be a list and is none.
fn project_items(
    children: &Map<String, Value>,
    live: &Value,
) -> Option<Vec<(Map<String, Value>, Owned)>> {
    let (keys, children): (Vec<_>, Vec<_>) = keyed(children).unzip();
    if keys.is_empty() {
        return Some(Vec::new());
    }
    let mut items = Vec::new();
    let mut index = KeyIndex::new(&keys);
    for item in live.as_array()? {
        if let Some(at) = index.take(item)
            && let (Some(key), Some(child)) = (keys.get(at), children.get(at))
        {
            items.push((key.clone(), project(child, item)?));
        }
    }
    Some(items)
}

/// Where a comparison stands: the full path for people, and the two names that decide how values compare.
#[derive(Default)]
struct Place<'name> {
    path: String,
    holder: &'name str,
    field: &'name str,
}

impl<'name> Place<'name> {
    fn field(&self, name: &'name str) -> Self {
        Self {
            path: join(&self.path, name),
            holder: self.field,
            field: name,
        }
    }

    fn item(&self, key: &Map<String, Value>) -> Self {
        Self {
            path: item_path(&self.path, key),
            holder: self.holder,
            field: self.field,
        }
    }
}

/// Walks desired and owned values side by side.
#[derive(Default)]
struct Comparison {
    changes: Vec<FieldChange>,
}

impl Comparison {
    fn compare(&mut self, place: &Place<'_>, desired: Option<&Value>, owned: Option<&Owned>) {
        match (desired, owned) {
            (Some(Value::Object(desired)), Some(Owned::Fields(owned))) => {
                self.fields(place, desired, owned);
            }
            (Some(Value::Array(desired)), Some(Owned::Items(owned))) => {
                self.items(place, desired, owned);
            }
            (Some(Value::Array(desired)), Some(Owned::Set(owned))) => {
                if texts(desired) != texts(owned) {
                    self.record(
                        &place.path,
                        Some(Value::Array(owned.clone())),
                        Some(Value::Array(desired.clone())),
                    );
                }
            }
            (Some(desired), Some(Owned::Whole(live))) => {
                if !same(place.holder, place.field, desired, live) {
                    self.record(&place.path, Some(live.clone()), Some(desired.clone()));
                }
            }
            (Some(desired), None) if is_nothing(desired) => {}
            (desired, owned) => self.record(&place.path, owned.map(Owned::plain), desired.cloned()),
        }
    }

    fn fields(
        &mut self,
        place: &Place<'_>,
        desired: &Map<String, Value>,
        owned: &BTreeMap<String, Owned>,
    ) {
        for (name, value) in desired {
            self.compare(&place.field(name), Some(value), owned.get(name));
        }
        for (name, value) in owned {
            if !desired.contains_key(name) {
                self.compare(&place.field(name), None, Some(value));
            }
        }
    }

    fn items(
        &mut self,
        place: &Place<'_>,
        desired: &[Value],
        owned: &[(Map<String, Value>, Owned)],
    ) {
        let mut index = KeyIndex::new(owned.iter().map(|(key, _)| key));
        let mut matched = Vec::with_capacity(owned.len());
        for item in desired {
            let found = index.take(item);
            match found.and_then(|position| Some((position, owned.get(position)?))) {
                Some((position, (key, value))) => {
                    matched.push(position);
                    self.compare(&place.item(key), Some(item), Some(value));
                }
                None => self.record(&format!("{}[]", place.path), None, Some(item.clone())),
            }
        }
        for (position, (key, value)) in owned.iter().enumerate() {
            if !index.is_taken(position) {
                self.record(&item_path(&place.path, key), Some(value.plain()), None);
            }
        }
        // Order matters to some lists (environment variables that refer to earlier ones).
        if !matched.is_sorted() {
            self.record(&format!("{}[order]", place.path), None, None);
        }
    }

    fn record(&mut self, path: &str, from: Option<Value>, to: Option<Value>) {
        self.changes.push(FieldChange {
            path: path.to_owned(),
            from,
            to,
        });
    }
}

/// The values of a set, in an order of their own.
fn texts(values: &[Value]) -> BTreeSet<String> {
    values.iter().map(Value::to_string).collect()
}

fn join(path: &str, name: &str) -> String {
    let name = if name.contains(['.', '/']) {
        format!("[{name}]")
    } else {
        name.to_owned()
    };
    if path.is_empty() {
        name
    } else {
        format!("{path}.{name}")
    }
}

fn item_path(path: &str, key: &Map<String, Value>) -> String {
    let parts: Vec<String> = key
        .iter()
        .map(|(name, value)| match value {
            Value::String(text) => format!("{name}={text}"),
            other => format!("{name}={other}"),
        })
        .collect();
    format!("{path}[{}]", parts.join(","))
}

/// A desired for null or an empty list claims nothing.
fn is_nothing(value: &Value) -> bool {
    value.is_null() || value.as_array().is_some_and(Vec::is_empty)
}

/// Fields whose texts are quantities, by the field that holds them.
const QUANTITY_HOLDERS: &[&str] = &["requests", "limits", "capacity", "hard"];
/// Fields that are quantities themselves.
const QUANTITIES: &[&str] = &["sizeLimit", "divisor", "averageValue"];

/// Whether the live value of `field`, inside `holder`, is what the server makes of the desired one.
fn same(holder: &str, field: &str, desired: &Value, live: &Value) -> bool {
    match (desired, live) {
        (Value::Object(desired), Value::Object(live)) => {
            desired.iter().all(|(name, value)| match live.get(name) {
                Some(other) => same(field, name, value, other),
                None => is_nothing(value),
            }) && live.iter().all(|(name, value)| {
                desired.contains_key(name) || server_defaults::is_default(field, name, value)
            })
        }
        (Value::Array(desired), Value::Array(live)) => {
            desired.len() == live.len()
                && desired
                    .iter()
                    .zip(live)
                    .all(|(desired, live)| same(holder, field, desired, live))
        }
        (Value::Number(desired), Value::Number(live)) => {
            desired == live || desired.as_f64() == live.as_f64()
        }
        _ if QUANTITY_HOLDERS.contains(&holder) || QUANTITIES.contains(&field) => {
            same_quantity(desired, live)
        }
        _ => desired == live,
    }
}

fn same_quantity(desired: &Value, live: &Value) -> bool {
    let text = |value: &Value| {
        value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned)
    };
    quantity::equal(&text(desired), &text(live))
}

#[cfg(test)]
mod tests;
