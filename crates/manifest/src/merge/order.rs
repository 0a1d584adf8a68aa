//! The order of items in lists that are merged by key.

use serde_json::Value;

use super::key_of;

/// Puts the items with these keys into this order. All others stay where they are.
pub(super) fn arrange(items: &mut [Value], key: &str, order: &[String]) {
    let position = |item: &Value| {
        let key = key_of(item, key)?;
        order.iter().position(|wanted| *wanted == key)
    };
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
    let common = found.iter().filter(|key| wanted.contains(key));
    let expected = wanted.iter().filter(|key| found.contains(key));
    common.eq(expected)
}
