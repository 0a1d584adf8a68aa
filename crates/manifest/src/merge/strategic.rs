//! A patch with directives, merged into a target.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::{
    DELETE_FROM, PATCH, PatchError, RETAIN_KEYS, SET_ORDER, empty, key_of,
    order::arrange,
    tables::{Rule, Shape},
};

/// Merges a patch strategically: maps recursively, lists by the tables, `null` deletes, and the directives `$patch`,
/// `$retainKeys`, `$deleteFromPrimitiveList/…` and `$setElementOrder/…` are followed. None of them is left in the result.
///
/// ```
/// use mainstay_manifest::merge::{Shape, strategic};
/// use serde_json::json;
///
/// let template = json!({"spec": {"containers": [{"name": "web", "image": "web:1"}, {"name": "log", "image": "log:1"}]}});
/// let patch = json!({"spec": {"containers": [{"name": "web", "tty": true}, {"name": "log", "$patch": "delete"}]}});
/// let merged = strategic(&template, &patch, Shape::PodTemplate)?;
/// assert_eq!(merged, json!({"spec": {"containers": [{"name": "web", "image": "web:1", "tty": true}]}}));
/// # Ok::<(), mainstay_manifest::merge::PatchError>(())
/// ```
pub fn strategic(target: &Value, patch: &Value, shape: Shape) -> Result<Value, PatchError> {
    let (Some(target), Some(patch)) = (target.as_object(), patch.as_object()) else {
        return Err(Place(String::new()).wrong("a patch changes a mapping, and is one"));
    };
    let merged = merge_maps(target, patch, shape, &Place(String::new()))?;
    Ok(merged.map_or_else(empty, Value::Object))
}

/// Where in the patch.
struct Place(String);

impl Place {
    fn field(&self, name: &str) -> Self {
        if self.0.is_empty() {
            Self(name.to_owned())
        } else {
            Self(format!("{}.{name}", self.0))
        }
    }

    fn item(&self, index: usize) -> Self {
        Self(format!("{}[{index}]", self.0))
    }

    fn wrong(&self, problem: impl Into<String>) -> PatchError {
        PatchError {
            path: self.0.clone(),
            problem: problem.into(),
        }
    }
}

/// What `$patch` says.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Directive {
    Merge,
    Replace,
    Delete,
}

fn directive(patch: &Map<String, Value>, place: &Place) -> Result<Directive, PatchError> {
    match patch.get(PATCH).map(Value::as_str) {
        None | Some(Some("merge")) => Ok(Directive::Merge),
        Some(Some("replace")) => Ok(Directive::Replace),
        Some(Some("delete")) => Ok(Directive::Delete),
        Some(_) => Err(place.wrong("$patch is `merge`, `replace` or `delete`")),
    }
}

/// The merged map; none if it is to be deleted.
fn merge_maps(
    target: &Map<String, Value>,
    patch: &Map<String, Value>,
    shape: Shape,
    place: &Place,
) -> Result<Option<Map<String, Value>>, PatchError> {
    match directive(patch, place)? {
        Directive::Delete => return Ok(None),
        Directive::Replace => return merge_fields(Map::new(), patch, shape, place).map(Some),
        Directive::Merge => {}
    }
    let mut target = target.clone();
    if let Some(kept) = patch.get(RETAIN_KEYS) {
        let kept = kept.as_array();
        let kept = kept.ok_or_else(|| place.wrong("$retainKeys is a list of fields"))?;
        target.retain(|key, _| kept.iter().any(|kept| kept.as_str() == Some(key)));
    }
    merge_fields(target, patch, shape, place).map(Some)
}

fn merge_fields(
    mut target: Map<String, Value>,
    patch: &Map<String, Value>,
    shape: Shape,
    place: &Place,
) -> Result<Map<String, Value>, PatchError> {
    for (field, value) in patch {
        if let Some(list) = field.strip_prefix(DELETE_FROM) {
            delete_from(&mut target, list, value, place)?;
        } else if !field.starts_with('$') {
            merge_field(&mut target, field, value, shape, place)?;
        }
    }
    for (field, order) in patch {
        if let Some(list) = field.strip_prefix(SET_ORDER) {
            set_order(&mut target, list, order, shape);
        }
    }
    Ok(target)
}

