//! A cluster in memory, for tests: it keeps objects, counts their versions, and fails where it is told to.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use mainstay_engine::{Kind, ObjectKey, kind::Scope};
use serde_json::{Value, json};

use super::{Client, ClientError, DeleteRequest, WriteOptions};
use crate::{
    merge::{self, Shape},
    object::{Object, inner, member},
    scope::Scopes,
};

/// A call of the double.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verb {
    /// Reading.
    Get,
    /// Creating.
    Create,
    /// Replacing.
    Update,
    /// Applying on the server.
    Apply,
    /// Deleting.
    Delete,
}

type Fault = Arc<dyn Fn(&ObjectKey) -> Option<ClientError> + Send + Sync>;

/// The double.
///
/// ```
/// use mainstay_manifest::{ManifestSet, apply::{ApplyOptions, apply}, client::MemoryClient, parse};
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
/// # runtime.block_on(async {
/// let cluster = MemoryClient::default();
/// let set = ManifestSet::new(parse::text("{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: b}}", "x")?);
/// let report = apply(&cluster, &set, &ApplyOptions::default()).await;
/// assert!(report.failures().next().is_none());
/// assert_eq!(cluster.objects().len(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Default)]
pub struct MemoryClient {
    state: Mutex<State>,
    scopes: Scopes,
    faults: BTreeMap<Verb, Fault>,
}

#[derive(Default)]
struct State {
    objects: BTreeMap<ObjectKey, Stored>,
    version: u64,
    calls: Vec<(Verb, ObjectKey)>,
}

struct Stored {
    value: Value,
    /// What each manager applied last.
    applied: BTreeMap<String, Value>,
}

impl fmt::Debug for MemoryClient {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "MemoryClient with {} objects",
            self.state().objects.len()
        )
    }
}

impl MemoryClient {
    /// A cluster that has these objects.
    pub fn with_objects(objects: impl IntoIterator<Item = Object>) -> Self {
        let cluster = Self::default();
        for object in objects {
            cluster.put(object.into_value());
        }
        cluster
    }

    /// A cluster that knows more scopes.
    #[must_use]
    pub fn with_scopes(mut self, scopes: Scopes) -> Self {
        self.scopes = scopes;
        self
    }

    /// A cluster in which calls of a verb fail when this says so.
    #[must_use]
    pub fn failing(
        mut self,
        verb: Verb,
        fault: impl Fn(&ObjectKey) -> Option<ClientError> + Send + Sync + 'static,
    ) -> Self {
        self.faults.insert(verb, Arc::new(fault));
        self
    }

    /// Puts an object there, as somebody else would: its version changes.
    pub fn put(&self, object: Value) {
        let key = self.key_of(&object);
        let mut state = self.state();
        let applied = state.objects.remove(&key).map(|stored| stored.applied);
        state.store(key, object, applied.unwrap_or_default());
    }

    /// All objects, by their keys.
    pub fn objects(&self) -> BTreeMap<ObjectKey, Value> {
        let state = self.state();
        let objects = state.objects.iter();
        objects
            .map(|(key, stored)| (key.clone(), stored.value.clone()))
            .collect()
    }

    /// The calls so far.
    pub fn calls(&self) -> Vec<(Verb, ObjectKey)> {
        self.state().calls.clone()
    }

