//! `cargo xtask check`: everything that can be said about the code without running a test.

use std::{ffi::OsString, fs, process::Stdio};

use anyhow::Context;
use lexopt::prelude::*;

use crate::{
    Answer, generate, parity,
    printer::print,
    step::{self, Tally},
    test,
    workspace::{self, cargo},
};

const HELP: &str = "\
Format, lints, documentation, banned crates, parity pages, generated files. Runs all of them, whatever fails.

Usage: cargo xtask check
";

pub(crate) fn run(arguments: Vec<OsString>) -> Answer {
    let mut parser = lexopt::Parser::from_args(arguments);
    match parser.next()? {
        None => all()?.close(),
        Some(Long("help") | Short('h')) => print(HELP).map(|()| true),
        Some(other) => Err(other.unexpected().into()),
    }
}

/// Runs every check; the quick ones come first.
pub(crate) fn all() -> anyhow::Result<Tally> {
    let mut tally = Tally::default();
    tally.count(step::program(
        "format",
        &mut cargo(["fmt", "--all", "--check"]),
    )?);
    tally.count(step::function("banned crates", banned_crates)?);
    tally.count(step::function("pure crates", pure_crates)?);
    tally.count(step::function("parity pages", parity::check)?);
    if has_cargo_deny() {
        let mut deny = cargo(["deny", "check", "bans", "licenses", "sources"]);
        tally.count(step::program("cargo deny", &mut deny)?);
    }
    let mut clippy = cargo(["clippy", "--workspace", "--all-targets", "--locked"]);
    clippy.args(["--", "-D", "warnings"]);
    tally.count(step::program("clippy", &mut clippy)?);
    // `--all-targets` leaves out what `cargo test` leaves out.
    let mut slow = cargo(["clippy", "--locked"]);
    slow.args(test::slow_targets())
        .args(["--", "-D", "warnings"]);
    tally.count(step::program("clippy, slow", &mut slow)?);
    let mut documentation = cargo(["doc", "--workspace", "--no-deps", "--locked"]);
    documentation.env("RUSTDOCFLAGS", "-D warnings");
    tally.count(step::program("documentation", &mut documentation)?);
    tally.count(step::function("generated files", generate::check)?);
    Ok(tally)
}

/// `cargo deny` says more, but is not on every machine; what it would refuse by name is refused here everywhere.
fn banned_crates() -> anyhow::Result<String> {
    let read = |name: &str| {
        fs::read_to_string(workspace::path(name)).with_context(|| format!("could not read {name}"))
    };
    let denied = denied_names(&read("deny.toml")?);
    anyhow::ensure!(!denied.is_empty(), "deny.toml denies no crate under [bans]");
    let lock = read("Cargo.lock")?;
    let mut complaint = String::new();
    for name in denied {
        let entry = format!("name = \"{name}\"");
        if lock.lines().any(|line| line == entry) {
            let line =
                format!("`{name}` is banned but in Cargo.lock; `cargo tree -i {name}` says why\n");
            complaint.push_str(&line);
        }
    }
    Ok(complaint)
}

/// Crates between snapshot and commit: they decide, and do nothing.
const PURE: [&str; 7] = [
    "api",
    "clowder",
    "connectors",
    "engine",
    "kaoto",
    "opencenter",
    "openvox",
];

/// What a pure crate could do something with, or learn something from that is not an input.
const IMPURE: [&str; 12] = [
    "axum",
    "fastrand",
    "getrandom",
    "hyper",
    "kube",
    "mainstay-cluster",
    "mainstay-http",
    "mainstay-runtime",
    "rand",
    "reqwest",
    "rustix",
    "tokio",
];

