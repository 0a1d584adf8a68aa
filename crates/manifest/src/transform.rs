//! Ordered, pure changes to objects. Each has a name, which stands in every error.

pub mod additional;
mod annotations;
pub mod ignore;
mod images;
mod labels;
pub mod namespace;
pub mod normalise;
mod owner;
mod pod;
mod typed;
pub mod validate;
pub mod workloads;

use crate::{
    merge::PatchError,
    object::{Object, Origin},
};

pub use self::{
    annotations::Annotations,
    images::{Images, rewrite},
    labels::Labels,
    namespace::Namespace,
    normalise::Normalise,
    owner::Owner,
    typed::typed,
    workloads::{WorkloadOverride, Workloads},
};

/// A change to objects.
pub trait Transform: Send + Sync {
    /// Its name, for errors.
    fn name(&self) -> &'static str;

    /// Changes an object, or says why it cannot. What it does not concern stays as it is.
    fn apply(&self, object: &mut Object) -> Result<(), Problem>;
}

/// Why a transformer cannot go on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// An override of a workload does not fit it.
    #[error("{0}")]
    InvalidWorkload(String),
    /// The object is not one that may be installed.
    #[error("{0}")]
    InvalidResource(String),
    /// A manifest that users add is not allowed.
    #[error("{0}")]
    AdditionalManifests(String),
    /// A patch cannot be merged.
    #[error("{0}")]
    Patch(#[from] PatchError),
    /// Anything else.
    #[error("{0}")]
    Other(String),
}

impl Problem {
    /// The reason of the condition that reports the problem.
    pub const fn reason(&self) -> &'static str {
        match self {
            Self::InvalidWorkload(_) | Self::Patch(_) => "InvalidWorkload",
            Self::InvalidResource(_) => "InvalidResource",
            Self::AdditionalManifests(_) => "AdditionalManifestsFailed",
            Self::Other(_) => "TransformFailed",
        }
    }
}

/// A transformer that failed, and on which object.
#[derive(Debug, thiserror::Error)]
#[error("transformer `{transformer}`: {object}{place}: {problem}", place = place(origin.as_ref()))]
pub struct TransformError {
    /// Name of the transformer.
    pub transformer: &'static str,
    /// The object.
    pub object: String,
    /// Where it came from.
    pub origin: Option<Origin>,
    /// What is wrong.
    pub problem: Problem,
}

impl TransformError {
    pub(crate) fn new(transformer: &'static str, object: &Object, problem: Problem) -> Self {
        Self {
            transformer,
            object: object.to_string(),
            origin: object.origin().cloned(),
            problem,
        }
    }

    /// The reason of the condition that reports the failure.
    pub const fn reason(&self) -> &'static str {
        self.problem.reason()
    }
}

fn place(origin: Option<&Origin>) -> String {
    origin
        .map(|origin| format!(" ({origin})"))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests;
