//! One file per command.

mod apply;
mod bundle;
pub(crate) mod cluster;
mod completions;
mod crds;
pub(crate) mod descriptor;
mod family;
pub(crate) mod operator_config;
mod plan;
mod rbac;
mod reference;
mod render;
pub(crate) mod run;
pub(crate) mod secrets;
pub(crate) mod sessions;
mod tree;
mod user_object;
mod version;
mod why;
pub(crate) mod write;

use std::future::Future;

use anyhow::Context;
use kube::{Client, Config};
use mainstay_cluster::{client, discovery};
use mainstay_kaoto::{
    ClusterType, KaotoReconciler, Settings, names, settings::ROUTE_GROUP_VERSION,
};

use crate::{
    args::{Cli, ClusterArgs, Color, Command},
    exit::{self, ExitStatus},
    settings,
};

/// Runs the command and says how the program ends.
pub(crate) fn dispatch(cli: Cli, program: &'static str) -> ExitStatus {
    choose_color(cli.color);
    exit::conclude(match cli.command {
        // openCenter has exit codes of its own.
        Command::Cluster(arguments) => Ok(cluster::run(&arguments)),
        Command::Descriptor(arguments) => Ok(descriptor::run(&arguments)),
        Command::Secrets(arguments) => Ok(secrets::run(&arguments)),
        Command::Run(arguments) => settings::run(
            arguments.systems,
            arguments.process,
            arguments.clowder,
            &arguments.log,
            arguments.cluster,
        )
        .and_then(|settings| run::run(&settings)),
        Command::Render(arguments) => render::run(&arguments),
        Command::Plan(arguments) => block_on(plan::run(&arguments)),
        Command::Apply(arguments) => block_on(apply::run(&arguments)),
        Command::Tree(arguments) => block_on(tree::run(&arguments)),
        Command::Why(arguments) => block_on(why::run(&arguments)),
        Command::Crds(arguments) => crds::run(&arguments),
        Command::Rbac(arguments) => rbac::run(&arguments),
        Command::Bundle(arguments) => bundle::run(&arguments),
        Command::Reference(arguments) => reference::run(&arguments),
        Command::Completions(arguments) => completions::run(&arguments, program),
        Command::Version => version::run(),
    })
}

/// Decides about colours for everything that is printed from here on.
pub(crate) fn choose_color(color: Color) {
    match color {
        Color::Auto => {}
        Color::Always => anstream::ColorChoice::Always.write_global(),
        Color::Never => anstream::ColorChoice::Never.write_global(),
    }
}

/// Only commands that talk to a cluster pay for a runtime.
fn block_on<T>(work: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime
        .context("could not start the async runtime")?
        .block_on(work)
}

/// Connects to the cluster that the flags name.
async fn connect(arguments: &ClusterArgs) -> anyhow::Result<Client> {
    let config = find_config(arguments).await?;
    let context = arguments.context.clone();
    let context = context.or_else(|| client::current_context(arguments.kubeconfig.as_deref()));
    Ok(client::connect(config, context.as_deref())?)
}

/// Finds the cluster that the flags name.
async fn find_config(arguments: &ClusterArgs) -> anyhow::Result<Config> {
    let kubeconfig = arguments.kubeconfig.as_deref();
    Ok(client::find_config(kubeconfig, arguments.context.as_deref()).await?)
}

/// The Kaoto reconciler for the cluster behind the client.
async fn kaoto_reconciler(client: &Client) -> anyhow::Result<KaotoReconciler> {
    let openshift = discovery::serves(client, ROUTE_GROUP_VERSION).await;
    let openshift = openshift.with_context(|| {
        format!("could not find out whether the cluster serves {ROUTE_GROUP_VERSION}")
    })?;
    let cluster_type = if openshift {
        ClusterType::OpenShift
    } else {
        ClusterType::Vanilla
    };
    Ok(KaotoReconciler::new(kaoto_settings(cluster_type)))
}

/// Settings of Kaoto from environment and build.
fn kaoto_settings(cluster_type: ClusterType) -> Settings {
    let environment = std::env::var(names::IMAGE_VARIABLE).ok();
    Settings::new(
        cluster_type,
        environment.as_deref(),
        option_env!("KAOTO_APP_IMAGE"),
    )
}
