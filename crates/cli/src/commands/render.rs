//! `mainstay render`: custom resources in, every object out, without a cluster.

use std::fmt::Write as _;

use clap::ArgMatches;
use mainstay_engine::key::ObjectKey;
use mainstay_system::{
    System,
    command::{RenderFailure, RenderFailureReason, RenderInput},
};
use serde_json::Value;

use crate::{
    args::{RenderArgs, RenderOutput},
    commands::{connect, prepare, write},
    exit::{ExitStatus, Rejected},
    input::{self, Input, Item},
    printer,
};

pub(crate) async fn run(arguments: &RenderArgs, flags: &ArgMatches) -> anyhow::Result<ExitStatus> {
    let input = input::load(&arguments.input)?;
    let mut asks = prepare::systems_of(&input).map(|system| system.commands.render_asks_cluster);
    let client = if asks.any(|asks| asks(flags)) {
        Some(connect(&arguments.cluster).await?)
    } else {
        None
    };
    let prepared = prepare::all(&input, flags, client.as_ref()).await?;
    // What is not ours passes through, so that the output is complete.
    let others = input.others.iter().map(|item| item.value.clone());
    let mut objects: Vec<Value> = others.collect();
    let namespace = arguments.input.namespace.as_deref();
    for (system, prepared) in &prepared {
        let resources = input.of(system).map(|(_, item)| item.value.clone());
        let others = input.others.iter().map(|item| item.in_namespace(namespace));
        let files = RenderInput {
            resources: resources.collect(),
            others: others.collect(),
        };
        let rendered = prepared.render(&files);
        objects.extend(rendered.map_err(|failure| failed(&input, system, &failure))?);
    }
    print(arguments, &objects)?;
    Ok(ExitStatus::Success)
}

/// A failure at the place of the resource that it is about.
fn failed(input: &Input, system: &'static System, failure: &RenderFailure) -> Rejected {
    let item = input.of(system).map(|(_, item)| item);
    let item: Option<&Item> = item.into_iter().find(|item| item.key == *failure.key);
    match (&failure.reason, item) {
        (RenderFailureReason::Rejected(rejection), Some(item)) => item.rejected(rejection),
        (RenderFailureReason::Stuck(words), Some(item)) => {
            item.stuck(&format_args!("could not render {}: {words}", item.key))
        }
        (
            RenderFailureReason::Absent {
                pointer,
                what,
                kind,
            },
            Some(item),
        ) => absent(item, pointer, what, kind),
        (_, None) => Rejected {
            message: format!("could not render {}, which is in no file", failure.key),
            hint: None,
        },
    }
}

/// What a resource refers to is not among the files.
fn absent(item: &Item, pointer: &str, what: &str, kind: &str) -> Rejected {
    let name = item.value.pointer(pointer).and_then(Value::as_str);
    Rejected {
        message: format!(
            "{}: the {what} `{}` of {} is not among the files",
            item.at(pointer),
            name.unwrap_or_default(),
            item.key
        ),
        hint: Some(format!(
            "name the file of its {kind} too (-f may be repeated)"
        )),
    }
}

fn print(arguments: &RenderArgs, objects: &[Value]) -> anyhow::Result<()> {
    match (arguments.output, &arguments.output_dir) {
        (RenderOutput::Yaml, _) => printer::to_stdout(&mainstay_yaml::print_documents(objects))?,
        (RenderOutput::Json, _) => {
            let list = serde_json::json!({"apiVersion": "v1", "kind": "List", "items": objects});
            printer::to_stdout(&format!("{}\n", serde_json::to_string_pretty(&list)?))?;
        }
        (RenderOutput::Name, _) => {
            let mut names = String::new();
            for key in objects.iter().filter_map(ObjectKey::of) {
                let _ = writeln!(names, "{key}");
            }
            printer::to_stdout(&names)?;
        }
        (RenderOutput::Dir, Some(directory)) => {
            for object in objects {
                if let Some(key) = ObjectKey::of(object) {
                    let is_secret = key.kind.group.is_empty() && key.kind.kind == "Secret";
                    let write = if is_secret {
                        write::secret_file
                    } else {
                        write::file
                    };
                    write(directory, &file_name(&key), &mainstay_yaml::print(object))?;
                }
            }
        }
        (RenderOutput::Dir, None) => anyhow::bail!("-o dir needs --output-dir"),
    }
    Ok(())
}

/// `namespace/kind-name.yaml`; cluster-scoped objects lie at the top.
fn file_name(key: &ObjectKey) -> String {
    let name = format!("{}-{}.yaml", key.kind.kind.to_lowercase(), key.name);
    if key.namespace.is_empty() {
        name
    } else {
        format!("{}/{name}", key.namespace)
    }
}
