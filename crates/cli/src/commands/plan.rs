//! `mainstay plan`: what `apply` or the operator would change, and why.

use std::{fmt::Write as _, sync::Arc};

use anyhow::Context;
use kube::Client;
use mainstay_cluster::{
    reader::{Fetched, Reader},
    root::RootObject,
};
use mainstay_engine::{
    corridor::Corridor,
    key::ObjectKey,
    plan::{Action, Step},
};
use mainstay_kaoto::KaotoCorridor;
use mainstay_runtime::{
    controller::facts,
    pass::{self, Middle},
};
use serde_json::{Value, json};

use crate::{
    args::{PlanArgs, PlanOutput},
    commands::{connect, kaoto_corridor, user_object},
    exit::ExitStatus,
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
}

impl Deed {
    const ALL: [Self; 5] = [
        Self::Create,
        Self::Update,
        Self::Delete,
        Self::Unchanged,
        Self::Blocked,
    ];

    const fn word(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Update => "update",
            Self::Delete => "delete",
            Self::Unchanged => "unchanged",
            Self::Blocked => "blocked",
        }
    }

    const fn sign(self) -> (&'static str, anstyle::Style) {
        match self {
            Self::Create => ("+", style::OK),
            Self::Update => ("~", style::WARNING),
            Self::Delete => ("-", style::ERROR),
            Self::Unchanged => (" ", anstyle::Style::new()),
            Self::Blocked => ("!", style::ERROR),
        }
    }

    /// Words for a number of objects.
    fn count(self, number: usize) -> String {
        match self {
            Self::Create | Self::Update | Self::Delete => format!("{number} to {}", self.word()),
            Self::Unchanged | Self::Blocked => format!("{number} {}", self.word()),
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
    let client = connect(&arguments.cluster).await?;
    let lines = plan_input(&client, &input).await?;
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
pub(crate) async fn plan_input(client: &Client, input: &input::Input) -> anyhow::Result<Vec<Line>> {
    let mut lines = Vec::new();
    for item in &input.others {
        let applied = user_object::ask(client, item).await?;
        lines.push(user_line(item, applied.as_ref()));
    }
    if input.kaotos.is_empty() {
        return Ok(lines);
    }
    let corridor = Arc::new(kaoto_corridor(client).await?);
    for item in &input.kaotos {
        let applied = user_object::ask(client, item).await?;
        lines.push(user_line(item, applied.as_ref()));
        // The server says what the object would look like, defaults and all; without an answer the file must do.
        let value = applied.map_or_else(|| item.value.clone(), |applied| applied.after);
        let root = RootObject::of(item.key.clone(), value);
        let live = fetch(client, &corridor, &root).await?;
        match pass::middle(&*corridor, &root, &(), &live) {
            Middle::Planned(plan) => lines.extend(plan.steps.iter().map(step_line)),
            Middle::Rejected(rejection) => return Err(item.rejected(&rejection).into()),
            Middle::NotRendered(failure) => return Err(item.not_rendered(&failure).into()),
        }
    }
    Ok(lines)
}

/// Fetches what a plan compares with.
pub(crate) async fn fetch(
    client: &Client,
    corridor: &Arc<KaotoCorridor>,
    root: &RootObject,
) -> anyhow::Result<Fetched> {
    let reader = Reader {
        client: client.clone(),
        declared: corridor.declared(),
        manager: corridor.field_manager(),
        facts: facts(corridor),
    };
    let fetched = reader.fetch(&root.root.key.namespace).await;
    fetched.with_context(|| format!("could not read the objects of {}", root.root.key))
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

fn step_line(step: &Step) -> Line {
    let deed = match &step.action {
        Action::Create => Deed::Create,
        Action::Update { .. } | Action::PatchFinalizers { .. } => Deed::Update,
        Action::Delete { .. } => Deed::Delete,
        Action::Unchanged(_) => Deed::Unchanged,
        Action::Foreign { .. } => Deed::Blocked,
    };
    Line {
        key: step.key.clone(),
        deed,
        unit: step.unit,
        because: step.because.clone(),
        changes: step
            .changes
            .iter()
            .filter_map(|change| serde_json::to_value(change).ok())
            .collect(),
        texts: step.changes.iter().map(ToString::to_string).collect(),
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
    let counts =
        Deed::ALL.map(|deed| deed.count(lines.iter().filter(|line| line.deed == deed).count()));
    let _ = writeln!(text, "\n{}", counts.join(", "));
    text
}
