//! Directories: which files, in which order, and where links may lead.

use std::{
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
};

use super::{Load, LoadError};

/// Deepest directory below the first one.
const DEEPEST: usize = 64;

/// Loads the files of a directory in the order of the bytes of their names, directories in their place among them.
pub(super) fn load(
    path: &Path,
    root: Option<&Path>,
    recursive: bool,
    load: &mut Load,
) -> Result<(), LoadError> {
    let real = fs::canonicalize(path).map_err(LoadError::read(path))?;
    let root = match root {
        Some(root) => fs::canonicalize(root).map_err(LoadError::read(root))?,
        None => real.clone(),
    };
    let mut walk = Walk {
        root,
        recursive,
        around: Vec::new(),
    };
    walk.check(path, &real)?;
    walk.enter(path, real, load)
}

struct Walk {
    /// Nothing outside is read.
    root: PathBuf,
    recursive: bool,
    /// The directories around the present one, links resolved.
    around: Vec<PathBuf>,
}

impl Walk {
    fn check(&self, path: &Path, real: &Path) -> Result<(), LoadError> {
        if real.starts_with(&self.root) {
            return Ok(());
        }
        Err(LoadError::Outside {
            path: path.to_owned(),
            root: self.root.clone(),
        })
    }

    fn enter(&mut self, path: &Path, real: PathBuf, load: &mut Load) -> Result<(), LoadError> {
        if self.around.contains(&real) || self.around.len() >= DEEPEST {
            let path = path.to_owned();
            return Err(LoadError::Cycle { path });
        }
        self.around.push(real);
        let entries = fs::read_dir(path).map_err(LoadError::read(path))?;
        let names = entries.map(|entry| entry.map(|entry| entry.file_name()));
        let mut names: Vec<_> = names
            .collect::<Result<_, _>>()
            .map_err(LoadError::read(path))?;
        names.sort();
        for name in names.iter().filter(|name| !is_hidden(name)) {
            self.visit(&path.join(name), load)?;
        }
        self.around.pop();
        Ok(())
    }

    fn visit(&mut self, path: &Path, load: &mut Load) -> Result<(), LoadError> {
        // Fails for a link that leads nowhere, whatever its name: a bundle with one is broken.
        let metadata = fs::metadata(path).map_err(LoadError::read(path))?;
        let is_directory = metadata.is_dir();
        if is_directory && !self.recursive || !is_directory && !is_manifest(path) {
            return Ok(());
        }
        let real = fs::canonicalize(path).map_err(LoadError::read(path))?;
        self.check(path, &real)?;
        if is_directory {
            self.enter(path, real, load)
        } else {
            load.add_file(&real, Some(path))
        }
    }
}

/// `..data` and its kin are how volumes of `ConfigMaps` are made.
fn is_hidden(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(b".")
}

fn is_manifest(path: &Path) -> bool {
    let extension = path.extension().and_then(OsStr::to_str);
    matches!(extension, Some("yaml" | "yml" | "json"))
}
