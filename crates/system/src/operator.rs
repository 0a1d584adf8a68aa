//! A system as a part of the process, and the original operator's program.

use std::{fmt, fs, future::Future, time::Duration};

use clap::{ArgMatches, Command};
use futures::future::BoxFuture;
use kube::Client;
use mainstay_cluster::error::causes;
use mainstay_runtime::{leadership::Election, process::Participant};

/// Pause between two tries while nobody answers.
const AWAY_PAUSE: Duration = Duration::from_secs(1);

/// A system as a part of the process.
pub struct Operator {
    /// Adds the flags that are about this system alone.
    pub flags: fn(Command) -> Command,
    /// Makes it a part of the process.
    pub start: fn(RunContext) -> BoxFuture<'static, anyhow::Result<Participant>>,
    /// The original's program.
    pub program: Program,
}

impl fmt::Debug for Operator {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Operator")
            .field("program", &self.program)
            .finish_non_exhaustive()
    }
}

/// The original operator's program, whose place this one takes under its name.
#[derive(Debug)]
pub struct Program {
    /// Names of the file.
    pub names: &'static [&'static str],
    /// What it is, in one line.
    pub about: &'static str,
    /// How it is called.
    pub form: ProgramForm,
}

/// How the original's program is called.
#[derive(Clone, Copy, Debug)]
pub enum ProgramForm {
    /// `NAME run [FLAG]...`
    RunCommand,
    /// `NAME [FLAG]...`, where this makes flags of ours of what is there.
    Flags(fn(&Command, &[String]) -> Vec<String>),
}

/// What a system is told when the process starts.
#[derive(Clone)]
pub struct RunContext {
    /// API client.
    pub client: Client,
    /// Only this namespace; empty means all.
    pub namespace: String,
    /// Objects that are worked on at the same time.
    pub concurrency: usize,
    /// Where and as whom to stand for election, if there may be other replicas.
    pub election: Option<ElectionSettings>,
    /// The command line, with the flags of the system.
    pub flags: ArgMatches,
}

impl fmt::Debug for RunContext {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("RunContext")
            .field("namespace", &self.namespace)
            .field("election", &self.election)
            .finish_non_exhaustive()
    }
}

impl RunContext {
    /// The election of a system; its Lease has the original operator's name unless the flags say otherwise.
    pub fn election(&self, lease: &str) -> Option<Election> {
        let election = self.election.clone()?;
        let name = election.name.unwrap_or_else(|| lease.to_owned());
        Some(Election::new(
            election.namespace,
            name,
            election.identity,
            election.release,
        ))
    }
}

/// Where and as whom to stand for election.
#[derive(Clone, Debug)]
pub struct ElectionSettings {
    /// Namespace of the Lease.
    pub namespace: String,
    /// Name of the Lease, if it is not the system's own.
    pub name: Option<String>,
    /// Who we are.
    pub identity: String,
    /// Whether the Lease is released on a clean stop.
    pub release: bool,
}

/// The namespace that the process runs in, if it runs in a cluster.
pub fn own_namespace() -> Option<String> {
    const NAMESPACE_FILE: &str = "/var/run/secrets/kubernetes.io/serviceaccount/namespace";
    let text = fs::read_to_string(NAMESPACE_FILE).ok()?;
    Some(text.trim().to_owned())
}

/// Tries until it succeeds: without the API server there is nothing to do but wait for it, and nothing that a restart
/// would do better.
pub async fn patiently<T, E: Into<anyhow::Error>, F: Future<Output = Result<T, E>>>(
    what: &str,
    mut attempt: impl FnMut() -> F,
) -> T {
    let mut said = None;
    loop {
        match attempt().await {
            Ok(value) => return value,
            Err(error) => {
                let error: anyhow::Error = error.into();
                let text = causes(error.as_ref()).join(": ");
                if said.as_ref() != Some(&text) {
                    tracing::warn!(error = text, "Could not {what}, trying again");
                    said = Some(text);
                }
            }
        }
        tokio::time::sleep(AWAY_PAUSE).await;
    }
}
