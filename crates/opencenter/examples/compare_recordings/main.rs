//! Renders recorded configs and compares each tree with the recorded one.
//!
//! `cargo run --example compare_recordings -- DIRECTORY [CASE…]`, where every sub-directory of DIRECTORY has a
//! `config.yaml` and a `tree/`. Prints each difference on a line of its own, then the counts.

#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a program for developers; only the library is pure"
)]

use std::{
    collections::BTreeMap,
    error::Error,
    fs,
    path::{Path, PathBuf},
};

use mainstay_opencenter::{
    config::{ClusterConfig, GitAuthMethod, LoadOptions, NoSurroundings, load},
    descriptor::Registry,
    finding::Finding,
    flux::GitAuthentication,
    overlay::parity::{Difference, Inventory, compare},
    render::{RenderOptions, SecretsMode, render},
};
use mainstay_yaml::SourceName;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let directory = PathBuf::from(
        arguments
            .next()
            .ok_or("name the directory with the recordings")?,
    );
    let wanted: Vec<String> = arguments.collect();
    let registry = Registry::built_in().map_err(|findings| describe(&findings))?;
    let mut counts = BTreeMap::<&str, u32>::new();
    let mut cases: Vec<PathBuf> = fs::read_dir(&directory)?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.join("config.yaml").exists())
        .collect();
    cases.sort();
    for case in cases {
        let name = case
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if wanted.is_empty() || wanted.contains(&name) {
            *counts.entry(run(&name, &case, &registry)?).or_default() += 1;
        }
    }
    println!("{counts:?}");
    Ok(())
}

fn describe(findings: &[Finding]) -> String {
    let lines: Vec<String> = findings
        .iter()
        .map(|finding| format!("{} {}: {}", finding.code, finding.path, finding.message))
        .collect();
    lines.join(" | ")
}

fn git_authentication(case: &Path, config: &ClusterConfig) -> GitAuthentication {
    let run = fs::read_to_string(case.join("run.yaml")).unwrap_or_default();
    if run.contains("gitops_auth: ssh") {
        return GitAuthentication::Ssh;
    }
    match config.configured_git_auth() {
        Some(GitAuthMethod::Ssh) if !run.contains("gitops_auth: token") => GitAuthentication::Ssh,
        _ => GitAuthentication::Token,
    }
}

fn run(name: &str, case: &Path, registry: &Registry) -> Result<&'static str, Box<dyn Error>> {
    let bytes = fs::read(case.join("config.yaml"))?;
    let loaded = load(
        &bytes,
        &SourceName::new(name),
        &NoSurroundings,
        &LoadOptions::default(),
    );
    let config = match loaded.into_result() {
        Ok((config, _)) => config,
        Err(mut findings) => {
            findings.retain(|finding| {
                finding.severity == mainstay_opencenter::finding::Severity::Error
            });
            println!("{name}\trefused\t{}", describe(&findings));
            return Ok("refused by the config");
        }
    };
    let options = RenderOptions {
        git_authentication: git_authentication(case, &config),
        secrets_mode: SecretsMode::Plaintext,
        ..RenderOptions::default()
    };
    let rendered = match render(&config, registry, &options) {
        Ok(rendered) => rendered,
        Err(findings) => {
            println!("{name}\tfailed\t{}", describe(&findings));
            return Ok("refused by the renderer");
        }
    };
    let mut expected = BTreeMap::new();
    read_tree(&case.join("tree"), "", &mut expected)?;
    let differences = compare(
        config.cluster_name(),
        &rendered.tree.contents(),
        &expected,
        &Inventory::default(),
    );
    for difference in &differences {
        match difference {
            Difference::Content {
                path,
                document,
                fields,
            } => {
                for field in fields {
                    let shown = |value: &Option<serde_json::Value>| {
                        value.as_ref().map_or("-".to_owned(), ToString::to_string)
                    };
                    println!(
                        "{name}\t{path}\t{document}{}\t{}\t{}",
                        field.pointer,
                        shown(&field.before),
                        shown(&field.after)
                    );
                }
            }
            other => println!("{name}\t{other:?}"),
        }
    }
    Ok(if differences.is_empty() {
        "equal"
    } else {
        "different"
    })
}

fn read_tree(
    directory: &Path,
    prefix: &str,
    files: &mut BTreeMap<String, Vec<u8>>,
) -> Result<(), Box<dyn Error>> {
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
