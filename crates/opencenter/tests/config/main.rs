//! The config from the outside: every stage and every code, with its place in the text.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::too_many_lines,
    clippy::format_collect,
    reason = "tests may fail loudly, and tables of cases are long"
)]

mod codes;
mod fixtures;
mod loading;
mod properties;

use mainstay_opencenter::{
    config::{ClusterConfig, LoadOptions, Loaded, NoSurroundings, Purpose, load},
    finding::{Finding, has_errors},
};
use mainstay_yaml::SourceName;

/// A small valid config with places to add something.
const BASE: &str = "\
---
schema_version: \"2.0\"
@root
opencenter:
  meta:
    name: demo
    region: ord1
  gitops:
    repository:
      url: https://git.example.org/clusters.git
@gitops
@opencenter
  services:
@services
secrets:
  sops: {enabled: false}
@secrets
";

/// The base config with some places filled; the others are left out.
fn config(parts: &[(&str, &str)]) -> String {
    let mut text = BASE.to_owned();
    for (place, part) in parts {
        text = text.replace(place, part.trim_matches('\n'));
    }
    let lines: Vec<_> = text.lines().filter(|line| !line.starts_with('@')).collect();
    lines.join("\n") + "\n"
}

fn load_for(text: &str, purpose: Purpose) -> Loaded {
    let options = LoadOptions {
        purpose,
        ..LoadOptions::default()
    };
    load(
        text.as_bytes(),
        &SourceName::new("demo.yaml"),
        &NoSurroundings,
        &options,
    )
}

fn findings(text: &str) -> Vec<Finding> {
    load_for(text, Purpose::Render).findings
}

/// The config of a text that must be free of errors.
fn valid(text: &str) -> ClusterConfig {
    let loaded = load_for(text, Purpose::Render);
    assert!(
        !has_errors(&loaded.findings),
        "{text}\n{:#?}",
        loaded.findings
    );
    loaded.config.unwrap()
}

/// What stands in the text at the place of a finding.
fn text_at<'text>(text: &'text str, finding: &Finding) -> &'text str {
    let line = text
        .lines()
        .nth(finding.line.unwrap() as usize - 1)
        .unwrap();
    let column = finding.column.unwrap() as usize - 1;
    let offset = line
        .char_indices()
        .nth(column)
        .map_or(line.len(), |(offset, _)| offset);
    &line[offset..]
}
