//! The command line of `mainstay manifest`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use mainstay_http::Resolve;

use crate::args::ClusterArgs;

/// Bags of YAML.
#[derive(Debug, Args)]
pub(crate) struct ManifestCommandArgs {
    #[command(subcommand)]
    pub(crate) command: ManifestCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ManifestCommand {
    /// Read files, directories and pages, and print every object in them, lists expanded
    Load(LoadArgs),
    /// Print the objects that match all the given conditions
    Select(SelectArgs),
    /// Print the objects after changes: namespace, labels, annotations, images, workloads, additional manifests
    Transform(TransformArgs),
    /// Show what `apply` would change in the cluster
    Diff(DiffArgs),
    /// Apply every object, in order
    Apply(ApplyArgs),
    /// Delete every object, in reverse order; namespaces only if an apply has created them
    Delete(DeleteArgs),
}

/// Where objects come from.
#[derive(Debug, Args)]
pub(crate) struct SourceArgs {
    /// File, directory or URL, or several separated by commas; `-` reads stdin; may be repeated
    #[arg(
        short = 'f',
        long = "filename",
        required = true,
        value_name = "FILE|DIR|URL"
    )]
    pub(crate) sources: Vec<String>,
    /// Read directories below the given ones too
    #[arg(short = 'R', long)]
    pub(crate) recursive: bool,
    /// Read pages without TLS too
    #[arg(long)]
    pub(crate) allow_http: bool,
    /// Read pages of this host only: a name, or `*.SUFFIX`; may be repeated [default: any host]
    #[arg(long, value_name = "HOST")]
    pub(crate) allow_host: Vec<String>,
    /// Trust the certificates of this file too, for pages
    #[arg(long, value_name = "FILE")]
    pub(crate) ca_file: Option<PathBuf>,
    /// Where a host name leads, as with curl; may be repeated
    #[arg(long, value_name = "HOST=ADDRESS:PORT", value_parser = Resolve::parse)]
    pub(crate) resolve: Vec<Resolve>,
}

/// Form of objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Output {
    Yaml,
    Json,
    /// Kinds and names only
    Name,
    /// A hash that depends on the objects alone, not on order, file names or form
    Hash,
}

#[derive(Debug, Args)]
pub(crate) struct LoadArgs {
    #[command(flatten)]
    pub(crate) source: SourceArgs,
    /// Form of the output
    #[arg(short = 'o', long, value_enum, default_value_t = Output::Yaml)]
    pub(crate) output: Output,
}

#[derive(Debug, Args)]
pub(crate) struct SelectArgs {
    #[command(flatten)]
    pub(crate) source: SourceArgs,
    /// One of these kinds
    #[arg(long, value_name = "KIND", value_delimiter = ',')]
    pub(crate) kind: Vec<String>,
    /// One of these names
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(crate) name: Vec<String>,
    /// This API group; empty for the core group
    #[arg(long, value_name = "GROUP")]
    pub(crate) group: Option<String>,
    /// This namespace; empty for those that name none
    #[arg(short = 'n', long, value_name = "NAMESPACE")]
    pub(crate) namespace: Option<String>,
    /// This label, with this value if one is given; may be repeated
    #[arg(short = 'l', long, value_name = "KEY[=VALUE]")]
    pub(crate) label: Vec<String>,
    /// This annotation, with this value if one is given; may be repeated
    #[arg(long, value_name = "KEY[=VALUE]")]
    pub(crate) annotation: Vec<String>,
    /// Definitions of kinds
    #[arg(long)]
    pub(crate) crds: bool,
    /// Kinds that live in no namespace
    #[arg(long)]
    pub(crate) cluster_scoped: bool,
    /// What is in these files too, by kind, namespace and name
    #[arg(long = "in", value_name = "FILE|DIR")]
    pub(crate) in_set: Option<String>,
    /// Everything that does not match instead
    #[arg(long)]
    pub(crate) not: bool,
    /// Form of the output
    #[arg(short = 'o', long, value_enum, default_value_t = Output::Yaml)]
    pub(crate) output: Output,
}

