//! Writing a tree: prepare, sync, commit.

use std::{
    collections::BTreeSet,
    sync::atomic::{AtomicU64, Ordering},
};

use rustix::fs::Mode;

use crate::{
    Error, Overlay,
    journal::{Journal, Step},
    layout,
    lock::Lock,
    path,
    plan::{self, Claim, Desired, Draft, Plan},
    swap,
    tree::{Kind, Tree},
    watcher::Watcher,
};

/// Tells the staging directories of one process apart.
static NUMBER: AtomicU64 = AtomicU64::new(0);

/// How to write.
#[derive(Clone, Debug, Default)]
pub struct WriteOptions {
    /// Replace and delete files that were edited by hand or are not ours, keeping a backup of each.
    pub adopt: bool,
    /// Keep a backup of every replaced and deleted file.
    pub backup: bool,
    /// The name of the backup, usually the time.
    pub backup_name: String,
}

/// What a write did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// What was done.
    pub plan: Plan,
    /// Whether the leftovers of an interrupted write were undone first.
    pub recovered: bool,
}

/// The first half of a write.
#[derive(Debug)]
pub enum Preparation<'w> {
    /// The tree is as it shall be; nothing was touched.
    Done(Outcome),
    /// New files and journal are there; [`Prepared::sync`], then [`Prepared::commit`].
    Ready(Box<Prepared<'w>>),
}

/// A write whose new files wait beside the tree.
#[derive(Debug)]
pub struct Prepared<'w> {
    tree: Tree<'w>,
    root: String,
    staging: String,
    lock: Lock,
    journal: Journal,
    plan: Plan,
    recovered: bool,
}

impl Overlay {
    /// Writes the tree: whole or not at all. If nothing differs, nothing is touched, not even for a moment.
    pub fn write(
        &self,
        desired: &Desired,
        options: &WriteOptions,
        watcher: &dyn Watcher,
    ) -> Result<Outcome, Error> {
        match self.prepare(desired, options, watcher)? {
            Preparation::Done(outcome) => Ok(outcome),
            Preparation::Ready(prepared) => match prepared.sync() {
                Ok(()) => prepared.commit(),
                Err(error) => Err(prepared.abandon(error)),
            },
        }
    }

