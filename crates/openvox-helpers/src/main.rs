//! The helpers as one small program: by the name of the file, or by a word in front of the arguments.

use std::{
    ffi::OsString,
    io::{self, Write as _},
    path::Path,
    process::ExitCode,
};

use mainstay_openvox_helpers::{Helper, Outcome};

fn main() -> ExitCode {
    let mut arguments = std::env::args_os();
    let program = arguments.next().unwrap_or_default();
    let named = Path::new(&program).file_name();
    let helper = match named.and_then(Helper::by_program_name) {
        Some(helper) => Some(helper),
        None => arguments.next().as_deref().and_then(Helper::by_word),
    };
    let outcome = helper.map_or_else(unknown, |helper| run(helper, arguments));
    // Who does not listen any more is not told.
    let _ = io::stdout().write_all(&outcome.output);
    let _ = io::stderr().write_all(outcome.errors.as_bytes());
    ExitCode::from(outcome.status)
}

fn run(helper: Helper, arguments: impl Iterator<Item = OsString>) -> Outcome {
    helper.run(arguments, &mut io::stdin().lock())
}

fn unknown() -> Outcome {
    let words: Vec<_> = Helper::ALL.map(Helper::word).into();
    let names: Vec<_> = Helper::ALL.map(Helper::program_name).into();
    Outcome {
        status: 2,
        output: Vec::new(),
        errors: format!(
            "error: say which helper: one of the words {} as first argument, or a link with one of the names {}\n",
            words.join(", "),
            names.join(", "),
        ),
    }
}
