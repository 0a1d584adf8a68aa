//! The desired objects of one input, in the order in which units added them.

use std::{collections::BTreeMap, fmt, sync::Arc};

use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};

use crate::{
    hidden::Whole,
    key::{Kind, ObjectKey},
    keyed_lists,
    kind::KindTable,
    options::Options,
    prune::Prune,
    reconciler::Event,
};

/// What an entry asks for.
#[derive(Clone, PartialEq)]
pub enum Desired {
    /// The object exists with these fields.
    Present {
        /// The complete intent: exactly the fields that we claim.
        body: Value,
        /// How it is brought to the cluster.
        options: Options,
    },
    /// The object does not exist, if it is ours.
    Absent {
        /// Why it is not wanted, for plan and `why`.
        because: &'static str,
        /// How it is taken from the cluster.
        options: Options,
    },
}

impl fmt::Debug for Desired {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Present { body, options } => formatter
                .debug_struct("Present")
                .field("body", &Whole(body))
                .field("options", options)
                .finish(),
            Self::Absent { because, options } => formatter
                .debug_struct("Absent")
                .field("because", because)
                .field("options", options)
                .finish(),
        }
    }
}

/// One object of the set.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Identity.
    pub key: ObjectKey,
    /// The unit that added the entry.
    pub unit: &'static str,
    /// Units that amended it afterwards.
    pub amended_by: Vec<&'static str>,
    /// Written even if a later unit cannot render.
    pub early: bool,
    /// Objects of the set without which this one must not be written.
    pub needs: Vec<ObjectKey>,
    /// Present or absent.
    pub desired: Desired,
}

/// A unit used the set in a way that would make the result wrong.
#[derive(Debug, thiserror::Error)]
pub enum SetError {
    /// Two units created the same object.
    #[error("units `{first}` and `{second}` both create {key}")]
    Duplicate {
        /// The object.
        key: Box<ObjectKey>,
        /// Unit that was first.
        first: &'static str,
        /// Unit that came second.
        second: &'static str,
    },
    /// An object without apiVersion, kind or name.
    #[error("unit `{unit}` created an object without apiVersion, kind or metadata.name")]
    Nameless {
        /// The unit.
        unit: &'static str,
    },
    /// A kind that the system does not declare: there would be neither a watch nor a permission for it.
    #[error("unit `{unit}` created {key}, whose kind the system does not declare")]
    Undeclared {
        /// The unit.
        unit: &'static str,
        /// The object.
        key: Box<ObjectKey>,
    },
    /// Amending what is not there.
    #[error("unit `{unit}` amends {key}, which no earlier unit created")]
    Missing {
        /// The unit.
        unit: &'static str,
        /// The object.
        key: Box<ObjectKey>,
    },
    /// The object does not convert to or from JSON.
    #[error("unit `{unit}` cannot convert {what}")]
    Conversion {
        /// The unit.
        unit: &'static str,
        /// What was converted.
        what: String,
        /// Cause.
        #[source]
        source: serde_json::Error,
    },
}

/// How objects of a kind are brought to the cluster.
#[derive(Clone)]
struct KindOptions(Arc<dyn Fn(&Kind) -> Options + Send + Sync>);

impl fmt::Debug for KindOptions {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("KindOptions")
    }
}

/// Ordered set of desired objects. Typed objects come in, JSON is kept: converted once, at this border.
#[derive(Clone, Debug)]
pub struct ObjectSet {
    declared: KindTable,
    entries: Vec<Entry>,
    index: BTreeMap<ObjectKey, usize>,
    options: KindOptions,
    /// Labels of every object.
    labels: BTreeMap<String, String>,
    /// For which kinds the set is complete.
    pub prune: Prune,
    record: Option<Value>,
    relatives: Vec<ObjectKey>,
    events: Vec<Event>,
}

impl ObjectSet {
    /// An empty set that accepts the declared kinds only.
    pub fn new(declared: KindTable) -> Self {
        Self::with_options(declared, |_| Options::DEFAULT)
    }

