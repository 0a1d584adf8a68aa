//! `mainstay run`, and the operators under their own names.

mod clowder;
mod kaoto;

use std::time::Duration;

use kube::Client;
use mainstay_cluster::discovery;
use mainstay_runtime::{
    leadership::Election,
    metrics::Metrics,
    process::{self, ProcessSettings},
    server, telemetry,
};

use crate::{
    args::System,
    commands::{block_on, connect},
    exit::ExitStatus,
    settings::RunSettings,
};

/// Longest time for running passes to end after a signal.
const DRAIN: Duration = Duration::from_secs(30);
/// Pause between two looks for definitions that are not installed yet.
const DEFINITION_PAUSE: Duration = Duration::from_secs(5);

/// Runs until a signal.
pub(crate) fn run(settings: &RunSettings) -> anyhow::Result<ExitStatus> {
    telemetry::start(settings.log);
    block_on(operate(settings)).inspect_err(|error| {
        let chain = mainstay_cluster::error::causes(error.as_ref()).join(": ");
        tracing::error!(error = chain, "Stopped");
    })
}

async fn operate(settings: &RunSettings) -> anyhow::Result<ExitStatus> {
    let client = connect(&settings.cluster).await?;
    if settings.profiling_asked {
        tracing::warn!("There is no profiling endpoint, --pprof-bind-address is ignored");
    }
    let process = ProcessSettings {
        metrics: server::bind(&settings.metrics_address).await?,
        probes: server::bind(&settings.probe_address).await?,
        drain: DRAIN,
    };
    let mut participants = Vec::new();
    for system in served(&client, &settings.systems).await? {
        participants.push(match system {
            System::Kaoto => kaoto::participant(&client, settings).await?,
            System::Clowder => clowder::participant(&client, settings).await?,
        });
    }
    tracing::info!(
        version = env!("CARGO_PKG_VERSION"),
        toolchain = concat!("rust ", env!("CARGO_PKG_RUST_VERSION")),
        os = std::env::consts::OS,
        arch = std::env::consts::ARCH,
        "Starting"
    );
    let metrics = Metrics::new();
    Box::pin(process::run(client, participants, process, metrics)).await?;
    Ok(ExitStatus::Success)
}

/// The systems whose definitions the cluster has. With none of them there is nothing to do but wait.
async fn served(client: &Client, systems: &[System]) -> anyhow::Result<Vec<System>> {
    let mut told = false;
    loop {
        let mut served = Vec::new();
        for &system in systems {
            if discovery::serves(client, system.group_version()).await? {
                served.push(system);
            } else if systems.len() > 1 && !told {
                tracing::info!(
                    group_version = system.group_version(),
                    "The cluster does not serve the kinds of this system; it takes part after a restart"
                );
            }
        }
        // Asked for one system, the process waits in its watches and reports that it is not ready.
        if !served.is_empty() || systems.len() == 1 {
            return Ok(if served.is_empty() {
                systems.to_vec()
            } else {
                served
            });
        }
        told = true;
        tokio::time::sleep(DEFINITION_PAUSE).await;
    }
}

/// The election of one system; the lease has the original operator's name unless the flags say otherwise.
fn election(settings: &RunSettings, lease: &str) -> Option<Election> {
    let election = settings.election.as_ref()?;
    let name = election.name.clone().unwrap_or_else(|| lease.to_owned());
    Some(Election::new(
        election.namespace.clone(),
        name,
        election.identity.clone(),
        election.release,
    ))
}
