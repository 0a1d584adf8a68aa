//! What follows from the sets that a Connector has: the first row of this table that fits.
//!
//! | Sets | What is done |
//! |---|---|
//! | one is being deleted | wait |
//! | two of one type, or one that does not say what it is | delete them, one after the other |
//! | another release | delete them, one after the other, and create them anew when all are gone |
//! | one is missing | create it; the second when the first was handled once, well or not |
//! | one differs | write it, the static one first |
//! | none of this | nothing |

use std::sync::Arc;

use mainstay_api::connectors::{Connector, ManifestType};
use mainstay_engine::ObjectKey;
use mainstay_manifest::{
    Object,
    conventions::{
        CONNECTOR_NAME_LABEL, CONNECTOR_NAMESPACE_LABEL, HASH_ANNOTATION, INSTALL_TYPE_LABEL,
        MANAGED_BY_LABEL, MANAGER, RELEASE_VERSION_LABEL,
    },
    identity::InstallType,
};
use serde_json::{Value, json};

use super::place;
use crate::{
    kinds, names, phases,
    rendering::{Rendering, recorded},
    views::SetView,
};

const TYPES: [InstallType; 2] = [InstallType::Static, InstallType::Deployment];

/// An object beyond this size is not worth a try.
const MOST_BYTES: usize = 1 << 20;

/// What is done about a set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// It is written as it is wanted.
    Write(InstallType),
    /// The set of this name goes.
    Delete(String),
}

/// What follows, and how `InstallSucceeded` calls it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    /// The reason of the condition; none if the sets are up to date, so that they tell.
    pub reason: Option<&'static str>,
    /// What is wrong, if no retry could help.
    pub failure: Option<String>,
    /// What is done.
    pub actions: Vec<Action>,
}

impl State {
    fn new(reason: &'static str, actions: Vec<Action>) -> Self {
        Self {
            reason: Some(reason),
            failure: None,
            actions,
        }
    }

    /// What follows from the sets that there are.
    pub fn of(connector: &Connector, rendering: &Rendering, sets: &[Arc<SetView>]) -> Self {
        if let Some(message) = too_large(connector, rendering) {
            let failure = Some(message);
            return Self {
                failure,
                ..Self::new("ManifestTooLarge", Vec::new())
            };
        }
        let of_type = |wanted: InstallType| {
            let is_it = |set: &&Arc<SetView>| set.install_type.as_deref() == Some(wanted.as_str());
            sets.iter().filter(is_it).collect::<Vec<_>>()
        };
        if sets.iter().any(|set| set.deleting) {
            return Self::new("WaitingForDeletion", Vec::new());
        }
        let is_odd = |set: &Arc<SetView>| {
            set.release.is_none() || set.install_type.is_none() || set.hash.is_none()
        };
        let is_doubled = TYPES.iter().any(|one| of_type(*one).len() > 1);
        if is_doubled || sets.iter().any(is_odd) {
            return Self::new("Reinstalling", first_deletion(sets));
        }
        let is_other = |set: &Arc<SetView>| set.release.as_deref() != Some(&rendering.release);
        if sets.iter().any(is_other) {
            return Self::new("Upgrading", first_deletion(sets));
        }
        let [statics, deployment] = TYPES.map(|one| of_type(one).first().copied());
        match (statics, deployment) {
            (None, _) => Self::new("Installing", vec![Action::Write(InstallType::Static)]),
            // Whether it went well does not matter: what is in the first set may need what the second brings.
            (Some(statics), None) if statics.is_handled() && is_current(statics, rendering) => {
                Self::new("Installing", vec![Action::Write(InstallType::Deployment)])
            }
            (Some(statics), None) => {
                let action = Action::Write(InstallType::Static);
                let differs = differs(connector, rendering, statics, InstallType::Static);
                Self::new(
                    "Installing",
                    differs.then_some(action).into_iter().collect(),
                )
            }
            (Some(statics), Some(deployment)) => {
                let pairs = [
                    (InstallType::Static, statics),
                    (InstallType::Deployment, deployment),
                ];
                let changed = pairs
                    .into_iter()
                    .filter(|(one, set)| differs(connector, rendering, set, *one));
                let actions: Vec<Action> = changed.map(|(one, _)| Action::Write(one)).collect();
                Self {
                    reason: (!actions.is_empty()).then_some("Updating"),
                    failure: None,
                    actions,
                }
            }
        }
    }
}

