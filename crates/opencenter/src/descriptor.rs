//! Overlay unit descriptors: what a unit emits, and nothing about how it is configured.
//!
//! A descriptor is the only reason for a file to exist in the output. It names sources, Flux units and overlay files;
//! the content of built-in files comes from `crate::service`, that of others from templates beside the descriptor.
//! Descriptors come from three places that all pass through the same [`Registry`]: the built-in set, directories that
//! the user names, and records made from a service block that nobody describes ([`auto`]).

pub mod auto;
mod built_in;
mod check;
mod condition;
mod load;
mod raw;
mod registry;

pub use condition::{Condition, Operator};
pub(crate) use condition::{lookup, scalar_text};
pub use load::{DescriptorText, load};
pub use registry::{Registry, TemplateStore};

use serde::Serialize;

/// The branch of the tree that a unit belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layer {
    /// Files at the root of the tree.
    Cluster,
    /// `services/`.
    Services,
    /// `managed-services/`.
    ManagedServices,
    /// `customer-managed/`.
    CustomerManaged,
}

impl Layer {
    /// The directory of the branch; empty for the root.
    pub fn directory(self) -> &'static str {
        match self {
            Self::Cluster => "",
            Self::Services => "services",
            Self::ManagedServices => "managed-services",
            Self::CustomerManaged => "customer-managed",
        }
    }

    /// The word in descriptors and output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Cluster => "cluster",
            other => other.directory(),
        }
    }

    /// The Flux unit that applies the branch's sources.
    pub fn sources_unit(self) -> &'static str {
        match self {
            Self::Cluster | Self::Services => "sources",
            Self::ManagedServices => "managed-services-sources",
            Self::CustomerManaged => "customer-managed-sources",
        }
    }
}

/// Who switches a unit on.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Owner {
    /// An entry of `opencenter.services`.
    Service(String),
    /// An entry of `opencenter.managed_services`.
    ManagedService(String),
    /// The cluster itself: always on.
    Cluster,
}

impl Owner {
    /// The name of the service, if there is one.
    pub fn service(&self) -> Option<&str> {
        match self {
            Self::Service(name) | Self::ManagedService(name) => Some(name),
            Self::Cluster => None,
        }
    }
}

/// Whether the renderer or `flux bootstrap` writes the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lifecycle {
    /// The renderer.
    Rendered,
    /// Somebody else; the descriptor only documents the place.
    Bootstrap,
}

/// Where a descriptor comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Compiled in.
    BuiltIn,
    /// A file of the user.
    User,
    /// Made from a service block.
    Auto,
}

/// One overlay unit.
#[derive(Clone, Debug)]
pub struct Descriptor {
    /// The unique id.
    pub name: String,
    /// Display only.
    pub category: String,
    /// The branch.
    pub layer: Layer,
    /// Who switches it on.
    pub owner: Owner,
    /// Who writes its files.
    pub lifecycle: Lifecycle,
    /// Where it comes from.
    pub origin: Origin,
    /// Services that must be active with it.
    pub dependencies: Vec<String>,
    /// Services that are usually active with it.
    pub soft_dependencies: Vec<String>,
    /// The code that adds to the declared files, for units that the model cannot express.
    pub renderer: Option<String>,
    /// A gate beside the owner's.
    pub enabled_when: Option<Condition>,
    /// Units that list what this one emits, and are rendered with it.
    pub aggregate_targets: Vec<String>,
    /// The weight inside aggregates.
    pub order: i32,
    /// The Git sources.
    pub sources: Vec<SourceEntry>,
    /// The Flux units.
    pub flux_units: Vec<FluxUnitEntry>,
    /// The file that holds the units which name no file of their own.
    pub flux_file: String,
    /// The directory of the overlay files, such as `services/keycloak`.
    pub root: Option<String>,
    /// The overlay files.
    pub files: Vec<FileEntry>,
}

/// Where address, reference and Secret of a source come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceKind {
    /// The shared base repository.
    BaseRepository,
    /// The cluster's own repository.
    ClusterRepository,
    /// The customer's repository.
    CustomerRepository,
    /// The descriptor itself.
    Explicit,
}

/// The kinds of Git reference that Flux knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReferenceKind {
    /// A branch.
    Branch,
    /// A tag.
    Tag,
    /// A range of versions.
    Semver,
    /// A commit.
    Commit,
}

impl ReferenceKind {
    /// The key below `spec.ref`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Branch => "branch",
            Self::Tag => "tag",
            Self::Semver => "semver",
            Self::Commit => "commit",
        }
    }
}

/// In front of a path, stands for the cluster's overlay directory.
pub(crate) const OVERLAY_PREFIX: &str = "overlay/";

/// A path of another repository that appears inside this one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Include {
    /// The other `GitRepository`.
    pub repository: String,
    /// The path there.
    pub from_path: String,
    /// The path here; `overlay/` in front stands for the cluster's overlay directory.
    pub to_path: String,
}

/// One `GitRepository`.
#[derive(Clone, Debug, PartialEq)]
pub struct SourceEntry {
    /// The object's name.
    pub name: String,
    /// The file below the branch's `sources/`.
    pub file: String,
    /// Where the rest comes from.
    pub kind: SourceKind,
    /// The address, for explicit sources.
    pub url: Option<String>,
    /// The reference, if the descriptor pins it.
    pub reference: Option<(ReferenceKind, String)>,
    /// How often Flux looks.
    pub interval: String,
    /// The Secret, if the descriptor pins it.
    pub secret_name: Option<String>,
    /// The service whose `source` block overrides; the owner if absent.
    pub override_from: Option<String>,
    /// Included repositories.
    pub include: Vec<Include>,
    /// Several units may declare it.
    pub shared: bool,
    /// The gate.
    pub when: Option<Condition>,
}

