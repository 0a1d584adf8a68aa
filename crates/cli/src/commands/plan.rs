//! `mainstay plan`: what `apply` or the operator would change, and why.

mod line;
mod print;
mod trial;

use std::collections::BTreeSet;

use clap::ArgMatches;
use kube::Client;
use mainstay_cluster::root::RootObject;
use mainstay_engine::{
    key::ObjectKey,
    plan::{ENGINE_UNIT, Plan},
};
use mainstay_runtime::{reconcile::RenderResult, session::SessionError};
use mainstay_system::EffectMode;
use serde_json::Value;

use self::{line::Line, trial::Untried};
pub(crate) use self::{line::PlannedChange, print::text};
use crate::{
    args::{PlanArgs, PlanOutput},
    commands::{prepare, sessions::Sessions, user_object},
    exit::{ASK_FOR_RIGHTS, ExitStatus},
    input::{self, Input, Item},
    printer,
    systems::OwnKind,
};

/// Rounds over those that wait for others of the same files. Each link of a chain costs one; more are no progress.
const MOST_ROUNDS: usize = 8;

/// A whole plan.
#[derive(Debug, Default)]
pub(crate) struct Outline {
    /// What the files stand for, in order of execution.
    pub(crate) lines: Vec<Line>,
    /// What then changes for custom resources that are not in the files.
    pub(crate) followers: Vec<Line>,
    /// How many these are.
    following: usize,
    untried: Untried,
}

impl Outline {
    /// Whether something like this would happen.
    pub(crate) fn has(&self, change: PlannedChange) -> bool {
        let mut lines = self.lines.iter().chain(&self.followers);
        lines.any(|line| line.change == change)
    }

    fn differs(&self) -> bool {
        let mut lines = self.lines.iter().chain(&self.followers);
        lines.any(|line| line.change != PlannedChange::Unchanged)
    }

    /// Adds the lines of a root of the files. What several roots share is told once.
    fn add(&mut self, lines: Vec<Line>) {
        for line in lines {
            let shared = self.lines.iter_mut().find(|known| {
                known.key == line.key && !known.is_about_root() && !line.is_about_root()
            });
            match shared {
                Some(known) if known.change == PlannedChange::Unchanged => *known = line,
                Some(known) if known.change != PlannedChange::Delete => {}
                _ => self.lines.push(line),
            }
        }
    }

    /// Adds what follows for another root, if anything does.
    fn follow(&mut self, lines: Vec<Line>) {
        let told = self.followers.len();
        for line in lines {
            let mut others = self.lines.iter().chain(&self.followers);
            let is_told = others.any(|known| known.key == line.key && known.change == line.change);
            if line.change != PlannedChange::Unchanged && !is_told {
                self.followers.push(line);
            }
        }
        self.following += usize::from(self.followers.len() > told);
    }
}

pub(crate) async fn run(arguments: &PlanArgs, flags: &ArgMatches) -> anyhow::Result<ExitStatus> {
    let input = input::load(&arguments.input)?;
    let (client, mut prepared) = prepare::connected(&input, flags, &arguments.cluster).await?;
    let supposed = EffectMode::Supposed;
    let mut sessions = Sessions::new(&client, &input, flags, &mut prepared, supposed);
    let mut outline = plan_input(&client, &input, &mut sessions).await?;
    if !arguments.no_dry_run {
        trial::try_out(&client, &mut outline).await?;
    }
    tell_gaps(&sessions);
    match arguments.output {
        PlanOutput::Text => printer::to_stdout(&text(&outline))?,
        PlanOutput::Json => {
            let rows = print::json(&outline);
            printer::to_stdout(&format!("{}\n", serde_json::to_string_pretty(&rows)?))?;
        }
    }
    Ok(if outline.differs() {
        ExitStatus::Difference
    } else {
        ExitStatus::Success
    })
}

/// A custom resource of the files on its way into the plan.
struct Candidate<'input> {
    own: OwnKind,
    item: &'input Item,
    root: RootObject,
    /// What becomes of the resource itself.
    own_line: Line,
    planned: Planned,
}

/// What a reconcile over a root would do.
#[derive(Default)]
struct Planned {
    lines: Vec<Line>,
    waits: bool,
}

/// Plans everything in the input, in order of execution, and what follows from it.
pub(crate) async fn plan_input(
    client: &Client,
    input: &Input,
    sessions: &mut Sessions<'_>,
) -> anyhow::Result<Outline> {
    let mut outline = Outline::default();
    let namespaces = input.others.iter().map(|item| &item.key);
    let namespaces = namespaces.filter(|key| key.kind.kind == "Namespace");
    let namespaces: BTreeSet<&str> = namespaces.map(|key| key.name.as_str()).collect();
    // Whoever has none of its own in the files may still look at what is.
    let onlookers = sessions.onlookers().await;
    for item in &input.others {
        let asked = user_object::ask(client, item, &namespaces).await?;
        let line = Line::of_user(item, &asked);
        for &system in &onlookers {
            let has_changed = line.change != PlannedChange::Unchanged;
            let value = asked.after(item);
            sessions.suppose_beside(system, value, has_changed).await?;
        }
        outline.lines.push(line);
    }
    // All of them are known before any is planned: they look at each other.
    let mut candidates = Vec::new();
    for (own, item) in &input.own {
        let asked = user_object::ask(client, item, &namespaces).await?;
        // The server says what the object would look like, defaults and all; without an answer the file must do.
        let root = RootObject::of(item.key.clone(), asked.after(item).clone());
        sessions.suppose(*own, &root.value).await?;
        candidates.push(Candidate {
            own: *own,
            item,
            root,
            own_line: Line::of_user(item, &asked),
            planned: Planned::default(),
        });
    }
    plan_candidates(sessions, &mut candidates).await?;
    let mut known = BTreeSet::new();
    for mut candidate in candidates {
        known.insert(candidate.item.key.clone());
        let warning = sessions.warning(candidate.own, &candidate.root);
        let warning = warning.map(|text| format!("warning: {text}"));
        candidate.own_line.notes.extend(warning);
        outline.lines.push(candidate.own_line);
        outline.add(candidate.planned.lines);
    }
    plan_followers(sessions, known, &mut outline).await?;
    Ok(outline)
}

