//! `mainstay crds`: the custom resource definitions.

use crate::{args::CrdsArgs, commands::write, exit::ExitStatus, printer};

pub(crate) fn run(arguments: &CrdsArgs) -> anyhow::Result<ExitStatus> {
    let definitions = mainstay_api::crds();
    match &arguments.output_dir {
        None => printer::to_stdout(&mainstay_yaml::print_documents(
            definitions.iter().map(|(_, definition)| definition),
        ))?,
        Some(directory) => {
            for (name, definition) in &definitions {
                write::file(directory, name, &mainstay_yaml::print(definition))?;
            }
        }
    }
    Ok(ExitStatus::Success)
}
