//! `mainstay manifest diff`.

use mainstay_manifest::preview::{Difference, PatchKind, preview};

use super::{
    args::{DiffArgs, DiffOutput},
    cluster, input,
};
use crate::{exit::ExitStatus, printer};

pub(super) async fn run(arguments: &DiffArgs) -> anyhow::Result<ExitStatus> {
    let set = input::load(&arguments.source).await?;
    let set = input::managed_by(&set, &arguments.merge.field_manager);
    let client = cluster(&arguments.cluster, arguments.merge.namespace.as_deref()).await?;
    let differences = preview(&client, &set, arguments.merge.strategy.into()).await?;
    for difference in &differences {
        printer::to_stdout(&text(difference, arguments))?;
    }
    Ok(if differences.is_empty() {
        ExitStatus::Success
    } else {
        ExitStatus::Difference
    })
}

fn text(difference: &Difference, arguments: &DiffArgs) -> String {
    match arguments.output {
        DiffOutput::Unified => difference.unified(),
        DiffOutput::Patch => {
            let kind = match difference.kind {
                PatchKind::Create => "create",
                PatchKind::Strategic => "strategic",
                PatchKind::Merge => "merge",
            };
            let patch = if arguments.show_secrets {
                difference.patch.clone()
            } else {
                difference.patch_without_secrets()
            };
            format!("---\n# {kind}\n{}", mainstay_yaml::print(&patch))
        }
        DiffOutput::Name => format!("{}\n", difference.object),
    }
}
