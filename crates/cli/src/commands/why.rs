//! `mainstay why`: the chain of causes that ends at the one thing to fix.

use std::fmt::Write as _;

use k8s_openapi::api::core::v1::Event;
use kube::{Api, Client, api::ListParams};
use mainstay_engine::health::State;
use mainstay_kaoto::names::reasons;
use serde_json::Value;

use crate::{
    args::ObjectArgs,
    commands::family::{self, Member},
    exit::ExitStatus,
    printer::{self, painted, style},
};

pub(crate) async fn run(arguments: &ObjectArgs) -> anyhow::Result<ExitStatus> {
    let (client, root) = family::find(arguments).await?;
    let chain = causes(&root);
    let Some(last) = chain.last() else {
        printer::to_stdout(&format!(
            "{} is ready, and so is everything that belongs to it\n",
            root.title()
        ))?;
        return Ok(ExitStatus::Success);
    };
    let mut text = String::new();
    for (depth, member) in chain.iter().enumerate() {
        let lead = if depth == 0 {
            String::new()
        } else {
            format!("{}because ", "  ".repeat(depth))
        };
        let title = painted(style::NAME, member.title());
        let message = &member.health.message;
        let _ = match member.health.state {
            // Its own status does not look as far as we do.
            State::Current => writeln!(text, "{lead}{title} says that it is ready, but is not"),
            State::Failed => writeln!(text, "{lead}{title} has failed: {message}"),
            state if message.is_empty() => writeln!(text, "{lead}{title} is {}", state.word()),
            state => writeln!(text, "{lead}{title} is {}: {message}", state.word()),
        };
    }
    for condition in failing_conditions(&last.value) {
        let _ = writeln!(text, "\ncondition {condition}");
    }
    for event in warnings(&client, last).await {
        let _ = writeln!(text, "\nevent {event}");
    }
    printer::to_stdout(&text)?;
    Ok(ExitStatus::Difference)
}

/// From the root to the deepest object that is not well. What failed comes before what is on its way.
pub(crate) fn causes(member: &Member) -> Vec<&Member> {
    let worst = member
        .children
        .iter()
        .map(causes)
        .filter(|chain| !chain.is_empty());
    let worst = worst.max_by_key(|chain| {
        (
            chain.iter().map(|member| member.health.state).max(),
            chain.len(),
        )
    });
    match worst {
        Some(chain) => std::iter::once(member).chain(chain).collect(),
        None if member.health.state == State::Current => Vec::new(),
        None => vec![member],
    }
}

/// Conditions of the object that say no, with their words.
fn failing_conditions(value: &Value) -> Vec<String> {
    let conditions = value
        .pointer("/status/conditions")
        .and_then(Value::as_array);
    let text = |condition: &Value, field: &str| {
        condition
            .get(field)
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned()
    };
    conditions
        .into_iter()
        .flatten()
        .filter(|condition| text(condition, "status") == "False")
        // Parity: this one says no and means that nothing was asked for.
        .filter(|condition| text(condition, "reason") != reasons::NOT_REQUIRED)
        .map(|condition| {
            format!(
                "{}: {} ({})",
                text(condition, "type"),
                text(condition, "message"),
                text(condition, "reason")
            )
        })
        .collect()
}

/// The newest warnings about an object. Events are a courtesy: without permission to read them there are none.
async fn warnings(client: &Client, member: &Member) -> Vec<String> {
    const MOST: usize = 3;
    let namespace = member
        .value
        .pointer("/metadata/namespace")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let events: Api<Event> = Api::namespaced(client.clone(), namespace);
    let selector = format!("involvedObject.uid={},type=Warning", member.uid());
    let Ok(list) = events.list(&ListParams::default().fields(&selector)).await else {
        return Vec::new();
    };
    let mut items = list.items;
    items.sort_by_key(|event| event.last_timestamp.as_ref().map(|time| time.0));
    let line = |event: &Event| {
        format!(
            "{}: {}",
            event.reason.as_deref().unwrap_or_default(),
            event.message.as_deref().unwrap_or_default()
        )
    };
    items.iter().rev().take(MOST).map(line).collect()
}
