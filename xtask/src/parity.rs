//! The pages about parity: what they say proves a row has to be there, and no row may be there twice.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use anyhow::Context;

use crate::workspace;

const PAGES: &str = "docs/parity";

/// What is wrong with the pages, as a text for people; empty if nothing is.
pub(crate) fn check() -> anyhow::Result<String> {
    let mut sources = Vec::new();
    for directory in ["crates", "xtask"] {
        sources.extend(rust_files(&workspace::path(directory))?);
    }
    let mut tests = BTreeSet::new();
    for path in sources {
        let text = fs::read_to_string(&path)
            .with_context(|| format!("could not read {}", path.display()))?;
        tests.extend(test_names(&text));
    }
    let mut complaint = String::new();
    for entry in fs::read_dir(workspace::path(PAGES))? {
        let path = entry?.path();
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let page = fs::read_to_string(&path)?;
        let exists = |proof: &Proof<'_>| match proof {
            Proof::Test(test) => tests.contains(*test),
            Proof::File(file) => workspace::path(file).exists(),
            // A star stands for all cases in a directory.
            Proof::Golden(case) => workspace::path("tests/golden")
                .join(&*name)
                .join(case.trim_end_matches('*'))
                .exists(),
        };
        for line in complaints(&page, exists) {
            complaint.extend([PAGES, "/", &name, ".md:", &line, "\n"]);
        }
    }
    Ok(complaint)
}

/// What a row refers to.
#[derive(Debug, PartialEq, Eq)]
enum Proof<'page> {
    /// The name of a test.
    Test(&'page str),
    /// A file or directory of the workspace.
    File(&'page str),
    /// A golden case of the page's system.
    Golden(&'page str),
}

/// Each complaint begins with the number of its line.
fn complaints(page: &str, exists: impl Fn(&Proof<'_>) -> bool) -> Vec<String> {
    let mut seen = BTreeMap::new();
    let mut found = Vec::new();
    let mut heading = "";
    for (number, line) in (1..).zip(page.lines()) {
        if line.starts_with("## ") {
            heading = line;
        }
        let Some((row, last)) = row(line) else {
            continue;
        };
        if let Some(first) = seen.insert((heading, row), number) {
            found.push(format!("{number}: the same row is in line {first}"));
        }
        for proof in proofs(last).filter(|proof| !exists(proof)) {
            found.push(match proof {
                Proof::Test(test) => format!("{number}: there is no test `{test}`"),
                Proof::File(file) => format!("{number}: there is no `{file}`"),
                Proof::Golden(case) => format!("{number}: there is no golden case `{case}`"),
            });
        }
    }
    found
}

/// A row of a table without its last cell, and that cell.
fn row(line: &str) -> Option<(&str, &str)> {
    let cells = line.strip_prefix('|')?.trim_end().strip_suffix('|')?;
    let (row, last) = cells.rsplit_once('|')?;
    let is_ruler = row.bytes().all(|byte| matches!(byte, b'-' | b'|' | b':'));
    (!is_ruler).then_some((row.trim(), last))
}

/// What a cell refers to: between backticks, and of a golden case after that word.
fn proofs(cell: &str) -> impl Iterator<Item = Proof<'_>> {
    let mut golden = false;
    let pieces = cell.split('`').enumerate();
    pieces.filter_map(move |(index, piece)| {
        if index % 2 == 0 {
            // A list of cases goes on over commas.
            golden = piece.trim_end().ends_with("golden")
                || (golden && matches!(piece.trim(), "," | "and"));
            return None;
        }
        if golden {
            return Some(Proof::Golden(piece));
        }
        let is_path = ["crates/", "xtask/", "tests/"]
            .iter()
            .any(|start| piece.starts_with(start));
        if is_path {
            return Some(Proof::File(piece));
        }
        is_test_name(piece).then_some(Proof::Test(piece))
    })
}

/// Names of tests are sentences; fields and functions have fewer words.
fn is_test_name(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    text.bytes().all(plain) && text.matches('_').count() >= 2
}

/// Names of functions with a test attribute above them, and of those in blocks of properties.
fn test_names(source: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut is_test = false;
    for line in source.lines().map(str::trim) {
        if line.starts_with("#[") {
            is_test |= line.contains("test]") || line.contains("test(");
            continue;
        }
        let signature = line.strip_prefix("async ").unwrap_or(line);
        if let Some(rest) = signature.strip_prefix("fn ")
            && is_test
        {
            let name = rest.split(['(', '<']).next().unwrap_or(rest);
            names.push(name.to_owned());
        }
        is_test &= line.is_empty() || line.starts_with("//");
    }
    names
}

fn rust_files(directory: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut open = vec![directory.to_owned()];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(&directory)
            .with_context(|| format!("could not read {}", directory.display()))?
        {
            let path = entry?.path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(path);
            }
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "\
# Parity

## Kept

| Id | What | Test |
|---|---|---|
| 1 | `a_field_of_theirs` is kept | `it_is_kept_as_it_was` |
| 2 | this | golden `one`, `two`; `crates/gone.rs` |
| 1 | `a_field_of_theirs` is kept | `it_is_kept_as_it_was` |

## Changed

| 1 | `a_field_of_theirs` is kept | see above |
";

    #[test]
    fn what_is_missing_or_there_twice_is_named_with_its_line() {
        assert_eq!(
            complaints(PAGE, |_| false),
            [
                "7: there is no test `it_is_kept_as_it_was`",
                "8: there is no golden case `one`",
                "8: there is no golden case `two`",
                "8: there is no `crates/gone.rs`",
                "9: the same row is in line 7",
                "9: there is no test `it_is_kept_as_it_was`",
            ]
        );
        assert_eq!(complaints(PAGE, |_| true), ["9: the same row is in line 7"]);
    }

    #[test]
    fn the_pages_of_this_workspace_are_in_order() {
        assert_eq!(check().unwrap(), "");
    }

    #[test]
    fn tests_are_known_by_their_attribute() {
        let source = "
            #[test]
            fn a_plain_one() {}
            fn a_helper_beside_it() {}
            #[tokio::test(start_paused = true)]
            // Why.
            async fn one_with_a_clock() {}
            proptest! {
                /// What.
                #[test]
                fn one_of_many(x in 0..1) {}
            }
        ";
        assert_eq!(
            test_names(source),
            ["a_plain_one", "one_with_a_clock", "one_of_many"]
        );
    }
}
