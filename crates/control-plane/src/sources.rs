//! What the repository holds for the control plane: Go modules, KWOK stages, objects of every plane, CRDs for tests.

use std::path::PathBuf;

/// The directory `control-plane` of the workspace that this crate was compiled in.
pub fn root() -> PathBuf {
    workspace().join("control-plane")
}

/// The root directory of the workspace that this crate was compiled in.
pub fn workspace() -> PathBuf {
    let crate_directory = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    crate_directory
        .ancestors()
        .nth(2)
        .map_or(crate_directory.clone(), PathBuf::from)
}

/// A Go module with its own lock file; one for each set of versions that must not influence each other.
pub fn go_module(name: &str) -> PathBuf {
    root().join(name)
}

/// KWOK stages. See [`crate::components::kwok_stages`] for which of them a plane gets.
pub fn stages() -> PathBuf {
    root().join("stages")
}

/// Objects that every plane has: the node and the default storage class.
pub fn cluster_objects() -> PathBuf {
    root().join("cluster")
}