fn merge_field(
    target: &mut Map<String, Value>,
    field: &str,
    value: &Value,
    shape: Shape,
    place: &Place,
) -> Result<(), PatchError> {
    let place = place.field(field);
    let before = target.get(field);
    let merged = match (value, shape.rule(field)) {
        (Value::Null, _) => None,
        (Value::Object(patch), rule) => {
            let (inside, keeps) = match rule {
                Rule::Map(inside) => (inside, true),
                Rule::MapRetainingKeys => (Shape::Plain, true),
                Rule::Replace | Rule::Keyed { .. } | Rule::Set => (Shape::Plain, false),
            };
            let nothing = Map::new();
            let before = before.and_then(Value::as_object).filter(|_| keeps);
            merge_maps(before.unwrap_or(&nothing), patch, inside, &place)?.map(Value::Object)
        }
        (Value::Array(patch), Rule::Keyed { key, item, .. }) => {
            let before = before
                .and_then(Value::as_array)
                .map_or(&[][..], Vec::as_slice);
            Some(Value::Array(merge_items(before, patch, key, item, &place)?))
        }
        (Value::Array(patch), Rule::Set) => {
            let mut items = before
                .and_then(Value::as_array)
                .cloned()
                .unwrap_or_default();
            for item in patch.iter().filter(|item| !item.is_object()) {
                if !items.contains(item) {
                    items.push(item.clone());
                }
            }
            Some(Value::Array(items))
        }
        (Value::Array(patch), _) => Some(whole_list(patch, &place)?),
        (scalar, _) => Some(scalar.clone()),
    };
    match merged {
        Some(merged) => target.insert(field.to_owned(), merged),
        None => target.remove(field),
    };
    Ok(())
}

/// Items of a list that takes the place of another, without directives.
fn whole_list(patch: &[Value], place: &Place) -> Result<Value, PatchError> {
    let mut items = Vec::new();
    for (index, item) in patch.iter().enumerate() {
        match item {
            Value::Object(map) if is_replace_marker(map) => {}
            Value::Object(map) => {
                let place = place.item(index);
                let merged = merge_maps(&Map::new(), map, Shape::Plain, &place)?;
                items.extend(merged.map(Value::Object));
            }
            other => items.push(other.clone()),
        }
    }
    Ok(Value::Array(items))
}

/// `{$patch: replace}` as an item says that the whole list is replaced.
fn is_replace_marker(item: &Map<String, Value>) -> bool {
    item.len() == 1 && item.get(PATCH).and_then(Value::as_str) == Some("replace")
}

fn merge_items(
    before: &[Value],
    patch: &[Value],
    key: &str,
    shape: Shape,
    place: &Place,
) -> Result<Vec<Value>, PatchError> {
    let replaces = |item: &Value| item.as_object().is_some_and(is_replace_marker);
    let before = if patch.iter().any(replaces) {
        &[][..]
    } else {
        before
    };
    // Two ports of one number are told apart by their protocol.
    let by_protocol =
        super::distinct_keys(before, key).is_none() || super::distinct_keys(patch, key).is_none();
    let identity = |item: &Value| {
        let protocol = item.get("protocol").and_then(Value::as_str);
        let protocol = protocol.unwrap_or("TCP").to_owned();
        Some((key_of(item, key)?, by_protocol.then_some(protocol)))
    };
    let mut items: Vec<Option<Value>> = before.iter().cloned().map(Some).collect();
    let mut places = HashMap::new();
    for (at, item) in before.iter().enumerate() {
        if let Some(identity) = identity(item) {
            places.entry(identity).or_insert(at);
        }
    }
    for (index, item) in patch.iter().enumerate().filter(|(_, item)| !replaces(item)) {
        let place = place.item(index);
        let map = item.as_object();
        let map = map.ok_or_else(|| place.wrong("an item here is a mapping"))?;
        let wanted = identity(item);
        let wanted =
            wanted.ok_or_else(|| place.wrong(format!("an item here needs its `{key}`")))?;
        let at = *places.entry(wanted).or_insert(items.len());
        if at == items.len() {
            items.push(None);
        }
        if let Some(slot) = items.get_mut(at) {
            let nothing = Map::new();
            let known = slot.as_ref().and_then(Value::as_object).unwrap_or(&nothing);
            let merged = merge_maps(known, map, shape, &place)?;
            *slot = merged.map(|merged| keyed(merged, key, item));
        }
    }
    Ok(items.into_iter().flatten().collect())
}

/// A merged item with its key, which `$retainKeys` need not name.
fn keyed(mut merged: Map<String, Value>, key: &str, item: &Value) -> Value {
    if let Some(value) = item.get(key) {
        merged.insert(key.to_owned(), value.clone());
    }
    Value::Object(merged)
}

fn delete_from(
    target: &mut Map<String, Value>,
    list: &str,
    gone: &Value,
    place: &Place,
) -> Result<(), PatchError> {
    let gone = gone.as_array();
    let gone = gone.ok_or_else(|| {
        place
            .field(list)
            .wrong("what is deleted from a list is a list")
    })?;
    if let Some(items) = target.get_mut(list).and_then(Value::as_array_mut) {
        items.retain(|item| !gone.contains(item));
    }
    Ok(())
}

fn set_order(target: &mut Map<String, Value>, list: &str, order: &Value, shape: Shape) {
    let Rule::Keyed { key, .. } = shape.rule(list) else {
        return;
    };
    let order = order.as_array().into_iter().flatten();
    let order: Vec<String> = order.filter_map(|item| key_of(item, key)).collect();
    if let Some(items) = target.get_mut(list).and_then(Value::as_array_mut) {
        arrange(items, key, &order);
    }
}
