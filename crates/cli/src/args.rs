//! The command line as users write it. Commands take resolved settings, never these.

use std::path::PathBuf;

use clap::{ArgAction, Args, CommandFactory as _, Parser, Subcommand, ValueEnum};
use mainstay_system::System;
use mainstay_terminal::color::Color;

use crate::{
    commands::manifest::args::ManifestCommandArgs,
    systems::{self, SYSTEMS},
};

/// Operators and tools for declared applications on Kubernetes.
#[derive(Debug, Parser)]
#[command(
    name = "mainstay",
    version,
    max_term_width = 100,
    disable_help_subcommand = true
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,

    /// When to use colours
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto, value_name = "WHEN")]
    pub(crate) color: Color,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run the operators, in a cluster or against the current kubeconfig
    Run(RunArgs),
    /// Print every object that custom resources in files stand for, without a cluster
    Render(RenderArgs),
    /// Show what `apply` or the operator would change in the cluster, and why
    Plan(PlanArgs),
    /// Apply custom resources and everything they stand for
    Apply(ApplyArgs),
    /// Show the objects that belong to a custom resource, with their health
    Tree(ObjectArgs),
    /// Follow the causes from a custom resource to the one thing to fix
    Why(ObjectArgs),
    /// Print the custom resource definitions
    Crds(CrdsArgs),
    /// Print the permissions that the operators need
    Rbac(RbacArgs),
    /// Write what an installation needs: an OLM bundle, a kustomize tree, a Helm chart, plain manifests
    Bundle(BundleArgs),
    #[command(flatten)]
    OpenCenter(mainstay_opencenter_cli::Command),
    /// Bags of YAML: load, select, transform, diff, apply, delete
    Manifest(ManifestCommandArgs),
    /// Write the reference pages
    #[command(hide = true)]
    Reference(OutputDirArgs),
    /// Print shell completions
    Completions(CompletionsArgs),
    /// Print the version
    Version,
}

/// The command line, with the flags of the systems.
pub(crate) fn command() -> clap::Command {
    Cli::command().mut_subcommands(|command| {
        let flags: fn(&System) -> fn(clap::Command) -> clap::Command = match command.get_name() {
            "run" => |system| system.operator.flags,
            "render" => |system| system.commands.render_flags,
            "plan" | "apply" => |system| system.commands.cluster_flags,
            _ => return command,
        };
        let systems = SYSTEMS.iter().copied();
        systems.fold(command, |command, system| {
            systems::with_flags(command, flags(system))
        })
    })
}

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// Systems to run [default: all]
    #[arg(long, value_parser = systems::parser(), value_delimiter = ',', value_name = "SYSTEM")]
    pub(crate) systems: Vec<&'static System>,
    #[command(flatten)]
    pub(crate) process: ProcessArgs,
    #[command(flatten)]
    pub(crate) log: LogArgs,
    #[command(flatten)]
    pub(crate) cluster: ClusterArgs,
}

/// Flags of an operator process; the names are those of the original operators.
#[derive(Debug, Args)]
pub(crate) struct ProcessArgs {
    /// Elect a leader among several replicas
    #[arg(long, default_value_t = true, num_args = 0..=1, require_equals = true, default_missing_value = "true", action = ArgAction::Set, value_name = "BOOL")]
    pub(crate) leader_election: bool,
    /// Name of the Lease [default: the original operator's]
    #[arg(long, value_name = "NAME")]
    pub(crate) leader_election_id: Option<String>,
    /// Namespace of the Lease [default: the namespace of the service account]
    #[arg(
        long,
        value_name = "NAMESPACE",
        default_value = "",
        hide_default_value = true
    )]
    pub(crate) leader_election_namespace: String,
    /// Release the Lease on a clean stop
    #[arg(long, default_value_t = true, num_args = 0..=1, require_equals = true, default_missing_value = "true", action = ArgAction::Set, value_name = "BOOL")]
    pub(crate) leader_election_release: bool,
    /// Address of `/metrics`; `0` switches it off
    #[arg(long, default_value = ":8080", value_name = "ADDRESS")]
    pub(crate) metrics_bind_address: String,
    /// Address of `/livez`, `/readyz` and `/healthz`; `0` switches them off
    #[arg(long, default_value = ":8081", value_name = "ADDRESS")]
    pub(crate) health_probe_bind_address: String,
    /// Accepted for compatibility; there is no profiling endpoint
    #[arg(
        long,
        default_value = "",
        value_name = "ADDRESS",
        hide_default_value = true
    )]
    pub(crate) pprof_bind_address: String,
    /// Objects that are worked on at the same time
    #[arg(long, default_value_t = 8, value_name = "COUNT")]
    pub(crate) concurrency: usize,
    /// Look only at this namespace [default: all]
    #[arg(
        long,
        default_value = "",
        value_name = "NAMESPACE",
        hide_default_value = true
    )]
    pub(crate) watch_namespace: String,
}

