//! One file per command.

mod apply;
mod bundle;
mod completions;
mod crds;
mod family;
pub(crate) mod manifest;
pub(crate) mod operator_config;
mod plan;
mod rbac;
mod reference;
mod render;
pub(crate) mod run;
pub(crate) mod sessions;
mod tree;
mod user_object;
mod version;
mod why;

use std::future::Future;

use anyhow::Context;
use kube::{Client, Config};
use mainstay_cluster::{client, discovery};
use mainstay_kaoto::{
    ClusterType, KaotoReconciler, Settings, names, settings::ROUTE_GROUP_VERSION,
};
pub(crate) use mainstay_terminal::output_files as write;

use crate::{
    args::{Cli, ClusterArgs, Command},
    exit::{self, ExitStatus},
    settings,
};

/// Runs the command and says how the program ends.
pub(crate) fn dispatch(cli: Cli, program: &'static str) -> ExitStatus {
    cli.color.choose();
    exit::conclude(match cli.command {
        Command::OpenCenter(command) => Ok(mainstay_opencenter_cli::run(&command)),
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
        Command::Manifest(arguments) => manifest::run(&arguments),
        Command::Reference(arguments) => reference::run(&arguments),
        Command::Completions(arguments) => completions::run(&arguments, program),
        Command::Version => version::run(),
    })
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
