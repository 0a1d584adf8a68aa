//! `mainstay run`, and `kaoto run`: the operators.

use std::time::Duration;

use mainstay_kaoto::names;
use mainstay_runtime::{
    controller::ControllerSettings,
    leadership::Election,
    process::{self, ProcessSettings},
    queue::Backoff,
    server, telemetry,
};

use crate::{
    commands::{block_on, connect, kaoto_corridor},
    exit::ExitStatus,
    settings::RunSettings,
};

/// Runs until a signal.
pub(crate) fn run(settings: &RunSettings) -> anyhow::Result<ExitStatus> {
    telemetry::start(settings.log);
    block_on(operate(settings)).inspect_err(|error| {
        let chain = format!("{error:#}");
        tracing::error!(error = chain, "Stopped");
    })
}

async fn operate(settings: &RunSettings) -> anyhow::Result<ExitStatus> {
    let client = connect(&settings.cluster).await?;
    let corridor = kaoto_corridor(&client).await?;
    tracing::info!(
        version = env!("CARGO_PKG_VERSION"),
        toolchain = concat!("rust ", env!("CARGO_PKG_RUST_VERSION")),
        os = std::env::consts::OS,
        arch = std::env::consts::ARCH,
        cluster_type = ?corridor.settings.cluster_type,
        image = corridor.settings.default_image,
        "Starting"
    );
    if settings.profiling_asked {
        tracing::warn!("There is no profiling endpoint, --pprof-bind-address is ignored");
    }
    let process = ProcessSettings {
        metrics: server::bind(&settings.metrics_address).await?,
        probes: server::bind(&settings.probe_address).await?,
        election: settings.election.as_ref().map(|election| {
            Election::new(
                election.namespace.clone(),
                election.name.clone(),
                election.identity.clone(),
                election.release,
            )
        }),
        drain: Duration::from_secs(30),
        controller: kaoto_controller(settings),
    };
    Box::pin(process::run(corridor, client, process)).await?;
    Ok(ExitStatus::Success)
}

fn kaoto_controller(settings: &RunSettings) -> ControllerSettings {
    ControllerSettings {
        namespace: settings.namespace.clone(),
        selector: Some(names::CHILD_SELECTOR),
        concurrency: settings.concurrency,
        backoff: Backoff {
            base: Duration::from_millis(5),
            cap: Duration::from_secs(1000),
        },
        resync: Duration::from_hours(10),
        deadline: Duration::from_mins(1),
    }
}
