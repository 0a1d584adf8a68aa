//! `cargo xtask generate`: files in the repository that the product itself writes.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    fs, io,
    path::{Path, PathBuf},
};

use anyhow::{Context, bail};
use lexopt::prelude::*;

use crate::{
    Answer,
    printer::{print, say},
    workspace::{self, cargo},
};

const HELP: &str = "\
Writes the files that are generated from the code, by running `mainstay`.

Usage: cargo xtask generate [--check]

  --check  write nothing; name the files that differ and answer with exit code 1 if there are any
";

/// One row of the table: `mainstay` with these arguments writes this path.
///
/// A path with an extension is a file and gets the standard output. Any other is a directory, and is handed to the
/// command as one more argument.
struct Row {
    arguments: &'static [&'static str],
    output: &'static str,
}

impl Row {
    fn is_directory(&self) -> bool {
        Path::new(self.output).extension().is_none()
    }
}

/// Everything that is generated. Paths are relative to the root of the workspace.
const ROWS: &[Row] = &[
    Row {
        arguments: &["crds", "--output-dir"],
        output: "deploy/crds",
    },
    Row {
        arguments: &["rbac"],
        output: "deploy/rbac.yaml",
    },
    Row {
        arguments: &["bundle", "kaoto", "--format", "kustomize", "--output-dir"],
        output: "deploy/kaoto",
    },
    Row {
        arguments: &[
            "bundle",
            "clowder",
            "--format",
            "all",
            // The only thing in it that would differ from day to day.
            "--created-at",
            "2026-01-01T00:00:00Z",
            "--output-dir",
        ],
        output: "deploy/clowder",
    },
    Row {
        arguments: &["reference", "--output-dir"],
        output: "docs/reference",
    },
];

/// Contents by path, relative to the root of the workspace.
type Files = BTreeMap<PathBuf, Vec<u8>>;

pub(crate) fn run(arguments: Vec<OsString>) -> Answer {
    let mut only_check = false;
    let mut parser = lexopt::Parser::from_args(arguments);
    while let Some(argument) = parser.next()? {
        match argument {
            Long("check") => only_check = true,
            Long("help") | Short('h') => return print(HELP).map(|()| true),
            other => return Err(other.unexpected().into()),
        }
    }
    if only_check {
        let complaint = check()?;
        print(&complaint)?;
        return Ok(complaint.is_empty());
    }
    for row in ROWS {
        let (wanted, present) = both(row)?;
        for path in differing(&wanted, &present) {
            let contents = wanted.get(&path);
            write(&path, contents)?;
            let verb = if contents.is_some() {
                "wrote"
            } else {
                "removed"
            };
            say(&format!("{verb} {}", path.display()));
        }
    }
    Ok(true)
}

/// Which generated files are not what the code would write, as a text for people; empty if all are.
pub(crate) fn check() -> anyhow::Result<String> {
    let mut complaint = String::new();
    for row in ROWS {
        let (wanted, present) = both(row)?;
        for path in differing(&wanted, &present) {
            let how = match (wanted.contains_key(&path), present.contains_key(&path)) {
                (true, false) => "is missing",
                (false, true) => "is not generated any more",
                _ => "differs",
            };
            complaint.extend([&path.to_string_lossy(), " ", how, "\n"]);
        }
    }
    if !complaint.is_empty() {
        complaint.push_str("hint: run `cargo xtask generate`\n");
    }
    Ok(complaint)
}

/// What the product writes now, and what is in the repository.
fn both(row: &Row) -> anyhow::Result<(Files, Files)> {
    let wanted = generate(row)?;
    if wanted.is_empty() {
        bail!("`mainstay {}` wrote nothing", row.arguments.join(" "));
    }
    let present = read(&workspace::path(row.output), Path::new(row.output))?;
    Ok((wanted, present))
}

fn generate(row: &Row) -> anyhow::Result<Files> {
    let scratch = workspace::path("target/xtask/generated").join(row.output);
    match fs::remove_dir_all(&scratch) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error.into()),
        _ => fs::create_dir_all(&scratch)?,
    }
    let mut command = cargo([
        "run",
        "--quiet",
        "--locked",
        "--package",
        "mainstay-cli",
        "--",
    ]);
    command.args(row.arguments);
    if row.is_directory() {
        command.arg(&scratch);
    }
    let output = command.output().context("could not run cargo")?;
    if !output.status.success() {
        bail!(
            "`mainstay {}` failed:\n{}",
            row.arguments.join(" "),
            String::from_utf8_lossy(&output.stderr)
        );
    }
    if row.is_directory() {
        read(&scratch, Path::new(row.output))
    } else {
        Ok(Files::from([(PathBuf::from(row.output), output.stdout)]))
    }
}

/// The files at `path`, a file or a directory, under the name `name`.
fn read(path: &Path, name: &Path) -> anyhow::Result<Files> {
    let mut files = Files::new();
    if path.is_dir() {
        for entry in fs::read_dir(path)? {
            let entry = entry?;
            files.extend(read(&entry.path(), &name.join(entry.file_name()))?);
        }
    } else if path.exists() {
        files.insert(name.to_owned(), fs::read(path)?);
    }
    Ok(files)
}

fn differing(wanted: &Files, present: &Files) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = wanted
        .keys()
        .chain(present.keys())
        .filter(|path| wanted.get(*path) != present.get(*path))
        .cloned()
        .collect();
    paths.sort();
    paths.dedup();
    paths
}

/// Writes a file, or removes it if it has no contents any more.
fn write(path: &Path, contents: Option<&Vec<u8>>) -> anyhow::Result<()> {
    let target = workspace::path("").join(path);
    match contents {
        Some(contents) => {
            if let Some(directory) = target.parent() {
                fs::create_dir_all(directory)?;
            }
            fs::write(&target, contents)
        }
        None => fs::remove_file(&target),
    }
    .with_context(|| format!("could not write {}", target.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(entries: &[(&str, &str)]) -> Files {
        entries
            .iter()
            .map(|(path, text)| (PathBuf::from(path), text.as_bytes().to_vec()))
            .collect()
    }

    #[test]
    fn tells_files_from_directories_by_their_extension() {
        let is_directory = |output| {
            let arguments = &[];
            Row { arguments, output }.is_directory()
        };
        assert!(is_directory("deploy/crds"));
        assert!(!is_directory("docs/reference.md"));
    }

    #[test]
    fn names_missing_changed_and_left_over_files_once() {
        let wanted = files(&[("a", "1"), ("b", "2"), ("c", "3")]);
        let present = files(&[("b", "2"), ("c", "old"), ("d", "4")]);
        let names: Vec<PathBuf> = ["a", "c", "d"].map(PathBuf::from).into();
        assert_eq!(differing(&wanted, &present), names);
        assert!(differing(&wanted, &wanted).is_empty());
    }
}
