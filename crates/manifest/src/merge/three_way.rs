//! The patch that leads from what there is to what is wanted, given what was applied before.

use std::collections::{HashMap, HashSet};

use mainstay_engine::quantity;
use serde_json::{Map, Value, json};

use super::{
    DELETE_FROM, PATCH, RETAIN_KEYS, SET_ORDER, distinct_keys, key_of,
    order::agree,
    tables::{Rule, Shape},
    without_nulls,
};

/// The patch from `live` to `wanted`. What `applied` had and `wanted` no longer has is deleted; what only `live` has
/// stays; where both differ `wanted` wins. An empty map means that there is nothing to do.
///
/// A value that was applied before just as it is wanted now, and that the server stores in another form (an empty map or
/// text that it drops, items that it completes by defaults, a quantity), is no difference.
///
/// ```
/// use mainstay_manifest::merge::{Shape, three_way};
/// use serde_json::json;
///
/// let applied = json!({"spec": {"paused": true, "minReadySeconds": 5}});
/// let wanted = json!({"spec": {"minReadySeconds": 9}});
/// let live = json!({"spec": {"paused": true, "minReadySeconds": 5, "replicas": 3}});
/// let patch = three_way(Some(&applied), &wanted, &live, Shape::Deployment);
/// assert_eq!(patch, json!({"spec": {"paused": null, "minReadySeconds": 9}}));
/// ```
pub fn three_way(applied: Option<&Value>, wanted: &Value, live: &Value, shape: Shape) -> Value {
    let nothing = Map::new();
    let applied = applied.map(without_nulls);
    let wanted = without_nulls(wanted);
    let applied = applied.as_ref().and_then(Value::as_object);
    let (wanted, live) = (wanted.as_object(), live.as_object());
    Value::Object(maps(
        applied.unwrap_or(&nothing),
        wanted.unwrap_or(&nothing),
        live.unwrap_or(&nothing),
        Place {
            shape,
            quantities: false,
        },
    ))
}

/// Where in the object.
#[derive(Clone, Copy)]
struct Place {
    shape: Shape,
    /// Scalars here are quantities: `1000m` is `1`.
    quantities: bool,
}

impl Place {
    fn inside(self, field: &str, shape: Shape) -> Self {
        let begins = matches!(
            field,
            "limits" | "requests" | "capacity" | "hard" | "overhead"
        );
        Self {
            shape,
            quantities: self.quantities || begins,
        }
    }
}

fn maps(
    applied: &Map<String, Value>,
    wanted: &Map<String, Value>,
    live: &Map<String, Value>,
    place: Place,
) -> Map<String, Value> {
    let mut patch = Map::new();
    for (field, wanted) in wanted {
        let before = applied.get(field);
        match live.get(field).filter(|live| !live.is_null()) {
            Some(live) => change(&mut patch, field, before, wanted, live, place),
            None if is_empty(wanted) && before == Some(wanted) => {}
            None => {
                patch.insert(field.clone(), wanted.clone());
            }
        }
    }
    for field in applied.keys() {
        if !wanted.contains_key(field) && live.get(field).is_some_and(|live| !live.is_null()) {
            patch.insert(field.clone(), Value::Null);
        }
    }
    patch
}

/// Adds the change of one field that is there.
fn change(
    patch: &mut Map<String, Value>,
    field: &str,
    applied: Option<&Value>,
    wanted: &Value,
    live: &Value,
    place: Place,
) {
    match (place.shape.rule(field), wanted, live) {
        (
            rule @ (Rule::Map(_) | Rule::MapRetainingKeys),
            Value::Object(wanted),
            Value::Object(live),
        ) => {
            let shape = match rule {
                Rule::Map(shape) => shape,
                _ => Shape::Plain,
            };
            let nothing = Map::new();
            let applied = applied.and_then(Value::as_object).unwrap_or(&nothing);
            let mut inside = maps(applied, wanted, live, place.inside(field, shape));
            if !inside.is_empty() {
                if rule == Rule::MapRetainingKeys {
                    inside.insert(RETAIN_KEYS.to_owned(), field_names(wanted));
                }
                patch.insert(field.to_owned(), Value::Object(inside));
            }
        }
        (Rule::Replace, Value::Object(fields), _) => {
            if wanted != live {
                let mut whole = fields.clone();
                whole.insert(PATCH.to_owned(), json!("replace"));
                patch.insert(field.to_owned(), Value::Object(whole));
            }
        }
        (rule @ Rule::Keyed { .. }, Value::Array(wanted), Value::Array(live)) => {
            let applied = applied
                .and_then(Value::as_array)
                .map_or(&[][..], Vec::as_slice);
            let lists = Lists {
                applied,
                wanted,
                live,
            };
            lists.change(patch, field, rule, place);
        }
        (Rule::Set, Value::Array(wanted), Value::Array(live)) => {
            let applied = applied
                .and_then(Value::as_array)
                .map_or(&[][..], Vec::as_slice);
            sets(patch, field, applied, wanted, live);
        }
        _ => {
            let was_applied = applied == Some(wanted);
            let is_stored_form = was_applied && covers(wanted, live, place.quantities);
            let quantities = place.inside(field, Shape::Plain).quantities || field == "sizeLimit";
            if wanted != live && !is_stored_form && !(quantities && same_quantity(wanted, live)) {
                patch.insert(field.to_owned(), wanted.clone());
            }
        }
    }
}

struct Lists<'list> {
    applied: &'list [Value],
    wanted: &'list [Value],
    live: &'list [Value],
}

