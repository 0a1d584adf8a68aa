//! `mainstay tree`: the objects that belong to a custom resource, with their health.

use std::fmt::Write as _;

use mainstay_engine::health::State;

use crate::{
    args::ObjectArgs,
    commands::family::{self, Member},
    exit::ExitStatus,
    printer::{self, painted, style},
};

pub(crate) async fn run(arguments: &ObjectArgs) -> anyhow::Result<ExitStatus> {
    let (_, root) = family::find(arguments).await?;
    let mut text = String::new();
    draw(&root, "", "", &mut text);
    printer::to_stdout(&text)?;
    Ok(ExitStatus::Success)
}

fn draw(member: &Member, first: &str, rest: &str, text: &mut String) {
    let colour = match member.health.state {
        State::Current => style::OK,
        State::InProgress | State::Terminating => style::WARNING,
        State::Failed => style::ERROR,
    };
    let state = painted(colour, member.health.state.word());
    let message = if member.health.message.is_empty() {
        String::new()
    } else {
        format!(": {}", member.health.message)
    };
    let _ = writeln!(
        text,
        "{first}{}  {state}{message}",
        painted(style::NAME, member.title())
    );
    for (position, child) in member.children.iter().enumerate() {
        let last = position + 1 == member.children.len();
        let (branch, trunk) = if last {
            ("└─ ", "   ")
        } else {
            ("├─ ", "│  ")
        };
        draw(
            child,
            &format!("{rest}{branch}"),
            &format!("{rest}{trunk}"),
            text,
        );
    }
}
