//! The last classification of each node, for when the classifier does not answer.

use std::{
    fs::{DirBuilder, OpenOptions, remove_file, rename},
    io::{self, Write as _},
    os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
};

use serde::Deserialize;

use crate::{
    config::{or_default, text},
    files,
};

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Cache {
    #[serde(deserialize_with = "or_default")]
    enabled: bool,
    #[serde(deserialize_with = "text")]
    directory: String,
}

/// Largest file that is taken for a classification.
const LARGEST: u64 = 64 * 1024 * 1024;

impl Cache {
    fn path(&self, certname: &str) -> PathBuf {
        Path::new(&self.directory).join(format!("{certname}.yaml"))
    }

    /// Keeps a classification. Failures have no consequences: the classification itself is there.
    pub(super) fn store(&self, certname: &str, classification: &str) {
        if self.enabled {
            let _ = self.try_store(certname, classification);
        }
    }

    /// A server that reads at the same time gets the whole old file or the whole new one, also after a crash.
    fn try_store(&self, certname: &str, classification: &str) -> io::Result<()> {
        let directory = Path::new(&self.directory);
        DirBuilder::new()
            .recursive(true)
            .mode(0o755)
            .create(directory)?;
        let new = directory.join(format!(".{certname}.{}", std::process::id()));
        let written = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o644)
            .open(&new)
            .and_then(|mut file| file.write_all(classification.as_bytes()))
            .and_then(|()| rename(&new, self.path(certname)));
        if written.is_err() {
            let _ = remove_file(&new);
        }
        written
    }

    /// What was kept, however old it is.
    pub(super) fn load(&self, certname: &str) -> Option<Vec<u8>> {
        let found = self
            .enabled
            .then(|| files::read(&self.path(certname), LARGEST));
        found?.ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_stored_is_found_again_and_nothing_else_is_left() {
        let directory = tempfile::tempdir().unwrap();
        let below = directory.path().join("a/b");
        let cache = Cache {
            enabled: true,
            directory: below.display().to_string(),
        };
        assert_eq!(cache.load("n"), None);
        cache.store("n", "old");
        cache.store("n", "new");
        assert_eq!(cache.load("n").unwrap(), b"new");
        assert_eq!(std::fs::read_dir(&below).unwrap().count(), 1);
        let disabled = Cache {
            enabled: false,
            ..cache
        };
        disabled.store("n", "other");
        assert_eq!(disabled.load("n"), None);
    }

    #[test]
    fn a_directory_that_cannot_be_made_changes_nothing() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let cache = Cache {
            enabled: true,
            directory: file.path().join("x").display().to_string(),
        };
        cache.store("n", "text");
        assert_eq!(cache.load("n"), None);
    }
}
