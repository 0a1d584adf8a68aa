//! Where records lie: a directory of the user's own in the cache. Everything here is a hint: failures are passed over.

use std::{
    fs::{DirBuilder, File},
    io::{Read as _, Write as _},
    os::{fd::OwnedFd, unix::fs::DirBuilderExt as _},
    path::PathBuf,
};

use rustix::{
    fs::{AtFlags, FileType, Mode, OFlags, Stat, fstat, mkdirat, openat, renameat, unlinkat},
    process::geteuid,
};

use crate::session::{home, variable};

/// The directory of the records, in the cache directory.
const DIRECTORY: &str = "opencenter";

/// How directories are opened: links are not followed.
const UNLINKED: OFlags = OFlags::DIRECTORY
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC)
    .union(OFlags::RDONLY);

/// Longest record that is read.
const LONGEST: u64 = 1024 * 1024;

/// Where records lie.
#[derive(Debug)]
pub(super) struct Store {
    cache: PathBuf,
}

impl Store {
    /// In the cache directory of the user; none without one.
    pub(super) fn of_user() -> Option<Self> {
        let cache = match (variable("MAINSTAY_CACHE_DIR"), variable("XDG_CACHE_HOME")) {
            (Some(directory), _) => PathBuf::from(directory),
            (None, Some(directory)) => PathBuf::from(directory).join("mainstay"),
            (None, None) => home().ok()?.join(".cache/mainstay"),
        };
        cache.is_absolute().then_some(Self { cache })
    }

    /// A record; none if there is none that could be ours.
    pub(super) fn read(&self, name: &str) -> Option<Vec<u8>> {
        let directory = self.open()?;
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let file = openat(&directory, name, flags, Mode::empty()).ok()?;
        let stat = fstat(&file).ok()?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile || !is_ours(&stat) {
            return None;
        }
        let mut bytes = Vec::new();
        File::from(file)
            .take(LONGEST)
            .read_to_end(&mut bytes)
            .ok()?;
        Some(bytes)
    }

    /// Replaces a record, whole or not at all. There is nothing to lose, so nothing waits for the medium.
    pub(super) fn write(&self, name: &str, bytes: &[u8]) {
        let Some(directory) = self.open().or_else(|| self.create()) else {
            return;
        };
        let partial = format!("{name}.{}", std::process::id());
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let Ok(file) = openat(&directory, &partial, flags, Mode::from(0o600)) else {
            return;
        };
        let written = File::from(file).write_all(bytes).is_ok()
            && renameat(&directory, &partial, &directory, name).is_ok();
        if !written {
            let _ = unlinkat(&directory, &partial, AtFlags::empty());
        }
    }

    /// Opens the directory. Links are not followed, and nobody else may write there.
    fn open(&self) -> Option<OwnedFd> {
        let cache = self.open_cache()?;
        let directory = openat(&cache, DIRECTORY, UNLINKED, Mode::empty()).ok()?;
        let both = [fstat(&cache).ok()?, fstat(&directory).ok()?];
        both.iter().all(is_ours).then_some(directory)
    }

    fn open_cache(&self) -> Option<OwnedFd> {
        rustix::fs::open(&self.cache, UNLINKED, Mode::empty()).ok()
    }

    fn create(&self) -> Option<OwnedFd> {
        let mut builder = DirBuilder::new();
        builder
            .recursive(true)
            .mode(0o700)
            .create(&self.cache)
            .ok()?;
        let cache = self.open_cache()?;
        // If it is there already, it is judged when it is opened.
        let _ = mkdirat(&cache, DIRECTORY, Mode::from(0o700));
        self.open()
    }
}

/// Whether something belongs to us, and only we can write to it.
fn is_ours(stat: &Stat) -> bool {
    stat.st_uid == geteuid().as_raw() && stat.st_mode & 0o022 == 0
}
