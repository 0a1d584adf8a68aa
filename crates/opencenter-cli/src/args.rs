//! The command line of openCenter as users write it.

mod families;
mod service;

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

pub(crate) use families::{
    DescriptorCommand, DescriptorCommandArgs, SecretFilesArgs, SecretsCommand, SecretsCommandArgs,
};
pub(crate) use service::{
    ServiceArgs, ServiceCommand, ServiceDisableArgs, ServiceEnableArgs, ServiceListArgs,
    ServiceOptionsArgs, ServiceSecretsArgs,
};

/// Flags that every command of openCenter takes.
#[derive(Clone, Debug, Args)]
pub(crate) struct GlobalArgs {
    /// Directory of settings and clusters [default: `$OPENCENTER_CONFIG_DIR`, else `~/.config/opencenter`]
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) config_dir: Option<PathBuf>,
    /// Config of the cluster, instead of looking it up
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config_file: Option<PathBuf>,
    /// Form of the output
    #[arg(short = 'o', long, global = true, value_enum, default_value_t = OutputForm::Text)]
    pub(crate) output: OutputForm,
    /// Lowest level of messages [default: `$OPENCENTER_LOG_LEVEL`, else warn]
    #[arg(long, global = true, value_enum, value_name = "LEVEL")]
    pub(crate) log_level: Option<LogLevel>,
    /// Say nothing that is not asked for
    #[arg(long, global = true)]
    pub(crate) quiet: bool,
    /// Do not ask
    #[arg(long, global = true)]
    pub(crate) yes: bool,
    /// Say what would be done, and do nothing
    #[arg(long, global = true)]
    pub(crate) dry_run: bool,
    /// Directory with additional descriptors and their templates; can be repeated
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) descriptor_dir: Vec<PathBuf>,
    /// Directory that `${file:…}` in a config may read from, besides that of the config; can be repeated
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) allow_references: Vec<PathBuf>,
}

/// Form of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutputForm {
    Text,
    Json,
    Yaml,
}

/// Lowest level of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(crate) enum LogLevel {
    Debug,
    Info,
    Warn,
    Error,
}

/// How Git is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum GitopsAuth {
    /// Over https, with a token
    Token,
    /// Over ssh, with a key
    Ssh,
    /// Addresses as they are configured
    AsIs,
}

/// What becomes of files that hold secrets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum SecretsMode {
    /// Encrypt them
    #[default]
    Encrypt,
    /// Write them as they are; they must not be committed
    Plaintext,
    /// Leave them out
    Omit,
}

#[derive(Debug, Args)]
pub struct ClusterCommandArgs {
    #[command(flatten)]
    pub(crate) global: GlobalArgs,
    #[command(subcommand)]
    pub(crate) command: ClusterCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ClusterCommand {
    /// Write the config of a new cluster
    Init(InitArgs),
    /// List the clusters
    List,
    /// Choose the cluster that commands without a name are about
    Use(NameArgs),
    /// Print the chosen cluster
    Active,
    /// Render the overlay tree of a cluster into its repository
    Render(RenderTreeArgs),
    /// Compare the tree on disk with what would be rendered
    Diff(DiffArgs),
    /// List the files that would be rendered, each with its owner and what decided it
    Plan(PlanTreeArgs),
    /// Check a config, and its tree
    Validate(ValidateArgs),
    /// Edit a config, and check it before it is saved
    Edit(EditArgs),
    /// Set values of a config
    Set(SetArgs),
    /// Print the JSON Schema of configs
    Schema(SchemaArgs),
    /// Print the effective config
    Export(ExportArgs),
    /// Work with the services of a cluster
    Service(ServiceArgs),
    /// Print the dependencies of the Flux units, and the waves in which they come up
    Graph(GraphArgs),
    /// Compare rendered trees with expected ones
    Parity(ParityArgs),
}

#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// Name of the cluster
    pub(crate) name: String,
    /// Organization that owns it [default: as the settings say, else opencenter]
    #[arg(long, value_name = "NAME")]
    pub(crate) org: Option<String>,
    /// Where it runs [default: as the settings say, else openstack]
    #[arg(long, value_name = "PROVIDER")]
    pub(crate) provider: Option<String>,
    /// Region [default: as the settings say, else dfw3]
    #[arg(long, value_name = "NAME")]
    pub(crate) region: Option<String>,
    /// Write every setting, with comments
    #[arg(long)]
    pub(crate) full: bool,
    /// Replace a config that exists
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Debug, Args)]
pub(crate) struct NameArgs {
    /// Cluster, as `<cluster>` or `<organization>/<cluster>`
    #[arg(value_name = "CLUSTER")]
    pub(crate) id: String,
}

