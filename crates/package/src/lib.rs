//! Installations of operators, as values: what a cluster, kustomize, Helm and OLM need.
//!
//! Nothing is written here. Every function returns files with paths relative to a directory of the caller's choice;
//! YAML documents are JSON values that the caller prints. What an operator consists of comes from its own crate, once,
//! and every form is made from that.
//!
//! | Module | Content |
//! |---|---|
//! | [`package`] | the forms in which a system is installed |
//! | [`file`](mod@file) | files |
//! | [`image`] | the reference to the operator's image, in the words of each tool |
//! | [`identity`] | account, permissions, and the guard of the lease |
//! | [`kustomize`] | directories of a kustomize tree |
//! | [`chart`] | a Helm chart |
//! | [`bundle`], [`csv`], [`scorecard`], [`openshift`], [`validate`] | an OLM bundle, and the rules it has to keep |
#![deny(missing_docs)]

pub mod bundle;
pub mod chart;
pub mod csv;
pub mod file;
pub mod identity;
pub mod image;
pub mod kustomize;
pub mod openshift;
pub mod package;
pub mod scorecard;
pub mod validate;

pub use bundle::{BundleError, BundleInput, Product};
pub use file::{File, FileContent};
pub use image::Image;
pub use package::Package;

/// Oldest Kubernetes that is supported, as a semantic version. Everything that names one names this, and
/// `cargo xtask test --old-kubernetes` runs on it.
pub const OLDEST_KUBERNETES: &str = "1.33.0";
/// The OpenShift that has it, in the words of catalogs.
pub const OLDEST_OPENSHIFT: &str = "v4.20";

/// Image that stands in manifests until kustomize replaces it.
pub const PLACEHOLDER_IMAGE: &str = "controller:latest";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everybody_is_told_the_same_oldest_versions() {
        let kubernetes = OLDEST_KUBERNETES.strip_suffix(".0").unwrap();
        let openshift = OLDEST_OPENSHIFT.strip_prefix('v').unwrap();
        let readme = include_str!("../../../README.md");
        let line = format!(
            "Supported: Kubernetes {kubernetes} and newer, OpenShift {openshift} and newer."
        );
        assert!(readme.contains(&line), "{line}");
        let parity = include_str!("../../../docs/parity/kaoto.md");
        let line = format!("{kubernetes} and {openshift} and newer, in every form");
        assert!(parity.contains(&line), "{line}");
        let tested = include_str!("../../../control-plane/kubernetes-oldest/go.mod");
        let line = format!("require k8s.io/kubernetes v{OLDEST_KUBERNETES}\n");
        assert!(tested.contains(&line), "{line}");
        // OpenShift 4.0 would have been Kubernetes 1.13.
        let minor = |version: &str| -> u32 { version.split('.').nth(1).unwrap().parse().unwrap() };
        assert_eq!(minor(OLDEST_KUBERNETES), minor(OLDEST_OPENSHIFT) + 13);
    }
}
