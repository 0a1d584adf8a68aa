//! Writing files of the user: whole or not at all, readable by the user only.

use std::{
    fs::{self, File, OpenOptions, Permissions},
    io::Write as _,
    os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
};

use anyhow::{Context as _, ensure};

/// Replaces a file, with mode 0600.
pub(crate) fn atomically(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let could_not = || format!("could not write `{}`", path.display());
    let parent = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    if let Some(parent) = parent {
        fs::create_dir_all(parent).with_context(could_not)?;
    }
    let temporary = Temporary::beside(path).with_context(could_not)?;
    temporary.write(bytes).with_context(could_not)?;
    fs::rename(&temporary.path, path).with_context(could_not)?;
    if let Some(directory) = parent.and_then(|parent| File::open(parent).ok()) {
        // The name is durable once its directory is.
        let _ = directory.sync_all();
    }
    Ok(())
}

/// A file beside another one that goes away when it is dropped.
#[derive(Debug)]
pub(crate) struct Temporary {
    pub(crate) path: PathBuf,
}

impl Temporary {
    /// Creates an empty file with mode 0600, in the same directory and with the same extension.
    pub(crate) fn beside(path: &Path) -> anyhow::Result<Self> {
        let name = path.file_name().and_then(|name| name.to_str());
        ensure!(name.is_some(), "the path has no name");
        let name = name.unwrap_or_default().trim_start_matches('.');
        for number in 0..1000 {
            let path = path.with_file_name(format!(".{}-{number}-{name}", std::process::id()));
            match OpenOptions::new()
                .write(true)
                .create_new(true)
                .mode(0o600)
                .open(&path)
            {
                Ok(_) => return Ok(Self { path }),
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error.into()),
            }
        }
        anyhow::bail!("there are too many temporary files")
    }

    /// Writes the content and waits until it is on the medium.
    pub(crate) fn write(&self, bytes: &[u8]) -> std::io::Result<()> {
        let mut file = OpenOptions::new()
            .write(true)
            .truncate(true)
            .open(&self.path)?;
        file.set_permissions(Permissions::from_mode(0o600))?;
        file.write_all(bytes)?;
        file.sync_all()
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // After a rename it is gone already.
        let _ = fs::remove_file(&self.path);
    }
}
