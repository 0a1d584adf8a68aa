//! Exit statuses and the form of error messages: one place for both.

use std::{fmt::Write as _, io, process::ExitCode};

use crate::printer::{self, painted, style};

/// How the program ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitStatus {
    /// Done; or there is no difference.
    Success,
    /// There is a difference, or the input was rejected.
    Difference,
    /// It could not be done.
    Failure,
    /// A code of a system that has more of them.
    Code(u8),
}

impl From<ExitStatus> for ExitCode {
    fn from(status: ExitStatus) -> Self {
        match status {
            ExitStatus::Success => Self::from(0),
            ExitStatus::Difference => Self::from(1),
            ExitStatus::Failure => Self::from(2),
            ExitStatus::Code(code) => Self::from(code),
        }
    }
}

/// The input is at fault, not the machinery.
#[derive(Debug)]
pub struct Rejected {
    /// What is wrong, with file, line and column.
    pub message: String,
    /// What to do.
    pub hint: Option<String>,
}

impl std::fmt::Display for Rejected {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for Rejected {}

/// What is said about an error.
#[derive(Debug)]
pub struct Told {
    /// The error and its causes, outermost first.
    pub causes: Vec<String>,
    /// What to do, unless the error itself says so.
    pub hint: Option<&'static str>,
}

impl Told {
    /// An error in its own words.
    pub fn plainly(error: &anyhow::Error) -> Self {
        let mut causes: Vec<String> = error.chain().map(ToString::to_string).collect();
        causes.dedup();
        Self { causes, hint: None }
    }
}

/// Prints help, version or a usage error as clap words it.
pub fn usage(error: &clap::Error) -> ExitStatus {
    // Nothing can be done about a terminal that is gone.
    let _ = error.print();
    if error.use_stderr() {
        ExitStatus::Failure
    } else {
        ExitStatus::Success
    }
}

/// Turns the end of a command into an exit status, telling the user what went wrong.
pub fn conclude(
    result: anyhow::Result<ExitStatus>,
    told: impl FnOnce(&anyhow::Error) -> Told,
) -> ExitStatus {
    let error = match result {
        Ok(status) => return status,
        Err(error) => error,
    };
    if is_broken_pipe(&error) {
        return ExitStatus::Success;
    }
    let Told { causes, hint } = told(&error);
    let mut texts = causes.iter();
    let mut text = format!(
        "{} {}\n",
        painted(style::ERROR, "error:"),
        texts.next().map_or("", String::as_str)
    );
    for cause in texts {
        let _ = write!(text, "\ncaused by: {cause}\n");
    }
    let rejected = error
        .chain()
        .find_map(|cause| cause.downcast_ref::<Rejected>());
    let own_hint = rejected.and_then(|rejected| rejected.hint.as_deref());
    if let Some(hint) = own_hint.or(hint) {
        let _ = write!(text, "\n{} {hint}\n", painted(style::NAME, "hint:"));
    }
    printer::to_stderr(&text);
    if rejected.is_some() {
        ExitStatus::Difference
    } else {
        ExitStatus::Failure
    }
}

/// The reader of a pipe went away, as `head` does: that is its right.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let is_pipe = |cause: &(dyn std::error::Error + 'static)| {
        cause
            .downcast_ref::<io::Error>()
            .is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
    };
    error.chain().any(is_pipe)
}