/// Lints ban what the standard library offers; this bans what other crates do.
fn pure_crates() -> anyhow::Result<String> {
    let mut complaint = String::new();
    for name in PURE {
        let manifest = format!("crates/{name}/Cargo.toml");
        let text = fs::read_to_string(workspace::path(&manifest))
            .with_context(|| format!("could not read {manifest}"))?;
        for dependency in dependencies(&text) {
            // Definitions of kinds are derived with it; without its client it asks nobody.
            let is_derive = name == "api" && dependency == "kube" && !text.contains("\"client\"");
            if IMPURE.contains(&dependency) && !is_derive {
                let line = format!("{manifest}: a pure crate depends on `{dependency}`\n");
                complaint.push_str(&line);
            }
        }
    }
    Ok(complaint)
}

/// Names under `[dependencies]`.
fn dependencies(manifest: &str) -> impl Iterator<Item = &str> {
    let section = manifest.split("[dependencies]").nth(1).unwrap_or_default();
    let section = section.split("\n[").next().unwrap_or_default();
    let names = section
        .lines()
        .filter_map(|line| line.split(['.', ' ', '=']).next());
    names.filter(|name| !name.is_empty() && !name.starts_with('#'))
}

fn has_cargo_deny() -> bool {
    cargo(["deny", "--version"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// The crate names in the list `deny` of the section `[bans]`, in every form that `cargo deny` takes: a string, or a
/// table with `crate` or `name`. A version after `@` or `:` is ignored: every version counts as banned.
fn denied_names(text: &str) -> Vec<String> {
    let list = deny_list(text);
    let mut names = Vec::new();
    let mut depth = 0_usize;
    // Split at quotes, pieces alternate: outside of a string, inside of one.
    let mut pieces = list.split('"');
    while let (Some(outside), Some(inside)) = (pieces.next(), pieces.next()) {
        for character in outside.chars() {
            match character {
                '[' => depth += 1,
                ']' if depth == 1 => return names,
                ']' => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
        if depth == 1 && matches!(key_before(outside), None | Some("crate" | "name")) {
            let name = inside.split(['@', ':']).next().unwrap_or(inside);
            names.push(name.to_owned());
        }
    }
    names
}

/// The text from the `[` of `deny = [` on, without comments; empty if there is none.
fn deny_list(text: &str) -> String {
    text.lines()
        .map(|line| line.split('#').next().unwrap_or(line).trim())
        .skip_while(|line| *line != "[bans]")
        .skip(1)
        .take_while(|line| !(line.starts_with('[') && line.ends_with(']')))
        .skip_while(|line| !line.starts_with("deny"))
        .collect::<Vec<_>>()
        .join("\n")
}

/// The key if `text` ends with `key =`.
fn key_before(text: &str) -> Option<&str> {
    let before = text.trim_end().strip_suffix('=')?.trim_end();
    before
        .rsplit(|character: char| character.is_whitespace() || "{,".contains(character))
        .next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_every_form_of_a_ban() {
        let text = r#"
[licenses]
allow = ["MIT"]

[bans]
multiple-versions = "warn" # "not-this"
deny = [
  # "nor-this",
  { crate = "openssl-sys", use-instead = "rustls" },
  { name = "serde_yaml", reason = "prints `yes` bare" },
  { crate = "native-tls", wrappers = ["some", "other"] },
  "ring@0.17",
]
skip = ["not-that"]

[sources]
unknown-registry = "deny"
"#;
        assert_eq!(
            denied_names(text),
            ["openssl-sys", "serde_yaml", "native-tls", "ring"]
        );
    }

    #[test]
    fn reads_every_form_of_a_dependency() {
        let manifest = "[package]\nname = \"x\"\n\n[dependencies]\n# a note\nserde.workspace = true\nkube = { version = \"5\" }\n\n[dev-dependencies]\ntokio = \"1\"\n";
        assert_eq!(
            dependencies(manifest).collect::<Vec<_>>(),
            ["serde", "kube"]
        );
    }

    #[test]
    fn finds_no_ban_where_there_is_none() {
        assert!(denied_names("[bans]\nmultiple-versions = \"deny\"\n").is_empty());
        assert!(denied_names("[advisories]\ndeny = [\"x\"]\n").is_empty());
        assert_eq!(denied_names("[bans]\ndeny = [\"x\"]\n"), ["x"]);
    }
}
