//! `mainstay manifest`: bags of YAML, whoever wrote them.

mod apply;
pub(crate) mod args;
mod delete;
mod diff;
mod input;
mod output;
mod progress;
mod select;
mod transform;

use mainstay_manifest::client::KubeClient;

use self::args::{ManifestCommand, ManifestCommandArgs};
use crate::{
    args::ClusterArgs,
    commands::{block_on, connect},
    exit::ExitStatus,
};

/// Who writes, unless it is told otherwise.
const FIELD_MANAGER: &str = "mainstay-manifest";

pub(crate) fn run(arguments: &ManifestCommandArgs) -> anyhow::Result<ExitStatus> {
    match &arguments.command {
        ManifestCommand::Load(arguments) => block_on(async {
            let set = input::load(&arguments.source).await?;
            output::print(&set, arguments.output)?;
            Ok(ExitStatus::Success)
        }),
        ManifestCommand::Select(arguments) => block_on(select::run(arguments)),
        ManifestCommand::Transform(arguments) => block_on(transform::run(arguments)),
        ManifestCommand::Diff(arguments) => block_on(diff::run(arguments)),
        ManifestCommand::Apply(arguments) => block_on(apply::run(arguments)),
        ManifestCommand::Delete(arguments) => block_on(delete::run(arguments)),
    }
}

/// The cluster that the flags name; objects without a namespace go where they say.
async fn cluster(arguments: &ClusterArgs, namespace: Option<&str>) -> anyhow::Result<KubeClient> {
    let client = KubeClient::new(connect(arguments).await?);
    Ok(match namespace {
        Some(namespace) => client.with_default_namespace(namespace),
        None => client,
    })
}
