//! The order of items in lists that are merged by key.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::key_of;

/// Puts the items with these keys into this order. All others stay where they are.
pub(super) fn arrange(items: &mut [Value], key: &str, order: &[String]) {
    let places: HashMap<&str, usize> = order.iter().map(String::as_str).zip(0..).collect();
    let position = |item: &Value| places.get(key_of(item, key)?.as_str()).copied();
    let mut wanted: Vec<(usize, Value)> = items
        .iter()
        .filter_map(|item| Some((position(item)?, item.clone())))
        .collect();
    wanted.sort_by_key(|(place, _)| *place);
    let mut wanted = wanted.into_iter();
    for item in items.iter_mut().filter(|item| position(item).is_some()) {
        if let Some((_, next)) = wanted.next() {
            *item = next;
        }
    }
}

/// Whether the keys that both have come in the same order.
pub(super) fn agree(found: &[String], wanted: &[String]) -> bool {
    let [in_found, in_wanted] =
        [found, wanted].map(|keys| keys.iter().collect::<HashSet<&String>>());
    let common = found.iter().filter(|key| in_wanted.contains(key));
    let expected = wanted.iter().filter(|key| in_found.contains(key));
    common.eq(expected)
}
