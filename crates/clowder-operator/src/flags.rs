//! Flags that are about Clowder alone.

use std::path::PathBuf;

use clap::{ArgAction, Args};
use mainstay_clowder_ports::Resolve;

use crate::introspection;

/// Flags of the operator process.
#[derive(Debug, Args)]
#[group(skip)]
#[command(next_help_heading = "Clowder")]
pub(crate) struct ProcessArgs {
    #[command(flatten)]
    pub(crate) resolve: ResolveArgs,
    /// Name the configuration Secret of an app `<app>-cdappconfig` instead of `<app>`
    #[arg(long, default_value_t = false, num_args = 0..=1, require_equals = true, default_missing_value = "true", action = ArgAction::Set, value_name = "BOOL")]
    pub(crate) clowder_suffixed_config_secret: bool,
    /// Loopback address of Clowder's introspection API; 0 turns it off
    #[arg(long, value_name = "ADDRESS", default_value = introspection::DEFAULT_ADDRESS)]
    pub(crate) clowder_introspection_address: String,
    /// Address of Clowder's webhooks; `0` switches them off
    #[arg(long, value_name = "ADDRESS", default_value = ":9443")]
    pub(crate) clowder_webhook_address: String,
    /// Directory with `tls.crt` and `tls.key` for Clowder's webhooks [default: `k8s-webhook-server/serving-certs` in the
    /// directory for temporary files]
    #[arg(long, value_name = "DIR")]
    pub(crate) clowder_webhook_certificates: Option<PathBuf>,
}

/// Names that only the cluster knows.
#[derive(Debug, Default, Args)]
#[group(skip)]
pub(crate) struct ResolveArgs {
    /// Where a host name leads that only the cluster knows, as with curl; may be repeated
    #[arg(long, value_name = "HOST=ADDRESS:PORT", value_parser = Resolve::parse)]
    pub(crate) resolve: Vec<Resolve>,
}

impl ResolveArgs {
    /// All of them as one table; later ones win.
    pub(crate) fn table(&self) -> Resolve {
        let mut all = Resolve::default();
        for one in &self.resolve {
            all.extend(one.clone());
        }
        all
    }
}

/// How the operator is configured, for commands over files.
#[derive(Debug, Args)]
#[group(skip)]
#[command(next_help_heading = "Clowder")]
#[allow(
    clippy::struct_field_names,
    reason = "the flags stand beside those of other systems"
)]
pub(crate) struct ConfigArgs {
    /// Configuration file of the Clowder operator [default: what the operator in the cluster uses, else the file that
    /// `CLOWDER_CONFIG_PATH` names]
    #[arg(long, value_name = "FILE")]
    pub(crate) clowder_config: Option<PathBuf>,
    /// Namespace of the Clowder operator [default: that of the operator in the cluster, else clowder-system]
    #[arg(long, value_name = "NAMESPACE")]
    pub(crate) clowder_namespace: Option<String>,
    /// Name the configuration Secret of a `ClowdApp` `<app>-cdappconfig` instead of `<app>` [default: as the operator in
    /// the cluster does, else false]
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", action = ArgAction::Set, value_name = "BOOL")]
    pub(crate) clowder_suffixed_config_secret: Option<bool>,
}

/// Flags of `render`.
#[derive(Debug, Args)]
#[group(skip)]
#[command(next_help_heading = "Clowder")]
pub(crate) struct RenderArgs {
    #[command(flatten)]
    config: ConfigArgs,
    /// Ask the cluster how its Clowder operator is configured; nothing else is asked
    #[arg(long)]
    clowder_from_cluster: bool,
}

/// Flags of `plan` and `apply`.
#[derive(Debug, Args)]
#[group(skip)]
#[command(next_help_heading = "Clowder")]
pub(crate) struct ClusterArgs {
    #[command(flatten)]
    config: ConfigArgs,
    #[command(flatten)]
    resolve: ResolveArgs,
}

/// The identifier of the flag of `render` that asks a cluster.
pub(crate) const FROM_CLUSTER: &str = "clowder_from_cluster";
/// The identifier of the names that only the cluster knows.
pub(crate) const RESOLVE: &str = "resolve";
