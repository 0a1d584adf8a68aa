//! Tests that take too long for every run, each behind a word of its own.
//!
//! A word is a test program of `crates/cli` that `cargo test --workspace` leaves out: a directory `tests/WORD` with
//! `main.rs`, a section `[[test]]` with `test = false` in its `Cargo.toml`, and a line here.

use super::{CLOWDER, CLOWDER_OLDEST, TestPlane, VANILLA, VANILLA_OLDEST};

/// A word and what is behind it.
pub(super) struct Slow {
    /// The flag without its dashes, and the name of the test program.
    pub(super) word: &'static str,
    /// What it plays, for the help.
    pub(super) what: &'static str,
    /// The planes that it shares with nobody; those of single tests are started by them.
    pub(super) planes: &'static [TestPlane],
}

/// All words.
pub(super) const SLOW: &[Slow] = &[
    Slow {
        word: "outage",
        what: "the API server goes away and comes back",
        planes: &[],
    },
    Slow {
        word: "old-definitions",
        what: "Clowder where other operators have older definitions",
        planes: &[],
    },
    Slow {
        word: RIGHTS,
        what: "what roles grant against what the logs of the last whole run show",
        planes: &[],
    },
    Slow {
        word: "random",
        what: "a thousand random plans are what then happens",
        planes: &[CLOWDER],
    },
    Slow {
        word: "rules",
        what: "Clowder without one of its rules, each of them in turn",
        planes: &[],
    },
    Slow {
        word: "campaign",
        what: "every system, killed at every moment of every write",
        planes: &[VANILLA, CLOWDER],
    },
    Slow {
        word: "old-kubernetes",
        what: "the oldest Kubernetes that is supported",
        planes: &[VANILLA_OLDEST, CLOWDER_OLDEST],
    },
    Slow {
        word: "memory",
        what: "much data of others, and what the operators take for it",
        planes: &[CLOWDER],
    },
];

/// The program that a whole run ends with: it reads what the others left in the logs of the planes.
pub(super) const RIGHTS: &str = "rights";

/// What is behind a flag.
pub(super) fn find(word: &str) -> Option<&'static Slow> {
    SLOW.iter().find(|slow| slow.word == word)
}

/// The words for the help, a line each.
pub(super) fn help() -> String {
    let lines = SLOW
        .iter()
        .map(|slow| format!("  {:<20} {}\n", format!("--{}", slow.word), slow.what));
    lines.collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::workspace;

    /// The test programs of `crates/cli` that are part of no other run.
    fn left_out() -> Vec<String> {
        let manifest = fs::read_to_string(workspace::path("crates/cli/Cargo.toml")).unwrap();
        let programs = manifest.split("\n[").filter(|section| {
            let mut lines = section.lines();
            lines.next() == Some("[test]]") && lines.any(|line| line == "test = false")
        });
        let names = programs.filter_map(|section| {
            let mut lines = section.lines();
            let name = lines.find_map(|line| line.strip_prefix("name = "))?;
            Some(name.trim_matches('"').to_owned())
        });
        names.collect()
    }

    #[test]
    fn every_test_program_that_is_left_out_has_its_word_and_every_word_its_program() {
        let words: Vec<&str> = SLOW.iter().map(|slow| slow.word).collect();
        assert_eq!(left_out(), words);
    }

    #[test]
    fn the_help_names_every_word() {
        assert_eq!(help().lines().count(), SLOW.len());
        assert!(SLOW.iter().all(|slow| help().contains(slow.word)));
        assert!(find("outage").is_some() && find("sunshine").is_none());
    }
}
