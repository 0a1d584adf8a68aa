//! Files below one root directory, reached without ever following a symbolic link.
//!
//! Every directory is opened from its parent with `O_NOFOLLOW`, so a link that appears between two steps is refused
//! rather than followed. Opened directories are kept: a tree has few of them and many files.

use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
    fs::File,
    io::Read as _,
    os::fd::{AsFd, OwnedFd},
    path::{Path, PathBuf},
    rc::Rc,
};

use rustix::{
    fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat, mkdirat, openat, renameat, statat, unlinkat},
    io::Errno,
};

use crate::{
    Error, path,
    watcher::{Operation, Verdict, Watcher},
};

mod create;

use create::Settled;

const DIRECTORY: OFlags = OFlags::DIRECTORY
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC)
    .union(OFlags::RDONLY);

/// What stands at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    File,
    Directory,
    Symlink,
    Other,
}

/// Access to the files below a root.
pub(crate) struct Tree<'w> {
    root: PathBuf,
    root_fd: Rc<OwnedFd>,
    open: RefCell<BTreeMap<String, Rc<OwnedFd>>>,
    watcher: &'w dyn Watcher,
    /// Where new files get which mode without further ado.
    settled: RefCell<Option<Settled>>,
    /// While the old files are put back, an interrupt does not stop us again.
    restoring: Cell<bool>,
}

impl std::fmt::Debug for Tree<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Tree")
            .field("root", &self.root)
            .finish_non_exhaustive()
    }
}

impl<'w> Tree<'w> {
    /// Opens a root that the user named; it may itself be behind a link.
    pub(crate) fn open(root: &Path, watcher: &'w dyn Watcher) -> Result<Self, Error> {
        let flags = OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::RDONLY;
        let root_fd =
            rustix::fs::open(root, flags, Mode::empty()).map_err(Error::file("open", root))?;
        Ok(Self {
            root: root.to_owned(),
            root_fd: Rc::new(root_fd),
            open: RefCell::default(),
            watcher,
            settled: RefCell::default(),
            restoring: Cell::new(false),
        })
    }

    /// The path for messages.
    pub(crate) fn shown(&self, relative: &str) -> PathBuf {
        self.root.join(relative)
    }

    /// Whether old files are being put back, or the work is done: an interrupt does not stop us then.
    pub(crate) fn set_restoring(&self, restoring: bool) {
        self.restoring.set(restoring);
    }

    fn ask(&self, operation: Operation) -> Result<(), Error> {
        match self.watcher.before(operation) {
            Verdict::Proceed => Ok(()),
            Verdict::Interrupt if self.restoring.get() => Ok(()),
            Verdict::Interrupt => Err(Error::Interrupted),
            Verdict::Die => Err(Error::Died),
        }
    }

    /// Closes the directories that were kept open; they are opened again when they are needed.
    pub(crate) fn close_directories(&self) {
        self.open.borrow_mut().clear();
    }

    /// A directory below the root; none if it does not exist.
    fn directory(&self, relative: &str) -> Result<Option<Rc<OwnedFd>>, Error> {
        if relative.is_empty() {
            return Ok(Some(Rc::clone(&self.root_fd)));
        }
        if let Some(found) = self.open.borrow().get(relative) {
            return Ok(Some(Rc::clone(found)));
        }
        let (parent, name) = path::split(relative);
        let Some(parent) = self.directory(parent)? else {
            return Ok(None);
        };
        match openat(&*parent, name, DIRECTORY, Mode::empty()) {
            Ok(opened) => {
                let opened = Rc::new(opened);
                self.open
                    .borrow_mut()
                    .insert(relative.to_owned(), Rc::clone(&opened));
                Ok(Some(opened))
            }
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(self.judge(&parent, relative, "directory", "open", error)),
        }
    }

    /// Says better than the system call why something could not be opened.
    fn judge(
        &self,
        parent: &OwnedFd,
        relative: &str,
        wanted: &'static str,
        attempt: &'static str,
        error: Errno,
    ) -> Error {
        let shown = self.shown(relative);
        let (_, name) = path::split(relative);
        let kind = statat(parent, name, AtFlags::SYMLINK_NOFOLLOW).map(|stat| kind(&stat));
        match (kind, wanted) {
            (Ok(Kind::Symlink), _) => Error::Symlink { path: shown },
            (Ok(Kind::Directory), "directory") | (Ok(Kind::File), "file") | (Err(_), _) => {
                Error::file(attempt, shown)(error)
            }
            _ => Error::InTheWay {
                path: shown,
                wanted,
            },
        }
    }

