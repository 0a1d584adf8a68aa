//! `mainstay plan`: what `apply` or the operator would change, and why.

use std::{fmt::Write as _, sync::Arc};

use anyhow::Context;
use kube::Client;
use mainstay_cluster::{reader, root::RootObject};
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
    exit::{ExitStatus, Rejected},
    input::{self, Item},
    printer::{self, painted, style},
};

/// One line of the plan.
#[derive(Debug)]
pub(crate) struct Line {
    pub(crate) key: ObjectKey,
    pub(crate) action: &'static str,
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
    let differs = lines.iter().any(|line| line.action != "unchanged");
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
            Middle::NotRendered(failure) => {
                return Err(Rejected {
                    message: format!("{}: could not render {}: {failure}", item.place(), item.key),
                    hint: None,
                }
                .into());
            }
        }
    }
    Ok(lines)
}

/// Fetches what a plan compares with.
pub(crate) async fn fetch(
    client: &Client,
    corridor: &Arc<KaotoCorridor>,
    root: &RootObject,
) -> anyhow::Result<reader::Fetched> {
    let wanted: Vec<ObjectKey> = match corridor
        .validate(&root.value, &())
        .ok()
        .and_then(|input| corridor.render(&input).ok())
    {
        Some(set) => set.iter().map(|entry| entry.key.clone()).collect(),
        None => Vec::new(),
    };
    let (declared, manager, facts) = (
        corridor.declared(),
        corridor.field_manager(),
        facts(corridor),
    );
    reader::fetch(
        client,
        declared,
        &wanted,
        &root.root.key.namespace,
        &root.root.uid,
        manager,
        &facts,
    )
    .await
    .with_context(|| format!("could not read the objects of {}", root.root.key))
}

fn user_line(item: &Item, applied: Option<&user_object::Applied>) -> Line {
    // Where the namespace does not exist yet, neither does the object.
    let because = applied.map_or("does not exist", |applied| applied.because);
    let action = match applied.map(|applied| applied.word) {
        Some("unchanged") => "unchanged",
        Some("configured") => "update",
        _ => "create",
    };
    Line {
        key: item.key.clone(),
        action,
        unit: "file",
        because: because.to_owned(),
        changes: Vec::new(),
        texts: Vec::new(),
    }
}

fn step_line(step: &Step) -> Line {
    let action = match &step.action {
        Action::Create => "create",
        Action::Update { .. } | Action::PatchFinalizers { .. } => "update",
        Action::Delete { .. } => "delete",
        Action::Unchanged(_) => "unchanged",
        Action::Foreign { .. } => "blocked",
    };
    Line {
        key: step.key.clone(),
        action,
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
        "action": line.action,
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
        let (sign, colour) = match line.action {
            "create" => ("+", style::OK),
            "update" => ("~", style::WARNING),
            "delete" => ("-", style::ERROR),
            "blocked" => ("!", style::ERROR),
            _ => (" ", anstyle::Style::new()),
        };
        let head = painted(colour, format_args!("{sign} {:9}", line.action));
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
    let count = |action: &str| lines.iter().filter(|line| line.action == action).count();
    let _ = writeln!(
        text,
        "\n{} to create, {} to update, {} to delete, {} unchanged, {} blocked",
        count("create"),
        count("update"),
        count("delete"),
        count("unchanged"),
        count("blocked")
    );
    text
}
