//! Renders recorded configs and compares each tree with the recorded one.
//!
//! `cargo run --example compare_recordings -- DIRECTORY [CASE…]`, where every sub-directory of DIRECTORY has a
//! `config.yaml`, a `tree/`, and a `run.yaml` if the original was called with options. Prints what `expected.yaml`
//! does not explain, then the cases by result. Fails if there is anything unexplained.

#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a program for developers; only the library is pure"
)]

mod rules;

use std::{
    collections::BTreeMap,
    error::Error,
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
};

use mainstay_opencenter::{
    config::{ClusterConfig, GitAuthMethod, LoadOptions, NoSurroundings, load},
    descriptor::Registry,
    edit::{self, DisableRequest, EnableRequest},
    finding::{Finding, Severity},
    flux::GitAuthentication,
    overlay::{
        Contents,
        parity::{Inventory, compare},
    },
    render::{RenderOptions, SecretsMode, render},
};
use mainstay_yaml::{Limits, SourceName, parse_documents};
use serde_json::Value;

use rules::Rules;

type Failure = Box<dyn Error>;

fn main() -> Result<ExitCode, Failure> {
    let mut arguments = std::env::args().skip(1);
    let directory = PathBuf::from(
        arguments
            .next()
            .ok_or("name the directory with the recordings")?,
    );
    let wanted: Vec<String> = arguments.collect();
    let registry = Registry::built_in().map_err(|findings| describe(&findings))?;
    let rules = Rules::built_in()?;
    let mut results = BTreeMap::<String, Vec<String>>::new();
    let mut cases: Vec<PathBuf> = fs::read_dir(&directory)?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.join("config.yaml").exists())
        .collect();
    cases.sort();
    for path in cases {
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if wanted.is_empty() || wanted.contains(&name) {
            let result = Case { name: &name, path }.run(&registry, &rules)?;
            results.entry(result).or_default().push(name);
        }
    }
    for (result, names) in &results {
        println!("{} {result}: {}", names.len(), names.join(" "));
    }
    if wanted.is_empty() {
        for reason in rules.unused() {
            println!("never needed: {reason}");
        }
    }
    Ok(if results.contains_key(DIFFERENT) {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

const EQUAL: &str = "equal up to the rules";
const DIFFERENT: &str = "different";

fn describe(findings: &[Finding]) -> String {
    let lines: Vec<String> = findings
        .iter()
        .map(|finding| format!("{} {}: {}", finding.code, finding.path, finding.message))
        .collect();
    lines.join(" | ")
}

/// One recording.
struct Case<'n> {
    name: &'n str,
    path: PathBuf,
}

impl Case<'_> {
    /// What came of it, in words.
    fn run(&self, registry: &Registry, rules: &Rules) -> Result<String, Failure> {
        let run = self.options()?;
        let text = self.config_text(&run)?;
        let loaded = load(
            text.as_bytes(),
            &SourceName::new(self.name),
            &NoSurroundings,
            &LoadOptions::default(),
        );
        let config = match loaded.into_result() {
            Ok((config, _)) => config,
            Err(findings) => return Ok(refused(&findings)),
        };
        let options = RenderOptions {
            git_authentication: git_authentication(&run, &config),
            secrets_mode: SecretsMode::Plaintext,
            ..RenderOptions::default()
        };
        let rendered = match render(&config, registry, &options) {
            Ok(rendered) => rendered,
            Err(findings) => return Ok(refused(&findings)),
        };
        let mut expected = Contents::new();
        read_tree(&self.path.join("tree"), "", &mut expected)?;
        let differences = compare(
            config.cluster_name(),
            &rendered.tree.contents(),
            &expected,
            &Inventory::default(),
        );
        let unexplained: Vec<String> = differences
            .iter()
            .flat_map(|difference| rules.unexplained(self.name, difference))
            .collect();
        for line in &unexplained {
            println!("{}\t{line}", self.name);
        }
        Ok(if unexplained.is_empty() {
            EQUAL.to_owned()
        } else {
            DIFFERENT.to_owned()
        })
    }

    /// How the original was called.
    fn options(&self) -> Result<Value, Failure> {
        let file = self.path.join("run.yaml");
        if !file.exists() {
            return Ok(Value::Null);
        }
        let text = fs::read_to_string(file)?;
        let documents = parse_documents(&text, &SourceName::new("run.yaml"), &Limits::default())?;
        Ok(documents
            .into_iter()
            .next()
            .map_or(Value::Null, |document| document.value))
    }

    /// The config after the commands that followed the first render.
    fn config_text(&self, run: &Value) -> Result<String, Failure> {
        let mut text = fs::read_to_string(self.path.join("config.yaml"))?;
        let commands = run.get("then").and_then(Value::as_array);
        for command in commands.into_iter().flatten() {
            let words: Vec<&str> = command
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(Value::as_str)
                .collect();
            let source = SourceName::new(self.name);
            let file = edit::File {
                text: &text,
                source: &source,
                surroundings: &NoSurroundings,
                now: None,
            };
            let edited = match words.as_slice() {
                ["cluster", "service", "enable", service, ..] => edit::enable(
                    &file,
                    &EnableRequest {
                        service: (*service).to_owned(),
                        ..EnableRequest::default()
                    },
                ),
                ["cluster", "service", "disable", service, ..] => edit::disable(
                    &file,
                    &DisableRequest {
                        service: (*service).to_owned(),
                        ..DisableRequest::default()
                    },
                ),
                _ => continue,
            };
            text = edited.map_err(|findings| describe(&findings))?.text;
        }
        Ok(text)
    }
}

fn refused(findings: &[Finding]) -> String {
    let mut codes: Vec<String> = findings
        .iter()
        .filter(|finding| finding.severity == Severity::Error)
        .map(|finding| finding.code.to_string())
        .collect();
    codes.sort_unstable();
    codes.dedup();
    format!("refused with {}", codes.join(" and "))
}

fn git_authentication(run: &Value, config: &ClusterConfig) -> GitAuthentication {
    let flag = run.get("gitops_auth").and_then(Value::as_str);
    match (flag, config.configured_git_auth()) {
        (Some("ssh"), _) | (None, Some(GitAuthMethod::Ssh)) => GitAuthentication::Ssh,
        _ => GitAuthentication::Token,
    }
}

fn read_tree(directory: &Path, prefix: &str, files: &mut Contents) -> Result<(), Failure> {
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if prefix.is_empty() {
            name
        } else {
            format!("{prefix}/{name}")
        };
        if entry.file_type()?.is_dir() {
            read_tree(&entry.path(), &path, files)?;
        } else {
            files.insert(path, fs::read(entry.path())?);
        }
    }
    Ok(())
}
