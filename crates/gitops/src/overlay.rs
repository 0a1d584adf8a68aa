//! The overlay of one cluster in a repository.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use crate::{
    Error,
    layout::{self, FluxSystem},
    ledger::Ledger,
    path,
    plan::{self, Claim, Desired, Plan},
    tree::{Kind, Tree},
    watcher::Unwatched,
};

/// The overlay of one cluster in a repository.
#[derive(Clone, Debug)]
pub struct Overlay {
    pub(crate) repository: PathBuf,
    pub(crate) cluster: String,
}

/// The files of an overlay as they are. Keeps the directories that it came through open.
#[derive(Debug)]
pub struct Reader {
    /// None if the repository does not exist.
    tree: Option<Tree<'static>>,
    root: String,
}

impl Reader {
    /// The content of a file; none if it does not exist. Links are refused.
    pub fn read(&self, file: &str) -> Result<Option<Vec<u8>>, Error> {
        path::check(file)?;
        match &self.tree {
            Some(tree) => tree.read(&path::join(&self.root, file)),
            None => Ok(None),
        }
    }
}

impl Overlay {
    /// The overlay of `cluster` below `repository`. Neither has to exist yet.
    pub fn new(repository: &Path, cluster: &str) -> Result<Self, Error> {
        path::check(cluster)?;
        if cluster.contains('/') {
            return Err(Error::Escape {
                path: cluster.to_owned(),
            });
        }
        Ok(Self {
            repository: repository.to_owned(),
            cluster: cluster.to_owned(),
        })
    }

    /// The cluster.
    pub fn cluster(&self) -> &str {
        &self.cluster
    }

    /// The directory of the overlay.
    pub fn directory(&self) -> PathBuf {
        self.repository.join(layout::overlay(&self.cluster))
    }

    /// The content of a file of the overlay; none if it does not exist. Links are refused.
    pub fn read(&self, file: &str) -> Result<Option<Vec<u8>>, Error> {
        self.reader()?.read(file)
    }

    /// Reads many files, and walks to each directory only once.
    pub fn reader(&self) -> Result<Reader, Error> {
        let tree = if self.repository.is_dir() {
            Some(Tree::open(&self.repository, &Unwatched)?)
        } else {
            None
        };
        Ok(Reader {
            tree,
            root: layout::overlay(&self.cluster),
        })
    }

    /// Every file in the places of the renderer, sorted.
    pub fn owned_files(&self) -> Result<Vec<String>, Error> {
        self.look(
            |tree| plan::owned_files(tree, &layout::overlay(&self.cluster)),
            Vec::new(),
        )
    }

    /// Files of the user in the `custom/` directories of services, sorted.
    pub fn custom_files(&self) -> Result<BTreeSet<String>, Error> {
        let find = |tree: &Tree<'_>| {
            let mut found = BTreeSet::new();
            for branch in ["services", "managed-services"] {
                for (name, kind) in tree.list(&self.inside(branch))?.unwrap_or_default() {
                    let directory = format!("{branch}/{name}/{}", layout::CUSTOM);
                    if kind == Kind::Directory
                        && tree.kind(&self.inside(&directory))? == Some(Kind::Directory)
                    {
                        self.collect_files(tree, &directory, &mut found)?;
                    }
                }
            }
            Ok(found)
        };
        self.look(find, BTreeSet::new())
    }

    /// Regular files below a directory; what is linked there is the user's business.
    fn collect_files(
        &self,
        tree: &Tree<'_>,
        directory: &str,
        found: &mut BTreeSet<String>,
    ) -> Result<(), Error> {
        for (name, kind) in tree.list(&self.inside(directory))?.unwrap_or_default() {
            let file = path::join(directory, &name);
            match kind {
                Kind::Directory => self.collect_files(tree, &file, found)?,
                Kind::File => {
                    found.insert(file);
                }
                Kind::Symlink | Kind::Other => {}
            }
        }
        Ok(())
    }

    /// Files and directories at the top of the overlay that belong to nobody we know.
    pub fn unknown(&self) -> Result<Vec<String>, Error> {
        let find = |tree: &Tree<'_>| {
            let entries = tree.list(&layout::overlay(&self.cluster))?;
            let known = |name: &str| {
                layout::OWNED.contains(&name) || name == layout::FLUX_SYSTEM || name == layout::LOCK
            };
            let names = entries
                .unwrap_or_default()
                .into_iter()
                .map(|(name, _)| name);
            Ok(names.filter(|name| !known(name)).collect())
        };
        self.look(find, Vec::new())
    }

    /// How far `flux bootstrap` got.
    pub fn flux_system(&self) -> Result<FluxSystem, Error> {
        let find = |tree: &Tree<'_>| {
            let Some(entries) = tree.list(&self.inside(layout::FLUX_SYSTEM))? else {
                return Ok(FluxSystem::Missing);
            };
            let has = |name: &str| entries.iter().any(|(entry, _)| entry == name);
            Ok(if layout::FLUX_SYSTEM_FILES.into_iter().all(has) {
                FluxSystem::Complete
            } else {
                FluxSystem::Incomplete
            })
        };
        self.look(find, FluxSystem::Missing)
    }

    /// The ledger; none before the first write.
    pub fn ledger(&self) -> Result<Option<Ledger>, Error> {
        self.look(|tree| Ledger::read(tree, &self.cluster), None)
    }

    /// What a write would do. Changes nothing and takes no lock.
    pub fn plan(&self, desired: &Desired, adopt: bool) -> Result<Plan, Error> {
        self.look_ahead(desired, Claim::adopting(adopt))
    }

    /// How the tree differs from what it shall be, edits by hand included: those would be refused, but are shown here.
    ///
    /// Files that we did not write are candidates, as in a write: no difference, because they would stay.
    pub fn compare(&self, desired: &Desired) -> Result<Plan, Error> {
        self.look_ahead(desired, Claim::Edited)
    }

    fn look_ahead(&self, desired: &Desired, claim: Claim) -> Result<Plan, Error> {
        if !self.repository.is_dir() {
            return Ok(Plan {
                added: desired.files.keys().cloned().collect(),
                ..Plan::default()
            });
        }
        let tree = Tree::open(&self.repository, &Unwatched)?;
        Ok(plan::draft(&tree, &self.cluster, desired, claim)?.plan)
    }

    /// The path of a file of the overlay in the repository.
    pub(crate) fn inside(&self, file: &str) -> String {
        path::join(&layout::overlay(&self.cluster), file)
    }

    fn look<T>(
        &self,
        question: impl FnOnce(&Tree<'_>) -> Result<T, Error>,
        without_repository: T,
    ) -> Result<T, Error> {
        if !self.repository.is_dir() {
            return Ok(without_repository);
        }
        question(&Tree::open(&self.repository, &Unwatched)?)
    }
}

#[cfg(test)]
mod tests;
