//! The systems of a command's files, with the settings of their operators: what a plan or a render goes by.

use clap::ArgMatches;
use kube::Client;
use mainstay_system::{Prepared, System};

use crate::{
    args::ClusterArgs, commands::connect, exit::Rejected, input::Input, printer, systems::SYSTEMS,
};

/// A system with its settings.
pub(crate) type PreparedSystem = (&'static System, Box<dyn Prepared>);

/// Connects, finds out how the systems of the files are configured, says so, and refuses what webhooks would refuse. Files
/// that are bad by what is known without a cluster are refused even if none can be found.
pub(crate) async fn connected(
    input: &Input,
    flags: &ArgMatches,
    cluster: &ClusterArgs,
) -> anyhow::Result<(Client, Vec<PreparedSystem>)> {
    let client = match connect(cluster).await {
        Ok(client) => client,
        Err(error) => {
            for system in systems_of(input) {
                let prepared = (system.commands.prepare)(flags, None).await?;
                refuse_violations(input, system, prepared.as_ref())?;
            }
            return Err(error);
        }
    };
    let prepared = all(input, flags, Some(&client)).await?;
    Ok((client, prepared))
}

/// The same without a cluster, or with one that is asked for settings alone.
pub(crate) async fn all(
    input: &Input,
    flags: &ArgMatches,
    client: Option<&Client>,
) -> anyhow::Result<Vec<PreparedSystem>> {
    let mut prepared = Vec::new();
    for system in systems_of(input) {
        prepared.push((system, one(input, system, flags, client).await?));
    }
    Ok(prepared)
}

/// Prepares one system.
pub(crate) async fn one(
    input: &Input,
    system: &'static System,
    flags: &ArgMatches,
    client: Option<&Client>,
) -> anyhow::Result<Box<dyn Prepared>> {
    let prepared = (system.commands.prepare)(flags, client).await?;
    refuse_violations(input, system, prepared.as_ref())?;
    for note in prepared.notes() {
        printer::to_stderr(&format!("{note}\n"));
    }
    Ok(prepared)
}

/// The systems that have resources in the files.
pub(crate) fn systems_of(input: &Input) -> impl Iterator<Item = &'static System> {
    let all = SYSTEMS.iter().copied();
    all.filter(|system| input.of(system).next().is_some())
}

/// Refuses what the webhooks of a system would refuse, with the place in the file.
fn refuse_violations(
    input: &Input,
    system: &'static System,
    prepared: &dyn Prepared,
) -> anyhow::Result<()> {
    let mut lines = Vec::new();
    for (_, item) in input.of(system) {
        for violation in prepared.violations(&item.value)? {
            let place = item.at(&violation.pointer);
            lines.push(format!("{place}: {}", violation.message));
        }
    }
    if lines.is_empty() {
        return Ok(());
    }
    Err(Rejected {
        message: lines.join("\n"),
        hint: None,
    }
    .into())
}
