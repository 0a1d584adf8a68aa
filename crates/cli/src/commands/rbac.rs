//! `mainstay rbac`: the permissions that the operators need, from their tables of kinds.

use mainstay_engine::rbac::rules;
use mainstay_kaoto::{kinds, names};
use serde_json::json;

use crate::{args::RbacArgs, exit::ExitStatus, printer};

pub(crate) fn run(_: &RbacArgs) -> anyhow::Result<ExitStatus> {
    let role = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": names::OPERATOR},
        "rules": rules(kinds::KINDS),
    });
    printer::to_stdout(&mainstay_yaml::print(&role))?;
    Ok(ExitStatus::Success)
}