    /// An empty set whose objects are brought to the cluster as their kind says.
    pub fn with_options(
        declared: KindTable,
        options: impl Fn(&Kind) -> Options + Send + Sync + 'static,
    ) -> Self {
        Self::with_shared_options(declared, KindOptions(Arc::new(options)))
    }

    fn with_shared_options(declared: KindTable, options: KindOptions) -> Self {
        Self {
            declared,
            entries: Vec::new(),
            index: BTreeMap::new(),
            options,
            labels: BTreeMap::new(),
            prune: Prune::default(),
            record: None,
            relatives: Vec::new(),
            events: Vec::new(),
        }
    }

    /// Has every object that is added from now on bear these labels, whatever else it has.
    pub fn label_all(&mut self, labels: BTreeMap<String, String>) {
        self.labels = labels;
    }

    /// Adds an object that is brought to the cluster as its kind says.
    pub fn add(&mut self, unit: &'static str, object: &impl Serialize) -> Result<(), SetError> {
        self.add_with(unit, object, |options| options)
    }

    /// Adds an object that is brought to the cluster in a way of its own.
    pub fn add_with(
        &mut self,
        unit: &'static str,
        object: &impl Serialize,
        change: impl FnOnce(Options) -> Options,
    ) -> Result<(), SetError> {
        let mut body = serde_json::to_value(object).map_err(|source| SetError::Conversion {
            unit,
            what: "an object".to_owned(),
            source,
        })?;
        let key = ObjectKey::of(&body).ok_or(SetError::Nameless { unit })?;
        self.label(&mut body);
        self.drop_repeated(&key, &mut body);
        let options = change(self.options_of(&key.kind));
        self.insert(unit, key, Desired::Present { body, options })
    }

    /// States that an object of ours must not exist.
    pub fn absent(
        &mut self,
        unit: &'static str,
        key: ObjectKey,
        because: &'static str,
    ) -> Result<(), SetError> {
        self.absent_with(unit, key, because, |options| options)
    }

    /// The same for one that goes in a way of its own.
    pub fn absent_with(
        &mut self,
        unit: &'static str,
        key: ObjectKey,
        because: &'static str,
        change: impl FnOnce(Options) -> Options,
    ) -> Result<(), SetError> {
        let options = change(self.options_of(&key.kind));
        self.insert(unit, key, Desired::Absent { because, options })
    }

    /// Has the status of the root say something before anything else is written: a merge patch. What was put where is
    /// recorded this way, so that a crash never makes a root forget what it has put somewhere.
    pub fn record_first(&mut self, status: Value) {
        self.record = Some(status);
    }

    /// What the status of the root has to say before anything else is written.
    pub const fn record(&self) -> Option<&Value> {
        self.record.as_ref()
    }

    /// Names roots whose objects may be taken over, where [`Adopt::Relatives`](crate::options::Adopt::Relatives) says so.
    pub fn take_over_from(&mut self, root: ObjectKey) {
        self.relatives.push(root);
    }

    /// Roots whose objects may be taken over.
    pub fn relatives(&self) -> &[ObjectKey] {
        &self.relatives
    }

    /// Changes an object that an earlier unit added.
    pub fn amend<T>(
        &mut self,
        unit: &'static str,
        key: &ObjectKey,
        change: impl FnOnce(&mut T),
    ) -> Result<(), SetError>
    where
        T: Serialize + DeserializeOwned,
    {
        let missing = || SetError::Missing {
            unit,
            key: Box::new(key.clone()),
        };
        let position = *self.index.get(key).ok_or_else(missing)?;
        let entry = self.entries.get_mut(position).ok_or_else(missing)?;
        let Desired::Present { body, .. } = &mut entry.desired else {
            return Err(missing());
        };
        let conversion = |source| SetError::Conversion {
            unit,
            what: key.to_string(),
            source,
        };
        let mut typed: T = serde_json::from_value(body.clone()).map_err(conversion)?;
        change(&mut typed);
        let mut amended = serde_json::to_value(&typed).map_err(conversion)?;
        entry.amended_by.push(unit);
        self.drop_repeated(key, &mut amended);
        if let Some(Entry {
            desired: Desired::Present { body, .. },
            ..
        }) = self.entries.get_mut(position)
        {
            *body = amended;
        }
        Ok(())
    }