/// Which cluster; the chosen one if none is named.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ClusterIdArgs {
    /// Cluster, as `<cluster>` or `<organization>/<cluster>` [default: the active one]
    #[arg(value_name = "CLUSTER")]
    pub(crate) id: Option<String>,
}

/// What is rendered, and how.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct TreeArgs {
    /// Only this service, and the lists that name it
    #[arg(long, value_name = "SERVICE")]
    pub(crate) service: Option<String>,
    /// The service is a managed one
    #[arg(long, requires = "service")]
    pub(crate) managed: bool,
    /// Root of the repository [default: `opencenter.gitops.repository.local_dir`]
    #[arg(long, value_name = "DIR")]
    pub(crate) output_dir: Option<PathBuf>,
    /// How Flux reaches Git [default: as the config says]
    #[arg(long, value_enum, value_name = "METHOD")]
    pub(crate) gitops_auth: Option<GitopsAuth>,
    /// Render with stand-ins for secrets that are missing
    #[arg(long)]
    pub(crate) allow_missing_secrets: bool,
    /// Add the other access method to Git sources, as comments
    #[arg(long)]
    pub(crate) emit_auth_alternative: bool,
}

#[derive(Clone, Debug, Args)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "flags of a command line are independent"
)]
pub(crate) struct RenderTreeArgs {
    #[command(flatten)]
    pub(crate) cluster: ClusterIdArgs,
    #[command(flatten)]
    pub(crate) tree: TreeArgs,
    /// What becomes of files that hold secrets
    #[arg(long, value_enum, default_value_t = SecretsMode::Encrypt, value_name = "MODE")]
    pub(crate) secrets_mode: SecretsMode,
    /// Keep replaced and deleted files in `.opencenter-backups/`
    #[arg(long)]
    pub(crate) backup: bool,
    /// Take over files that were edited by hand or are not ours, keeping a backup of each
    #[arg(long)]
    pub(crate) adopt: bool,
    /// With --adopt: hold nothing back, and let Flux delete what the units that go have applied
    #[arg(long, requires = "adopt")]
    pub(crate) accept_pruning: bool,
    /// Let go of what --adopt held back, once Flux has applied that tree
    #[arg(long, conflicts_with_all = ["adopt", "service"])]
    pub(crate) finish_adoption: bool,
    /// Write nothing; exit code 4 if the tree would change
    #[arg(long)]
    pub(crate) check: bool,
    /// Write what was decided, and why, to a file
    #[arg(long, value_name = "FILE")]
    pub(crate) diagnostics: Option<PathBuf>,
    /// Only if a plan of `cluster plan --out` still holds: same config, descriptors and options
    #[arg(long, value_name = "FILE", conflicts_with_all = ["all", "watch"])]
    pub(crate) plan: Option<PathBuf>,
    /// Render every cluster below the clusters directory
    #[arg(long, conflicts_with_all = ["id", "service", "watch", "diagnostics"])]
    pub(crate) all: bool,
    /// Render again whenever the config, a file it refers to, or a descriptor is saved, until interrupted
    #[arg(long)]
    pub(crate) watch: bool,
}

#[derive(Debug, Args)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "flags of a command line are independent"
)]
pub(crate) struct DiffArgs {
    #[command(flatten)]
    pub(crate) cluster: ClusterIdArgs,
    #[command(flatten)]
    pub(crate) tree: TreeArgs,
    /// Only the number of changed lines of each file
    #[arg(long, conflicts_with = "name_only")]
    pub(crate) stat: bool,
    /// Only the names of the files
    #[arg(long)]
    pub(crate) name_only: bool,
    /// Fields of objects instead of lines of files
    #[arg(long, conflicts_with_all = ["stat", "name_only"])]
    pub(crate) semantic: bool,
    /// Also name what is in the tree and belongs to nobody we know
    #[arg(long)]
    pub(crate) unknown: bool,
    /// Only what Flux will delete, recreate and re-point when the tree is taken over
    #[arg(long, conflicts_with_all = ["stat", "name_only", "semantic", "unknown"])]
    pub(crate) adopt: bool,
}

