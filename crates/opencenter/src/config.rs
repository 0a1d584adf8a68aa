//! The cluster config: from text to a typed, validated, effective value.
//!
//! [`load`] walks the stages: parse, legacy keys, references, normal spellings, shape, defaults, required values,
//! validation. Each stage reports what it finds and goes on with what it understands, so that one run shows everything.
//! What a field is, is said once, in the declarations that [`field`] turns into types and tables.

mod alias;
mod cluster;
mod defaults;
mod derived;
mod draft;
mod export;
mod fallback;
pub mod field;
pub mod format;
mod gitops;
mod load;
pub mod lookup;
mod normalize;
pub mod origin;
mod outside;
pub mod path;
pub mod provider_choices;
mod reference;
mod required;
mod root;
mod secret;
mod secret_status;
mod secrets;
mod service_choices;
mod services;
mod shape;
mod substitute;
mod validate;

pub use alias::{ALIASES, SERVICE_ALIASES};
pub use cluster::ClusterConfig;
pub(crate) use defaults::DefaultRules;
pub use derived::{DnsCredential, DnsKeys, GitAuthMethod};
pub use export::{ExportOptions, HIDDEN};
pub use fallback::{Resolved, ResolvedPair};
pub use gitops::*;
pub use load::{LoadOptions, Loaded, Purpose, SCHEMA_VERSION, from_yaml_error, load};
pub use outside::{Mask, OutsideValue, SHORTEST_HIDDEN};
pub use reference::{NoSurroundings, Surroundings};
pub use root::*;
pub use secret::{Secret, is_placeholder};
pub use secret_status::{SecretState, SecretStatus, ServiceSecrets};
pub use secrets::*;
pub use service_choices::*;
pub use services::*;
pub(crate) use validate::Validator;
