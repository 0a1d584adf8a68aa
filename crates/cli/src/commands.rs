//! One file per command.

mod apply;
mod bundle;
mod completions;
mod crds;
mod family;
pub(crate) mod manifest;
mod plan;
mod prepare;
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
use clap::ArgMatches;
use kube::{Client, Config};
use mainstay_cluster::client;
pub(crate) use mainstay_terminal::output_files as write;

use crate::{
    args::{Cli, ClusterArgs, Command},
    exit::{self, ExitStatus},
    settings, systems,
};

/// Runs the command and says how the program ends.
pub(crate) fn dispatch(cli: Cli, matches: &ArgMatches, program: &'static str) -> ExitStatus {
    cli.color.choose();
    // The systems find their own flags here.
    let flags = matches.subcommand().map_or(matches, |(_, flags)| flags);
    exit::conclude(match cli.command {
        Command::OpenCenter(command) => Ok(mainstay_opencenter_cli::run(&command)),
        Command::Run(arguments) => {
            let settings = settings::run(systems::chosen(&arguments.systems), flags);
            settings.and_then(|settings| run::run(&settings))
        }
        Command::Render(arguments) => block_on(render::run(&arguments, flags)),
        Command::Plan(arguments) => block_on(plan::run(&arguments, flags)),
        Command::Apply(arguments) => block_on(apply::run(&arguments, flags)),
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
