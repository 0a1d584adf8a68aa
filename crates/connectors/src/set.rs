//! The reconciler of sets: brings what a set records to the cluster phase by phase, and takes it away again.

mod bodies;
mod render;
mod status;

use std::{collections::BTreeSet, sync::Arc};

use mainstay_api::connectors::InstallManifest;
use mainstay_engine::{
    Kind, ObjectKey, ObjectSet,
    decode::decode,
    field_manager::FieldManager,
    kind::KindTable,
    options::Options,
    plan::{Deletion, Lifecycle},
    reconciler::{
        Cleanup, DeletionInput, Reconciler, Rejection, Report, ReportInput, ValidateError,
    },
    snapshot::Snapshot,
    unit::UnitFailure,
};
use mainstay_manifest::{
    Object,
    conventions::{
        CONNECTOR_NAME_LABEL, CONNECTOR_NAMESPACE_LABEL, HASH_ANNOTATION, INSTALL_TYPE_LABEL,
        RELEASE_VERSION_LABEL,
    },
    identity::InstallType,
};
use serde_json::Value;

use crate::{catalog::Catalog, inventory, kinds, names, rendering::Settings, workload};

/// The pure part of the controller of sets.
#[derive(Clone, Debug)]
pub struct SetReconciler {
    /// Settings of the system.
    pub settings: Settings,
    /// What is packaged.
    pub catalog: Arc<dyn Catalog>,
}

/// A set with what its metadata say.
#[derive(Clone, Debug)]
pub struct Set {
    /// The object.
    pub manifest: InstallManifest,
    /// Its name.
    pub name: String,
    /// Its uid.
    pub uid: String,
    /// Hash of what is to be installed.
    pub hash: String,
    /// Release version.
    pub release: String,
    /// Type.
    pub install_type: Option<InstallType>,
    /// Namespace of the Connector.
    pub connector_namespace: String,
    /// Name of the Connector.
    pub connector_name: String,
}

impl Set {
    fn of(manifest: InstallManifest) -> Self {
        let metadata = &manifest.metadata;
        let label = |key: &str| {
            let labels = metadata.labels.as_ref();
            labels
                .and_then(|all| all.get(key))
                .cloned()
                .unwrap_or_default()
        };
        let annotations = metadata.annotations.as_ref();
        let hash = annotations
            .and_then(|all| all.get(HASH_ANNOTATION))
            .cloned();
        let types = [InstallType::Static, InstallType::Deployment];
        let install_type = label(INSTALL_TYPE_LABEL);
        Self {
            name: metadata.name.clone().unwrap_or_default(),
            uid: metadata.uid.clone().unwrap_or_default(),
            hash: hash.unwrap_or_default(),
            release: label(RELEASE_VERSION_LABEL),
            install_type: types.into_iter().find(|one| one.as_str() == install_type),
            connector_namespace: label(CONNECTOR_NAMESPACE_LABEL),
            connector_name: label(CONNECTOR_NAME_LABEL),
            manifest,
        }
    }

    /// `namespace/name` of the Connector.
    fn connector(&self) -> String {
        format!("{}/{}", self.connector_namespace, self.connector_name)
    }

    fn generation(&self) -> Option<i64> {
        self.manifest.metadata.generation
    }

    /// Whether the conditions speak about what is to be installed now.
    fn is_handled(&self) -> bool {
        let status = self.manifest.status.as_ref();
        status.is_some_and(|status| {
            status.observed_hash.as_ref() == Some(&self.hash)
                && status.observed_generation == self.generation()
        })
    }
}

/// The objects of a set, as they are installed but for owner, marks and hash.
#[derive(Clone, Debug)]
pub struct Bodies(pub Vec<Object>);

impl Reconciler for SetReconciler {
    type Object = Set;
    type Input = Bodies;

    fn name(&self) -> &'static str {
        names::SET_CONTROLLER
    }

    fn declared(&self) -> KindTable {
        kinds::KINDS
    }

    fn root_kind(&self) -> Kind {
        kinds::INSTALL_MANIFEST
    }

    fn field_manager(&self) -> FieldManager {
        FieldManager::new(names::FIELD_MANAGER)
    }

    fn lifecycle(&self) -> Lifecycle {
        Lifecycle {
            finalizer: Some(names::FINALIZER),
            deletion: Deletion::ByOwnerReference,
            ..Lifecycle::PLAIN
        }
    }

    fn facts(&self, kind: &Kind, object: &Value) -> Value {
        workload::facts(kind, object)
    }

    fn decode(&self, root: &Value) -> Result<Set, Rejection> {
        decode(root).map(Set::of)
    }

    fn validate(&self, set: &Set, snapshot: &dyn Snapshot) -> Result<Bodies, ValidateError> {
        bodies::resolve(self, set, snapshot)
    }

    fn render(
        &self,
        set: &Set,
        bodies: &Bodies,
        snapshot: &dyn Snapshot,
    ) -> Result<ObjectSet, UnitFailure> {
        let rendered = render::render(self, set, bodies, snapshot);
        rendered.map_err(|(unit, source)| UnitFailure {
            unit,
            source,
            early: None,
        })
    }

    fn cleanup(&self, root: &Value, _snapshot: &dyn Snapshot) -> Cleanup {
        Cleanup {
            places: places(root),
            ..Cleanup::default()
        }
    }

    fn report_deletion(&self, input: &DeletionInput<'_>) -> Report {
        status::report_deletion(input)
    }

    fn report(&self, input: &ReportInput<'_, Self>) -> Report {
        status::report(input)
    }
}

/// Where objects of a set may be, and how they go: what its inventory names, and what it records. The other way round
/// than they were installed within each group.
fn places(root: &Value) -> Vec<(ObjectKey, Options)> {
    let Ok(manifest) = decode::<InstallManifest>(root) else {
        return Vec::new();
    };
    let status = manifest.status.unwrap_or_default();
    let named = status.inventory.iter().map(inventory::key);
    let recorded = manifest.spec.manifests.iter();
    let recorded = recorded.filter_map(inventory::recorded_key);
    let mut seen = BTreeSet::new();
    let mut places: Vec<(ObjectKey, Options)> = named
        .chain(recorded)
        .filter(|key| seen.insert(inventory::identity(key)))
        .filter_map(|key| inventory::removal(&key).map(|options| (key, options)))
        .collect();
    places.sort_by_key(|(key, _)| std::cmp::Reverse(crate::phases::rank(&key.kind)));
    places
}

#[cfg(test)]
mod tests;
