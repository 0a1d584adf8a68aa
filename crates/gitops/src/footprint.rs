//! How a tree looks from outside: names, sizes and times, as `git status` looks at it. No content is read.
//!
//! Two equal footprints mean that nobody touched a file in between, provided that the files were already a little old
//! when the first was taken ([`Footprint::is_settled`]): a file can change twice within one tick of the clock.

use std::{
    io::Write as _,
    time::{Duration, SystemTime},
};

use rustix::{
    fd::{AsFd, BorrowedFd, OwnedFd},
    fs::{AtFlags, Dir, FileType, FsWord, Mode, OFlags, Stat, fstatfs, openat, statat},
    time::{ClockId, clock_getres},
};

use crate::{
    Overlay,
    layout::{self, Owner},
    ledger::sha256,
    path,
};

/// File systems of this machine: ext4, XFS, Btrfs, tmpfs, overlayfs, F2FS, ZFS, bcachefs. Others may be written from
/// elsewhere, by another clock, so their times are not believed.
const BELIEVED: [FsWord; 8] = [
    0xEF53,
    0x5846_5342,
    0x9123_683E,
    0x0102_1994,
    0x794C_7630,
    0xF2F5_2010,
    0x2FC1_2FC1,
    0xCA45_1A4E,
];

/// The longest tick of file systems that count whole seconds.
const COARSE: Duration = Duration::from_secs(2);

const DIRECTORY: OFlags = OFlags::DIRECTORY
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC)
    .union(OFlags::RDONLY);

/// How a tree looks from outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Footprint {
    digest: String,
    files: Vec<String>,
    user_files: Vec<String>,
    newest: SystemTime,
    tick: Duration,
}

impl Footprint {
    /// A digest over everything that was seen, the ledger included.
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// Every file in the places of the renderer, sorted.
    pub fn files(&self) -> &[String] {
        &self.files
    }

    /// Every file in the `custom/` directories of services, sorted.
    pub fn user_files(&self) -> &[String] {
        &self.user_files
    }

    /// When a file of the tree was last written.
    pub fn newest(&self) -> SystemTime {
        self.newest
    }

    /// Whether a write at or after this time would have left another footprint.
    pub fn is_settled(&self, at: SystemTime) -> bool {
        self.newest
            .checked_add(self.tick * 2)
            .is_some_and(|end| end <= at)
    }
}

impl Overlay {
    /// How the tree looks from outside; none if that says too little: before the first write, while somebody writes,
    /// with links or devices in the places of the renderer, or where times are not to be believed.
    pub fn footprint(&self) -> Option<Footprint> {
        let flags = OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::RDONLY;
        let root = rustix::fs::open(&self.repository, flags, Mode::empty()).ok()?;
        let kind = fstatfs(&root).ok()?.f_type;
        if !BELIEVED.contains(&kind) {
            return None;
        }
        let mut walk = Walk::default();
        let (directory, name) = (
            layout::ledger(&self.cluster),
            layout::overlay(&self.cluster),
        );
        let (directory, ledger) = path::split(&directory);
        let clusters = descend(&root, directory)?;
        let stat = statat(&clusters, ledger, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return None;
        }
        walk.note(ledger, &stat);
        walk.directory(descend(&root, &name)?, "")?;
        Some(walk.finish())
    }
}

/// Opens a directory below another one without following links.
fn descend(root: &OwnedFd, relative: &str) -> Option<OwnedFd> {
    let mut parts = relative.split('/');
    let mut open = openat(root, parts.next()?, DIRECTORY, Mode::empty()).ok()?;
    for part in parts {
        open = openat(&open, part, DIRECTORY, Mode::empty()).ok()?;
    }
    Some(open)
}

#[derive(Default)]
struct Walk {
    /// One line for each file.
    seen: Vec<u8>,
    files: Vec<String>,
    user_files: Vec<String>,
    newest: (i64, i64),
    /// Whether some time has a fraction of a second.
    is_fine: bool,
}

impl Walk {
    fn directory(&mut self, opened: OwnedFd, parent: &str) -> Option<()> {
        let mut directory = Dir::new(opened).ok()?;
        let mut entries = Vec::new();
        while let Some(entry) = directory.read() {
            let entry = entry.ok()?;
            // A name that is no text is not one that we gave.
            if let Ok(name) = entry.file_name().to_str()
                && !matches!(name, "." | "..")
            {
                entries.push((name.to_owned(), entry.file_type()));
            }
        }
        entries.sort_unstable_by(|left, right| left.0.cmp(&right.0));
        let opened = directory.fd().ok()?;
        for (name, kind) in entries {
            if parent.is_empty() && name == layout::LOCK {
                return None;
            }
            if !parent.is_empty() || layout::OWNED.contains(&name.as_str()) {
                self.entry(opened.as_fd(), &name, path::join(parent, &name), kind)?;
            }
        }
        Some(())
    }

    fn entry(
        &mut self,
        directory: BorrowedFd<'_>,
        name: &str,
        path: String,
        kind: FileType,
    ) -> Option<()> {
        if kind == FileType::Directory {
            let opened = openat(directory, name, DIRECTORY, Mode::empty()).ok()?;
            return self.directory(opened, &path);
        }
        let stat = statat(directory, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        let is_file = FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
        let is_ours = layout::owner(&path) == Owner::Renderer;
        if is_ours && !is_file {
            return None;
        }
        self.note(&path, &stat);
        if is_ours {
            self.files.push(path);
        } else if is_file {
            self.user_files.push(path);
        }
        Some(())
    }

    fn note(&mut self, path: &str, stat: &Stat) {
        let modified = (
            stat.st_mtime,
            i64::try_from(stat.st_mtime_nsec).unwrap_or(0),
        );
        // Writing to a vector cannot fail.
        let _ = writeln!(
            self.seen,
            "{path}\0{} {} {:o} {} {} {} {} {}",
            stat.st_dev,
            stat.st_ino,
            stat.st_mode,
            stat.st_size,
            modified.0,
            modified.1,
            stat.st_ctime,
            stat.st_ctime_nsec,
        );
        self.newest = self.newest.max(modified);
        self.is_fine |= modified.1 != 0;
    }

    fn finish(mut self) -> Footprint {
        self.files.sort_unstable();
        self.user_files.sort_unstable();
        let (seconds, nanoseconds) = self.newest;
        let newest = Duration::new(
            u64::try_from(seconds).unwrap_or(0),
            u32::try_from(nanoseconds).unwrap_or(0),
        );
        let resolution = clock_getres(ClockId::RealtimeCoarse);
        let tick = Duration::try_from(resolution).unwrap_or(COARSE);
        Footprint {
            digest: sha256(&self.seen),
            files: self.files,
            user_files: self.user_files,
            newest: SystemTime::UNIX_EPOCH + newest,
            tick: if self.is_fine { tick } else { COARSE },
        }
    }
}

#[cfg(test)]
mod tests;
