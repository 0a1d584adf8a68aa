//! `cluster service`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::ClusterIdArgs;

#[derive(Debug, Args)]
pub(crate) struct ServiceArgs {
    #[command(subcommand)]
    pub(crate) command: ServiceCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ServiceCommand {
    /// List the services of a cluster
    List(ServiceListArgs),
    /// Show the state of each configured service
    Status(ClusterIdArgs),
    /// Enable a service
    Enable(ServiceEnableArgs),
    /// Disable a service
    Disable(ServiceDisableArgs),
    /// List the settings of a service
    Options(ServiceOptionsArgs),
    /// List the secrets of a service and whether they are set, never their values
    Secrets(ServiceSecretsArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ServiceListArgs {
    #[command(flatten)]
    pub(crate) cluster: ClusterIdArgs,
    /// Also services that the config does not name
    #[arg(long)]
    pub(crate) all: bool,
    /// Only this layer: services or managed-services
    #[arg(long, value_name = "LAYER")]
    pub(crate) layer: Option<String>,
}

#[derive(Debug, Args)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "flags of a command line are independent"
)]
pub(crate) struct ServiceEnableArgs {
    /// Service
    pub(crate) service: String,
    /// Cluster [default: the active one]
    #[arg(long, value_name = "CLUSTER")]
    pub(crate) cluster: Option<String>,
    /// The service is a managed one
    #[arg(long)]
    pub(crate) managed: bool,
    /// Setting of the service; can be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) param: Vec<String>,
    /// Secret of the service, from a file or stdin: `KEY=@FILE` or `KEY=-`; can be repeated
    #[arg(long, value_name = "KEY=@FILE")]
    pub(crate) secret: Vec<String>,
    /// Apply the settings again if it is enabled already
    #[arg(long)]
    pub(crate) force: bool,
    /// Enable what it needs, too
    #[arg(long)]
    pub(crate) with_deps: bool,
    /// Accept a service that the catalog does not know
    #[arg(long)]
    pub(crate) allow_unregistered: bool,
    /// Render the service afterwards
    #[arg(long)]
    pub(crate) render: bool,
    /// Root of the repository for `--render`
    #[arg(long, value_name = "DIR", requires = "render")]
    pub(crate) output_dir: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct ServiceDisableArgs {
    /// Service
    pub(crate) service: String,
    /// Cluster [default: the active one]
    #[arg(long, value_name = "CLUSTER")]
    pub(crate) cluster: Option<String>,
    /// The service is a managed one
    #[arg(long)]
    pub(crate) managed: bool,
    /// Disable what needs it, too
    #[arg(long)]
    pub(crate) cascade: bool,
    /// Render the tree afterwards
    #[arg(long)]
    pub(crate) render: bool,
    /// Root of the repository for `--render`
    #[arg(long, value_name = "DIR", requires = "render")]
    pub(crate) output_dir: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct ServiceOptionsArgs {
    /// Service
    pub(crate) service: String,
    /// The service is a managed one
    #[arg(long)]
    pub(crate) managed: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ServiceSecretsArgs {
    /// Service
    pub(crate) service: String,
    /// Cluster [default: the active one]
    #[arg(long, value_name = "CLUSTER")]
    pub(crate) cluster: Option<String>,
}
