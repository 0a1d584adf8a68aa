//! New files.

use std::{fs::File, io::Write as _, os::unix::fs::FileExt as _};

use rustix::fs::{AtFlags, Mode, OFlags, openat, unlinkat};

use super::Tree;
use crate::{Error, path, watcher::Operation};

/// A directory of the root below which new files get their mode without further ado.
#[derive(Debug)]
pub(super) struct Settled {
    top: String,
    mode: Mode,
}

impl Tree<'_> {
    /// Creates a file that must not exist. The mode does not depend on the umask.
    pub(crate) fn create(&self, relative: &str, bytes: &[u8], mode: Mode) -> Result<File, Error> {
        self.ask(Operation::Write)?;
        let (parent, name) = path::split(relative);
        let parent = self.existing(parent)?;
        let flags =
            OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened = openat(&*parent, name, flags, mode)
            .map_err(|error| Error::file("create", self.shown(relative))(error))?;
        let mut file = File::from(opened);
        let written = file
            .write_all(bytes)
            .and_then(|()| self.settle_mode(&file, relative, mode));
        if let Err(error) = written {
            // Half a file is worse than none; if it cannot even be removed, the first failure is still the one to tell.
            let _ = unlinkat(&*parent, name, AtFlags::empty());
            return Err(Error::file("write", self.shown(relative))(error));
        }
        Ok(file)
    }

    /// Creates a file that must not exist, and reads back what came of it.
    pub(crate) fn create_verified(
        &self,
        relative: &str,
        bytes: &[u8],
        mode: Mode,
    ) -> Result<(), Error> {
        let file = self.create(relative, bytes, mode)?;
        // One byte more than expected, so that a single read also finds the end.
        let mut written = vec![0; bytes.len().saturating_add(1)];
        let mut length = 0;
        while let Some(free) = written.get_mut(length..).filter(|free| !free.is_empty()) {
            let offset = u64::try_from(length).unwrap_or(u64::MAX);
            let read = file
                .read_at(free, offset)
                .map_err(|error| Error::file("read", self.shown(relative))(error))?;
            length += read;
            if read == 0 || length >= bytes.len() {
                break;
            }
        }
        if written.get(..length) == Some(bytes) {
            Ok(())
        } else {
            Err(Error::Verification {
                path: relative.to_owned(),
            })
        }
    }

    /// Gives a new file the mode that was asked for, whatever the umask made of it.
    ///
    /// The first file below a directory of the root tells whether that takes a system call: the others are made by
    /// the same process, in directories that it made itself.
    fn settle_mode(&self, file: &File, relative: &str, mode: Mode) -> std::io::Result<()> {
        let top = relative.split('/').next().unwrap_or_default();
        let mut settled = self.settled.borrow_mut();
        if settled
            .as_ref()
            .is_some_and(|settled| settled.mode == mode && settled.top == top)
        {
            return Ok(());
        }
        if Mode::from_raw_mode(rustix::fs::fstat(file)?.st_mode) != mode {
            return Ok(rustix::fs::fchmod(file, mode)?);
        }
        *settled = Some(Settled {
            top: top.to_owned(),
            mode,
        });
        Ok(())
    }
}
