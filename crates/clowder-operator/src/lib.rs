//! Clowder in a cluster and on the command line.
//!
//! | Module | Content |
//! |---|---|
//! | [`operator`], `start` | the three controllers as one system, as a part of the process |
//! | `webhooks` | what its admission webhooks answer |
//! | [`effects`] | who runs what has to be done outside the cluster |
//! | [`metrics`] | whom the operator looks after, and its metrics |
//! | [`introspection`] | the same and the configuration over HTTP, for people on the same machine |
//! | `command`, `config`, `flags` | the system for one command, with the settings of its operator |
//! | [`session`] | reconciles from the command line, with the same machinery |
//! | `explain` | how apps, environments and invocations are |
//! | `program` | the original's program |
#![deny(missing_docs)]

mod command;
mod config;
pub mod effects;
mod explain;
mod flags;
pub mod introspection;
pub mod metrics;
pub mod operator;
mod program;
pub mod session;
mod start;
mod webhooks;

use clap::Args as _;
use mainstay_api::clowder::{ClowdApp, ClowdAppRef, ClowdEnvironment, ClowdJobInvocation};
use mainstay_clowder::{kinds, names, package};
use mainstay_package::Package;
use mainstay_system::{Commands, CustomResource, Operator, Program, ProgramForm, Reach, System};

/// The system.
pub static SYSTEM: System = System {
    name: operator::NAME,
    resources: &[
        CustomResource::of::<ClowdAppRef>(kinds::CLOWD_APP_REF, ""),
        CustomResource::of::<ClowdEnvironment>(kinds::CLOWD_ENVIRONMENT, "env"),
        CustomResource::of::<ClowdApp>(kinds::CLOWD_APP, "app"),
        CustomResource::of::<ClowdJobInvocation>(kinds::CLOWD_JOB_INVOCATION, "cji"),
    ],
    kinds: kinds::KINDS,
    field_manager: names::MANAGER,
    crds: || {
        let definitions = mainstay_api::clowder::crds();
        definitions.iter().map(mainstay_api::file).collect()
    },
    reach: Reach::ClusterOnly("its environments belong to the whole cluster"),
    interdependent: true,
    operator: Operator {
        flags: flags::ProcessArgs::augment_args,
        start: start::start,
        program: Program {
            names: &["clowder", "manager"],
            about: "Operator for `ClowdApp`s and their environments",
            form: ProgramForm::Flags(program::flags),
        },
    },
    commands: Commands {
        render_flags: command::render_flags,
        cluster_flags: command::cluster_flags,
        render_asks_cluster: command::render_asks_cluster,
        prepare: command::prepare,
    },
    explain: explain::EXPLAIN,
    package: Package {
        roles: |_| package::roles(),
        kustomize: |input, _| package::kustomize_tree(&input.image),
        containerfile: package::containerfile,
        olm: package::bundle,
        helm: Some(|input| package::chart(&input.image, &input.version)),
        plain: Some(|input| package::plain(&input.image)),
        image: package::default_image,
    },
};