#[derive(Debug, Args)]
pub(crate) struct PlanTreeArgs {
    #[command(flatten)]
    pub(crate) cluster: ClusterIdArgs,
    #[command(flatten)]
    pub(crate) tree: TreeArgs,
    /// Say of every unit and file why it is there or missing
    #[arg(long)]
    pub(crate) explain: bool,
    /// Write the plan to a file for `cluster render --plan`
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

/// Whether the network may be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ValidationMode {
    Offline,
    Online,
}

#[derive(Debug, Args)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "flags of a command line are independent"
)]
pub(crate) struct ValidateArgs {
    #[command(flatten)]
    pub(crate) cluster: ClusterIdArgs,
    /// Also check what a deployment needs
    #[arg(long)]
    pub(crate) for_deploy: bool,
    /// Also check the rendered tree
    #[arg(long)]
    pub(crate) tree: bool,
    /// Also check what the tree presumes about its base, against a copy of the base repository
    #[arg(long, value_name = "DIR", requires = "tree")]
    pub(crate) base_snapshot: Option<PathBuf>,
    /// Only look for secrets that are not encrypted
    #[arg(long)]
    pub(crate) security_only: bool,
    /// Look at what is staged in Git instead of the files
    #[arg(long)]
    pub(crate) staged: bool,
    /// Whether the network may be asked
    #[arg(long, value_enum, default_value_t = ValidationMode::Offline)]
    pub(crate) mode: ValidationMode,
    /// Root of the repository [default: `opencenter.gitops.repository.local_dir`]
    #[arg(long, value_name = "DIR")]
    pub(crate) output_dir: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct EditArgs {
    #[command(flatten)]
    pub(crate) cluster: ClusterIdArgs,
    /// Save without checking
    #[arg(long)]
    pub(crate) no_validate: bool,
}

#[derive(Debug, Args)]
pub(crate) struct SetArgs {
    /// Values as `PATH=VALUE`, after the cluster if one is named; secrets as `PATH=@FILE` or `PATH=-`
    #[arg(required = true, value_name = "CLUSTER|PATH=VALUE")]
    pub(crate) arguments: Vec<String>,
    /// Refuse the change if the config has any error afterwards, also one that it had before
    #[arg(long)]
    pub(crate) strict: bool,
}

#[derive(Debug, Args)]
pub(crate) struct SchemaArgs {
    /// File to write to
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Write nothing; exit code 4 if the file is stale
    #[arg(long, requires = "out")]
    pub(crate) check: bool,
    /// Only the settings of this service
    #[arg(long, value_name = "SERVICE")]
    pub(crate) service: Option<String>,
    /// The `$id` of the schema
    #[arg(long, value_name = "URL")]
    pub(crate) id: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    #[command(flatten)]
    pub(crate) cluster: ClusterIdArgs,
    /// Say of every value where it comes from
    #[arg(long)]
    pub(crate) show_origin: bool,
    /// Hide secrets
    #[arg(long, default_value_t = true, num_args = 0..=1, require_equals = true, default_missing_value = "true", action = clap::ArgAction::Set, value_name = "BOOL")]
    pub(crate) redact: bool,
}

/// Form of the graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum GraphForm {
    Text,
    Dot,
    Json,
    Mermaid,
}

#[derive(Debug, Args)]
pub(crate) struct GraphArgs {
    #[command(flatten)]
    pub(crate) cluster: ClusterIdArgs,
    /// Form of the graph
    #[arg(long, value_enum, default_value_t = GraphForm::Text)]
    pub(crate) format: GraphForm,
}

#[derive(Debug, Args)]
pub(crate) struct ParityArgs {
    /// Clusters to compare [default: all]
    #[arg(value_name = "CLUSTER")]
    pub(crate) clusters: Vec<String>,
    /// Directory with configs, expected trees and `parity-canonicalization.yaml`
    #[arg(long, default_value = ".", value_name = "DIR")]
    pub(crate) fixtures: PathBuf,
    /// Replace the expected trees by the rendered ones; needs --yes
    #[arg(long)]
    pub(crate) update: bool,
}