/// Flags of the log; the names are those of the original operators.
#[derive(Debug, Args)]
pub(crate) struct LogArgs {
    /// Console log at level debug, for development
    #[arg(long, global = true, default_value_t = false, num_args = 0..=1, require_equals = true, default_missing_value = "true", action = ArgAction::Set, value_name = "BOOL")]
    pub(crate) zap_devel: bool,
    /// Form of the log: json or console
    #[arg(long, global = true, value_name = "ENCODER")]
    pub(crate) zap_encoder: Option<mainstay_runtime::telemetry::Encoder>,
    /// Lowest level: debug, info, error, panic, or a positive number
    #[arg(long, global = true, value_name = "LEVEL")]
    pub(crate) zap_log_level: Option<String>,
    /// Accepted for compatibility; errors are logged with their causes instead of stack traces
    #[arg(long, global = true, value_name = "LEVEL")]
    pub(crate) zap_stacktrace_level: Option<String>,
    /// Form of times: epoch, millis, nano, iso8601, rfc3339, rfc3339nano
    #[arg(long, global = true, value_name = "ENCODING")]
    pub(crate) zap_time_encoding: Option<mainstay_runtime::telemetry::TimeEncoding>,
    /// Verbosity as a number
    #[arg(short = 'v', global = true, value_name = "NUMBER")]
    pub(crate) verbosity: Option<u32>,
}

/// Which cluster.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ClusterArgs {
    /// Kubeconfig file [default: as kubectl]
    #[arg(long, value_name = "FILE")]
    pub(crate) kubeconfig: Option<PathBuf>,
    /// Context of the kubeconfig
    #[arg(long, value_name = "NAME")]
    pub(crate) context: Option<String>,
}

/// Which files.
#[derive(Debug, Args)]
pub(crate) struct FileArgs {
    /// File or directory with custom resources; `-` reads stdin
    #[arg(
        short = 'f',
        long = "filename",
        required = true,
        value_name = "FILE|DIR"
    )]
    pub(crate) files: Vec<PathBuf>,
    /// Namespace of objects that name none
    #[arg(short = 'n', long, value_name = "NAMESPACE")]
    pub(crate) namespace: Option<String>,
}

/// Form of rendered objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum RenderOutput {
    Yaml,
    Json,
    /// Kinds and names only
    Name,
    /// One file per object, in `--output-dir`
    Dir,
}

#[derive(Debug, Args)]
pub(crate) struct RenderArgs {
    #[command(flatten)]
    pub(crate) input: FileArgs,
    /// Form of the output
    #[arg(short = 'o', long, value_enum, default_value_t = RenderOutput::Yaml)]
    pub(crate) output: RenderOutput,
    /// Directory for `-o dir`; it is created, existing files of the same names are replaced
    #[arg(long, value_name = "DIR", required_if_eq("output", "dir"))]
    pub(crate) output_dir: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) cluster: ClusterArgs,
}

/// Form of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PlanOutput {
    Text,
    Json,
}

