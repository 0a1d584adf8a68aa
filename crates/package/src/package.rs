//! The forms in which a system is installed.

use std::fmt;

use serde_json::Value;

use crate::{BundleError, BundleInput, File, Image, identity::Reach};

/// The forms in which a system is installed.
pub struct Package {
    /// The role for the work, and the one for the Lease in the namespace of the operator.
    pub roles: fn(Reach<'_>) -> [Value; 2],
    /// A kustomize tree.
    pub kustomize: fn(&BundleInput, Reach<'_>) -> Vec<File>,
    /// The definition of the image.
    pub containerfile: fn() -> File,
    /// An OLM bundle.
    pub olm: fn(&BundleInput) -> Result<Vec<File>, BundleError>,
    /// A Helm chart.
    pub helm: Option<fn(&BundleInput) -> Vec<File>>,
    /// Plain manifests.
    pub plain: Option<fn(&BundleInput) -> Vec<File>>,
    /// The image of a version, if nobody names another.
    pub image: fn(&str) -> Image,
}

impl fmt::Debug for Package {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Package")
    }
}
