//! How many objects belong to an app or environment, and how many of them are ready.

use mainstay_engine::live::LiveView;

use crate::{facts, kinds};

/// A count, and which ones are not ready.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// All of them.
    pub managed: i32,
    /// Those that are ready.
    pub ready: i32,
    /// `<name>/<namespace>` of the others, sorted.
    pub broken: Vec<String>,
}

/// Counts the Deployments that belong to an owner, whatever flag its reference carries.
pub fn deployments(live: &dyn LiveView, owner_uid: &str) -> Count {
    let mut count = Count::default();
    for object in live.owned_by(owner_uid) {
        if object.key.kind != kinds::DEPLOYMENT {
            continue;
        }
        count.managed += 1;
        if facts::is_ready(&object) {
            count.ready += 1;
        } else {
            let key = &object.key;
            count.broken.push(format!("{}/{}", key.name, key.namespace));
        }
    }
    count.broken.sort();
    count
}