    /// The first half of [`Overlay::write`], for callers that write many trees and sync once for all of them.
    pub fn prepare<'w>(
        &self,
        desired: &Desired,
        options: &WriteOptions,
        watcher: &'w dyn Watcher,
    ) -> Result<Preparation<'w>, Error> {
        std::fs::create_dir_all(&self.repository)
            .map_err(Error::file("create", &self.repository))?;
        let tree = Tree::open(&self.repository, watcher)?;
        // A first write has something to do, whatever the tree looks like.
        let is_first = tree.kind(&layout::ledger(&self.cluster))?.is_none();
        if !is_first && tree.kind(&self.inside(layout::LOCK))?.is_none() {
            let draft = plan::draft(
                &tree,
                &self.cluster,
                desired,
                Claim::adopting(options.adopt),
            )?;
            // What looks like somebody else's file may be half of another write; only the lock tells.
            if let Ok(Some(outcome)) = nothing_to_do(&draft) {
                return Ok(Preparation::Done(outcome));
            }
        }
        let root = layout::overlay(&self.cluster);
        let staging = layout::staging(std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        let mut lock = Lock::take(&tree, &root, &staging)?;
        let recovered = match lock.abandoned.take() {
            Some(abandoned) => {
                self.undo_leftovers(&tree, &abandoned)?;
                lock.note(&tree, &staging)?;
                true
            }
            None => false,
        };
        match self.prepare_locked(&tree, &staging, desired, options) {
            Ok((plan, Some(journal))) => {
                // Many prepared trees may wait for one sync, and a process may not have many files open.
                tree.close_directories();
                Ok(Preparation::Ready(Box::new(Prepared {
                    tree,
                    root,
                    staging,
                    lock,
                    journal,
                    plan,
                    recovered,
                })))
            }
            Ok((plan, None)) => {
                clean_up(&tree, &staging, lock)?;
                Ok(Preparation::Done(Outcome { plan, recovered }))
            }
            // A dead process lets nothing go.
            Err(Error::Died) => Err(Error::Died),
            Err(error) => {
                clean_up(&tree, &staging, lock)?;
                Err(error)
            }
        }
    }

    /// Undoes what an interrupted write left behind; says whether there was anything.
    pub fn recover(&self, watcher: &dyn Watcher) -> Result<bool, Error> {
        if !self.repository.is_dir() {
            return Ok(false);
        }
        let tree = Tree::open(&self.repository, watcher)?;
        if tree.kind(&self.inside(layout::LOCK))?.is_none() {
            return Ok(false);
        }
        let staging = layout::staging(std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        let mut lock = Lock::take(&tree, &layout::overlay(&self.cluster), &staging)?;
        if let Some(abandoned) = lock.abandoned.take() {
            self.undo_leftovers(&tree, &abandoned)?;
        }
        lock.release(&tree)?;
        Ok(true)
    }

    /// Plans under the lock and stages what is new; without a journal there is nothing to do.
    fn prepare_locked(
        &self,
        tree: &Tree<'_>,
        staging: &str,
        desired: &Desired,
        options: &WriteOptions,
    ) -> Result<(Plan, Option<Journal>), Error> {
        let draft = plan::draft(tree, &self.cluster, desired, Claim::adopting(options.adopt))?;
        if let Some(outcome) = nothing_to_do(&draft)? {
            return Ok((outcome.plan, None));
        }
        self.stage(tree, staging, desired, &draft)?;
        if options.backup || options.adopt {
            self.back_up(tree, &options.backup_name, &draft.plan)?;
        }
        let journal = self.journal(tree, &draft)?;
        journal.write(tree, staging)?;
        Ok((draft.plan, Some(journal)))
    }

    /// Writes every new file into the staging directory, and reads it back.
    fn stage(
        &self,
        tree: &Tree<'_>,
        staging: &str,
        desired: &Desired,
        draft: &Draft,
    ) -> Result<(), Error> {
        // Others must not read what waits here: it may be meant for a stricter place.
        tree.make_directory(staging, Mode::from(0o700))?;
        let ledger = draft.ledger.to_bytes();
        let mut waiting: Vec<(String, &[u8])> =
            vec![(layout::ledger(&self.cluster), ledger.as_slice())];
        for file in draft.plan.added.iter().chain(&draft.plan.changed) {
            if let Some(wanted) = desired.files.get(file) {
                waiting.push((self.inside(file), &wanted.bytes));
            }
        }
        for (file, bytes) in waiting {
            let place = swap::staged(staging, &file);
            tree.make_directories(path::split(&place).0)?;
            tree.create_verified(&place, bytes, Mode::from(0o644))?;
        }
        Ok(())
    }

    fn back_up(&self, tree: &Tree<'_>, name: &str, plan: &Plan) -> Result<(), Error> {
        path::check(name)?;
        let ignored = layout::backups(".gitignore");
        for file in plan.changed.iter().chain(&plan.deleted) {
            let Some(bytes) = tree.read(&self.inside(file))? else {
                continue;
            };
            // What somebody wrote by hand may be a secret in plain text: `git add` must pass it over.
            if tree.read(&ignored)?.is_none() {
                tree.make_directories(path::split(&ignored).0)?;
                tree.create(&ignored, b"*\n", Mode::from(0o644))?;
            }
            let copy = path::join(&layout::backups(name), &self.inside(file));
            tree.make_directories(path::split(&copy).0)?;
            tree.remove_file(&copy)?;
            tree.create(&copy, &bytes, Mode::from(0o600))?;
        }
        Ok(())
    }

    fn journal(&self, tree: &Tree<'_>, draft: &Draft) -> Result<Journal, Error> {
        let step = |file: &String, old, new| Step {
            path: self.inside(file),
            old,
            new,
        };
        let plan = &draft.plan;
        let mut steps: Vec<Step> = Vec::new();
        steps.extend(plan.deleted.iter().map(|file| step(file, true, false)));
        steps.extend(plan.changed.iter().map(|file| step(file, true, true)));
        steps.extend(plan.added.iter().map(|file| step(file, false, true)));
        let ledger = layout::ledger(&self.cluster);
        steps.push(Step {
            old: tree.kind(&ledger)?.is_some(),
            new: true,
            path: ledger,
        });
        let mut directories = BTreeSet::new();
        for step in steps.iter().filter(|step| step.new) {
            for directory in path::parents(&step.path) {
                if directories.contains(directory) {
                    break;
                }
                match tree.kind(directory)? {
                    None => {
                        directories.insert(directory.to_owned());
                    }
                    Some(Kind::Directory) => break,
                    Some(Kind::Symlink) => {
                        return Err(Error::Symlink {
                            path: tree.shown(directory),
                        });
                    }
                    Some(_) => {
                        return Err(Error::InTheWay {
                            path: tree.shown(directory),
                            wanted: "directory",
                        });
                    }
                }
            }
        }
        Ok(Journal::new(
            &self.cluster,
            directories.into_iter().collect(),
            steps,
        ))
    }

    /// Undoes what a process that died left behind.
    fn undo_leftovers(&self, tree: &Tree<'_>, staging: &str) -> Result<(), Error> {
        tree.set_restoring(true);
        if let Some(journal) = Journal::read(tree, staging, &self.cluster)? {
            swap::undo(tree, staging, &journal)?;
            // Only now may the next crash forget the journal.
            tree.sync()?;
            tree.remove_file(&path::join(staging, layout::JOURNAL))?;
        }
        tree.remove_all(staging)?;
        tree.set_restoring(false);
        Ok(())
    }
}

