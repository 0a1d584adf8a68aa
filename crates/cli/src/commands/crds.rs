//! `mainstay crds`: the custom resource definitions.

use serde_json::Value;

use crate::{args::CrdsArgs, commands::write, exit::ExitStatus, printer, systems};

pub(crate) fn run(arguments: &CrdsArgs) -> anyhow::Result<ExitStatus> {
    let asked = systems::chosen(&arguments.systems).into_iter();
    let definitions: Vec<(String, Value)> = asked.flat_map(|system| (system.crds)()).collect();
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
