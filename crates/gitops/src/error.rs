//! Why a tree cannot be read or written.

use std::{io, path::PathBuf};

use crate::plan::Refusal;

/// Why a tree cannot be read or written. The tree is as it was.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file or directory could not be used.
    #[error("could not {attempt} `{path}`")]
    File {
        /// What was tried.
        attempt: &'static str,
        /// On what.
        path: PathBuf,
        /// Why it failed.
        #[source]
        source: io::Error,
    },
    /// A path leaves its root.
    #[error("refusing to use the path `{path}`: it is not a plain relative path")]
    Escape {
        /// The path.
        path: String,
    },
    /// A path would be written where only others write.
    #[error("refusing to write `{path}`: it does not belong to the renderer")]
    NotOurs {
        /// The path.
        path: String,
    },
    /// A symbolic link stands where a file or directory of ours should.
    #[error("refusing to follow `{path}`: it is a symbolic link")]
    Symlink {
        /// The link.
        path: PathBuf,
    },
    /// Something else than a file or directory, or one in the place of the other.
    #[error("`{path}` is in the way: it is not a {wanted}")]
    InTheWay {
        /// The path.
        path: PathBuf,
        /// What was expected.
        wanted: &'static str,
    },
    /// Another process writes the same tree.
    #[error("another render is at work: `{path}` is taken")]
    Busy {
        /// The lock file.
        path: PathBuf,
    },
    /// The ledger cannot be believed.
    #[error("the ledger `{path}` is corrupt: {problem}")]
    Ledger {
        /// The ledger.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// The journal of an interrupted write cannot be believed.
    #[error("the journal `{path}` of an interrupted render is corrupt: {problem}")]
    Journal {
        /// The journal.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// Files that were edited by hand or belong to somebody else stand in the way.
    #[error("{} of the tree {} not to be touched", files(.0.len()), if .0.len() == 1 { "is" } else { "are" })]
    Refused(Vec<Refusal>),
    /// What was read back is not what was written.
    #[error("`{path}` was not written correctly")]
    Verification {
        /// The file.
        path: String,
    },
    /// The user asked to stop, and everything was rolled back.
    #[error("interrupted; the tree is as it was")]
    Interrupted,
    /// The process died, as far as the watcher is concerned: nothing is cleaned up.
    #[error("stopped dead")]
    Died,
    /// Putting the old files back failed as well; the next write will try again.
    #[error("could not restore the tree after a failure; the next render will try again")]
    NotRestored {
        /// What went wrong first.
        first: Box<Self>,
        /// What went wrong while restoring.
        #[source]
        source: Box<Self>,
    },
}

fn files(count: usize) -> String {
    if count == 1 {
        "1 file".to_owned()
    } else {
        format!("{count} files")
    }
}

impl Error {
    /// Whether the path or link looks like an attempt to write elsewhere.
    pub fn is_security(&self) -> bool {
        matches!(
            self,
            Self::Escape { .. } | Self::Symlink { .. } | Self::NotOurs { .. }
        )
    }

    /// For `map_err` on the result of a system call.
    pub(crate) fn file<E: Into<io::Error>>(
        attempt: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(E) -> Self {
        let path = path.into();
        move |source| Self::File {
            attempt,
            path,
            source: source.into(),
        }
    }
}
