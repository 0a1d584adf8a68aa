//! A system of the suite as one value: all that the program needs to know to offer it.
//!
//! A system has a crate that wires it and holds its [`System`]; the program has a list of these values. Everything that a
//! person or a cluster meets follows from them: `run`, `render`, `plan`, `apply`, `tree`, `why`, `crds`, `rbac`, `bundle`,
//! and the program of the original operator under its own name.
//!
//! | Module | Content |
//! |---|---|
//! | [`resource`] | the custom resources that users write |
//! | [`operator`] | the system as a part of the process, and the original's program |
//! | [`command`] | the system for one command over files, with its settings |
//! | [`session`] | the system at work for one command over a cluster |
//! | [`explain`] | how its resources are, and what they wait for |
#![deny(missing_docs)]

pub mod command;
pub mod explain;
pub mod operator;
pub mod resource;
pub mod session;

use std::fmt;

use mainstay_engine::{
    field_manager::FieldManager,
    key::Kind,
    kind::{DeclaredKind, KindTable},
};
use mainstay_package::Package;
use serde_json::Value;

pub use self::{
    command::{Commands, Prepared},
    explain::Explain,
    operator::{Operator, Program, ProgramForm, RunContext},
    resource::CustomResource,
    session::{EffectMode, SystemSession},
};

/// Where the operator of a system can work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// In one namespace, or in all.
    AnyNamespace,
    /// In the whole cluster only, for this reason.
    ClusterOnly(&'static str),
}

/// A system of the suite.
pub struct System {
    /// Its name, as users write it.
    pub name: &'static str,
    /// The custom resources that users write, in the order of applying: what others look at comes first.
    pub resources: &'static [CustomResource],
    /// Everything that it touches.
    pub kinds: KindTable,
    /// Field manager of its writes.
    pub field_manager: FieldManager,
    /// Definitions of its resources: the name of the file, and the document.
    pub crds: fn() -> Vec<(String, Value)>,
    /// Where its operator can work.
    pub reach: Reach,
    /// Whether its resources look at each other and at objects beside them. What one of them lacks another may bring, so a
    /// plan goes on where a resource cannot be rendered yet, and tells what follows for those that are not in the files.
    pub interdependent: bool,
    /// The system as a part of the process.
    pub operator: Operator,
    /// The system for a command over files.
    pub commands: Commands,
    /// How its resources are.
    pub explain: Explain,
    /// The forms of its installation.
    pub package: Package,
}

impl fmt::Debug for System {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name)
    }
}

impl PartialEq for System {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for System {}

impl System {
    /// The row of one of its kinds.
    pub fn row(&self, kind: &Kind) -> Option<&DeclaredKind> {
        self.kinds.find(kind)
    }

    /// Group and version of its own resources, as the API server lists them.
    pub fn group_version(&self) -> String {
        let first = self.resources.first();
        first.map_or_else(String::new, |resource| resource.kind.api_version())
    }
}
