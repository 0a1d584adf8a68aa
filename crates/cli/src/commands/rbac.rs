//! `mainstay rbac`: the permissions that the operators need, from their tables of kinds.

use mainstay_package::identity::Reach;
use mainstay_system::{self as system, System};

use crate::{
    args::RbacArgs,
    exit::{ExitStatus, Rejected},
    printer, systems,
};

pub(crate) fn run(arguments: &RbacArgs) -> anyhow::Result<ExitStatus> {
    let mut printed = Vec::new();
    for system in systems::chosen(&arguments.systems) {
        let reach = reach(system, arguments.watch_namespace.as_deref())?;
        printed.extend((system.package.roles)(reach));
    }
    printer::to_stdout(&mainstay_yaml::print_documents(&printed))?;
    Ok(ExitStatus::Success)
}

/// Where an operator works, if it can work there.
pub(crate) fn reach<'args>(
    system: &System,
    namespace: Option<&'args str>,
) -> Result<Reach<'args>, Rejected> {
    match (system.reach, namespace) {
        (_, None) => Ok(Reach::Cluster),
        (system::Reach::AnyNamespace, Some(namespace)) => Ok(Reach::Namespace(namespace)),
        (system::Reach::ClusterOnly(because), Some(_)) => Err(Rejected {
            message: format!(
                "{} cannot be installed for one namespace: {because}",
                capitalized(system.name)
            ),
            hint: Some(
                "name other systems with --systems, or leave --watch-namespace out".to_owned(),
            ),
        }),
    }
}

fn capitalized(name: &str) -> String {
    let mut letters = name.chars();
    let first = letters.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}
