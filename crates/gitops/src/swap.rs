//! Moving new files in and old files out, and back.

use std::collections::BTreeSet;

use crate::{
    Error,
    journal::{Journal, Step},
    layout, path,
    tree::Tree,
};

/// Carries a journal out.
///
/// A directory of the overlay that does not exist yet is moved in with everything in it: one rename instead of one for
/// each file. [`undo`] goes file by file all the same, because by then others may have put something beside ours.
pub(crate) fn carry_out(tree: &Tree<'_>, staging: &str, journal: &Journal) -> Result<(), Error> {
    let whole = whole_directories(journal);
    let is_whole = |path: &str| path::parents(path).any(|parent| whole.contains(parent));
    for directory in &journal.directories {
        if whole.contains(directory.as_str()) {
            tree.move_directory(&staged(staging, directory), directory)?;
        } else if !is_whole(directory) {
            tree.make_directories(directory)?;
        }
    }
    for step in &journal.steps {
        if step.old {
            let aside = aside(staging, &step.path);
            tree.make_directories(path::split(&aside).0)?;
            tree.rename(&step.path, &aside)?;
        }
        if step.new && !is_whole(&step.path) {
            tree.rename(&staged(staging, &step.path), &step.path)?;
        }
    }
    Ok(())
}

/// The outermost directories that are new inside the overlay. Those above it are shared with other clusters, whose
/// writers may make them in the same moment.
fn whole_directories(journal: &Journal) -> BTreeSet<&str> {
    let overlay = layout::overlay(&journal.cluster);
    let is_inside = |directory: &str| {
        let rest = directory.strip_prefix(overlay.as_str());
        rest.is_some_and(|rest| rest.starts_with('/'))
    };
    let new: BTreeSet<&str> = journal.directories.iter().map(String::as_str).collect();
    let inside = new.iter().copied().filter(|directory| is_inside(directory));
    inside
        .filter(|directory| {
            !path::parents(directory).any(|parent| new.contains(parent) && is_inside(parent))
        })
        .collect()
}

/// Undoes a journal, however far it was carried out. Can itself be interrupted and repeated.
pub(crate) fn undo(tree: &Tree<'_>, staging: &str, journal: &Journal) -> Result<(), Error> {
    for step in journal.steps.iter().rev() {
        undo_step(tree, staging, step)?;
    }
    for directory in journal.directories.iter().rev() {
        tree.remove_directory_if_empty(directory)?;
    }
    Ok(())
}

fn undo_step(tree: &Tree<'_>, staging: &str, step: &Step) -> Result<(), Error> {
    let (aside, staged) = (aside(staging, &step.path), staged(staging, &step.path));
    // The new file is in its place if it is no longer staged.
    let is_in = step.new && tree.kind(&staged)?.is_none() && tree.kind(&step.path)?.is_some();
    if step.old {
        if tree.kind(&aside)?.is_none() {
            // Never moved, or moved back already.
            return Ok(());
        }
        tree.make_directories(path::split(&step.path).0)?;
        if is_in {
            tree.rename(&step.path, &staged)?;
        }
        tree.rename(&aside, &step.path)
    } else if is_in {
        // The directory that it waited in may have been moved as a whole.
        tree.make_directories(path::split(&staged).0)?;
        tree.rename(&step.path, &staged)
    } else {
        Ok(())
    }
}

/// Removes the directories that lost their last file.
pub(crate) fn remove_empty_directories(
    tree: &Tree<'_>,
    root: &str,
    deleted: &[String],
) -> Result<(), Error> {
    for file in deleted {
        for directory in path::parents(file) {
            if !tree.remove_directory_if_empty(&path::join(root, directory))? {
                break;
            }
        }
    }
    Ok(())
}

/// Where a new file waits.
pub(crate) fn staged(staging: &str, file: &str) -> String {
    format!("{staging}/{}/{file}", layout::NEW)
}

/// Where an old file goes.
fn aside(staging: &str, file: &str) -> String {
    format!("{staging}/{}/{file}", layout::OLD)
}
