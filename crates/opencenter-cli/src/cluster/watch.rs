//! `cluster render --watch`: render again whenever the config is saved.

use std::{fs, os::unix::fs::MetadataExt as _, path::Path, thread, time::Duration};

use mainstay_opencenter::descriptor::Registry;
use mainstay_terminal::printer;

use super::render;
use crate::{
    args::RenderTreeArgs, interrupt::Interrupt, load, locate::Located, report, session::Session,
    tree,
};

/// How often the file is looked at. Asking costs nothing, and works on every file system.
const PAUSE: Duration = Duration::from_millis(200);

/// Renders once, then whenever the file changes, until the user interrupts. A config with errors is told and waited out.
pub(super) fn run(
    session: &Session,
    arguments: &RenderTreeArgs,
    located: &Located,
    registry: &Registry,
    interrupt: &Interrupt,
) {
    let mut seen = None;
    while !interrupt.is_raised() {
        let stamp = stamp(&located.path);
        if stamp == seen {
            thread::sleep(PAUSE);
            continue;
        }
        seen = stamp;
        // An editor that saves by renaming leaves a moment without a file.
        if stamp.is_none() {
            continue;
        }
        let result = load::located(
            session,
            located,
            &tree::load_options(session, &arguments.tree),
        )
        .and_then(|cluster| render::one(session, arguments, cluster, registry, interrupt))
        .and_then(|done| render::show(session, arguments, &done));
        if let Err(stop) = result {
            report::conclude(Err(stop), session.output);
        }
        if session.chats() && !interrupt.is_raised() {
            let line = format!("Waiting for changes of `{}`\n", located.path.display());
            printer::to_stderr(&line);
        }
    }
}

/// Tells two versions of a file apart.
fn stamp(path: &Path) -> Option<(u64, u64, i64, i64)> {
    let metadata = fs::metadata(path).ok()?;
    Some((
        metadata.ino(),
        metadata.size(),
        metadata.mtime(),
        metadata.mtime_nsec(),
    ))
}
