//! `mainstay apply`: the user's objects, then everything that the custom resources stand for.

use std::{
    fmt::Write as _,
    io::{self, BufRead, IsTerminal},
    time::{Duration, Instant},
};

use clap::ArgMatches;
use kube::Client;
use mainstay_cluster::root::RootObject;
use mainstay_engine::{
    backoff::Backoff,
    change_set::{Change, ChangeSet, Failure, ObjectChange},
    kind::Role,
    outcome::Outcome,
};
use mainstay_runtime::reconcile::ReconcileResult;
use mainstay_system::EffectMode;

use crate::{
    args::ApplyArgs,
    commands::{
        family,
        plan::{self, PlannedChange},
        prepare,
        sessions::Sessions,
        user_object, why,
    },
    exit::ExitStatus,
    input::{self, Input, Item},
    printer,
    systems::OwnKind,
};

pub(crate) async fn run(arguments: &ApplyArgs, flags: &ArgMatches) -> anyhow::Result<ExitStatus> {
    let input = input::load(&arguments.input)?;
    let (client, mut prepared) = prepare::connected(&input, flags, &arguments.cluster).await?;
    let mut supposed = Sessions::new(&client, &input, flags, &mut prepared, EffectMode::Supposed);
    let outline = plan::plan_input(&client, &input, &mut supposed).await?;
    let unread = supposed.unread();
    if !unread.is_empty() {
        plan::tell_gaps(&supposed);
        anyhow::bail!("nothing was applied: not everything that it depends on could be looked at");
    }
    drop(supposed);
    if outline.has(PlannedChange::Delete) && !arguments.yes {
        printer::to_stderr(&plan::text(&outline));
        if !confirmed()? {
            anyhow::bail!(
                "nothing was applied: the plan deletes objects and was not confirmed (--yes)"
            );
        }
    }
    let effects = EffectMode::CarriedOut;
    let mut sessions = Sessions::new(&client, &input, flags, &mut prepared, effects);
    let status = carry_out(&client, &input, &mut sessions, arguments.wait).await?;
    if arguments.wait && status == ExitStatus::Success {
        let longest = Duration::from_secs(arguments.timeout);
        wait(&client, &input, &mut sessions, longest).await?;
    }
    Ok(status)
}

/// Waits until every custom resource and everything below it is ready.
async fn wait(
    client: &Client,
    input: &Input,
    sessions: &mut Sessions<'_>,
    longest: Duration,
) -> anyhow::Result<()> {
    const PAUSE: Duration = Duration::from_millis(500);
    let started = Instant::now();
    let roots = input
        .own
        .iter()
        .filter(|(own, _)| own.row.role == Role::Root);
    for (own, item) in roots {
        loop {
            // Somebody has to notice that what it waited for is there, even if no operator runs.
            sessions.reconcile_again(*own, &item.key).await?;
            let (namespace, name) = (&item.key.namespace, &item.key.name);
            let mut gaps = family::Gaps::default();
            let family = family::collect(client, *own, namespace, name, &mut gaps).await?;
            let Some(unready) = why::causes(&family).last().map(|member| member.title()) else {
                break;
            };
            if started.elapsed() > longest {
                anyhow::bail!(
                    "{} is not ready after {} seconds, because {unready} is not: see `mainstay why`",
                    item.key,
                    longest.as_secs()
                );
            }
            tokio::time::sleep(PAUSE).await;
        }
        printer::to_stdout(&format!("{} ready\n", item.key))?;
    }
    Ok(())
}

async fn carry_out(
    client: &Client,
    input: &Input,
    sessions: &mut Sessions<'_>,
    patient: bool,
) -> anyhow::Result<ExitStatus> {
    for item in &input.others {
        let applied = user_object::apply(client, item).await?;
        printer::to_stdout(&format!("{} {}\n", item.key, applied.word))?;
    }
    let mut failed = false;
    for (own, item) in &input.own {
        let applied = user_object::apply(client, item).await?;
        printer::to_stdout(&format!("{} {}\n", item.key, applied.word))?;
        let root = RootObject::of(item.key.clone(), applied.after);
        let Some(result) = pass_beside_others(client, sessions, *own, item, root).await? else {
            continue;
        };
        printer::to_stdout(&rows(&result.changes))?;
        let is_early = patient && matches!(result.outcome, Outcome::Waiting { .. });
        if let Some(error) = result.error.filter(|_| !is_early) {
            failed = true;
            printer::to_stderr(&format!("warning: {}: {error}\n", item.key));
        }
    }
    Ok(if failed {
        ExitStatus::Difference
    } else {
        ExitStatus::Success
    })
}

/// A reconcile, repeated as long as an operator that does the same gets in between: whoever of the two writes an object, it
/// is there then.
async fn pass_beside_others(
    client: &Client,
    sessions: &mut Sessions<'_>,
    own: OwnKind,
    item: &Item,
    mut root: RootObject,
) -> anyhow::Result<Option<ReconcileResult>> {
    /// Tries in a row in which the object itself did not change.
    const MOST_VAIN: u32 = 3;
    const LONGEST: Duration = Duration::from_mins(1);
    let started = Instant::now();
    let mut tries = 0;
    let mut vain = 0;
    let mut changes = ChangeSet::default();
    loop {
        let Some(mut result) = sessions.reconcile(own, root.clone()).await? else {
            return Ok(None);
        };
        let is_disturbed = is_disturbed(&result);
        changes = merged(changes, std::mem::take(&mut result.changes));
        result.changes = changes.clone();
        if !is_disturbed || vain >= MOST_VAIN || started.elapsed() > LONGEST {
            return Ok(Some(result));
        }
        tries += 1;
        tokio::time::sleep(Backoff::SHORT.pause(tries)).await;
        // The newest version, which the watch may not have brought yet.
        let Some(now) = user_object::read(client, &item.key).await? else {
            return Ok(Some(result));
        };
        let now = RootObject::of(item.key.clone(), now);
        let has_changed = now.root.resource_version != root.root.resource_version;
        vain = if has_changed { 0 } else { vain + 1 };
        root = now;
    }
}

/// Whether a reconcile came to no end because somebody else wrote meanwhile, as far as can be told.
fn is_disturbed(result: &ReconcileResult) -> bool {
    let is_passing =
        |failure: &Failure| matches!(failure, Failure::Outdated | Failure::Transient { .. });
    let mut failures = result.changes.failures().map(|(_, failure)| failure);
    matches!(result.outcome, Outcome::Transient { .. }) && failures.all(is_passing)
}

/// What became of every object over several passes: what was done once stays done, what failed was tried again.
fn merged(earlier: ChangeSet, later: ChangeSet) -> ChangeSet {
    let mut rows = earlier.rows;
    rows.retain(|row| row.change.is_change());
    for row in later.rows {
        let same = |known: &&mut ObjectChange| known.key == row.key && known.unit == row.unit;
        match rows.iter_mut().find(same) {
            Some(known) if known.change.is_change() && !row.change.is_change() => {}
            Some(known) => *known = row,
            None => rows.push(row),
        }
    }
    ChangeSet { rows }
}

fn rows(changes: &ChangeSet) -> String {
    let mut text = String::new();
    for row in &changes.rows {
        let _ = match &row.change {
            Change::Failed(failure) => writeln!(text, "{} failed: {failure}", row.key),
            change => writeln!(text, "{} {}", row.key, change.word()),
        };
    }
    text
}

/// Asks, if there is somebody to ask.
fn confirmed() -> io::Result<bool> {
    if !io::stdin().is_terminal() {
        return Ok(false);
    }
    printer::to_stderr("Apply this plan? [y/N] ");
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}
