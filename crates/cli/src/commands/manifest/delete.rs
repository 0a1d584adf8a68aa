//! `mainstay manifest delete`.

use std::{
    fmt::Write as _,
    io::{self, BufRead as _, IsTerminal as _},
    sync::Arc,
    time::Duration,
};

use mainstay_manifest::{
    ManifestSet,
    client::Propagation,
    delete::{DeleteOptions, delete},
};

use super::{
    apply::conclude,
    args::{Cascade, DeleteArgs},
    cluster, input,
    progress::Progress,
};
use crate::{exit::ExitStatus, printer};

pub(super) async fn run(arguments: &DeleteArgs) -> anyhow::Result<ExitStatus> {
    let set = input::load(&arguments.source).await?;
    let client = cluster(&arguments.cluster, arguments.namespace.as_deref()).await?;
    let work = &arguments.work;
    if !arguments.yes && !work.dry_run && !confirmed(&set)? {
        anyhow::bail!("nothing was deleted: it was not confirmed (--yes)");
    }
    let options = DeleteOptions {
        propagation: arguments.cascade.map(Into::into),
        grace_period: arguments.grace_period,
        dry_run: work.dry_run,
        ignore_not_found: !arguments.strict,
        continue_on_error: work.continue_on_error,
        deadline: Some(Duration::from_secs(work.timeout)),
        observer: Some(Arc::new(Progress::new(set.len(), work.progress, "deleted"))),
        ..DeleteOptions::default()
    };
    let report = delete(&client, &set, &options).await;
    conclude(&report, set.len(), "delete")
}

impl From<Cascade> for Propagation {
    fn from(cascade: Cascade) -> Self {
        match cascade {
            Cascade::Background => Self::Background,
            Cascade::Foreground => Self::Foreground,
            Cascade::Orphan => Self::Orphan,
        }
    }
}

/// Shows what would go, and asks, if there is somebody to ask.
fn confirmed(set: &ManifestSet) -> io::Result<bool> {
    let mut text = "These objects are deleted if they are there:\n".to_owned();
    for object in set.iter().rev() {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "  {object}");
    }
    printer::to_stderr(&text);
    if !io::stdin().is_terminal() {
        return Ok(false);
    }
    printer::to_stderr("Delete them? [y/N] ");
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}
