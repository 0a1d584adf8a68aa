//! The two Flux kinds that every overlay is made of, and the kustomize files around them.

mod git_repository;
mod git_url;
mod kustomization;
mod kustomize;

pub use git_repository::{GitRepository, Reference};
pub use git_url::{GitAuthentication, GitUrlError, convert_git_url};
pub use kustomization::{FluxUnit, SPEC_FIELDS};
pub use kustomize::{KustomizeFile, SecretGenerator};

/// The namespace of every Flux object.
pub const FLUX_NAMESPACE: &str = "flux-system";

/// The source that `flux bootstrap` creates for the cluster's own repository.
pub const CLUSTER_SOURCE: &str = "flux-system";

/// A mapping node; absent values leave no trace.
macro_rules! map {
    () => {
        mainstay_yaml::Node::Map(Vec::new())
    };
    ($($key:literal : $value:expr),* $(,)?) => {
        mainstay_yaml::Node::map([$(($key, mainstay_yaml::Node::from($value))),*])
    };
}

/// A list node; absent items leave no trace.
macro_rules! list {
    ($($item:expr),* $(,)?) => {
        mainstay_yaml::Node::list([$(mainstay_yaml::Node::from($item)),*])
    };
}

pub(crate) use {list, map};
