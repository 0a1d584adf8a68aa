//! The overlay tree as a value: every file that belongs to it, and why it is there.
//!
//! Paths are relative to `applications/overlays/<cluster>/` and use `/`. The renderer fills the tree, the writer
//! carries it to disk. Nothing in here has touched a disk yet, and nothing is encrypted yet: a file that is
//! [`Sensitivity`]-marked holds clear text and must not be written as it is.

mod adoption;
mod artifact;
mod base_check;
mod held;
pub mod kustomize;
pub mod parity;
mod semantic;
mod tree_check;
mod tree_document;

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

pub use adoption::{FluxAction, FluxEffect, flux_effects};
pub use artifact::{ArtifactError, PlanArtifact, PlanInputs, PlannedFile};
pub use base_check::{BASE_ROOT, check_base};
pub(crate) use held::RETIRED_UNITS;
pub use held::{ADOPTION_RECORD, Adoption};
pub use semantic::{
    Contents, DocumentChange, FieldChange, FileChange, TreeChange, field_changes, semantic_diff,
};
pub use tree_check::{BootstrapState, TreeCheck, check_tree};

/// Whether a path names a YAML file, as every tool around Flux tells it: by a lower-case suffix.
pub(crate) fn is_yaml(path: &str) -> bool {
    let suffix = path.rsplit_once('.').map(|(_, suffix)| suffix);
    matches!(suffix, Some("yaml" | "yml"))
}

/// What kind of file an action writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ActionKind {
    /// A `GitRepository`.
    Source,
    /// One or more Flux `Kustomization`s.
    Flux,
    /// A file of a service's own directory.
    Overlay,
    /// A file that lists the files of other units.
    Aggregate,
    /// A manifest of kind `Secret`.
    Secret,
}

/// What of a file must be encrypted before it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Sensitivity {
    /// Every value of the file: Helm values.
    WholeFile,
    /// The fields that hold secrets (`data`, `stringData`, credentials): Kubernetes manifests.
    Fields,
}

/// The condition that let a file, source or unit in or kept it out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Decision {
    /// The config field that decided, such as `opencenter.services.gateway.enabled`.
    pub field: String,
    /// How it was asked: `equals`, `exists`, `true` or `false`.
    pub operator: &'static str,
    /// What it was compared with, for `equals`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// What came out.
    pub result: bool,
}

impl fmt::Display for Decision {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let not = if self.result { "" } else { "not " };
        let expected = match &self.value {
            Some(value) => value.as_str(),
            None if self.operator == "exists" => "set",
            None => self.operator,
        };
        write!(formatter, "{} is {not}{expected}", self.field)
    }
}

/// One file of the tree.
#[derive(Clone, PartialEq, Eq)]
pub struct OverlayFile {
    /// The content, in clear text.
    pub bytes: Vec<u8>,
    /// The descriptor that declared the file, such as `keycloak` or `auto-service-demo-cache`.
    pub owner: String,
    /// What kind of file it is.
    pub kind: ActionKind,
    /// Whether, and how far, it must be encrypted.
    pub sensitivity: Option<Sensitivity>,
    /// The condition that let it in; none if it is always there while its unit is active.
    pub condition: Option<Decision>,
}

impl fmt::Debug for OverlayFile {
    /// Shows the size only: the content may be secret.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("OverlayFile")
            .field("bytes", &self.bytes.len())
            .field("owner", &self.owner)
            .field("kind", &self.kind)
            .field("sensitivity", &self.sensitivity)
            .field("condition", &self.condition)
            .finish()
    }
}

/// How much of the tree a render covers, and with it what the writer may delete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The whole tree: every owned path that is not in it goes away.
    Full,
    /// One unit: its directory is replaced wholesale, the other files one by one, and nothing else is touched.
    Unit {
        /// The directory of the unit, such as `services/keycloak`; none if the unit has no overlay.
        directory: Option<String>,
    },
}

/// The rendered overlay of one cluster, in path order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OverlayTree {
    /// The cluster's name, which is the name of the directory below `applications/overlays`.
    pub cluster: String,
    /// How much of the tree this is.
    pub scope: Scope,
    /// The files by path.
    pub files: BTreeMap<String, OverlayFile>,
}

impl OverlayTree {
    /// The directory of the tree in its repository.
    pub fn root(&self) -> String {
        format!("applications/overlays/{}", self.cluster)
    }

    /// The content of a file, if it is in the tree.
    pub fn bytes(&self, path: &str) -> Option<&[u8]> {
        self.files.get(path).map(|file| file.bytes.as_slice())
    }

    /// The tree as plain content by path, the form that tree checks and comparisons take.
    pub fn contents(&self) -> Contents {
        self.files
            .iter()
            .map(|(path, file)| (path.clone(), file.bytes.clone()))
            .collect()
    }
}