impl Lists<'_> {
    fn change(&self, patch: &mut Map<String, Value>, field: &str, rule: Rule, place: Place) {
        let Rule::Keyed {
            key,
            item: shape,
            retain_keys,
        } = rule
        else {
            return;
        };
        let keys = |items| distinct_keys(items, key);
        let (Some(wanted_keys), Some(live_keys)) = (keys(self.wanted), keys(self.live)) else {
            self.replace(patch, field);
            return;
        };
        let place = Place { shape, ..place };
        let (live, applied) = (index(self.live, key), index(self.applied, key));
        let mut items = Vec::new();
        for (item, name) in self.wanted.iter().zip(&wanted_keys) {
            match live.get(name.as_str()) {
                Some(live) => {
                    let before = applied.get(name.as_str()).copied();
                    items.extend(changed_item(before, item, live, (key, retain_keys), place));
                }
                None => items.push(item.clone()),
            }
        }
        let wanted: HashSet<&String> = wanted_keys.iter().collect();
        let gone = |name: &String| !wanted.contains(name) && applied.contains_key(name.as_str());
        for name in live_keys.iter().filter(|name| gone(name)) {
            let value = applied.get(name.as_str()).and_then(|item| item.get(key));
            items.push(json!({key: value, PATCH: "delete"}));
        }
        let mut left: Vec<String> = live_keys
            .iter()
            .filter(|name| !gone(name))
            .cloned()
            .collect();
        let new = wanted_keys
            .iter()
            .filter(|name| !live.contains_key(name.as_str()));
        left.extend(new.cloned());
        if !agree(&left, &wanted_keys) {
            let order = self.wanted.iter().map(|item| json!({key: item.get(key)}));
            patch.insert(format!("{SET_ORDER}{field}"), order.collect());
        }
        if !items.is_empty() {
            patch.insert(field.to_owned(), Value::Array(items));
        }
    }

    /// Items that cannot be told apart by their key (two ports of one number) are one value together.
    fn replace(&self, patch: &mut Map<String, Value>, field: &str) {
        let is_stored_form =
            self.applied == self.wanted && covers_items(self.wanted, self.live, false);
        if self.wanted != self.live && !is_stored_form {
            let mut items = vec![json!({PATCH: "replace"})];
            items.extend(self.wanted.iter().cloned());
            patch.insert(field.to_owned(), Value::Array(items));
        }
    }
}

/// Items by their keys.
fn index<'list>(items: &'list [Value], key: &str) -> HashMap<String, &'list Value> {
    let keyed = items
        .iter()
        .filter_map(|item| Some((key_of(item, key)?, item)));
    keyed.collect()
}

/// The patch of one item that is there.
fn changed_item(
    applied: Option<&Value>,
    wanted: &Value,
    live: &Value,
    (key, retain_keys): (&str, bool),
    place: Place,
) -> Option<Value> {
    let nothing = Map::new();
    let applied = applied.and_then(Value::as_object).unwrap_or(&nothing);
    let wanted = wanted.as_object().unwrap_or(&nothing);
    let live = live.as_object().unwrap_or(&nothing);
    let mut inside = maps(applied, wanted, live, place);
    if inside.is_empty() {
        return None;
    }
    if retain_keys {
        inside.insert(RETAIN_KEYS.to_owned(), field_names(wanted));
    }
    inside.insert(key.to_owned(), wanted.get(key).cloned().unwrap_or_default());
    Some(Value::Object(inside))
}

fn sets(
    patch: &mut Map<String, Value>,
    field: &str,
    applied: &[Value],
    wanted: &[Value],
    live: &[Value],
) {
    let new: Vec<Value> = wanted
        .iter()
        .filter(|item| !live.contains(item))
        .cloned()
        .collect();
    let gone = applied
        .iter()
        .filter(|item| !wanted.contains(item) && live.contains(item));
    let gone: Vec<Value> = gone.cloned().collect();
    if !new.is_empty() {
        patch.insert(field.to_owned(), Value::Array(new));
    }
    if !gone.is_empty() {
        patch.insert(format!("{DELETE_FROM}{field}"), Value::Array(gone));
    }
}

fn field_names(map: &Map<String, Value>) -> Value {
    map.keys().map(String::as_str).map(Value::from).collect()
}

/// Whether a server may leave a value out because it says no more than nothing.
fn is_empty(value: &Value) -> bool {
    match value {
        Value::Object(map) => map.values().all(is_empty),
        Value::Array(items) => items.is_empty(),
        Value::String(text) => text.is_empty(),
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::Bool(truth) => !truth,
        Value::Null => true,
    }
}

/// Whether a live value is a wanted one with more fields in its maps.
fn covers(wanted: &Value, live: &Value, quantities: bool) -> bool {
    match (wanted, live) {
        (Value::Object(wanted), Value::Object(live)) => wanted.iter().all(|(field, value)| {
            let quantities = Place {
                shape: Shape::Plain,
                quantities,
            }
            .inside(field, Shape::Plain)
            .quantities;
            match live.get(field) {
                Some(live) => covers(value, live, quantities),
                None => is_empty(value),
            }
        }),
        (Value::Array(wanted), Value::Array(live)) => covers_items(wanted, live, quantities),
        (wanted, live) => wanted == live || quantities && same_quantity(wanted, live),
    }
}

fn covers_items(wanted: &[Value], live: &[Value], quantities: bool) -> bool {
    wanted.len() == live.len()
        && wanted
            .iter()
            .zip(live)
            .all(|(wanted, live)| covers(wanted, live, quantities))
}

/// A quantity may be written as a number, and is stored as a text.
fn same_quantity(one: &Value, other: &Value) -> bool {
    let text = |value: &Value| match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    };
    match (text(one), text(other)) {
        (Some(one), Some(other)) => quantity::equal(&one, &other),
        _ => false,
    }
}
