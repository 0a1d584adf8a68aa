//! What a swap is about to do, written down before it begins, so that it can be undone after a crash.

use rustix::fs::Mode;
use serde::{Deserialize, Serialize};

use crate::{Error, layout, path, tree::Tree};

const VERSION: u32 = 1;

/// One file that is moved. Paths are those in the repository.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Step {
    pub(crate) path: String,
    /// There is an old file, which is moved aside.
    pub(crate) old: bool,
    /// There is a new file, which is moved in.
    pub(crate) new: bool,
}

/// A swap.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Journal {
    version: u32,
    pub(crate) cluster: String,
    /// Directories that are made for new files, outermost first.
    pub(crate) directories: Vec<String>,
    pub(crate) steps: Vec<Step>,
}

impl Journal {
    pub(crate) fn new(cluster: &str, directories: Vec<String>, steps: Vec<Step>) -> Self {
        Self {
            version: VERSION,
            cluster: cluster.to_owned(),
            directories,
            steps,
        }
    }

    /// Writes the journal under another name first, so that one that is there is whole.
    pub(crate) fn write(&self, tree: &Tree<'_>, staging: &str) -> Result<(), Error> {
        let partial = path::join(staging, "journal.partial");
        let bytes = serde_json::to_vec(self).unwrap_or_default();
        tree.create(&partial, &bytes, Mode::from(0o600))?;
        tree.rename(&partial, &path::join(staging, layout::JOURNAL))
    }

    /// Reads the journal of a swap that was not finished; none if there is none.
    pub(crate) fn read(
        tree: &Tree<'_>,
        staging: &str,
        cluster: &str,
    ) -> Result<Option<Self>, Error> {
        let relative = path::join(staging, layout::JOURNAL);
        let Some(bytes) = tree.read(&relative)? else {
            return Ok(None);
        };
        let corrupt = |problem: String| Error::Journal {
            path: tree.shown(&relative),
            problem,
        };
        let journal: Self =
            serde_json::from_slice(&bytes).map_err(|error| corrupt(error.to_string()))?;
        if journal.version != VERSION || journal.cluster != cluster {
            return Err(corrupt("it belongs to something else".to_owned()));
        }
        let paths = journal.steps.iter().map(|step| &step.path);
        for path in paths.chain(&journal.directories) {
            let overlay = layout::overlay(cluster);
            let inside = path
                .strip_prefix(&overlay)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
            let is_ours =
                inside || path.starts_with(".opencenter") || overlay.starts_with(path.as_str());
            if path::check(path).is_err() || !is_ours {
                return Err(corrupt(format!("`{}` is not ours", path.escape_debug())));
            }
        }
        Ok(Some(journal))
    }
}
