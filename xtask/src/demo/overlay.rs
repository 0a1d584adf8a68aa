//! openCenter has no cluster to run in: its example is rendered, and the tree is shown.

use std::{
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context, ensure};

use crate::{
    printer::{print, say},
    workspace,
};

const EXAMPLE: &str = "examples/opencenter/harbour-east-config.yaml";

/// How many levels of directories are written out; what lies deeper is counted.
const LEVELS: usize = 2;

/// Renders the example into a fresh directory and prints what is in it.
pub(super) fn show(binary: &Path) -> anyhow::Result<()> {
    let home = workspace::path("target/xtask/opencenter");
    if home.exists() {
        fs::remove_dir_all(&home)
            .with_context(|| format!("could not remove {}", home.display()))?;
    }
    let repository = home.join("repository");
    say(&format!("rendering {EXAMPLE}"));
    let rendered = Command::new(binary)
        .args(["cluster", "render", "--config-file"])
        .arg(workspace::path(EXAMPLE))
        .arg("--config-dir")
        .arg(home.join("config"))
        .arg("--output-dir")
        .arg(&repository)
        .args(["--quiet", "--log-level", "error"])
        .stdin(Stdio::null())
        .status()
        .context("could not run mainstay")?;
    ensure!(rendered.success(), "`mainstay cluster render` failed");
    for (name, overlay) in entries(&repository.join("applications/overlays"))? {
        let shown = overlay.strip_prefix(workspace::path(""))?.display();
        let mut text = format!("\n# opencenter: {name}\n{shown}\n");
        branches(&overlay, "", LEVELS, &mut text)?;
        print(&text)?;
    }
    Ok(())
}

/// Writes the entries of a directory, one a line, each with its branch in front.
fn branches(
    directory: &Path,
    indent: &str,
    levels: usize,
    text: &mut String,
) -> anyhow::Result<()> {
    let mut entries = entries(directory)?.into_iter().peekable();
    while let Some((name, path)) = entries.next() {
        let (branch, below) = if entries.peek().is_some() {
            ("├── ", "│   ")
        } else {
            ("└── ", "    ")
        };
        // Writing to a String cannot fail.
        let _ = write!(text, "{indent}{branch}{name}");
        if !path.is_dir() {
            text.push('\n');
        } else if levels == 1 {
            let _ = writeln!(text, "/ ({} files)", count(&path)?);
        } else {
            text.push_str("/\n");
            branches(&path, &format!("{indent}{below}"), levels - 1, text)?;
        }
    }
    Ok(())
}

/// The files of a directory and of all below it.
fn count(directory: &Path) -> anyhow::Result<usize> {
    entries(directory)?
        .iter()
        .map(|(_, path)| if path.is_dir() { count(path) } else { Ok(1) })
        .sum()
}

/// Name and path of everything in a directory, sorted.
fn entries(directory: &Path) -> anyhow::Result<Vec<(String, PathBuf)>> {
    let could_not = || format!("could not read {}", directory.display());
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).with_context(could_not)? {
        let entry = entry.with_context(could_not)?;
        found.push((
            entry.file_name().to_string_lossy().into_owned(),
            entry.path(),
        ));
    }
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_two_levels_and_counts_the_rest() {
        let root = std::env::temp_dir().join(format!("xtask-overlay-{}", std::process::id()));
        for file in [
            "a/one.yaml",
            "a/deep/two.yaml",
            "a/deep/er/three.yaml",
            "z.yaml",
        ] {
            let path = root.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        let mut text = String::new();
        branches(&root, "", 2, &mut text).unwrap();
        fs::remove_dir_all(&root).unwrap();
        assert_eq!(
            text,
            "├── a/\n│   ├── deep/ (2 files)\n│   └── one.yaml\n└── z.yaml\n"
        );
    }
}
