//! How a file looks from outside.

use std::{fs, os::unix::fs::MetadataExt as _, path::Path};

/// Tells two versions of a file apart; none if there is none.
pub(crate) fn stamp(path: &Path) -> Option<String> {
    let metadata = fs::metadata(path).ok()?;
    Some(format!(
        "{} {} {:o} {} {} {} {} {}",
        metadata.dev(),
        metadata.ino(),
        metadata.mode(),
        metadata.size(),
        metadata.mtime(),
        metadata.mtime_nsec(),
        metadata.ctime(),
        metadata.ctime_nsec(),
    ))
}
