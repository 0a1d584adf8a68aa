//! `mainstay apply`: the user's objects, then everything that the custom resources stand for.

use std::{
    fmt::Write as _,
    io::{self, BufRead, IsTerminal},
    time::{Duration, Instant},
};

use kube::Client;
use mainstay_cluster::root::RootObject;
use mainstay_engine::{
    change_set::{Change, ChangeSet},
    kind::Role,
    outcome::Outcome,
};

use crate::{
    admission,
    args::ApplyArgs,
    commands::{
        connect, family,
        plan::{self, Deed},
        sessions::{Errands, Sessions},
        user_object, why,
    },
    exit::ExitStatus,
    input::{self, Input},
    printer,
};

pub(crate) async fn run(arguments: &ApplyArgs) -> anyhow::Result<ExitStatus> {
    let input = input::load(&arguments.input)?;
    admission::check(&input, &arguments.clowder)?;
    let client = connect(&arguments.cluster).await?;
    let open = |errands| Sessions::new(&client, &arguments.clowder, &arguments.resolve, errands);
    let mut supposed = open(Errands::Supposed)?;
    let lines = plan::plan_input(&client, &input, &mut supposed).await?;
    drop(supposed);
    if lines.iter().any(|line| line.deed == Deed::Delete) && !arguments.yes {
        printer::to_stderr(&plan::text(&lines));
        if !confirmed()? {
            anyhow::bail!(
                "nothing was applied: the plan deletes objects and was not confirmed (--yes)"
            );
        }
    }
    let mut sessions = open(Errands::CarriedOut)?;
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
    sessions: &mut Sessions,
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
            sessions.pass_again(own, &item.key).await?;
            let family = family::collect(client, own, &item.key.namespace, &item.key.name).await?;
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
    sessions: &mut Sessions,
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
        let Some(result) = sessions.pass(own, root).await? else {
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