    /// An apply can hold an item of a list once; what goes is told.
    fn drop_repeated(&mut self, key: &ObjectKey, body: &mut Value) {
        for item in keyed_lists::drop_repeated(&key.kind, body) {
            self.tell(Event {
                warning: true,
                reason: "RepeatedItem",
                message: format!(
                    "{key}: {item} stands there twice, and only one of them is written"
                ),
            });
        }
    }

    /// Has an event recorded on the root.
    pub fn tell(&mut self, event: Event) {
        if !self.events.contains(&event) {
            self.events.push(event);
        }
    }

    /// Events to record on the root.
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    fn label(&self, body: &mut Value) {
        if self.labels.is_empty() {
            return;
        }
        let Some(metadata) = body.get_mut("metadata").and_then(Value::as_object_mut) else {
            return;
        };
        let labels = metadata
            .entry("labels")
            .or_insert_with(|| Value::Object(Map::new()));
        if let Some(labels) = labels.as_object_mut() {
            let common = self.labels.iter();
            labels.extend(common.map(|(name, value)| (name.clone(), Value::from(value.as_str()))));
        }
    }

    /// Has an object written only if another one is as it is wanted. What the pods of a workload refer to need not be
    /// stated.
    pub fn needs(&mut self, key: &ObjectKey, needed: ObjectKey) {
        if let Some(entry) = self.entry_mut(key) {
            entry.needs.push(needed);
        }
    }

    /// Has an object written only if everything of some kinds that the set holds by now is as it is wanted.
    pub fn needs_kinds(&mut self, key: &ObjectKey, kinds: &[Kind]) {
        let entries = self.entries.iter().map(|entry| &entry.key);
        let needed = entries.filter(|other| kinds.contains(&other.kind));
        let needed: Vec<ObjectKey> = needed.cloned().collect();
        if let Some(entry) = self.entry_mut(key) {
            entry.needs.extend(needed);
        }
    }

    /// Has an object written even if a later unit cannot render: somebody else has to act on it before that unit can.
    pub fn write_even_if_later_units_fail(&mut self, key: &ObjectKey) {
        if let Some(entry) = self.entry_mut(key) {
            entry.early = true;
        }
    }

    fn entry_mut(&mut self, key: &ObjectKey) -> Option<&mut Entry> {
        let position = *self.index.get(key)?;
        self.entries.get_mut(position)
    }

    /// The objects that do not wait for the rest; `None` if all of them do. What is not among them is not left over.
    pub fn early(&self) -> Option<Box<Self>> {
        let mut early = Self::with_shared_options(self.declared.clone(), self.options.clone());
        for entry in self.entries.iter().filter(|entry| entry.early) {
            early.index.insert(entry.key.clone(), early.entries.len());
            early.entries.push(entry.clone());
        }
        (!early.entries.is_empty()).then(|| Box::new(early))
    }

    /// How objects of a kind are brought to the cluster, unless a unit says otherwise.
    pub fn options_of(&self, kind: &Kind) -> Options {
        (self.options.0)(kind)
    }

    /// Entries in order.
    pub fn iter(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter()
    }

    /// Bodies of the objects that shall exist, in order.
    pub fn bodies(&self) -> impl Iterator<Item = &Value> {
        self.entries
            .iter()
            .filter_map(|entry| match &entry.desired {
                Desired::Present { body, .. } => Some(body),
                Desired::Absent { .. } => None,
            })
    }

    /// The entry of a key.
    pub fn get(&self, key: &ObjectKey) -> Option<&Entry> {
        self.index
            .get(key)
            .and_then(|&position| self.entries.get(position))
    }

    fn insert(
        &mut self,
        unit: &'static str,
        key: ObjectKey,
        desired: Desired,
    ) -> Result<(), SetError> {
        if !self.declares(&key.kind) {
            return Err(SetError::Undeclared {
                unit,
                key: Box::new(key),
            });
        }
        if let Some(first) = self.get(&key) {
            return Err(SetError::Duplicate {
                first: first.unit,
                second: unit,
                key: Box::new(key),
            });
        }
        self.index.insert(key.clone(), self.entries.len());
        self.entries.push(Entry {
            key,
            unit,
            amended_by: Vec::new(),
            early: false,
            needs: Vec::new(),
            desired,
        });
        Ok(())
    }

