//! `mainstay run`, and the operators under their own names.

use std::{sync::Arc, time::Duration};

use anyhow::Context as _;
use kube::{Client, Config};
use mainstay_cluster::{client::connect_for_long, discovery, reach::Observer};
use mainstay_runtime::{
    metrics::{Metrics, RequestLabel},
    process::{self, Connection, Participant, ProcessSettings},
    server, telemetry,
};

use mainstay_system::{RunContext, System, operator::patiently};

use crate::{commands::find_config, exit::ExitStatus, settings::RunSettings};

/// Longest time for running reconciles to end after a signal.
const DRAIN: Duration = Duration::from_secs(30);
/// Pause between two looks for definitions that are not installed yet.
const DEFINITION_PAUSE: Duration = Duration::from_secs(5);

/// Runs until a signal.
pub(crate) fn run(settings: &RunSettings) -> anyhow::Result<ExitStatus> {
    telemetry::start(settings.log);
    // One worker is enough, because everything waits most of the time. It is one that another thread can take the place
    // of, while it is busy with an object that is big.
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .context("could not start the async runtime")?;
    runtime.block_on(operate(settings)).inspect_err(|error| {
        let chain = mainstay_cluster::error::causes(error.as_ref()).join(": ");
        tracing::error!(error = chain, "Stopped");
    })
}

async fn operate(settings: &RunSettings) -> anyhow::Result<ExitStatus> {
    let config = find_config(&settings.cluster).await?;
    let metrics = Metrics::new();
    let (client, reach) = connect_for_long(config.clone(), counted(&config, &metrics))?;
    if settings.profiling_asked {
        tracing::warn!("There is no profiling endpoint, --pprof-bind-address is ignored");
    }
    let process = ProcessSettings {
        metrics: server::bind(&settings.metrics_address)?,
        probes: server::bind(&settings.probe_address)?,
        drain: DRAIN,
    };
    tracing::info!(
        version = env!("CARGO_PKG_VERSION"),
        toolchain = concat!("rust ", env!("CARGO_PKG_RUST_VERSION")),
        os = std::env::consts::OS,
        arch = std::env::consts::ARCH,
        "Starting"
    );
    let participants = participants(&client, settings);
    let connection = Connection {
        config,
        client: client.clone(),
        reach,
    };
    Box::pin(process::run(connection, participants, process, metrics)).await?;
    Ok(ExitStatus::Success)
}

/// Counts the requests of a client.
fn counted(config: &Config, metrics: &Metrics) -> Observer {
    let host = config.cluster_url.authority();
    let host = host.map(ToString::to_string).unwrap_or_default();
    let requests = metrics.requests.clone();
    Arc::new(move |method, code| {
        let label = RequestLabel {
            code: code.to_owned(),
            host: host.clone(),
            method: method.to_string(),
        };
        requests.get_or_create(&label).inc();
    })
}

async fn participants(client: &Client, settings: &RunSettings) -> anyhow::Result<Vec<Participant>> {
    let mut participants = Vec::new();
    for system in served(client, &settings.systems).await {
        let context = RunContext {
            client: client.clone(),
            namespace: settings.namespace.clone(),
            concurrency: settings.concurrency,
            election: settings.election.clone(),
            flags: settings.flags.clone(),
        };
        participants.push((system.operator.start)(context).await?);
    }
    Ok(participants)
}

/// The systems whose definitions the cluster has. With none of them there is nothing to do but wait.
async fn served(client: &Client, systems: &[&'static System]) -> Vec<&'static System> {
    let mut told = false;
    loop {
        let mut served = Vec::new();
        for &system in systems {
            let group_version = system.group_version();
            let ask = || discovery::serves(client, &group_version);
            if patiently("ask for the kinds of the cluster", ask).await {
                served.push(system);
            } else if systems.len() > 1 && !told {
                tracing::info!(
                    group_version,
                    "The cluster does not serve the kinds of this system; it takes part after a restart"
                );
            }
        }
        // Asked for one system, the process waits in its watches and reports that it is not ready.
        if !served.is_empty() {
            return served;
        }
        if systems.len() == 1 {
            return systems.to_vec();
        }
        told = true;
        tokio::time::sleep(DEFINITION_PAUSE).await;
    }
}
