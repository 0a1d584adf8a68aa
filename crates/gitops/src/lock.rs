//! One write at a time per overlay.
//!
//! The lock is a file that is created exclusively and then held with `flock` for as long as the process lives. A lock
//! of ours that nobody holds belonged to a process that died: it can be taken over at once. A lock file that we did
//! not write is somebody's for ten minutes.

use std::{
    fs::File,
    io::{Read as _, Write as _},
    time::{Duration, SystemTime},
};

use rustix::fs::{FlockOperation, Mode, OFlags, flock, fstat};
use serde::{Deserialize, Serialize};

use crate::{Error, layout, path, tree::Tree};

/// After this time a lock file that is not ours counts as forgotten.
const STALE: Duration = Duration::from_mins(10);

/// How often we start over when the holder lets go in the same moment.
const TRIES: usize = 8;

/// What is in the lock file.
#[derive(Debug, Serialize, Deserialize)]
struct Content {
    process: u32,
    /// Where the holder works, so that a successor finds its journal.
    staging: String,
}

/// A lock that is held. Dropping it lets go but leaves the file: so does a process that dies.
#[derive(Debug)]
pub(crate) struct Lock {
    file: File,
    relative: String,
    /// Directories above the overlay that were made for the lock, outermost first.
    pub(crate) made: Vec<String>,
    /// Where a predecessor that died worked. It stays written down until [`Lock::note`] replaces it.
    pub(crate) abandoned: Option<String>,
}

impl Lock {
    /// Takes the lock of an overlay, and notes where the holder works.
    pub(crate) fn take(tree: &Tree<'_>, root: &str, staging: &str) -> Result<Self, Error> {
        let relative = path::join(root, layout::LOCK);
        let made = tree.make_directories(root)?;
        match Self::take_in(tree, &relative, staging) {
            Ok((file, abandoned)) => Ok(Self {
                file,
                relative,
                made,
                abandoned,
            }),
            Err(Error::Died) => Err(Error::Died),
            Err(error) => {
                tree.set_restoring(true);
                remove_if_empty(tree, &made)?;
                Err(error)
            }
        }
    }

    /// Takes the lock in a directory that exists.
    fn take_in(
        tree: &Tree<'_>,
        relative: &str,
        staging: &str,
    ) -> Result<(File, Option<String>), Error> {
        for _ in 0..TRIES {
            if let Some(taken) = attempt(tree, relative, staging)? {
                return Ok(taken);
            }
        }
        Err(Error::Busy {
            path: tree.shown(relative),
        })
    }

    /// Writes down where we work, in the place of a predecessor.
    pub(crate) fn note(&mut self, tree: &Tree<'_>, staging: &str) -> Result<(), Error> {
        let text = content(staging);
        self.file
            .set_len(0)
            .and_then(|()| std::io::Seek::rewind(&mut self.file))
            .and_then(|()| self.file.write_all(&text))
            .map_err(Error::file("write", tree.shown(&self.relative)))
    }

    /// Removes the file, and the directories that were made for it if nothing came into them.
    pub(crate) fn release(self, tree: &Tree<'_>) -> Result<(), Error> {
        tree.remove_file(&self.relative)?;
        remove_if_empty(tree, &self.made)
    }
}

/// Removes directories that were made for nothing; they are given outermost first.
fn remove_if_empty(tree: &Tree<'_>, directories: &[String]) -> Result<(), Error> {
    for directory in directories.iter().rev() {
        if !tree.remove_directory_if_empty(directory)? {
            break;
        }
    }
    Ok(())
}

fn content(staging: &str) -> Vec<u8> {
    let content = Content {
        process: std::process::id(),
        staging: staging.to_owned(),
    };
    serde_json::to_vec(&content).unwrap_or_default()
}

/// One try: the file, and where a dead predecessor worked. None to try again.
fn attempt(
    tree: &Tree<'_>,
    relative: &str,
    staging: &str,
) -> Result<Option<(File, Option<String>)>, Error> {
    match tree.create(relative, &content(staging), Mode::from(0o644)) {
        Ok(file) => {
            // Nobody else touches a fresh lock file, so this holds.
            let held = flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok();
            return Ok(held.then_some((file, None)));
        }
        Err(Error::File { source, .. }) if source.kind() == std::io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(error),
    }
    let busy = || Error::Busy {
        path: tree.shown(relative),
    };
    let Some(mut file) = tree.open_file(relative, OFlags::RDWR)? else {
        return Ok(None);
    };
    if flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
        return Err(busy());
    }
    // The holder may have removed the file between our opening and locking it.
    let opened = fstat(&file).map_err(Error::file("look at", tree.shown(relative)))?;
    let present = tree.stat(relative)?;
    if present.is_none_or(|present| present.st_ino != opened.st_ino) {
        return Ok(None);
    }
    let mut text = String::new();
    file.read_to_string(&mut text)
        .map_err(Error::file("read", tree.shown(relative)))?;
    match serde_json::from_str::<Content>(&text) {
        Ok(content) if layout::is_staging(&content.staging) => {
            Ok(Some((file, Some(content.staging))))
        }
        _ => {
            let modified = file.metadata().and_then(|metadata| metadata.modified());
            let age = modified
                .ok()
                .and_then(|modified| SystemTime::now().duration_since(modified).ok());
            if age.is_some_and(|age| age > STALE) {
                Ok(Some((file, None)))
            } else {
                Err(busy())
            }
        }
    }
}