#[derive(Debug, Args)]
pub(crate) struct PlanArgs {
    #[command(flatten)]
    pub(crate) input: FileArgs,
    /// Form of the output
    #[arg(short = 'o', long, value_enum, default_value_t = PlanOutput::Text)]
    pub(crate) output: PlanOutput,
    /// Do not ask the server whether it would accept what would be created or changed
    #[arg(long)]
    pub(crate) no_dry_run: bool,
    #[command(flatten)]
    pub(crate) cluster: ClusterArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ApplyArgs {
    #[command(flatten)]
    pub(crate) input: FileArgs,
    /// Wait until everything that was applied is ready, down to the pods
    #[arg(long)]
    pub(crate) wait: bool,
    /// Longest time to wait, in seconds
    #[arg(long, default_value_t = 300, value_name = "SECONDS")]
    pub(crate) timeout: u64,
    /// Carry out a plan that deletes objects without asking
    #[arg(long)]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) cluster: ClusterArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ObjectArgs {
    /// Custom resource, for example `kaoto/designer`, `env/shop` or `app/cart`
    #[arg(value_name = "KIND/NAME")]
    pub(crate) object: String,
    /// Its namespace [default: that of the context]
    #[arg(short = 'n', long, value_name = "NAMESPACE")]
    pub(crate) namespace: Option<String>,
    #[command(flatten)]
    pub(crate) cluster: ClusterArgs,
}

#[derive(Debug, Args)]
pub(crate) struct OutputDirArgs {
    /// Directory to write into
    #[arg(long, value_name = "DIR")]
    pub(crate) output_dir: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct CrdsArgs {
    /// Systems to print [default: all]
    #[arg(long, value_parser = systems::parser(), value_delimiter = ',', value_name = "SYSTEM")]
    pub(crate) systems: Vec<&'static System>,
    /// Write one file per definition instead of printing
    #[arg(long, value_name = "DIR")]
    pub(crate) output_dir: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct RbacArgs {
    /// Systems to print [default: all]
    #[arg(long, value_parser = systems::parser(), value_delimiter = ',', value_name = "SYSTEM")]
    pub(crate) systems: Vec<&'static System>,
    /// For an operator that watches this namespace only: Roles instead of `ClusterRoles`; Kaoto
    #[arg(long, value_name = "NAMESPACE")]
    pub(crate) watch_namespace: Option<String>,
}

/// Form of an installation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum BundleFormat {
    /// Operator Lifecycle Manager bundle
    Olm,
    /// Kustomize tree, and the definition of the image
    Kustomize,
    /// Helm chart
    Helm,
    /// Plain manifests
    Yaml,
    /// All of them
    All,
}

#[derive(Debug, Args)]
pub(crate) struct BundleArgs {
    /// System to package
    #[arg(value_parser = systems::parser())]
    pub(crate) system: &'static System,
    /// What to write
    #[arg(long, value_enum, default_value_t = BundleFormat::Olm)]
    pub(crate) format: BundleFormat,
    /// Directory to write into
    #[arg(long, value_name = "DIR")]
    pub(crate) output_dir: PathBuf,
    /// Version of the operator; a leading `v` is dropped
    #[arg(long, default_value = env!("CARGO_PKG_VERSION"), value_name = "VERSION")]
    pub(crate) operator_version: String,
    /// Image of the operator, by tag or digest; one without either gets the version as tag [default: mainstay-SYSTEM with the version as tag, an image that you build]
    #[arg(long, value_name = "IMAGE")]
    pub(crate) image: Option<String>,
    /// Install for this namespace only, with a Role instead of a `ClusterRole`; Kaoto with kustomize
    #[arg(long, value_name = "NAMESPACE")]
    pub(crate) watch_namespace: Option<String>,
    /// Channels of the bundle
    #[arg(
        long,
        value_delimiter = ',',
        default_value = "alpha",
        value_name = "CHANNEL"
    )]
    pub(crate) channels: Vec<String>,
    /// Default channel
    #[arg(long, value_name = "CHANNEL")]
    pub(crate) default_channel: Option<String>,
    /// Version that this one replaces
    #[arg(long, value_name = "VERSION")]
    pub(crate) replaces: Option<String>,
    /// Make the OpenShift variant, for these versions: `v4.20`, `=v4.20`, `v4.20-v4.21`
    #[arg(long, value_name = "EXPRESSION", num_args = 0..=1, default_missing_value = mainstay_package::OLDEST_OPENSHIFT)]
    pub(crate) openshift_versions: Option<String>,
    /// Time of creation, RFC 3339 [default: now]
    #[arg(long, value_name = "TIME")]
    pub(crate) created_at: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// Shell
    #[arg(value_enum)]
    pub(crate) shell: clap_complete::Shell,
}
