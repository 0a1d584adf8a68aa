//! What a config may ask for outside of its own file, and what of it nobody may see.

use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
    env,
    ffi::OsStr,
    fs::File,
    io::Read as _,
    os::fd::OwnedFd,
    path::{Component, Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use mainstay_opencenter::config::{ClusterConfig, Mask, Surroundings};
use rustix::{
    fs::{FileType, Mode, OFlags, fstat, open, openat},
    io::Errno,
};

use crate::{
    session::{Session, expand_home},
    stamp::stamp,
};

/// Longest file that is read, in bytes.
const LONGEST: u64 = 1024 * 1024;

/// How every step of a path is opened: links are not followed, and nothing is waited for.
const CAUTIOUS: OFlags = OFlags::RDONLY
    .union(OFlags::NOFOLLOW)
    .union(OFlags::NONBLOCK)
    .union(OFlags::NOCTTY)
    .union(OFlags::CLOEXEC);

/// The environment, and the files below the config's directory and those that the user allows.
#[derive(Debug)]
pub(crate) struct Outside {
    directory: PathBuf,
    allowed: Vec<PathBuf>,
    is_asked: Cell<bool>,
    /// The files that were asked for, whether they could be read or not, and how they looked right before.
    files: RefCell<BTreeMap<PathBuf, Option<String>>>,
}

impl Outside {
    /// What the config at this path may ask for.
    pub(crate) fn of(session: &Session, config: &Path) -> Self {
        let directory = match config.parent() {
            Some(parent) if parent != Path::new("") => parent.to_owned(),
            _ => PathBuf::from("."),
        };
        Self {
            directory,
            allowed: session.allowed_references(),
            is_asked: Cell::new(false),
            files: RefCell::default(),
        }
    }

    /// Whether anything was asked for.
    pub(crate) fn is_asked(&self) -> bool {
        self.is_asked.get()
    }

    /// The files that were asked for, whether they could be read or not, and how they looked right before.
    pub(crate) fn into_files(self) -> BTreeMap<PathBuf, Option<String>> {
        self.files.into_inner()
    }

    fn read(&self, path: &str) -> Result<String, String> {
        let path = self.directory.join(expand_home(path));
        let looks = stamp(&path);
        self.files.borrow_mut().insert(path.clone(), looks);
        // Where the path really leads, whatever links are on the way, is what counts.
        let real = path.canonicalize().map_err(|error| error.to_string())?;
        let roots = std::iter::once(&self.directory).chain(&self.allowed);
        let root = roots
            .filter_map(|root| root.canonicalize().ok())
            .find(|root| real.starts_with(root));
        let Some(root) = root else {
            return Err(format!(
                "it lies outside of the config's directory `{}`",
                self.directory.display()
            ));
        };
        let inside = real
            .strip_prefix(&root)
            .map_err(|error| error.to_string())?;
        let file = open_below(&root, inside).map_err(|error| match error {
            Errno::LOOP => "the path changed while it was read".to_owned(),
            other => std::io::Error::from(other).to_string(),
        })?;
        let stat = fstat(&file).map_err(|error| std::io::Error::from(error).to_string())?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Err("it is no regular file".to_owned());
        }
        let mut bytes = Vec::new();
        File::from(file)
            .take(LONGEST + 1)
            .read_to_end(&mut bytes)
            .map_err(|error| error.to_string())?;
        if bytes.len() as u64 > LONGEST {
            return Err("it is larger than 1 MiB".to_owned());
        }
        String::from_utf8(bytes).map_err(|_| "it is no text".to_owned())
    }
}

/// Opens a file step by step, so that nobody can put a link in its way after the path was judged.
fn open_below(root: &Path, inside: &Path) -> rustix::io::Result<OwnedFd> {
    let names: Vec<&OsStr> = inside
        .components()
        .filter_map(|component| match component {
            Component::Normal(name) => Some(name),
            _ => None,
        })
        .collect();
    let Some((name, directories)) = names.split_last() else {
        return Err(Errno::ISDIR);
    };
    let mut directory = open(root, CAUTIOUS | OFlags::DIRECTORY, Mode::empty())?;
    for name in directories {
        directory = openat(
            &directory,
            *name,
            CAUTIOUS | OFlags::DIRECTORY,
            Mode::empty(),
        )?;
    }
    openat(&directory, *name, CAUTIOUS, Mode::empty())
}

impl Surroundings for Outside {
    fn variable(&self, name: &str) -> Option<String> {
        self.is_asked.set(true);
        env::var(name).ok()
    }

    fn file(&self, path: &str) -> Result<String, String> {
        self.is_asked.set(true);
        self.read(path)
    }
}

/// What no message may show. Errors are made in many places that know nothing of the config; all are told in one.
static HIDDEN: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Keeps the values that a config has from outside from being told.
pub(crate) fn hide(config: &ClusterConfig) {
    let outside = config.origins().outside().iter();
    let values = outside
        .filter(|value| value.is_hidden())
        .map(|value| value.expose().to_owned());
    let mut hidden = HIDDEN.lock().unwrap_or_else(PoisonError::into_inner);
    hidden.extend(values);
    hidden.sort_unstable();
    hidden.dedup();
}

/// Hides what must not be told; none if there is nothing to hide.
pub(crate) fn mask() -> Option<Mask> {
    let hidden = HIDDEN.lock().unwrap_or_else(PoisonError::into_inner);
    (!hidden.is_empty()).then(|| Mask::new(hidden.iter().map(String::as_str)))
}
