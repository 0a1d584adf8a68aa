//! Reads for the command line, which has no caches: the same view, filled by requests.

use std::{collections::BTreeMap, fmt, sync::Arc};

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

/// Live objects of one namespace, as they were when fetched.
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

/// Reads the objects of one system.
pub struct Reader {
    /// API client.
    pub client: Client,
    /// The system's kinds.
    pub declared: &'static [DeclaredKind],
    /// Its field manager.
    pub manager: &'static str,
    /// What it keeps of live objects.
    pub facts: Facts,
}

impl fmt::Debug for Reader {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Reader")
            .field("manager", &self.manager)
            .finish_non_exhaustive()
    }
}

impl Reader {
    /// Fetches the objects that plans in a namespace compare with. Kinds that the cluster does not serve have none.
    pub async fn fetch(&self, namespace: &str) -> Result<Fetched, kube::Error> {
        let mut fetched = Fetched::default();
        for row in self.declared.iter().filter(|row| row.role == Role::Child) {
            let api = api(self.client.clone(), row, namespace);
            let objects = match api.list(&ListParams::default()).await {
                Ok(list) => list.items,
                Err(error) if row.optional && is_missing(&error) => continue,
                Err(error) => return Err(error),
            };
            for object in objects {
                let facts = |value: &_| (self.facts)(&row.kind, value);
                let live = live_object(row, object, self.manager, facts);
                fetched.objects.insert(live.key.clone(), Arc::new(live));
            }
        }
        Ok(fetched)
    }
}
