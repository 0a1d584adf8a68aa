//! `cluster render --watch`: render again whenever the config, what it refers to, or a descriptor is saved.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
    thread,
    time::Duration,
};

use mainstay_opencenter::config::LoadOptions;
use mainstay_terminal::printer;

use super::render;
use crate::{
    args::RenderTreeArgs,
    interrupt::Interrupt,
    load,
    locate::Located,
    outside::Outside,
    report::{self, Answer},
    session::{Session, files_below},
    stamp::stamp,
    tree,
};

/// How often the files are looked at. Asking costs nothing, and works on every file system.
const PAUSE: Duration = Duration::from_millis(200);

/// How files look, by path; none for one that is not there.
type Stamps = BTreeMap<PathBuf, Option<String>>;

/// Renders once, then whenever a file changes, until the user interrupts. What has errors is told and waited out.
pub(super) fn run(
    session: &Session,
    arguments: &RenderTreeArgs,
    located: &Located,
    interrupt: &Interrupt,
) {
    let options = tree::load_options(session, &arguments.tree);
    let mut referenced = Stamps::new();
    let mut seen = Stamps::new();
    while !interrupt.is_raised() {
        let mut stamps = stamps(session, located, &referenced);
        // An editor that saves by renaming leaves a moment without a file.
        let is_there = stamps.get(&located.path).is_some_and(Option::is_some);
        if stamps == seen || !is_there {
            thread::sleep(PAUSE);
            continue;
        }
        let outside = Outside::of(session, &located.path);
        let result = once(session, arguments, located, &outside, &options, interrupt);
        if let Err(stop) = result {
            report::conclude(Err(stop), session.output);
        }
        // What counts is how a file looked before it was read: a later change is one more reason to render.
        stamps.retain(|path, _| !referenced.contains_key(path));
        referenced = outside.into_files();
        stamps.extend(referenced.clone());
        seen = stamps;
        if session.chats() && !interrupt.is_raised() {
            let line = format!("Waiting for changes of `{}`\n", located.path.display());
            printer::to_stderr(&line);
        }
    }
}

fn once(
    session: &Session,
    arguments: &RenderTreeArgs,
    located: &Located,
    outside: &Outside,
    options: &LoadOptions,
    interrupt: &Interrupt,
) -> Answer<()> {
    let registry = session.registry()?;
    let cluster = load::with_outside(located, outside, options)?;
    let done = render::one(session, arguments, cluster, &registry, interrupt)?;
    render::show(session, arguments, &done)
}

/// The files to follow: the config, what it refers to, and the user's descriptors and templates.
fn stamps(session: &Session, located: &Located, referenced: &Stamps) -> Stamps {
    let mut paths: BTreeSet<PathBuf> = referenced.keys().cloned().collect();
    paths.insert(located.path.clone());
    for directory in &session.descriptor_dirs {
        let files = files_below(directory).unwrap_or_default();
        paths.extend(files.into_iter().map(|file| directory.join(file)));
    }
    let looked_at = paths.into_iter().map(|path| {
        let looks = stamp(&path);
        (path, looks)
    });
    looked_at.collect()
}