/// Plans all candidates, and those that wait again as long as others bring what they wait for.
async fn plan_candidates(
    sessions: &mut Sessions<'_>,
    candidates: &mut [Candidate<'_>],
) -> anyhow::Result<()> {
    for round in 0..MOST_ROUNDS {
        let mut progress = false;
        for candidate in candidates.iter_mut() {
            if round > 0 && !candidate.planned.waits {
                continue;
            }
            candidate.planned = plan_candidate(sessions, candidate).await?;
            progress |= !candidate.planned.waits;
        }
        if !progress {
            break;
        }
    }
    Ok(())
}

async fn plan_candidate(
    sessions: &mut Sessions<'_>,
    candidate: &Candidate<'_>,
) -> anyhow::Result<Planned> {
    let Candidate { own, item, .. } = *candidate;
    let middle = match sessions.plan(own, &candidate.root).await {
        Ok(Some(middle)) => middle,
        Ok(None) => return Ok(Planned::default()),
        Err(error) => return unknown(&item.key, error),
    };
    match middle {
        RenderResult::Rejected(rejection) => Err(item.rejected(&rejection).into()),
        // What one app lacks, another one may bring; the operator tries again.
        RenderResult::NotRendered(failure, _) if !own.system.interdependent => {
            Err(item.not_rendered(&failure).into())
        }
        middle => Ok(planned(middle, own, &item.key, sessions)),
    }
}

/// The lines of what came of a root.
fn planned(
    middle: RenderResult,
    own: OwnKind,
    root: &ObjectKey,
    sessions: &Sessions<'_>,
) -> Planned {
    let steps = |plan: Plan| {
        let steps = plan.steps.into_iter();
        let lines = steps.map(|step| Line::of_step(step, own.system, root, sessions));
        lines.collect::<Vec<Line>>()
    };
    let waiting = |plan: Plan, unit: &'static str, because: String| {
        let mut lines = steps(plan);
        lines.push(Line::new(root, PlannedChange::Waiting, unit, because));
        Planned { lines, waits: true }
    };
    match middle {
        RenderResult::Unknown | RenderResult::Rejected(_) => Planned::default(),
        RenderResult::Planned(plan) => Planned {
            lines: steps(plan),
            waits: false,
        },
        RenderResult::Waiting(hold, plan) => waiting(plan, hold.reason, hold.message),
        RenderResult::NotRendered(failure, plan) => {
            waiting(plan, failure.unit, failure.source.to_string())
        }
    }
}

/// Plans the roots that see a difference, although they are not in the files.
async fn plan_followers(
    sessions: &mut Sessions<'_>,
    mut known: BTreeSet<ObjectKey>,
    outline: &mut Outline,
) -> anyhow::Result<()> {
    while let Some((own, root)) = sessions.next_follower(&known) {
        let key = root.root.key.clone();
        known.insert(key.clone());
        let planned = match sessions.plan(own, &root).await {
            Ok(Some(middle)) => planned(middle, own, &key, sessions),
            Ok(None) => continue,
            Err(error) => unknown(&key, error)?,
        };
        // Who waits already does not wait because of this.
        let was_ready = root.value.pointer("/status/ready") == Some(&Value::Bool(true));
        if !planned.waits || was_ready {
            outline.follow(planned.lines);
        }
    }
    Ok(())
}

/// What cannot be found out about one object does not keep the others from being planned.
fn unknown(key: &ObjectKey, error: anyhow::Error) -> anyhow::Result<Planned> {
    match error.downcast::<SessionError>()? {
        SessionError::Unknown { message, .. } => Ok(Planned {
            lines: vec![Line::new(key, PlannedChange::Unknown, ENGINE_UNIT, message)],
            waits: false,
        }),
        error => Err(error.into()),
    }
}

/// Says what the plan was made without.
pub(crate) fn tell_gaps(sessions: &Sessions<'_>) {
    let unread = sessions.unread();
    for kind in &unread {
        let consequence = "the plan is made as if there were none";
        printer::gap(&kind.plural, &kind.message, consequence);
    }
    if unread.iter().any(|kind| kind.forbidden) {
        printer::to_stderr(&format!("hint: {ASK_FOR_RIGHTS}\n"));
    }
}