    /// What stands at a path; none for nothing.
    pub(crate) fn kind(&self, relative: &str) -> Result<Option<Kind>, Error> {
        Ok(self.stat(relative)?.map(|stat| kind(&stat)))
    }

    pub(crate) fn stat(&self, relative: &str) -> Result<Option<Stat>, Error> {
        let (parent, name) = path::split(relative);
        let Some(parent) = self.directory(parent)? else {
            return Ok(None);
        };
        match statat(&*parent, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(stat)),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(Error::file("look at", self.shown(relative))(error)),
        }
    }

    /// Opens a regular file; none if it does not exist.
    pub(crate) fn open_file(&self, relative: &str, flags: OFlags) -> Result<Option<File>, Error> {
        Ok(self.open_sized(relative, flags)?.map(|(file, _)| file))
    }

    fn open_sized(&self, relative: &str, flags: OFlags) -> Result<Option<(File, usize)>, Error> {
        let (parent, name) = path::split(relative);
        let Some(parent) = self.directory(parent)? else {
            return Ok(None);
        };
        // Non-blocking, so that a named pipe in the place of a file does not hold us up.
        let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let opened = match openat(&*parent, name, flags, Mode::empty()) {
            Ok(opened) => opened,
            Err(Errno::NOENT) => return Ok(None),
            Err(error) => return Err(self.judge(&parent, relative, "file", "open", error)),
        };
        let stat =
            rustix::fs::fstat(&opened).map_err(Error::file("look at", self.shown(relative)))?;
        if kind(&stat) != Kind::File {
            return Err(Error::InTheWay {
                path: self.shown(relative),
                wanted: "file",
            });
        }
        let size = usize::try_from(stat.st_size).unwrap_or(0);
        Ok(Some((File::from(opened), size)))
    }

    /// The content of a regular file; none if it does not exist.
    pub(crate) fn read(&self, relative: &str) -> Result<Option<Vec<u8>>, Error> {
        let Some((mut file, size)) = self.open_sized(relative, OFlags::RDONLY)? else {
            return Ok(None);
        };
        // One byte more than expected, so that a single read also finds the end: trees have many small files.
        let mut bytes = vec![0; size.saturating_add(1)];
        let mut length = 0;
        loop {
            let free = bytes.get_mut(length..).unwrap_or_default();
            let read = file
                .read(free)
                .map_err(Error::file("read", self.shown(relative)))?;
            length += read;
            if read == 0 || (length < bytes.len() && length >= size) {
                break;
            }
            if length == bytes.len() {
                bytes.resize(bytes.len() * 2, 0);
            }
        }
        bytes.truncate(length);
        Ok(Some(bytes))
    }

    /// Names and kinds in a directory, sorted; none if it does not exist.
    pub(crate) fn list(&self, relative: &str) -> Result<Option<Vec<(String, Kind)>>, Error> {
        let Some(directory) = self.directory(relative)? else {
            return Ok(None);
        };
        let could_not = || Error::file("list", self.shown(relative));
        let mut entries = Vec::new();
        for entry in Dir::read_from(&*directory).map_err(could_not())? {
            let entry = entry.map_err(could_not())?;
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            // A name that is no text is not one that we gave.
            let Ok(name) = name.to_str() else { continue };
            let kind = match entry.file_type() {
                FileType::Unknown => match self.kind(&path::join(relative, name))? {
                    Some(kind) => kind,
                    None => continue,
                },
                known => kind_of(known),
            };
            entries.push((name.to_owned(), kind));
        }
        entries.sort_unstable_by(|left, right| left.0.cmp(&right.0));
        Ok(Some(entries))
    }

    /// Makes a directory and those above it, or none of them; says which ones it made, outermost first.
    pub(crate) fn make_directories(&self, relative: &str) -> Result<Vec<String>, Error> {
        let mut missing = Vec::new();
        let all = std::iter::once(relative).chain(path::parents(relative));
        for directory in all.filter(|directory| !directory.is_empty()) {
            if self.directory(directory)?.is_some() {
                break;
            }
            missing.push(directory.to_owned());
        }
        missing.reverse();
        for (index, directory) in missing.iter().enumerate() {
            match self.make_directory(directory, Mode::from(0o755)) {
                Ok(()) => {}
                Err(Error::Died) => return Err(Error::Died),
                Err(error) => {
                    self.set_restoring(true);
                    for made in missing.iter().take(index).rev() {
                        self.remove_directory_if_empty(made)?;
                    }
                    return Err(error);
                }
            }
        }
        Ok(missing)
    }

    /// Makes one directory. Its parent exists; if it exists itself by now, that is fine.
    pub(crate) fn make_directory(&self, relative: &str, mode: Mode) -> Result<(), Error> {
        self.ask(Operation::MakeDirectory)?;
        let (parent, name) = path::split(relative);
        let shown = self.shown(relative);
        let parent = self.existing(parent)?;
        match mkdirat(&*parent, name, mode) {
            Ok(()) | Err(Errno::EXIST) => Ok(()),
            Err(error) => Err(Error::file("create", shown)(error)),
        }
    }

    fn existing(&self, relative: &str) -> Result<Rc<OwnedFd>, Error> {
        self.directory(relative)?
            .ok_or_else(|| Error::file("open", self.shown(relative))(Errno::NOENT))
    }

    /// Moves a file; the place it goes to is replaced if it is a file.
    pub(crate) fn rename(&self, from: &str, to: &str) -> Result<(), Error> {
        self.ask(Operation::Rename)?;
        let (from_directory, from_name) = path::split(from);
        let (to_directory, to_name) = path::split(to);
        let (source, target) = (self.existing(from_directory)?, self.existing(to_directory)?);
        renameat(&*source, from_name, &*target, to_name)
            .map_err(Error::file("move", self.shown(from)))
    }

    /// Moves a directory with everything in it; what stands in its place, unless it is an empty directory, stops it.
    pub(crate) fn move_directory(&self, from: &str, to: &str) -> Result<(), Error> {
        self.rename(from, to)?;
        let is_below = |path: &str| {
            let rest = path.strip_prefix(from);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        self.open.borrow_mut().retain(|path, _| !is_below(path));
        Ok(())
    }

    /// Removes a file; one that is not there is fine.
    pub(crate) fn remove_file(&self, relative: &str) -> Result<(), Error> {
        self.ask(Operation::Remove)?;
        self.unlink(relative, AtFlags::empty()).map(drop)
    }

    /// Removes a directory if it is empty; says whether it is gone.
    pub(crate) fn remove_directory_if_empty(&self, relative: &str) -> Result<bool, Error> {
        self.ask(Operation::Remove)?;
        let gone = self.unlink(relative, AtFlags::REMOVEDIR)?;
        if gone {
            self.open.borrow_mut().remove(relative);
        }
        Ok(gone)
    }

    fn unlink(&self, relative: &str, flags: AtFlags) -> Result<bool, Error> {
        let (parent, name) = path::split(relative);
        let Some(parent) = self.directory(parent)? else {
            return Ok(true);
        };
        match unlinkat(&*parent, name, flags) {
            Ok(()) | Err(Errno::NOENT) => Ok(true),
            Err(Errno::NOTEMPTY | Errno::EXIST) if flags == AtFlags::REMOVEDIR => Ok(false),
            Err(error) => Err(Error::file("remove", self.shown(relative))(error)),
        }
    }

    /// Removes a directory of ours with everything in it; links in it are removed, not followed.
    pub(crate) fn remove_all(&self, relative: &str) -> Result<(), Error> {
        for (name, kind) in self.list(relative)?.unwrap_or_default() {
            let inner = path::join(relative, &name);
            if kind == Kind::Directory {
                self.remove_all(&inner)?;
            } else {
                self.remove_file(&inner)?;
            }
        }
        self.remove_directory_if_empty(relative).map(drop)
    }

    /// The number of the file system; zero if it does not say.
    pub(crate) fn file_system(&self) -> u64 {
        rustix::fs::fstat(&*self.root_fd).map_or(0, |stat| stat.st_dev)
    }

    /// Brings everything that was written so far to the medium.
    pub(crate) fn sync(&self) -> Result<(), Error> {
        self.ask(Operation::Sync)?;
        rustix::fs::syncfs(self.root_fd.as_fd()).map_err(Error::file("sync", &self.root))
    }
}

fn kind(stat: &Stat) -> Kind {
    kind_of(FileType::from_raw_mode(stat.st_mode))
}

fn kind_of(file_type: FileType) -> Kind {
    match file_type {
        FileType::RegularFile => Kind::File,
        FileType::Directory => Kind::Directory,
        FileType::Symlink => Kind::Symlink,
        _ => Kind::Other,
    }
}
