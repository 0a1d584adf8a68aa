//! What reconciles go by of objects that are not theirs: a change in one of these wakes them, and nothing else does.

use mainstay_api::connectors::{Connector, ConnectorSpec, ManifestType};
use mainstay_engine::{
    decode::decode,
    snapshot::{AnyIndex, Index, View},
};
use mainstay_manifest::{
    Identity,
    conventions::{
        CONNECTOR_NAME_LABEL, CONNECTOR_NAMESPACE_LABEL, HASH_ANNOTATION, INSTALL_TYPE_LABEL,
        RELEASE_VERSION_LABEL,
    },
};
use serde_json::Value;

use crate::{inventory, kinds};

/// What a set goes by of its Connector: what it is rendered from.
#[derive(Clone, Debug, PartialEq)]
pub struct ConnectorView {
    /// The adjustments.
    pub spec: ConnectorSpec,
    /// Digests of the pages that the Connector was rendered with.
    pub pages: Vec<String>,
}

/// [`ConnectorView`].
pub static CONNECTOR: View<ConnectorView> = View::new("connector", |object| {
    let connector: Connector = decode(object).ok()?;
    let pages = connector.status.unwrap_or_default().additional_pages;
    Some(ConnectorView {
        spec: connector.spec,
        pages: pages.into_iter().map(|page| page.digest).collect(),
    })
});

/// A condition of a set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConditionView {
    /// Type.
    pub r#type: String,
    /// Status.
    pub status: String,
    /// Reason.
    pub reason: String,
    /// Message.
    pub message: String,
}

/// What a Connector, and the sibling of a set, go by.
#[derive(Clone, Debug, PartialEq)]
pub struct SetView {
    /// Name of the set.
    pub name: String,
    /// `namespace/name` of the Connector.
    pub connector: String,
    /// Type, as its label says.
    pub install_type: Option<String>,
    /// Release version, as its label says.
    pub release: Option<String>,
    /// Hash, as its annotation says.
    pub hash: Option<String>,
    /// Whether whole objects are recorded.
    pub is_all: bool,
    /// What is recorded.
    pub manifests: Vec<Value>,
    /// Whether it is being deleted.
    pub deleting: bool,
    /// Generation.
    pub generation: i64,
    /// The generation that its reconciler has handled.
    pub observed_generation: Option<i64>,
    /// The hash that its reconciler has handled.
    pub observed_hash: Option<String>,
    /// What its reconciler has to say.
    pub conditions: Vec<ConditionView>,
}

impl SetView {
    /// Whether its reconciler has handled what it records now.
    pub fn is_handled(&self) -> bool {
        self.observed_hash.is_some()
            && self.observed_hash == self.hash
            && self.observed_generation == Some(self.generation)
    }

    /// What it lists.
    pub fn identities(&self) -> impl Iterator<Item = Identity> {
        let recorded = self.manifests.iter();
        let recorded = recorded.filter_map(inventory::recorded_key);
        recorded.map(|key| inventory::identity(&key))
    }

    /// A condition.
    pub fn condition(&self, r#type: &str) -> Option<&ConditionView> {
        self.conditions.iter().find(|found| found.r#type == r#type)
    }
}

/// [`SetView`].
pub static SET: View<SetView> = View::new("set", |object| {
    let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str);
    let labelled = |key: &str| {
        let labels = object.pointer("/metadata/labels")?;
        labels.get(key)?.as_str().map(str::to_owned)
    };
    let hash = object.pointer("/metadata/annotations");
    let hash = hash.and_then(|all| all.get(HASH_ANNOTATION)?.as_str());
    let namespace = labelled(CONNECTOR_NAMESPACE_LABEL)?;
    let conditions = object.pointer("/status/conditions");
    let conditions = conditions.and_then(Value::as_array).into_iter().flatten();
    let conditions = conditions.map(|one| {
        let text = |field: &str| one.get(field).and_then(Value::as_str).unwrap_or_default();
        ConditionView {
            r#type: text("type").to_owned(),
            status: text("status").to_owned(),
            reason: text("reason").to_owned(),
            message: text("message").to_owned(),
        }
    });
    let manifests = object.pointer("/spec/manifests").and_then(Value::as_array);
    let number = |pointer: &str| object.pointer(pointer).and_then(Value::as_i64);
    Some(SetView {
        name: text("/metadata/name")?.to_owned(),
        connector: format!("{namespace}/{}", labelled(CONNECTOR_NAME_LABEL)?),
        install_type: labelled(INSTALL_TYPE_LABEL),
        release: labelled(RELEASE_VERSION_LABEL),
        hash: hash.map(str::to_owned),
        is_all: text("/spec/manifestType") == Some(ManifestType::All.as_str()),
        manifests: manifests.cloned().unwrap_or_default(),
        deleting: text("/metadata/deletionTimestamp").is_some(),
        generation: number("/metadata/generation").unwrap_or_default(),
        observed_generation: number("/status/observedGeneration"),
        observed_hash: text("/status/observedHash").map(str::to_owned),
        conditions: conditions.collect(),
    })
});

/// The sets of a Connector, by its `namespace/name`.
pub static BY_CONNECTOR: Index<SetView> = Index {
    name: "sets-by-connector",
    kind: kinds::INSTALL_MANIFEST,
    view: &SET,
    keys: |set| vec![set.connector.clone()],
    fold: None,
};

/// The indexes of the system.
pub static INDEXES: &[&dyn AnyIndex] = &[&BY_CONNECTOR];

/// Whether objects of a kind can be written: its definition is established and its names are accepted.
pub static ESTABLISHED: View<bool> = View::new("established", |definition| {
    let is = |r#type: &str| {
        let found = mainstay_engine::health::condition(definition, r#type);
        found.is_some_and(|found| found.get("status").is_some_and(|status| status == "True"))
    };
    Some(is("Established") && is("NamesAccepted"))
});

/// What an autoscaler scales: kind and name.
pub static SCALED: View<(String, String)> = View::new("scaled", |autoscaler| {
    let text = |field: &str| {
        let pointer = format!("/spec/scaleTargetRef/{field}");
        autoscaler
            .pointer(&pointer)
            .and_then(Value::as_str)
            .map(str::to_owned)
    };
    Some((text("kind")?, text("name")?))
});
