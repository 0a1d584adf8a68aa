//! A plan for people, and for programs.

use std::fmt::Write as _;

use serde_json::Value;

use super::{
    Outline,
    line::{Line, PlannedChange},
    trial::Untried,
};
use crate::printer::painted;

/// The plan as a list of rows.
pub(super) fn json(outline: &Outline) -> Vec<Value> {
    let lines = outline.lines.iter().map(|line| line.to_json(false));
    let followers = outline.followers.iter().map(|line| line.to_json(true));
    lines.chain(followers).collect()
}

/// The plan for people.
pub(crate) fn text(outline: &Outline) -> String {
    let mut text = String::new();
    section(&mut text, &outline.lines);
    if !outline.followers.is_empty() {
        let roots = match outline.following {
            1 => "1 custom resource that is not in the files".to_owned(),
            number => format!("{number} custom resources that are not in the files"),
        };
        let _ = writeln!(text, "\nwhat follows for {roots}:\n");
        section(&mut text, &outline.followers);
    }
    untried(&mut text, &outline.untried);
    text
}

/// Says what the server was not asked about.
fn untried(text: &mut String, untried: &Untried) {
    if untried.too_early > 0 {
        let _ = writeln!(
            text,
            "\n{} of them not tried on the server: their namespace is only planned",
            untried.too_early
        );
    }
    let resources: Vec<&str> = untried.not_allowed.iter().map(String::as_str).collect();
    if !resources.is_empty() {
        let resources = resources.join(", ");
        let _ = writeln!(
            text,
            "\nnot tried on the server, because you may not write them: {resources}"
        );
    }
}

fn section(text: &mut String, lines: &[Line]) {
    let width = lines.iter().map(|line| line.key.to_string().len()).max();
    let width = width.unwrap_or_default();
    for line in lines {
        let (sign, colour) = line.change.sign();
        let head = painted(colour, format_args!("{sign} {:9}", line.change.word()));
        let _ = writeln!(
            text,
            "{head} {:width$}  {} [{}]",
            line.key.to_string(),
            line.because,
            line.unit
        );
        for change in &line.changes {
            let _ = writeln!(text, "              {change}");
        }
        for note in &line.notes {
            let _ = writeln!(text, "              {note}");
        }
    }
    let counts = PlannedChange::ALL.map(|change| {
        let number = lines.iter().filter(|line| line.change == change).count();
        change.count(number)
    });
    let counts: Vec<String> = counts.into_iter().flatten().collect();
    let _ = writeln!(text, "\n{}", counts.join(", "));
}
