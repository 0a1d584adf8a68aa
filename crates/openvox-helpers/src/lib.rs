//! The programs that a Puppet server starts once for each agent: it asks one whether to sign a certificate request, one
//! how to classify a node, and gives one the report of a run.
//!
//! | Module | Program | Meaning of its exit status |
//! |---|---|---|
//! | [`autosign`] | `openvox-autosign` | 0 sign, 1 do not |
//! | [`enc`] | `openvox-enc` | 0 classification on standard output, 1 the node is not known, 2 no answer |
//! | [`report`] | `openvox-report` | 0 every endpoint has the report, 2 at least one has not |
//!
//! Each is a function from arguments and input to an [`Outcome`], so that one file can be all of them: [`Helper`] knows
//! their names. What they read (files, input, answers) is bounded in size, what they wait for in time, and no secret of
//! their configuration gets into an output.
#![deny(missing_docs)]
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

mod arguments;
pub mod autosign;
mod config;
mod delivery;
pub mod enc;
mod files;
pub mod report;

use std::{
    ffi::{OsStr, OsString},
    io::Read,
};

/// One of the programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Helper {
    /// Whether a certificate request is signed.
    Autosign,
    /// How a node is classified.
    Enc,
    /// Where reports go.
    Report,
}

impl Helper {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Autosign, Self::Enc, Self::Report];

    /// The word for it on a command line of several.
    pub fn word(self) -> &'static str {
        match self {
            Self::Autosign => "autosign",
            Self::Enc => "enc",
            Self::Report => "report",
        }
    }

    /// The file name under which a server starts it.
    pub fn program_name(self) -> &'static str {
        match self {
            Self::Autosign => "openvox-autosign",
            Self::Enc => "openvox-enc",
            Self::Report => "openvox-report",
        }
    }

    /// The helper whose file name this is.
    pub fn by_program_name(name: &OsStr) -> Option<Self> {
        let mut all = Self::ALL.into_iter();
        all.find(|helper| name == helper.program_name())
    }

    /// The helper that this word stands for.
    pub fn by_word(word: &OsStr) -> Option<Self> {
        let mut all = Self::ALL.into_iter();
        all.find(|helper| word == helper.word())
    }

    /// Runs it with the arguments after the program's name.
    pub fn run(
        self,
        arguments: impl IntoIterator<Item = OsString>,
        input: &mut dyn Read,
    ) -> Outcome {
        let arguments: Vec<String> = arguments
            .into_iter()
            .map(|argument| argument.to_string_lossy().into_owned())
            .collect();
        match self {
            Self::Autosign => autosign::run(&arguments, input),
            Self::Enc => enc::run(&arguments),
            Self::Report => report::run(&arguments, input),
        }
    }
}

/// What a program leaves behind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Exit status.
    pub status: u8,
    /// Standard output.
    pub output: Vec<u8>,
    /// Standard error.
    pub errors: String,
}

impl Outcome {
    fn silent(status: u8) -> Self {
        Self {
            status,
            ..Self::default()
        }
    }

    fn success(output: impl Into<Vec<u8>>) -> Self {
        Self {
            output: output.into(),
            ..Self::default()
        }
    }

    fn failure(status: u8, message: impl std::fmt::Display) -> Self {
        Self {
            status,
            errors: format!("error: {message}\n"),
            ..Self::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_helper_is_found_by_its_names() {
        for helper in Helper::ALL {
            let name = OsStr::new(helper.program_name());
            assert_eq!(Helper::by_program_name(name), Some(helper));
            assert_eq!(Helper::by_word(OsStr::new(helper.word())), Some(helper));
            assert_eq!(Helper::by_program_name(OsStr::new(helper.word())), None);
        }
    }
}
