//! Exit statuses and the form of error messages: one place for both.

use std::{fmt::Write as _, io, process::ExitCode};

use mainstay_cluster::client::ConnectError;

use crate::printer::{self, painted, style};

/// What to do without a cluster.
const NAME_A_CLUSTER: &str = "name a cluster with --kubeconfig and --context, or with KUBECONFIG; `mainstay render` needs none";
/// What to do without a right.
pub(crate) const ASK_FOR_RIGHTS: &str =
    "`mainstay rbac` prints the permissions that this needs, as the operators have them";

/// How the program ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExitStatus {
    /// Done; or there is no difference.
    Success,
    /// There is a difference, or the input was rejected.
    Difference,
    /// It could not be done.
    Failure,
    /// A code of openCenter, which has more of them.
    OpenCenter(u8),
}

impl From<ExitStatus> for ExitCode {
    fn from(status: ExitStatus) -> Self {
        match status {
            ExitStatus::Success => Self::from(0),
            ExitStatus::Difference => Self::from(1),
            ExitStatus::Failure => Self::from(2),
            ExitStatus::OpenCenter(code) => Self::from(code),
        }
    }
}

/// The input is at fault, not the machinery.
#[derive(Debug)]
pub(crate) struct Rejected {
    /// What is wrong, with file, line and column.
    pub(crate) message: String,
    /// What to do.
    pub(crate) hint: Option<String>,
}

impl std::fmt::Display for Rejected {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for Rejected {}

/// Prints help, version or a usage error as clap words it.
pub(crate) fn usage(error: &clap::Error) -> ExitStatus {
    // Nothing can be done about a terminal that is gone.
    let _ = error.print();
    if error.use_stderr() {
        ExitStatus::Failure
    } else {
        ExitStatus::Success
    }
}

/// Turns the end of a command into an exit status, telling the user what went wrong.
pub(crate) fn conclude(result: anyhow::Result<ExitStatus>) -> ExitStatus {
    let error = match result {
        Ok(status) => return status,
        Err(error) => error,
    };
    if is_broken_pipe(&error) {
        return ExitStatus::Success;
    }
    let causes = mainstay_cluster::error::causes(error.as_ref());
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
    let unconnected = error
        .chain()
        .any(|cause| cause.downcast_ref::<ConnectError>().is_some());
    let hint = rejected.and_then(|rejected| rejected.hint.as_deref());
    let forbidden = mainstay_cluster::error::is_forbidden(error.as_ref());
    let hint = hint.or(unconnected.then_some(NAME_A_CLUSTER));
    if let Some(hint) = hint.or(forbidden.then_some(ASK_FOR_RIGHTS)) {
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
