//! The reconciler of Connectors: renders the bundle and records it in two sets.

pub mod state;
mod status;

use std::sync::Arc;

use mainstay_api::connectors::Connector;
use mainstay_engine::{
    Kind, ObjectKey, ObjectSet,
    decode::decode,
    field_manager::FieldManager,
    kind::KindTable,
    options::{Options, Stops},
    plan::{Deletion, Lifecycle},
    reconciler::{
        Cleanup, DeletionInput, Reconciler, Rejection, Report, ReportInput, ValidateError, Waiting,
    },
    snapshot::Snapshot,
    unit::UnitFailure,
};
use mainstay_manifest::identity::InstallType;
use serde_json::Value;

use self::state::{Action, State, set_key, wanted_set};
use crate::{
    catalog::Catalog,
    kinds, marks, names,
    rendering::{NotRendered, Rendering, Settings, rendering},
    views::{self, SetView},
    workload,
};

/// The pure part of the controller of Connectors.
#[derive(Clone, Debug)]
pub struct ConnectorReconciler {
    /// Settings of the system.
    pub settings: Settings,
    /// What is packaged.
    pub catalog: Arc<dyn Catalog>,
}

/// A Connector, rendered, and what follows from the sets that it has.
#[derive(Clone, Debug)]
pub struct ConnectorInput {
    /// What it renders to.
    pub rendering: Rendering,
    /// What is done about its sets.
    pub state: State,
}

/// The unit that sets come from.
pub(crate) const SETS: &str = "sets";

/// Namespace and name of a Connector.
pub(crate) fn place(connector: &Connector) -> (&str, &str) {
    let metadata = &connector.metadata;
    let namespace = metadata.namespace.as_deref().unwrap_or_default();
    (namespace, metadata.name.as_deref().unwrap_or_default())
}

/// The sets of a Connector.
fn sets(connector: &Connector, snapshot: &dyn Snapshot) -> Vec<Arc<SetView>> {
    let (namespace, name) = place(connector);
    snapshot.indexed(&views::BY_CONNECTOR, &format!("{namespace}/{name}"))
}

/// How sets are brought to the cluster: one after the other, told by their mark, and never taken from anybody else.
fn options(install_type: InstallType) -> Options {
    Options {
        phase: match install_type {
            InstallType::Static => 0,
            InstallType::Deployment => 1,
        },
        stops: Stops::Later,
        mark: Some(&marks::SET),
        ..Options::DEFAULT
    }
}

/// How a set goes: the garbage collector leaves its objects alone until the set itself is gone, and by then it has
/// deleted them in their order.
fn removal(phase: u16) -> Options {
    Options {
        phase,
        stops: Stops::UntilGone,
        mark: Some(&marks::SET),
        ..Options::DEFAULT
    }
}

impl Reconciler for ConnectorReconciler {
    type Object = Connector;
    type Input = ConnectorInput;

    fn name(&self) -> &'static str {
        names::CONNECTOR_CONTROLLER
    }

    fn declared(&self) -> KindTable {
        kinds::KINDS
    }

    fn root_kind(&self) -> Kind {
        kinds::CONNECTOR
    }

    fn field_manager(&self) -> FieldManager {
        FieldManager::new(names::FIELD_MANAGER)
    }

    fn lifecycle(&self) -> Lifecycle {
        Lifecycle {
            finalizer: Some(names::FINALIZER),
            early_finalizer: true,
            deletion: Deletion::ByOwnerReference,
        }
    }

    fn facts(&self, kind: &Kind, object: &Value) -> Value {
        workload::facts(kind, object)
    }

    fn decode(&self, root: &Value) -> Result<Connector, Rejection> {
        decode(root)
    }

    fn validate(
        &self,
        connector: &Connector,
        snapshot: &dyn Snapshot,
    ) -> Result<ConnectorInput, ValidateError> {
        let (namespace, _) = place(connector);
        let catalog = &*self.catalog;
        let rendered = rendering(
            namespace,
            &connector.spec,
            &self.settings,
            catalog,
            snapshot,
        );
        let rendering = rendered.map_err(|stopped| match stopped {
            NotRendered::Unknown => ValidateError::Unknown,
            NotRendered::Failed(failure) => ValidateError::Waiting(Waiting {
                reason: failure.reason,
                message: failure.message,
            }),
        })?;
        let state = State::of(connector, &rendering, &sets(connector, snapshot));
        Ok(ConnectorInput { rendering, state })
    }

    fn render(
        &self,
        connector: &Connector,
        input: &ConnectorInput,
        _snapshot: &dyn Snapshot,
    ) -> Result<ObjectSet, UnitFailure> {
        let mut rendered = ObjectSet::new(kinds::KINDS);
        for action in &input.state.actions {
            match action {
                Action::Write(install_type) => {
                    let body = wanted_set(connector, &input.rendering, *install_type);
                    let options = options(*install_type);
                    let added = rendered.add_with(SETS, &body, |_| options);
                    added.map_err(|source| UnitFailure {
                        unit: SETS,
                        source: source.into(),
                        early: None,
                    })?;
                }
                Action::Delete(name) => rendered.prune.place(set_key(name), removal(0)),
            }
        }
        Ok(rendered)
    }

    fn cleanup(&self, root: &Value, snapshot: &dyn Snapshot) -> Cleanup {
        let Ok(connector) = decode::<Connector>(root) else {
            return Cleanup::default();
        };
        let sets = sets(&connector, snapshot);
        let places = sets.iter().map(|set| {
            let is_static = set.install_type.as_deref() == Some(InstallType::Static.as_str());
            (set_key(&set.name), removal(u16::from(!is_static)))
        });
        let mut places: Vec<(ObjectKey, Options)> = places.collect();
        places.sort_by_key(|(_, options)| options.phase);
        Cleanup {
            places,
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

#[cfg(test)]
mod tests;
