//! From raw flags and environment to the settings that commands take.

use std::{fs, sync::Arc};

use anyhow::{Context, anyhow};
use clap::ValueEnum as _;
use mainstay_clowder_operator::effects::ClowderPort;
use mainstay_clowder_ports::Ports;
use mainstay_clowder_webhook::{WebhookSettings, certificate};
use mainstay_runtime::{
    server,
    telemetry::{Encoder, LogSettings, TimeEncoding, parse_level},
};

use crate::args::{ClowderProcessArgs, ClusterArgs, LogArgs, ProcessArgs, System};

/// Settings of `run`.
#[derive(Debug)]
pub(crate) struct RunSettings {
    pub(crate) log: LogSettings,
    pub(crate) cluster: ClusterArgs,
    pub(crate) election: Option<ElectionSettings>,
    pub(crate) metrics_address: String,
    pub(crate) probe_address: String,
    pub(crate) profiling_asked: bool,
    pub(crate) concurrency: usize,
    pub(crate) namespace: String,
    pub(crate) systems: Vec<System>,
    pub(crate) ports: Arc<ClowderPort>,
    pub(crate) suffixed_config_secret: bool,
    pub(crate) introspection_address: String,
    /// Where Clowder's webhooks are served, unless its configuration file says otherwise.
    pub(crate) webhooks: Option<WebhookSettings>,
}

/// Where and as whom to stand for election.
#[derive(Debug)]
pub(crate) struct ElectionSettings {
    pub(crate) namespace: String,
    /// Name of the Lease, if it is not the system's own.
    pub(crate) name: Option<String>,
    pub(crate) identity: String,
    pub(crate) release: bool,
}

/// Resolves the flags of `run`.
pub(crate) fn run(
    systems: Vec<System>,
    process: ProcessArgs,
    clowder: ClowderProcessArgs,
    log: &LogArgs,
    cluster: ClusterArgs,
) -> anyhow::Result<RunSettings> {
    let election = process
        .leader_election
        .then(|| election(&process))
        .transpose()?;
    Ok(RunSettings {
        log: log_settings(log)?,
        cluster,
        election,
        metrics_address: process.metrics_bind_address,
        probe_address: process.health_probe_bind_address,
        profiling_asked: !process.pprof_bind_address.is_empty()
            && process.pprof_bind_address != "0",
        concurrency: process.concurrency,
        namespace: process.watch_namespace,
        systems: if systems.is_empty() {
            System::value_variants().to_vec()
        } else {
            systems
        },
        ports: Arc::new(ClowderPort(Ports::new(clowder.resolve.table()))),
        suffixed_config_secret: clowder.clowder_suffixed_config_secret,
        introspection_address: clowder.clowder_introspection_address,
        webhooks: server::address(&clowder.clowder_webhook_address).map(|address| {
            let certificates = clowder.clowder_webhook_certificates;
            WebhookSettings {
                address,
                certificates: certificates.unwrap_or_else(certificate::default_directory),
            }
        }),
    })
}

fn log_settings(log: &LogArgs) -> anyhow::Result<LogSettings> {
    let default = if log.zap_devel { "debug" } else { "info" };
    let by_number = log
        .verbosity
        .filter(|number| *number > 0)
        .map(|number| number.to_string());
    let word = log
        .zap_log_level
        .as_deref()
        .or(by_number.as_deref())
        .unwrap_or(default);
    Ok(LogSettings {
        encoder: log.zap_encoder.unwrap_or(if log.zap_devel {
            Encoder::Console
        } else {
            Encoder::Json
        }),
        time: log.zap_time_encoding.unwrap_or(TimeEncoding::Rfc3339),
        level: parse_level(word).context("could not read --zap-log-level")?,
    })
}

/// The namespace that the process runs in, if it runs in a cluster.
pub(crate) fn own_namespace() -> Option<String> {
    const NAMESPACE_FILE: &str = "/var/run/secrets/kubernetes.io/serviceaccount/namespace";
    let text = fs::read_to_string(NAMESPACE_FILE).ok()?;
    Some(text.trim().to_owned())
}

fn election(process: &ProcessArgs) -> anyhow::Result<ElectionSettings> {
    let namespace = if process.leader_election_namespace.is_empty() {
        own_namespace().ok_or_else(|| {
            anyhow!("leader election outside a cluster needs --leader-election-namespace, or --leader-election=false")
        })?
    } else {
        process.leader_election_namespace.clone()
    };
    Ok(ElectionSettings {
        namespace,
        name: process.leader_election_id.clone(),
        identity: identity(),
        release: process.leader_election_release,
    })
}

/// `<hostname>_<uuid>`, as client-go does.
fn identity() -> String {
    let read = |path: &str| {
        fs::read_to_string(path)
            .map(|text| text.trim().to_owned())
            .unwrap_or_default()
    };
    format!(
        "{}_{}",
        read("/proc/sys/kernel/hostname"),
        read("/proc/sys/kernel/random/uuid")
    )
}
