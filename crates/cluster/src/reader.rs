//! Reads for the command line, which has no caches: the same view, filled by requests.

use std::{collections::BTreeMap, sync::Arc};

use kube::{Client, api::ListParams};
use mainstay_engine::{
    key::ObjectKey,
    kind::{DeclaredKind, Role},
    live::{LiveObject, LiveView},
};

use crate::{
    error::is_missing,
    resource::{api, live_object},
    watch::Facts,
};

/// Live objects that were fetched for one root.
#[derive(Debug, Default)]
pub struct Fetched {
    objects: BTreeMap<ObjectKey, Arc<LiveObject>>,
}

impl LiveView for Fetched {
    fn get(&self, key: &ObjectKey) -> Option<Arc<LiveObject>> {
        self.objects.get(key).cloned()
    }

    fn owned_by(&self, owner_uid: &str) -> Vec<Arc<LiveObject>> {
        self.objects
            .values()
            .filter(|object| object.belongs_to(owner_uid))
            .cloned()
            .collect()
    }
}

/// Fetches the objects that a plan compares with: the wanted keys, and everything in the namespace that belongs to
/// the owner. Kinds that the cluster does not serve have no objects.
pub async fn fetch(
    client: &Client,
    declared: &'static [DeclaredKind],
    wanted: &[ObjectKey],
    namespace: &str,
    owner_uid: &str,
    manager: &str,
    facts: &Facts,
) -> Result<Fetched, kube::Error> {
    let mut fetched = Fetched::default();
    for row in declared.iter().filter(|row| row.role == Role::Child) {
        let api = api(client.clone(), row, namespace);
        let objects = match api.list(&ListParams::default()).await {
            Ok(list) => list.items,
            Err(error) if row.optional && is_missing(&error) => continue,
            Err(error) => return Err(error),
        };
        for object in objects {
            let live = live_object(row, object, manager, |value| facts(&row.kind, value));
            if wanted.contains(&live.key) || live.belongs_to(owner_uid) {
                fetched.objects.insert(live.key.clone(), Arc::new(live));
            }
        }
    }
    Ok(fetched)
}