impl Prepared<'_> {
    /// Brings the new files and the journal to the medium; that has to happen before the first old file moves.
    ///
    /// Covers everything else that was written to the same file system before, other prepared trees included.
    pub fn sync(&self) -> Result<(), Error> {
        self.tree.sync()
    }

    /// Which file system the tree is on: what one [`Prepared::sync`] covers.
    pub fn file_system(&self) -> u64 {
        self.tree.file_system()
    }

    /// Moves the new files in. On any failure the old ones are moved back.
    ///
    /// There is no second sync: file systems keep the order of renames, so a journal that is marked as done means
    /// that the files before it are in their places, and one that is not is undone.
    pub fn commit(self) -> Result<Outcome, Error> {
        let swapped = swap::carry_out(&self.tree, &self.staging, &self.journal)
            // From here on the new tree is the tree.
            .and_then(|()| {
                self.tree.rename(
                    &path::join(&self.staging, layout::JOURNAL),
                    &path::join(&self.staging, layout::JOURNAL_DONE),
                )
            });
        match swapped {
            Ok(()) => {}
            Err(Error::Died) => return Err(Error::Died),
            Err(first) => return Err(self.restore(first)),
        }
        self.tree.set_restoring(true);
        swap::remove_empty_directories(&self.tree, &self.root, &self.plan.deleted)?;
        clean_up(&self.tree, &self.staging, self.lock)?;
        Ok(Outcome {
            plan: self.plan,
            recovered: self.recovered,
        })
    }

    /// Gives up: the tree stays as it is. Hands the reason back.
    pub fn abandon(self, reason: Error) -> Error {
        if matches!(reason, Error::Died) {
            return reason;
        }
        match clean_up(&self.tree, &self.staging, self.lock) {
            Ok(()) => reason,
            Err(error) => error,
        }
    }

    /// Puts the old files back after a failure, and says how it ended.
    fn restore(self, first: Error) -> Error {
        self.tree.set_restoring(true);
        match swap::undo(&self.tree, &self.staging, &self.journal) {
            Ok(()) => self.abandon(first),
            Err(Error::Died) => Error::Died,
            // The journal stays where it is, and so does the lock that leads to it.
            Err(source) => Error::NotRestored {
                first: Box::new(first),
                source: Box::new(source),
            },
        }
    }
}

/// Removes what only the write needed.
fn clean_up(tree: &Tree<'_>, staging: &str, lock: Lock) -> Result<(), Error> {
    tree.set_restoring(true);
    tree.remove_all(staging)?;
    lock.release(tree)
}

/// The outcome, if nothing differs; the refusals, if there are any.
fn nothing_to_do(draft: &Draft) -> Result<Option<Outcome>, Error> {
    if !draft.plan.refused.is_empty() {
        return Err(Error::Refused(draft.plan.refused.clone()));
    }
    let done = draft.plan.is_empty() && !draft.ledger_changed;
    Ok(done.then(|| Outcome {
        plan: draft.plan.clone(),
        recovered: false,
    }))
}