#[derive(Debug, Args)]
pub(crate) struct TransformArgs {
    #[command(flatten)]
    pub(crate) source: SourceArgs,
    /// Move everything into this namespace; `$NAME` takes it from the environment
    #[arg(
        short = 'n',
        long,
        value_name = "NAMESPACE",
        default_value = "",
        hide_default_value = true
    )]
    pub(crate) namespace: String,
    /// Label on every object; may be repeated
    #[arg(short = 'l', long, value_name = "KEY=VALUE")]
    pub(crate) label: Vec<String>,
    /// Annotation on every object; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) annotation: Vec<String>,
    /// Registry of images: a host, a host with a prefix, or a template with `${NAME}`
    #[arg(
        long,
        value_name = "REGISTRY",
        default_value = "",
        hide_default_value = true
    )]
    pub(crate) registry: String,
    /// Image of one container, or value of a variable; may be repeated
    #[arg(long, value_name = "[WORKLOAD/]CONTAINER=IMAGE")]
    pub(crate) image: Vec<String>,
    /// Secret to pull images with; may be repeated
    #[arg(long, value_name = "NAME")]
    pub(crate) pull_secret: Vec<String>,
    /// File with a list of workload overrides: name, replicas, selector, template
    #[arg(long, value_name = "FILE")]
    pub(crate) workloads: Option<PathBuf>,
    /// Files, directories and URLs whose objects are added, or replace those of the same name; separated by commas
    #[arg(long, value_name = "LIST")]
    pub(crate) additional: Option<String>,
    /// Refuse additional objects that live in no namespace
    #[arg(long)]
    pub(crate) deny_cluster_scoped: bool,
    /// Form of the output
    #[arg(short = 'o', long, value_enum, default_value_t = Output::Yaml)]
    pub(crate) output: Output,
}

/// How objects that are there are changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Strategy {
    /// By a merge of what was applied last, what is wanted and what there is, as `kubectl apply`
    ThreeWay,
    /// By the server, as `kubectl apply --server-side --force-conflicts`
    ServerSide,
}

/// What `diff` and `apply` have in common.
#[derive(Debug, Args)]
pub(crate) struct MergeArgs {
    /// How objects that are there are changed
    #[arg(long, value_enum, default_value_t = Strategy::ThreeWay)]
    pub(crate) strategy: Strategy,
    /// Who writes, for the bookkeeping of the server
    #[arg(long, value_name = "NAME", default_value = super::FIELD_MANAGER)]
    pub(crate) field_manager: String,
    /// Namespace of objects that need one and name none [default: that of the context]
    #[arg(short = 'n', long, value_name = "NAMESPACE")]
    pub(crate) namespace: Option<String>,
}

/// Form of differences.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DiffOutput {
    /// Lines with `-` and `+`; values of Secrets are hidden
    Unified,
    /// One patch per object, as `kubectl patch` takes it; values of Secrets are hidden
    Patch,
    /// Kinds and names only
    Name,
}

#[derive(Debug, Args)]
pub(crate) struct DiffArgs {
    #[command(flatten)]
    pub(crate) source: SourceArgs,
    #[command(flatten)]
    pub(crate) merge: MergeArgs,
    /// Form of the output
    #[arg(short = 'o', long, value_enum, default_value_t = DiffOutput::Unified)]
    pub(crate) output: DiffOutput,
    /// Show the values of Secrets in patches
    #[arg(long)]
    pub(crate) show_secrets: bool,
    #[command(flatten)]
    pub(crate) cluster: ClusterArgs,
}

/// What `apply` and `delete` have in common.
#[derive(Debug, Args)]
pub(crate) struct WorkArgs {
    /// Ask the server only what would become of it
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Go on with the next object after a failure
    #[arg(long)]
    pub(crate) continue_on_error: bool,
    /// Longest time for all of it, in seconds
    #[arg(long, default_value_t = 600, value_name = "SECONDS")]
    pub(crate) timeout: u64,
    /// When to tell the progress of long work on stderr
    #[arg(long, value_enum, default_value_t = When::Auto, value_name = "WHEN")]
    pub(crate) progress: When,
}

/// When to do something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum When {
    /// If stderr is a terminal
    Auto,
    Always,
    Never,
}

#[derive(Debug, Args)]
pub(crate) struct ApplyArgs {
    #[command(flatten)]
    pub(crate) source: SourceArgs,
    #[command(flatten)]
    pub(crate) merge: MergeArgs,
    /// Fail where the server refuses the merged object, instead of laying the wanted one over it
    #[arg(long)]
    pub(crate) no_overwrite: bool,
    #[command(flatten)]
    pub(crate) work: WorkArgs,
    #[command(flatten)]
    pub(crate) cluster: ClusterArgs,
}

/// What becomes of what belongs to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Cascade {
    /// It goes later
    Background,
    /// It goes first
    Foreground,
    /// It stays
    Orphan,
}

#[derive(Debug, Args)]
pub(crate) struct DeleteArgs {
    #[command(flatten)]
    pub(crate) source: SourceArgs,
    /// Namespace of objects that need one and name none [default: that of the context]
    #[arg(short = 'n', long, value_name = "NAMESPACE")]
    pub(crate) namespace: Option<String>,
    /// What becomes of what belongs to the objects [default: as their kinds have it]
    #[arg(long, value_enum, value_name = "POLICY")]
    pub(crate) cascade: Option<Cascade>,
    /// Seconds that objects have to end
    #[arg(long, value_name = "SECONDS")]
    pub(crate) grace_period: Option<u32>,
    /// Fail if an object is not there
    #[arg(long)]
    pub(crate) strict: bool,
    /// Delete without asking
    #[arg(long)]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) work: WorkArgs,
    #[command(flatten)]
    pub(crate) cluster: ClusterArgs,
}