fn is_current(set: &SetView, rendering: &Rendering) -> bool {
    set.hash.as_ref() == Some(&rendering.statics.hash)
}

/// The static set goes first, and the other when that is gone.
fn first_deletion(sets: &[Arc<SetView>]) -> Vec<Action> {
    let is_static =
        |set: &&Arc<SetView>| set.install_type.as_deref() == Some(InstallType::Static.as_str());
    let statics: Vec<_> = sets.iter().filter(is_static).collect();
    let first = if statics.is_empty() {
        sets.iter().collect()
    } else {
        statics
    };
    let names = first.into_iter().map(|set| set.name.clone());
    names.map(Action::Delete).collect()
}

/// Whether a set is not as it is wanted, also because somebody edited it.
fn differs(
    connector: &Connector,
    rendering: &Rendering,
    set: &SetView,
    install_type: InstallType,
) -> bool {
    let part = rendering.part(install_type);
    let is_all = connector.spec.manifest_type.is_all();
    set.hash.as_ref() != Some(&part.hash)
        || set.is_all != is_all
        || set.manifests != manifests(part.objects.objects(), is_all)
}

/// What a set records, in the order of its installation.
fn manifests(objects: &[Object], is_all: bool) -> Vec<Value> {
    let mut objects: Vec<&Object> = objects.iter().collect();
    objects.sort_by_key(|object| {
        let kind = object.kind();
        (phases::installation(&kind).1, phases::rank(&kind))
    });
    let recorded = objects.into_iter().map(|object| recorded(object, is_all));
    recorded.collect()
}

/// The key of a set.
pub fn set_key(name: &str) -> ObjectKey {
    ObjectKey::new(kinds::INSTALL_MANIFEST, "", name)
}

/// A set as it is wanted.
pub fn wanted_set(
    connector: &Connector,
    rendering: &Rendering,
    install_type: InstallType,
) -> Value {
    let (namespace, name) = place(connector);
    let part = rendering.part(install_type);
    let is_all = connector.spec.manifest_type.is_all();
    let manifest_type = if is_all {
        ManifestType::All
    } else {
        ManifestType::Metadata
    };
    json!({
        "apiVersion": kinds::INSTALL_MANIFEST.api_version(),
        "kind": kinds::INSTALL_MANIFEST.kind,
        "metadata": {
            "name": names::set(namespace, name, install_type),
            "labels": {
                RELEASE_VERSION_LABEL: rendering.release,
                CONNECTOR_NAME_LABEL: name,
                CONNECTOR_NAMESPACE_LABEL: namespace,
                INSTALL_TYPE_LABEL: install_type.as_str(),
                MANAGED_BY_LABEL: MANAGER,
            },
            "annotations": {HASH_ANNOTATION: part.hash},
        },
        "spec": {
            "manifestType": manifest_type,
            "manifests": manifests(part.objects.objects(), is_all),
        },
    })
}

/// Why a set cannot be stored, if it cannot.
fn too_large(connector: &Connector, rendering: &Rendering) -> Option<String> {
    let too_large = TYPES.into_iter().find_map(|one| {
        let size = wanted_set(connector, rendering, one).to_string().len();
        (size > MOST_BYTES).then_some((one, size))
    });
    too_large.map(|(one, size)| {
        format!(
            "the {} set would have {size} bytes, and an object has at most {MOST_BYTES}; set spec.manifestType to \
             Metadata, or split the bundle",
            one.as_str()
        )
    })
}
