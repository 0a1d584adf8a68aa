//! `mainstay apply`: the user's objects, then everything that the custom resources stand for.

use std::{
    fmt::Write as _,
    io::{self, BufRead, IsTerminal},
    sync::Arc,
    time::{Duration, Instant},
};

use kube::Client;
use mainstay_cluster::{fence::Fence, root::RootObject, sink::Sink};
use mainstay_engine::{
    change_set::{Change, ChangeSet},
    corridor::Corridor,
};
use mainstay_kaoto::{KaotoCorridor, kinds};
use mainstay_runtime::{
    controller::{facts, root_row},
    pass,
};

use crate::{
    args::ApplyArgs,
    commands::{
        connect, family, kaoto_corridor,
        plan::{self, Deed},
        user_object, why,
    },
    exit::ExitStatus,
    input::{self, Input},
    printer,
};

pub(crate) async fn run(arguments: &ApplyArgs) -> anyhow::Result<ExitStatus> {
    let input = input::load(&arguments.input)?;
    let client = connect(&arguments.cluster).await?;
    let lines = plan::plan_input(&client, &input).await?;
    if lines.iter().any(|line| line.deed == Deed::Delete) && !arguments.yes {
        printer::to_stderr(&plan::text(&lines));
        if !confirmed()? {
            anyhow::bail!(
                "nothing was applied: the plan deletes objects and was not confirmed (--yes)"
            );
        }
    }
    let status = carry_out(&client, &input).await?;
    if arguments.wait && status == ExitStatus::Success {
        wait(&client, &input, Duration::from_secs(arguments.timeout)).await?;
    }
    Ok(status)
}

/// Waits until every custom resource and everything below it is ready.
async fn wait(client: &Client, input: &Input, longest: Duration) -> anyhow::Result<()> {
    const PAUSE: Duration = Duration::from_millis(500);
    let started = Instant::now();
    let row = root_row(kinds::KINDS);
    for item in &input.kaotos {
        loop {
            let family = family::collect(client, row, &item.key.namespace, &item.key.name).await?;
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

async fn carry_out(client: &Client, input: &Input) -> anyhow::Result<ExitStatus> {
    for item in &input.others {
        let applied = user_object::apply(client, item).await?;
        printer::to_stdout(&format!("{} {}\n", item.key, applied.word))?;
    }
    if input.kaotos.is_empty() {
        return Ok(ExitStatus::Success);
    }
    let corridor = Arc::new(kaoto_corridor(client).await?);
    let mut failed = false;
    for item in &input.kaotos {
        let applied = user_object::apply(client, item).await?;
        printer::to_stdout(&format!("{} {}\n", item.key, applied.word))?;
        let root = RootObject::of(item.key.clone(), applied.after);
        let result = one_pass(client, &corridor, root).await?;
        printer::to_stdout(&rows(&result.changes))?;
        if let Some(error) = result.error {
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

/// The same pass that the operator makes.
async fn one_pass(
    client: &Client,
    corridor: &Arc<KaotoCorridor>,
    root: RootObject,
) -> anyhow::Result<pass::PassResult> {
    let live = plan::fetch(client, corridor, &root).await?;
    let sink = Sink {
        client: client.clone(),
        declared: corridor.declared(),
        manager: corridor.field_manager(),
        facts: facts(corridor),
        cache: Arc::default(),
        roots: Arc::default(),
        // A person at the command line needs no lease.
        fence: Fence::open(),
        deadline: Duration::from_mins(1),
    };
    Ok(pass::run(&**corridor, root, &(), &live, &sink).await)
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
