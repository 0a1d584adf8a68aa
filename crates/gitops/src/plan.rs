//! What a write will do: the desired files against those on disk and in the ledger. Nothing is changed here.

use std::{collections::BTreeMap, fmt};

use serde::Serialize;

use crate::{
    Error,
    layout::{self, Owner},
    ledger::{Ledger, Record, sha256},
    path,
    tree::{Kind, Tree},
};

/// How much of the tree the desired files cover, and with it what may be deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    /// All of it: every file of ours that is not desired goes away.
    Full,
    /// One unit: files of ours that are not desired go away in its directory only.
    Unit {
        /// The directory; none if the unit has none.
        directory: Option<String>,
    },
}

/// One file as it shall be.
#[derive(Clone, PartialEq, Eq)]
pub struct DesiredFile {
    /// The content.
    pub bytes: Vec<u8>,
    /// The keyed digest of its cleartext, if it is encrypted.
    pub cleartext: Option<String>,
}

impl fmt::Debug for DesiredFile {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "DesiredFile({} bytes)", self.bytes.len())
    }
}

/// The tree as it shall be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Desired {
    /// How much of it this is.
    pub scope: Scope,
    /// The files, by path in the overlay.
    pub files: BTreeMap<String, DesiredFile>,
}

/// Why a file is not touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RefusalReason {
    /// We wrote it, and somebody changed it since.
    EditedByHand,
    /// We did not write it.
    Untracked,
}

/// A file that is not touched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Refusal {
    /// Its path in the overlay.
    pub path: String,
    /// Why.
    pub reason: RefusalReason,
}

/// What a write will do, each list sorted by path.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Plan {
    /// New files.
    pub added: Vec<String>,
    /// Files with another content.
    pub changed: Vec<String>,
    /// Files that go away.
    pub deleted: Vec<String>,
    /// Files that stay as they are, and keep their time.
    pub kept: Vec<String>,
    /// Files in our directories that are not ours: never deleted, unless adopted.
    pub candidates: Vec<String>,
    /// Files that stand in the way; while there are any, nothing is written.
    pub refused: Vec<Refusal>,
}

impl Plan {
    /// Whether the tree is as it shall be.
    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.changed.is_empty() && self.deleted.is_empty()
    }
}

/// What becomes of files that we did not write, or that somebody changed since.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Claim {
    /// They stay. One that stands in the way is refused.
    None,
    /// As if nobody had touched what we wrote; what we did not write stays. For looking only.
    Edited,
    /// All of them are taken for ours.
    Everything,
}

impl Claim {
    pub(crate) fn adopting(adopt: bool) -> Self {
        if adopt { Self::Everything } else { Self::None }
    }
}

/// A plan, and the ledger as it will be after it.
#[derive(Debug)]
pub(crate) struct Draft {
    pub(crate) plan: Plan,
    pub(crate) ledger: Ledger,
    /// Whether the ledger differs from the one on disk.
    pub(crate) ledger_changed: bool,
}

/// Compares what shall be with what is.
pub(crate) fn draft(
    tree: &Tree<'_>,
    cluster: &str,
    desired: &Desired,
    claim: Claim,
) -> Result<Draft, Error> {
    let known = Ledger::read(tree, cluster)?;
    let old = known.clone().unwrap_or_else(|| Ledger::new(cluster));
    let mut work = Work {
        tree,
        root: layout::overlay(cluster),
        ledger: old.clone(),
        claim,
        plan: Plan::default(),
        missing: None,
    };
    for (file, wanted) in &desired.files {
        path::check(file)?;
        if layout::owner(file) != Owner::Renderer {
            return Err(Error::NotOurs { path: file.clone() });
        }
        work.wanted(file, wanted)?;
    }
    let mut present = owned_files(tree, &work.root)?;
    present.retain(|file| !desired.files.contains_key(file) && covers(&desired.scope, file));
    for file in present {
        work.unwanted(file)?;
    }
    work.ledger.files.retain(|file, _| {
        desired.files.contains_key(file)
            || !covers(&desired.scope, file)
            || work
                .plan
                .refused
                .iter()
                .any(|refusal| refusal.path == *file)
    });
    let ledger_changed = known.is_none_or(|known| known != work.ledger);
    Ok(Draft {
        plan: work.plan,
        ledger: work.ledger,
        ledger_changed,
    })
}

/// Whether files of this path may be deleted.
fn covers(scope: &Scope, file: &str) -> bool {
    match scope {
        Scope::Full => true,
        Scope::Unit { directory } => directory.as_ref().is_some_and(|directory| {
            let rest = file.strip_prefix(directory.as_str());
            rest.is_some_and(|rest| rest.starts_with('/'))
        }),
    }
}

