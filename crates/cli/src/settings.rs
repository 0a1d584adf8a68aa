//! From raw flags and environment to the settings that commands take.

use std::fs;

use anyhow::{Context, anyhow};
use clap::{ArgMatches, FromArgMatches as _};
use mainstay_runtime::telemetry::{Encoder, LogSettings, TimeEncoding, parse_level};
use mainstay_system::{
    System,
    operator::{ElectionSettings, own_namespace},
};

use crate::args::{ClusterArgs, LogArgs, ProcessArgs};

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
    pub(crate) systems: Vec<&'static System>,
    /// The command line, for the flags of the systems.
    pub(crate) flags: ArgMatches,
}

/// Resolves the flags of `run`.
pub(crate) fn run(
    systems: Vec<&'static System>,
    flags: &ArgMatches,
) -> anyhow::Result<RunSettings> {
    let process = ProcessArgs::from_arg_matches(flags)?;
    let election = process
        .leader_election
        .then(|| election(&process))
        .transpose()?;
    Ok(RunSettings {
        log: log_settings(&LogArgs::from_arg_matches(flags)?)?,
        cluster: ClusterArgs::from_arg_matches(flags)?,
        election,
        metrics_address: process.metrics_bind_address,
        probe_address: process.health_probe_bind_address,
        profiling_asked: !process.pprof_bind_address.is_empty()
            && process.pprof_bind_address != "0",
        concurrency: process.concurrency,
        namespace: process.watch_namespace,
        systems,
        flags: flags.clone(),
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
