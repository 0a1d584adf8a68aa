//! The keys of a list's items, found in constant time: lists of thousands of items are compared, too.

use std::collections::{HashMap, VecDeque};

use serde_json::{Map, Value};

/// Finds the key that an item has. A key field that an item leaves out was or will be filled in by the server, so it fits
/// every key; the keys are therefore indexed by each combination of fields that occurs, of which there are few.
pub(super) struct KeyIndex<'key> {
    keys: Vec<&'key Map<String, Value>>,
    taken: Vec<bool>,
    by_fields: HashMap<Vec<&'key str>, HashMap<String, VecDeque<usize>>>,
}

impl<'key> KeyIndex<'key> {
    /// The index of keys that all have the same fields, as those of one list do.
    pub(super) fn new(keys: impl IntoIterator<Item = &'key Map<String, Value>>) -> Self {
        let keys: Vec<_> = keys.into_iter().collect();
        Self {
            taken: vec![false; keys.len()],
            keys,
            by_fields: HashMap::new(),
        }
    }

    /// The position of the first key that the item has.
    pub(super) fn find(&mut self, item: &Value) -> Option<usize> {
        self.candidates(item)?.front().copied()
    }

    /// The position of the first key that the item has and that no item before it has taken.
    pub(super) fn take(&mut self, item: &Value) -> Option<usize> {
        let taken = std::mem::take(&mut self.taken);
        let found = self.candidates(item).and_then(|positions| {
            while let Some(position) = positions.pop_front() {
                if taken.get(position) == Some(&false) {
                    return Some(position);
                }
            }
            None
        });
        self.taken = taken;
        if let Some(place) = found.and_then(|position| self.taken.get_mut(position)) {
            *place = true;
        }
        found
    }

    /// Whether an item has taken the key at a position.
    pub(super) fn is_taken(&self, position: usize) -> bool {
        self.taken.get(position) == Some(&true)
    }

    fn candidates(&mut self, item: &Value) -> Option<&mut VecDeque<usize>> {
        let names = self.keys.first()?.keys().map(String::as_str);
        let fields: Vec<&str> = names.filter(|name| item.get(name).is_some()).collect();
        let text = text_of(&fields, |name| item.get(name));
        let keys = &self.keys;
        let positions = self.by_fields.entry(fields).or_insert_with_key(|fields| {
            let mut positions: HashMap<String, VecDeque<usize>> = HashMap::new();
            for (position, key) in keys.iter().enumerate() {
                let text = text_of(fields, |name| key.get(name));
                positions.entry(text).or_default().push_back(position);
            }
            positions
        });
        positions.get_mut(&text)
    }
}

/// The values of fields as one text. A JSON text holds no line feed, so neighbours cannot run into each other.
fn text_of<'value>(fields: &[&str], value: impl Fn(&str) -> Option<&'value Value>) -> String {
    let mut text = String::new();
    for field in fields {
        text.extend(value(field).map(Value::to_string));
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn keys(keys: Value) -> Vec<Map<String, Value>> {
        serde_json::from_value(keys).unwrap()
    }

    #[test]
    fn a_field_that_an_item_leaves_out_fits_every_key() {
        let keys = keys(json!([
            {"port": 80, "protocol": "TCP"}, {"port": 80, "protocol": "UDP"}, {"port": 53, "protocol": "UDP"},
        ]));
        let mut index = KeyIndex::new(&keys);
        assert_eq!(index.find(&json!({"port": 80, "protocol": "UDP"})), Some(1));
        assert_eq!(index.find(&json!({"port": 80})), Some(0));
        assert_eq!(index.find(&json!({"name": "x"})), Some(0));
        assert_eq!(index.find(&json!({"port": 81})), None);
    }

    #[test]
    fn every_key_is_taken_once() {
        let keys = keys(json!([
            {"port": 80, "protocol": "TCP"}, {"port": 80, "protocol": "UDP"},
        ]));
        let mut index = KeyIndex::new(&keys);
        assert_eq!(index.take(&json!({"port": 80, "protocol": "TCP"})), Some(0));
        assert_eq!(index.take(&json!({"port": 80})), Some(1));
        assert_eq!(index.take(&json!({"port": 80})), None);
        assert!(index.is_taken(0) && index.is_taken(1) && !index.is_taken(2));
    }
}