/// What part a Flux unit plays; it picks the defaults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Applies the shared base of a service.
    Base,
    /// Applies the cluster's own directory of a service.
    Override,
    /// Applies a service that has no base.
    Single,
    /// Creates a namespace that a later unit needs.
    Namespace,
    /// One of several stages; declares everything itself.
    Stage,
    /// Applies a branch's sources.
    Sources,
}

/// A dependency of a Flux unit.
#[derive(Clone, Debug, PartialEq)]
pub struct DependencyEntry {
    /// The Flux unit.
    pub name: String,
    /// Only if this service is active.
    pub when_enabled: Option<String>,
    /// Only if this holds.
    pub when: Option<Condition>,
}

/// An object that must be healthy.
#[derive(Clone, Debug, PartialEq)]
pub struct HealthCheck {
    /// The group and version.
    pub api_version: String,
    /// The kind.
    pub kind: String,
    /// The name.
    pub name: String,
    /// The namespace; the owner's if absent.
    pub namespace: Option<String>,
}

/// A rule that tells when objects of a kind are healthy.
#[derive(Clone, Debug, PartialEq)]
pub struct HealthCheckExpression {
    /// The group and version.
    pub api_version: String,
    /// The kind.
    pub kind: String,
    /// Healthy if this holds.
    pub current: String,
    /// Failed if this holds.
    pub failed: Option<String>,
    /// Still on its way if this holds.
    pub in_progress: Option<String>,
}

/// A patch that Flux applies itself.
#[derive(Clone, Debug, PartialEq)]
pub struct InlinePatch {
    /// What it applies to.
    pub target: serde_json::Value,
    /// The patch text.
    pub patch: String,
}

/// The namespace that Flux sets on everything that a unit applies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TargetNamespace {
    /// What the role says.
    ByRole,
    /// The namespace of the owner.
    OfOwner,
    /// None.
    Suppressed,
    /// This one.
    Named(String),
}

/// Whether a field follows the owner's adoption mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Adoption {
    /// It does, if the role and owner have one.
    Follows,
    /// It is pinned.
    Pinned(bool),
}

/// The pause between failed attempts of a unit that does not choose one.
pub(crate) const RETRY_INTERVAL: &str = "1m";

/// How long an attempt of a unit that does not choose may take.
pub(crate) const TIMEOUT: &str = "10m";

/// One Flux `Kustomization`.
#[derive(Clone, Debug, PartialEq)]
pub struct FluxUnitEntry {
    /// The object's name.
    pub name: String,
    /// The part it plays.
    pub role: Role,
    /// The file below the branch's `fluxcd/` if it is not the unit's common file.
    pub file: Option<String>,
    /// The `GitRepository`.
    pub source_ref: Option<String>,
    /// The path as declared: in the overlay if it begins with a layer or with `overlay/`, else in the repository.
    pub path: String,
    /// The namespace.
    pub namespace: TargetNamespace,
    /// The dependencies; the role's if absent.
    pub depends_on: Option<Vec<DependencyEntry>>,
    /// The interval, if pinned.
    pub interval: Option<String>,
    /// Pause between failed attempts; Flux's own choice if absent.
    pub retry_interval: Option<String>,
    /// How long an attempt may take; Flux's own choice if absent.
    pub timeout: Option<String>,
    /// Whether Flux removes what is gone; the config's choice if absent.
    pub prune: Option<bool>,
    /// Whether Flux waits for everything to be healthy.
    pub wait: bool,
    /// `spec.force`.
    pub force: Adoption,
    /// `spec.suspend`.
    pub suspend: Adoption,
    /// Whether Flux decrypts; the role's choice if absent.
    pub decryption: Option<bool>,
    /// The health checks; the role's if absent.
    pub health_checks: Option<Vec<HealthCheck>>,
    /// Health rules.
    pub health_check_expressions: Vec<HealthCheckExpression>,
    /// Patches.
    pub patches: Vec<InlinePatch>,
    /// The `part-of` label; the owner's name if absent.
    pub part_of: Option<String>,
    /// The `opencenter/managed-by` label.
    pub managed_by: String,
    /// The gate.
    pub when: Option<Condition>,
}

/// One file of the overlay directory.
#[derive(Clone, Debug, PartialEq)]
pub struct FileEntry {
    /// The template, relative to the overlay root, without suffix.
    pub template: String,
    /// The output path, relative to the tree.
    pub output: String,
    /// Whether expressions in the template are filled in.
    pub render: bool,
    /// Whether the file is secret; found out from its content if absent.
    pub sensitive: Option<bool>,
    /// Whether the overlay kustomization lists it; by its name if absent.
    pub resource: Option<bool>,
    /// Whether the overlay kustomization lists it as a patch.
    pub patch: bool,
    /// The gate.
    pub when: Option<Condition>,
}

impl FileEntry {
    /// A file whose output follows from its template's name.
    pub fn new(root: &str, template: &str) -> Self {
        Self {
            template: template.to_owned(),
            output: format!("{root}/{template}"),
            render: false,
            sensitive: None,
            resource: None,
            patch: false,
            when: None,
        }
    }

    /// Whether this is the kustomization of the overlay directory itself.
    pub fn is_overlay_kustomization(&self) -> bool {
        self.template == "kustomization.yaml"
    }

    /// Whether the overlay kustomization lists the file as a resource.
    ///
    /// By default that is every YAML file directly in the directory that is not a kustomization or a patch.
    pub fn is_resource(&self) -> bool {
        self.resource.unwrap_or_else(|| {
            !self.patch
                && !self.template.contains('/')
                && crate::overlay::is_yaml(&self.template)
                && !self.is_overlay_kustomization()
        })
    }
}
