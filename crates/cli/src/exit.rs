//! What the commands that talk to a cluster say besides the cause of a failure.

use mainstay_cluster::{client::ConnectError, error};
use mainstay_terminal::exit::Told;
pub(crate) use mainstay_terminal::exit::{ExitStatus, Rejected, usage};

/// What to do without a cluster.
const NAME_A_CLUSTER: &str = "name a cluster with --kubeconfig and --context, or with KUBECONFIG; `mainstay render` needs none";
/// What to do without a right.
pub(crate) const ASK_FOR_RIGHTS: &str =
    "`mainstay rbac` prints the permissions that this needs, as the operators have them";

/// Turns the end of a command into an exit status, telling the user what went wrong.
pub(crate) fn conclude(result: anyhow::Result<ExitStatus>) -> ExitStatus {
    mainstay_terminal::exit::conclude(result, told)
}

fn told(error: &anyhow::Error) -> Told {
    let unconnected = error
        .chain()
        .any(|cause| cause.downcast_ref::<ConnectError>().is_some());
    let forbidden = error::is_forbidden(error.as_ref());
    let hint = unconnected.then_some(NAME_A_CLUSTER);
    Told {
        causes: error::causes(error.as_ref()),
        hint: hint.or(forbidden.then_some(ASK_FOR_RIGHTS)),
    }
}
