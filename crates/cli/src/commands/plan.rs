//! `mainstay plan`: what `apply` or the operator would change, and why.

use std::fmt::Write as _;

use kube::Client;
use mainstay_cluster::root::RootObject;
use mainstay_engine::{
    key::ObjectKey,
    plan::{Action, ENGINE_UNIT, Step},
};
use mainstay_runtime::{pass::Middle, session::SessionError};
use serde_json::{Value, json};

use crate::{
    args::{PlanArgs, PlanOutput, System},
    commands::{
        operator_config,
        sessions::{Errands, Sessions},
        user_object,
    },
    exit::{ASK_FOR_RIGHTS, ExitStatus},
    input::{self, Item},
    printer::{self, painted, style},
};

/// What happens to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Deed {
    Create,
    Update,
    Delete,
    Unchanged,
    /// It belongs to somebody else.
    Blocked,
    /// Its turn has not come.
    Waiting,
    /// It cannot be told.
    Unknown,
}

impl Deed {
    const ALL: [Self; 7] = [
        Self::Create,
        Self::Update,
        Self::Delete,
        Self::Unchanged,
        Self::Blocked,
        Self::Waiting,
        Self::Unknown,
    ];

    const fn word(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Update => "update",
            Self::Delete => "delete",
            Self::Unchanged => "unchanged",
            Self::Blocked => "blocked",
            Self::Waiting => "waiting",
            Self::Unknown => "unknown",
        }
    }

    const fn sign(self) -> (&'static str, anstyle::Style) {
        match self {
            Self::Create => ("+", style::OK),
            Self::Update => ("~", style::WARNING),
            Self::Delete => ("-", style::ERROR),
            Self::Unchanged => (" ", anstyle::Style::new()),
            Self::Blocked => ("!", style::ERROR),
            Self::Waiting => ("*", style::WARNING),
            Self::Unknown => ("?", style::WARNING),
        }
    }

    /// Words for a number of objects.
    fn count(self, number: usize) -> String {
        match self {
            Self::Create | Self::Update | Self::Delete => format!("{number} to {}", self.word()),
            Self::Unchanged | Self::Blocked | Self::Waiting | Self::Unknown => {
                format!("{number} {}", self.word())
            }
        }
    }
}

/// One line of the plan.
#[derive(Debug)]
pub(crate) struct Line {
    pub(crate) key: ObjectKey,
    pub(crate) deed: Deed,
    pub(crate) unit: &'static str,
    pub(crate) because: String,
    pub(crate) changes: Vec<Value>,
    pub(crate) texts: Vec<String>,
}

pub(crate) async fn run(arguments: &PlanArgs) -> anyhow::Result<ExitStatus> {
    let input = input::load(&arguments.input)?;
    let (client, clowder) =
        operator_config::connected(&input, &arguments.clowder, &arguments.cluster).await?;
    let mut sessions = Sessions::new(&client, &clowder, &arguments.resolve, Errands::Supposed);
    let lines = plan_input(&client, &input, &mut sessions).await?;
    tell_gaps(&sessions);
    match arguments.output {
        PlanOutput::Text => printer::to_stdout(&text(&lines))?,
        PlanOutput::Json => {
            let rows: Vec<Value> = lines.iter().map(to_json).collect();
            printer::to_stdout(&format!("{}\n", serde_json::to_string_pretty(&rows)?))?;
        }
    }
    let differs = lines.iter().any(|line| line.deed != Deed::Unchanged);
    Ok(if differs {
        ExitStatus::Difference
    } else {
        ExitStatus::Success
    })
}

/// Plans everything in the input, in order of execution.
pub(crate) async fn plan_input(
    client: &Client,
    input: &input::Input,
    sessions: &mut Sessions,
) -> anyhow::Result<Vec<Line>> {
    let mut lines = Vec::new();
    let mut systems: Vec<_> = input.own.iter().map(|(own, _)| own.system).collect();
    systems.dedup();
    for item in &input.others {
        let applied = user_object::ask(client, item).await?;
        lines.push(user_line(item, applied.as_ref()));
        for &system in &systems {
            sessions.suppose(system, &item.value).await?;
        }
    }
    for (own, item) in &input.own {
        let applied = user_object::ask(client, item).await?;
        lines.push(user_line(item, applied.as_ref()));
        // The server says what the object would look like, defaults and all; without an answer the file must do.
        let value = applied.map_or_else(|| item.value.clone(), |applied| applied.after);
        let root = RootObject::of(item.key.clone(), value);
        let planned = match sessions.plan(own, &root).await {
            Err(error) => {
                lines.push(unknown_line(item, error)?);
                continue;
            }
            Ok(planned) => planned,
        };
        let step_line = |step| step_line(step, sessions);
        match planned {
            None | Some(Middle::Unknown) => {}
            Some(Middle::Planned(plan)) => lines.extend(plan.steps.iter().map(step_line)),
            Some(Middle::Held(hold, plan)) => {
                lines.extend(plan.steps.iter().map(step_line));
                lines.push(waiting_line(item, hold.reason, hold.message));
            }
            // What one app lacks, another one may bring; the operator tries again.
            Some(Middle::NotRendered(failure, plan)) if own.system == System::Clowder => {
                lines.extend(plan.steps.iter().map(step_line));
                let words = failure.source.to_string();
                lines.push(waiting_line(item, failure.unit, words));
            }
            Some(Middle::Rejected(rejection)) => return Err(item.rejected(&rejection).into()),
            Some(Middle::NotRendered(failure, _)) => {
                return Err(item.not_rendered(&failure).into());
            }
        }
    }
    Ok(lines)
}

