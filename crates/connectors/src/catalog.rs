//! What is packaged with the operator, and which kinds the cluster serves: handed in, because the pure part reads no files.

use std::{fmt, path::Path, sync::Arc};

use mainstay_manifest::{ManifestSet, Scopes};

/// An application in one version.
#[derive(Clone, Debug)]
pub struct Bundle {
    /// Its version; none if the application is not packaged by version.
    pub version: Option<String>,
    /// Its objects.
    pub objects: ManifestSet,
}

/// Why something cannot be rendered. Stays so until the Connector or the operator changes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    /// Reason of the condition that reports it.
    pub reason: &'static str,
    /// What is wrong, and where.
    pub message: String,
}

/// What is packaged, and what the cluster is known to serve.
pub trait Catalog: fmt::Debug + Send + Sync {
    /// An application in a version. The files of an image do not change, so that the answer stays the same.
    fn bundle(&self, application: &str, version: Option<&str>) -> Result<Arc<Bundle>, Failure>;

    /// Manifests in a local file or directory that users may add.
    fn local(&self, path: &Path) -> Result<Arc<ManifestSet>, Failure>;

    /// The scopes of kinds that the cluster serves.
    fn scopes(&self) -> Scopes;
}
