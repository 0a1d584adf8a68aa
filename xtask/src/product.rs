//! The product's own binary.

use std::{path::PathBuf, process::Stdio};

use anyhow::{Context, bail};

use crate::{printer::say, workspace::cargo};

/// Builds `mainstay` for release and returns its path. Cargo's progress is shown.
pub(crate) fn build_release() -> anyhow::Result<PathBuf> {
    say("building mainstay");
    let output = cargo([
        "build",
        "--release",
        "--locked",
        "--package",
        "mainstay-cli",
    ])
    // The path depends on the user's settings; cargo knows them.
    .arg("--message-format=json-render-diagnostics")
    .stdin(Stdio::null())
    .stderr(Stdio::inherit())
    .output()
    .context("could not run cargo")?;
    if !output.status.success() {
        bail!("could not build mainstay");
    }
    executable(&String::from_utf8_lossy(&output.stdout)).context("cargo did not name the binary")
}

/// The path of the binary `mainstay` in cargo's messages.
fn executable(messages: &str) -> Option<PathBuf> {
    messages
        .lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok())
        .filter(|message| {
            message
                .pointer("/target/name")
                .is_some_and(|name| name == "mainstay")
        })
        .find_map(|message| message.get("executable")?.as_str().map(PathBuf::from))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_binary_among_the_messages() {
        let messages = r#"{"reason":"compiler-artifact","target":{"name":"mainstay"},"executable":null}
{"reason":"compiler-artifact","target":{"name":"other"},"executable":"/t/release/other"}
{"reason":"compiler-artifact","target":{"name":"mainstay"},"executable":"/t/release/mainstay"}
{"reason":"build-finished","success":true}
"#;
        assert_eq!(executable(messages), Some("/t/release/mainstay".into()));
    }
}