/// Says what the plan was made without.
pub(crate) fn tell_gaps(sessions: &Sessions) {
    let unread = sessions.unread();
    for kind in &unread {
        let consequence = "the plan is made as if there were none";
        printer::gap(kind.plural, &kind.message, consequence);
    }
    if unread.iter().any(|kind| kind.forbidden) {
        printer::to_stderr(&format!("hint: {ASK_FOR_RIGHTS}\n"));
    }
}

/// What cannot be found out about one object does not keep the others from being planned.
fn unknown_line(item: &Item, error: anyhow::Error) -> anyhow::Result<Line> {
    match error.downcast::<SessionError>()? {
        SessionError::Unknown { message, .. } => Ok(Line {
            deed: Deed::Unknown,
            ..waiting_line(item, ENGINE_UNIT, message)
        }),
        error => Err(error.into()),
    }
}

fn waiting_line(item: &Item, unit: &'static str, because: String) -> Line {
    Line {
        key: item.key.clone(),
        deed: Deed::Waiting,
        unit,
        because,
        changes: Vec::new(),
        texts: Vec::new(),
    }
}

fn user_line(item: &Item, applied: Option<&user_object::Applied>) -> Line {
    // Where the namespace does not exist yet, neither does the object.
    let because = applied.map_or("does not exist", |applied| applied.because);
    let deed = match applied.map(|applied| applied.word) {
        Some("unchanged") => Deed::Unchanged,
        Some("configured") => Deed::Update,
        _ => Deed::Create,
    };
    Line {
        key: item.key.clone(),
        deed,
        unit: "file",
        because: because.to_owned(),
        changes: Vec::new(),
        texts: Vec::new(),
    }
}

fn step_line(step: &Step, sessions: &Sessions) -> Line {
    let kind = &step.key.kind;
    let is_absent = matches!(step.action, Action::Create) && sessions.is_absent(kind);
    let left_out =
        step.check.left_out.iter().map(|field| {
            format!("{field}: left out, the installed definition does not declare it")
        });
    let deed = match &step.action {
        Action::Create if is_absent => Deed::Blocked,
        Action::Create => Deed::Create,
        Action::Update { .. } | Action::PatchFinalizers { .. } | Action::Mend { .. } => {
            Deed::Update
        }
        Action::Delete { .. } | Action::DeleteIfPresent => Deed::Delete,
        Action::Unchanged(_) => Deed::Unchanged,
        Action::Foreign { .. } | Action::Refused { .. } => Deed::Blocked,
    };
    Line {
        key: step.key.clone(),
        deed,
        unit: step.unit,
        because: if is_absent {
            format!("the cluster has no kind {kind} in {}", kind.api_version())
        } else {
            step.because.clone()
        },
        changes: step
            .changes
            .iter()
            .filter_map(|change| serde_json::to_value(change).ok())
            .collect(),
        texts: step
            .changes
            .iter()
            .map(ToString::to_string)
            .chain(left_out)
            .collect(),
    }
}

fn to_json(line: &Line) -> Value {
    json!({
        "apiVersion": line.key.kind.api_version(),
        "kind": line.key.kind.kind,
        "namespace": line.key.namespace,
        "name": line.key.name,
        "action": line.deed.word(),
        "unit": line.unit,
        "because": line.because,
        "changes": line.changes,
    })
}

/// The plan for people.
pub(crate) fn text(lines: &[Line]) -> String {
    let mut text = String::new();
    let width = lines
        .iter()
        .map(|line| line.key.to_string().len())
        .max()
        .unwrap_or_default();
    for line in lines {
        let (sign, colour) = line.deed.sign();
        let head = painted(colour, format_args!("{sign} {:9}", line.deed.word()));
        let _ = writeln!(
            text,
            "{head} {:width$}  {} [{}]",
            line.key.to_string(),
            line.because,
            line.unit
        );
        for change in &line.texts {
            let _ = writeln!(text, "              {change}");
        }
    }
    let counts = Deed::ALL.map(|deed| {
        let number = lines.iter().filter(|line| line.deed == deed).count();
        // Most plans have nobody who waits, and know everything.
        (!matches!(deed, Deed::Waiting | Deed::Unknown) || number > 0).then(|| deed.count(number))
    });
    let counts: Vec<String> = counts.into_iter().flatten().collect();
    let _ = writeln!(text, "\n{}", counts.join(", "));
    text
}
