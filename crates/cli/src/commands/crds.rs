//! `mainstay crds`: the custom resource definitions.

use serde_json::Value;

use crate::{
    args::{CrdsArgs, System},
    commands::write,
    exit::ExitStatus,
    own_kinds::OwnKind,
    printer,
};

pub(crate) fn run(arguments: &CrdsArgs) -> anyhow::Result<ExitStatus> {
    let mut definitions = mainstay_api::crds();
    if !arguments.systems.is_empty() {
        definitions.retain(|(_, definition)| {
            system(definition).is_some_and(|system| arguments.systems.contains(&system))
        });
    }
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

/// The system that a definition belongs to.
fn system(definition: &Value) -> Option<System> {
    let kind = definition.pointer("/spec/names/kind")?.as_str()?;
    OwnKind::named(kind).map(|own| own.system)
}
