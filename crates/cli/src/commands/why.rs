//! `mainstay why`: the chain of causes that ends at the one thing to fix.

use std::fmt::Write as _;

use k8s_openapi::api::core::v1::Event;
use kube::{Api, Client, api::ListParams};
use mainstay_engine::{health::State, key::ObjectKey};
use mainstay_system::Explain;
use serde_json::Value;

use crate::{
    args::ObjectArgs,
    commands::family::{self, Member},
    exit::ExitStatus,
    printer::{self, painted, style},
    systems::OwnKind,
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
    for condition in failing_conditions(last) {
        let _ = writeln!(text, "\ncondition {condition}");
    }
    for event in warnings(&client, last).await {
        let _ = writeln!(text, "\nevent {event}");
    }
    if let Some(advice) = (explain(last).advice)(&last.value, &last.health) {
        let _ = writeln!(text, "\n{} {advice}", painted(style::NAME, "hint:"));
    }
    printer::to_stdout(&text)?;
    Ok(ExitStatus::Difference)
}

/// From the root to the deepest object that is not well. What failed comes before what is on its way.
pub(crate) fn causes(member: &Member) -> Vec<&Member> {
    let worst = member
        .children
        .iter()
        .chain(member.waits_for.as_deref())
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

/// How an object is to be understood: as its system says, or as those of Kubernetes.
fn explain(member: &Member) -> Explain {
    let own = ObjectKey::of(&member.value).and_then(|key| OwnKind::find(&key.kind));
    own.map_or(Explain::BY_CONDITIONS, |own| own.system.explain)
}

/// Conditions of the object that speak of trouble, with their words. What the chain already says is not repeated.
fn failing_conditions(member: &Member) -> Vec<String> {
    let conditions = member
        .value
        .pointer("/status/conditions")
        .and_then(Value::as_array);
    let is_trouble = explain(member).is_trouble;
    let trouble = conditions.into_iter().flatten();
    let trouble = trouble.filter(|condition| is_trouble(condition, &member.health));
    let trouble = trouble.map(|condition| {
        let text = |field: &str| {
            let value = condition.get(field).and_then(Value::as_str);
            value.unwrap_or_default()
        };
        format!("{}: {} ({})", text("type"), text("message"), text("reason"))
    });
    trouble.collect()
}

/// The newest warnings about an object. Events are a courtesy: without permission to read them there are none.
async fn warnings(client: &Client, member: &Member) -> Vec<String> {
    const MOST: usize = 3;
    // Events about objects without a namespace are kept in this one.
    let namespace = match member.text("/metadata/namespace") {
        "" => "default",
        namespace => namespace,
    };
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

#[cfg(test)]
mod tests {
    use mainstay_engine::health::Health;
    use serde_json::json;

    use super::*;

    fn app(message: &str, waits_for: Option<Member>) -> Member {
        Member {
            value: json!({"kind": "ClowdApp", "metadata": {"name": "cart"}, "spec": {"envName": "shop"}}),
            health: Health {
                state: State::Failed,
                message: message.to_owned(),
            },
            children: Vec::new(),
            waits_for: waits_for.map(Box::new),
        }
    }

    #[test]
    fn the_chain_leads_from_an_app_to_its_environment_if_that_is_at_fault() {
        let member = |kind: &str, state, children| Member {
            value: json!({"kind": kind, "metadata": {"name": "shop"}}),
            health: Health {
                state,
                message: String::new(),
            },
            children,
            waits_for: None,
        };
        let broken = member("Deployment", State::InProgress, Vec::new());
        let environment = member("ClowdEnvironment", State::InProgress, vec![broken]);
        let app = app("clowd env not ready", Some(environment));
        let kinds: Vec<&str> = causes(&app)
            .iter()
            .map(|member| member.text("/kind"))
            .collect();
        assert_eq!(kinds, ["ClowdApp", "ClowdEnvironment", "Deployment"]);
    }
}
