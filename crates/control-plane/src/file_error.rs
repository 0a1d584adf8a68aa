//! A file or directory that could not be used.

use std::{io, path::PathBuf};

/// What was attempted on what, and why it failed.
#[derive(Debug, thiserror::Error)]
#[error("could not {action} `{path}`")]
pub struct FileError {
    action: &'static str,
    path: PathBuf,
    #[source]
    source: io::Error,
}

impl FileError {
    /// For `map_err`: the failure of an action on a path.
    pub(crate) fn of(
        action: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self {
            action,
            path,
            source,
        }
    }
}