    /// The calls so far that change something.
    pub fn writes(&self) -> usize {
        let state = self.state();
        state
            .calls
            .iter()
            .filter(|(verb, _)| *verb != Verb::Get)
            .count()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn key_of(&self, object: &Value) -> ObjectKey {
        let text = |pointer: &str| {
            object
                .pointer(pointer)
                .and_then(Value::as_str)
                .unwrap_or_default()
        };
        let kind = Kind::from_parts(text("/apiVersion"), text("/kind"));
        self.normal(&ObjectKey::new(
            kind,
            text("/metadata/namespace"),
            text("/metadata/name"),
        ))
    }

    fn normal(&self, key: &ObjectKey) -> ObjectKey {
        let mut key = key.clone();
        if self.scopes.of(&key.kind.group, &key.kind.kind) == Scope::Cluster {
            key.namespace.clear();
        }
        key
    }

    /// Notes a call, and whether it is to fail.
    async fn begin(&self, verb: Verb, key: &ObjectKey) -> Result<(), ClientError> {
        // A point at which the caller can be cancelled, as with a real cluster.
        tokio::task::yield_now().await;
        self.state().calls.push((verb, key.clone()));
        match self.faults.get(&verb).and_then(|fault| fault(key)) {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }
}

impl State {
    /// Stores an object under a new version; one that does not change keeps its own.
    fn store(
        &mut self,
        key: ObjectKey,
        mut value: Value,
        applied: BTreeMap<String, Value>,
    ) -> Value {
        let before = self.objects.get(&key);
        let uid = before.and_then(|stored| stored.value.pointer("/metadata/uid").cloned());
        let metadata = member(&mut value, "metadata");
        metadata.insert(
            "uid".to_owned(),
            uid.unwrap_or_else(|| json!(format!("uid-{}", self.version + 1))),
        );
        let version =
            before.and_then(|stored| stored.value.pointer("/metadata/resourceVersion").cloned());
        metadata.insert("resourceVersion".to_owned(), version.unwrap_or_default());
        if before.is_none_or(|stored| stored.value != value) {
            self.version += 1;
            let metadata = member(&mut value, "metadata");
            metadata.insert(
                "resourceVersion".to_owned(),
                json!(self.version.to_string()),
            );
        }
        let stored = value.clone();
        self.objects.insert(key, Stored { value, applied });
        stored
    }
}

fn not_found(key: &ObjectKey) -> ClientError {
    ClientError::NotFound {
        message: format!("{key} not found"),
    }
}

impl Client for MemoryClient {
    async fn scope_of(&self, kind: &Kind) -> Result<Scope, ClientError> {
        Ok(self.scopes.of(&kind.group, &kind.kind))
    }

    async fn get(&self, key: &ObjectKey) -> Result<Option<Value>, ClientError> {
        let key = self.normal(key);
        self.begin(Verb::Get, &key).await?;
        let state = self.state();
        Ok(state.objects.get(&key).map(|stored| stored.value.clone()))
    }

    async fn create(
        &self,
        object: &Value,
        options: WriteOptions<'_>,
    ) -> Result<Value, ClientError> {
        let mut object = object.clone();
        let made_up = object.pointer("/metadata/name").is_none();
        if made_up {
            let start = object
                .pointer("/metadata/generateName")
                .and_then(Value::as_str);
            let name = format!("{}{}", start.unwrap_or_default(), self.state().version);
            inner(crate::object::as_map(&mut object), "metadata")
                .insert("name".to_owned(), json!(name));
        }
        let key = self.key_of(&object);
        self.begin(Verb::Create, &key).await?;
        let mut state = self.state();
        if state.objects.contains_key(&key) {
            let message = format!("{key} already exists");
            return Err(ClientError::AlreadyExists { message });
        }
        if options.dry_run {
            return Ok(object);
        }
        Ok(state.store(key, object, BTreeMap::new()))
    }

    async fn update(
        &self,
        object: &Value,
        options: WriteOptions<'_>,
    ) -> Result<Value, ClientError> {
        let key = self.key_of(object);
        self.begin(Verb::Update, &key).await?;
        let mut state = self.state();
        let stored = state.objects.get(&key).ok_or_else(|| not_found(&key))?;
        let version = |value: &Value| value.pointer("/metadata/resourceVersion").cloned();
        let expected = version(object).filter(|version| !version.is_null());
        if expected.is_some() && expected != version(&stored.value) {
            let message = format!("{key} has been modified");
            return Err(ClientError::Conflict { message });
        }
        if options.dry_run {
            return Ok(object.clone());
        }
        let applied = stored.applied.clone();
        Ok(state.store(key, object.clone(), applied))
    }

    async fn apply(&self, object: &Value, options: WriteOptions<'_>) -> Result<Value, ClientError> {
        let key = self.key_of(object);
        self.begin(Verb::Apply, &key).await?;
        let mut state = self.state();
        let stored = state.objects.get(&key);
        let mut applied = stored
            .map(|stored| stored.applied.clone())
            .unwrap_or_default();
        let live = stored.map_or_else(|| json!({}), |stored| stored.value.clone());
        let shape = Shape::of(&key.kind);
        let patch = merge::three_way(applied.get(options.field_manager), object, &live, shape);
        let merged =
            merge::patched(&live, &patch, shape).map_err(|error| ClientError::Invalid {
                message: error.to_string(),
            })?;
        if options.dry_run {
            return Ok(merged);
        }
        applied.insert(options.field_manager.to_owned(), object.clone());
        Ok(state.store(key, merged, applied))
    }

    async fn delete(&self, key: &ObjectKey, request: &DeleteRequest) -> Result<(), ClientError> {
        let key = self.normal(key);
        self.begin(Verb::Delete, &key).await?;
        let mut state = self.state();
        let stored = state.objects.get(&key).ok_or_else(|| not_found(&key))?;
        let is = |wanted: &Option<String>, field: &str| {
            let found = stored.value.pointer(&format!("/metadata/{field}"));
            wanted.is_none() || wanted.as_deref() == found.and_then(Value::as_str)
        };
        if !is(&request.uid, "uid") || !is(&request.resource_version, "resourceVersion") {
            let message = format!("{key} is another object than expected");
            return Err(ClientError::Conflict { message });
        }
        if !request.dry_run {
            state.objects.remove(&key);
        }
        Ok(())
    }
}