    /// Whether a kind belongs to another operator, who installs its definition.
    pub fn is_of_others(&self, kind: &Kind) -> bool {
        self.declared.find(kind).is_some_and(|row| row.optional)
    }

    fn declares(&self, kind: &Kind) -> bool {
        self.declared.find(kind).is_some()
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::ConfigMap;
    use serde_json::json;

    use super::*;
    use crate::kind::{DeclaredKind, Role};

    static ROWS: &[DeclaredKind] = &[DeclaredKind::new(
        Kind::new("", "v1", "ConfigMap"),
        "configmaps",
        Role::Child,
    )];
    const DECLARED: KindTable = KindTable::closed(ROWS);

    fn config_map(name: &str) -> Value {
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "shop"}})
    }

    #[test]
    fn names_both_units_that_create_the_same_object() {
        let mut set = ObjectSet::new(DECLARED);
        set.add("first", &config_map("a")).unwrap();
        let error = set.add("second", &config_map("a")).unwrap_err();
        assert_eq!(
            error.to_string(),
            "units `first` and `second` both create ConfigMap shop/a"
        );
    }

    #[test]
    fn every_object_bears_the_common_labels_beside_its_own() {
        let mut set = ObjectSet::new(DECLARED);
        set.label_all([("part-of".to_owned(), "shop".to_owned())].into());
        set.add("unit", &config_map("a")).unwrap();
        let mut labelled = config_map("b");
        labelled["metadata"]["labels"] = json!({"own": "x"});
        set.add("unit", &labelled).unwrap();
        let labels: Vec<&Value> = set
            .bodies()
            .map(|body| &body["metadata"]["labels"])
            .collect();
        assert_eq!(
            labels,
            [
                &json!({"part-of": "shop"}),
                &json!({"own": "x", "part-of": "shop"})
            ]
        );
    }

    #[test]
    fn refuses_a_kind_that_the_system_does_not_declare() {
        let secret = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a", "namespace": "shop"}});
        let error = ObjectSet::new(DECLARED).add("first", &secret).unwrap_err();
        assert!(matches!(error, SetError::Undeclared { .. }), "{error}");
    }

    #[test]
    fn an_amendment_is_typed_and_recorded() {
        let mut set = ObjectSet::new(DECLARED);
        set.add("first", &config_map("a")).unwrap();
        let key = ObjectKey::of(&config_map("a")).unwrap();
        set.amend::<ConfigMap>("second", &key, |map| {
            map.data
                .get_or_insert_default()
                .insert("k".to_owned(), "v".to_owned());
        })
        .unwrap();
        assert_eq!(set.get(&key).unwrap().amended_by, ["second"]);
        assert_eq!(set.bodies().next().unwrap()["data"]["k"], "v");
        let missing = ObjectKey::of(&config_map("b")).unwrap();
        assert!(matches!(
            set.amend::<ConfigMap>("third", &missing, |_| ()),
            Err(SetError::Missing { .. })
        ));
    }

    #[test]
    fn what_does_not_wait_for_the_rest_is_told_apart() {
        let mut set = ObjectSet::new(DECLARED);
        assert!(set.early().is_none());
        for name in ["late", "early"] {
            set.add("unit", &config_map(name)).unwrap();
        }
        let key = ObjectKey::of(&config_map("early")).unwrap();
        set.write_even_if_later_units_fail(&key);
        let early = set.early().unwrap();
        assert_eq!(early.bodies().collect::<Vec<_>>(), [&config_map("early")]);
        assert!(early.get(&key).is_some());
    }

    #[test]
    fn keeps_the_order_of_the_units() {
        let mut set = ObjectSet::new(DECLARED);
        for name in ["z", "a", "m"] {
            set.add("unit", &config_map(name)).unwrap();
        }
        let names: Vec<_> = set.iter().map(|entry| entry.key.name.as_str()).collect();
        assert_eq!(names, ["z", "a", "m"]);
    }
}
