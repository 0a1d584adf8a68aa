//! Names that do not change, because others go by them.

use std::fmt::Write as _;

use mainstay_manifest::identity::InstallType;
use sha2::{Digest as _, Sha256};

pub use mainstay_manifest::conventions::{MANAGER as FIELD_MANAGER, OWN_GROUP as GROUP};

/// API version of both kinds.
pub const VERSION: &str = "v1alpha1";
/// Finalizer of both kinds.
pub const FINALIZER: &str = "operator.connectors.alauda.io/finalizer";
/// Name of the controller of Connectors, in logs and metrics.
pub const CONNECTOR_CONTROLLER: &str = "connector";
/// Name of the controller of sets.
pub const SET_CONTROLLER: &str = "installmanifest";
/// The application of a Connector that names none.
pub const DEFAULT_APPLICATION: &str = "connectors";

/// The name of a set. It lives in no namespace, so that two Connectors of one name are told apart by a hash.
pub fn set(namespace: &str, connector: &str, install_type: InstallType) -> String {
    let hash = sha256(&format!("{namespace}/{connector}"));
    let short = hash.get(..8).unwrap_or_default();
    format!("{connector}-{short}-{}", install_type.as_str())
}

/// The name of an object for which its author gave only the beginning: the same for each rendering, so that it is
/// created once for each.
pub fn generated(beginning: &str, set_hash: &str, position: usize) -> String {
    let hash = sha256(&format!("{set_hash}/{position}"));
    format!("{beginning}{}", hash.get(..5).unwrap_or_default())
}

pub(crate) fn sha256(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    digest.iter().fold(String::new(), |mut text, byte| {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_of_connectors_of_one_name_are_told_apart() {
        let name = set("default", "example-connector", InstallType::Static);
        assert_eq!(name.len(), "example-connector-12345678-static".len());
        assert!(name.starts_with("example-connector-") && name.ends_with("-static"));
        assert_ne!(name, set("other", "example-connector", InstallType::Static));
    }

    #[test]
    fn a_generated_name_is_the_same_for_one_rendering() {
        assert_eq!(generated("job-", "1", 0), generated("job-", "1", 0));
        assert_ne!(generated("job-", "1", 0), generated("job-", "2", 0));
        assert_ne!(generated("job-", "1", 0), generated("job-", "1", 1));
    }
}
