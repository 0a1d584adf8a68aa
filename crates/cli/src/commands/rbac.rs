//! `mainstay rbac`: the permissions that the operators need, from their tables of kinds.

use clap::ValueEnum as _;
use mainstay_package::identity::Reach;
use serde_json::Value;

use crate::{
    args::{RbacArgs, System},
    exit::{ExitStatus, Rejected},
    printer,
};

pub(crate) fn run(arguments: &RbacArgs) -> anyhow::Result<ExitStatus> {
    let all = System::value_variants().iter();
    let asked =
        all.filter(|&system| arguments.systems.is_empty() || arguments.systems.contains(system));
    let mut printed = Vec::new();
    for &system in asked {
        printed.extend(roles(
            system,
            reach(system, arguments.watch_namespace.as_deref())?,
        ));
    }
    printer::to_stdout(&mainstay_yaml::print_documents(&printed))?;
    Ok(ExitStatus::Success)
}

/// Where an operator works, if it can work there.
pub(crate) fn reach(system: System, namespace: Option<&str>) -> Result<Reach<'_>, Rejected> {
    match (system, namespace) {
        (_, None) => Ok(Reach::Cluster),
        (System::Kaoto, Some(namespace)) => Ok(Reach::Namespace(namespace)),
        (System::Clowder, Some(_)) => Err(Rejected {
            message: "Clowder cannot be installed for one namespace: its environments belong to the whole cluster"
                .to_owned(),
            hint: Some("use --systems kaoto, or leave --watch-namespace out".to_owned()),
        }),
    }
}

/// The role for the work, and the one for the lease in the namespace of the operator.
fn roles(system: System, reach: Reach<'_>) -> [Value; 2] {
    match system {
        System::Kaoto => mainstay_kaoto::package::roles(reach),
        System::Clowder => mainstay_clowder::package::roles(),
    }
}
