//! `mainstay rbac`: the permissions that the operators need, from their tables of kinds.

use clap::ValueEnum as _;
use serde_json::Value;

use crate::{
    args::{RbacArgs, System},
    exit::ExitStatus,
    printer,
};

pub(crate) fn run(arguments: &RbacArgs) -> anyhow::Result<ExitStatus> {
    let all = System::value_variants().iter();
    let asked =
        all.filter(|&system| arguments.systems.is_empty() || arguments.systems.contains(system));
    let roles: Vec<Value> = asked.flat_map(|&system| roles(system)).collect();
    printer::to_stdout(&mainstay_yaml::print_documents(&roles))?;
    Ok(ExitStatus::Success)
}

/// The role for the whole cluster, and the one for the lease in the namespace of the operator.
fn roles(system: System) -> [Value; 2] {
    match system {
        System::Kaoto => mainstay_kaoto::package::roles(),
        System::Clowder => mainstay_clowder::package::roles(),
    }
}
