//! Kaoto in a cluster and on the command line: the pure crate `mainstay_kaoto` with all that it needs around it.
//!
//! | Module | Content |
//! |---|---|
//! | [`operator`] | its controller as a part of the process |
//! | [`command`] | the system for one command over files |
#![deny(missing_docs)]

pub mod command;
pub mod operator;

use anyhow::Context as _;
use kube::Client;
use mainstay_api::kaoto::Kaoto;
use mainstay_cluster::discovery;
use mainstay_engine::field_manager::FieldManager;
use mainstay_kaoto::{
    ClusterType, KaotoReconciler, Settings, kinds, names, package, settings::ROUTE_GROUP_VERSION,
};
use mainstay_package::Package;
use mainstay_system::{
    Commands, CustomResource, Explain, Operator, Program, ProgramForm, Reach, System,
    explain::is_not_true,
};

/// The system.
pub static SYSTEM: System = System {
    name: "kaoto",
    resources: &[CustomResource::of::<Kaoto>(kinds::KAOTO, "kd")],
    kinds: kinds::KINDS,
    field_manager: FieldManager::new(names::FIELD_MANAGER),
    crds: || vec![mainstay_api::file(&mainstay_api::kaoto::crd())],
    reach: Reach::AnyNamespace,
    interdependent: false,
    operator: Operator {
        flags: |command| command,
        start: operator::start,
        program: Program {
            names: &["kaoto"],
            about: "Operator for the Kaoto editor",
            form: ProgramForm::RunCommand,
        },
    },
    commands: Commands {
        render_flags: command::render_flags,
        cluster_flags: |command| command,
        render_asks_cluster: |_| false,
        prepare: command::prepare,
    },
    explain: Explain {
        is_trouble: |condition, _| {
            // Parity: this one says no and means that nothing was asked for.
            is_not_true(condition) && condition["reason"] != names::reasons::NOT_REQUIRED
        },
        ..Explain::BY_CONDITIONS
    },
    package: Package {
        roles: package::roles,
        kustomize: |input, reach| package::kustomize_tree(&input.image, &input.version, reach),
        containerfile: package::containerfile,
        olm: package::bundle,
        helm: None,
        plain: None,
        image: package::default_image,
    },
};

/// The reconciler for the cluster behind a client.
async fn reconciler(client: &Client) -> anyhow::Result<KaotoReconciler> {
    let openshift = discovery::serves(client, ROUTE_GROUP_VERSION).await;
    let openshift = openshift.with_context(|| {
        format!("could not find out whether the cluster serves {ROUTE_GROUP_VERSION}")
    })?;
    let cluster_type = if openshift {
        ClusterType::OpenShift
    } else {
        ClusterType::Vanilla
    };
    Ok(KaotoReconciler::new(settings(cluster_type)))
}

/// Settings from environment and build.
fn settings(cluster_type: ClusterType) -> Settings {
    let environment = std::env::var(names::IMAGE_VARIABLE).ok();
    Settings::new(
        cluster_type,
        environment.as_deref(),
        option_env!("KAOTO_APP_IMAGE"),
    )
}