struct Work<'t, 'w> {
    tree: &'t Tree<'w>,
    root: String,
    ledger: Ledger,
    claim: Claim,
    plan: Plan,
    /// The directory that was last found missing; nothing below it is looked for.
    missing: Option<String>,
}

impl Work<'_, '_> {
    /// The content of a file of the overlay; none if it does not exist.
    fn present(&mut self, file: &str) -> Result<Option<Vec<u8>>, Error> {
        let absolute = path::join(&self.root, file);
        let is_below = |missing: &String| {
            let rest = absolute.strip_prefix(missing.as_str());
            rest.is_some_and(|rest| rest.starts_with('/'))
        };
        if self.missing.as_ref().is_some_and(is_below) {
            return Ok(None);
        }
        let present = self.tree.read(&absolute)?;
        if present.is_none() {
            let mut missing = None;
            for directory in path::parents(&absolute) {
                if self.tree.kind(directory)?.is_some() {
                    break;
                }
                missing = Some(directory.to_owned());
            }
            self.missing = missing.or(self.missing.take());
        }
        Ok(present)
    }

    fn wanted(&mut self, file: &str, wanted: &DesiredFile) -> Result<(), Error> {
        let present = self.present(file)?;
        let record = self.ledger.files.get(file);
        let lists = &mut self.plan;
        let list = match present {
            None => &mut lists.added,
            Some(bytes) if bytes == wanted.bytes => &mut lists.kept,
            Some(bytes) => {
                if let Some(reason) = refusal(record, &bytes).filter(|_| self.claim == Claim::None)
                {
                    lists.refused.push(Refusal {
                        path: file.to_owned(),
                        reason,
                    });
                    return Ok(());
                }
                &mut lists.changed
            }
        };
        list.push(file.to_owned());
        self.ledger.files.insert(
            file.to_owned(),
            Record {
                sha256: sha256(&wanted.bytes),
                mode: "0644".to_owned(),
                cleartext: wanted.cleartext.clone(),
            },
        );
        Ok(())
    }

    fn unwanted(&mut self, file: String) -> Result<(), Error> {
        let Some(bytes) = self.tree.read(&path::join(&self.root, &file))? else {
            return Ok(());
        };
        match (refusal(self.ledger.files.get(&file), &bytes), self.claim) {
            (None, _)
            | (_, Claim::Everything)
            | (Some(RefusalReason::EditedByHand), Claim::Edited) => self.plan.deleted.push(file),
            (Some(RefusalReason::Untracked), Claim::None | Claim::Edited) => {
                self.plan.candidates.push(file);
            }
            (Some(reason @ RefusalReason::EditedByHand), Claim::None) => {
                self.plan.refused.push(Refusal { path: file, reason });
            }
        }
        Ok(())
    }
}

/// Why a present file must not be replaced or removed, if so.
fn refusal(record: Option<&Record>, present: &[u8]) -> Option<RefusalReason> {
    match record {
        None => Some(RefusalReason::Untracked),
        Some(record) if record.sha256 != sha256(present) => Some(RefusalReason::EditedByHand),
        Some(_) => None,
    }
}

/// Every file in the places of the renderer, sorted. A link there is refused: we would not know what we delete.
pub(crate) fn owned_files(tree: &Tree<'_>, root: &str) -> Result<Vec<String>, Error> {
    let mut found = Vec::new();
    for top in layout::OWNED {
        collect(tree, root, top, &mut found)?;
    }
    found.sort_unstable();
    Ok(found)
}

fn collect(tree: &Tree<'_>, root: &str, file: &str, found: &mut Vec<String>) -> Result<(), Error> {
    let absolute = path::join(root, file);
    let kind = tree.kind(&absolute)?;
    collect_kind(tree, root, file, kind, found)
}

fn collect_kind(
    tree: &Tree<'_>,
    root: &str,
    file: &str,
    kind: Option<Kind>,
    found: &mut Vec<String>,
) -> Result<(), Error> {
    if layout::owner(file) != Owner::Renderer {
        return Ok(());
    }
    let absolute = path::join(root, file);
    match kind {
        None => {}
        Some(Kind::File) => found.push(file.to_owned()),
        Some(Kind::Directory) => {
            for (name, kind) in tree.list(&absolute)?.unwrap_or_default() {
                collect_kind(tree, root, &path::join(file, &name), Some(kind), found)?;
            }
        }
        Some(Kind::Symlink) => {
            return Err(Error::Symlink {
                path: tree.shown(&absolute),
            });
        }
        Some(Kind::Other) => {
            return Err(Error::InTheWay {
                path: tree.shown(&absolute),
                wanted: "file",
            });
        }
    }
    Ok(())
}
