//! `mainstay render`: custom resources in, every object out, without a cluster.

use std::{fmt::Write as _, sync::Arc};

use mainstay_clowder::{
    gates,
    offline::{self, Failure, Reason},
    settings::Settings,
    views,
};
use mainstay_engine::{key::ObjectKey, reconciler::Reconciler};
use mainstay_kaoto::{ClusterType, KaotoReconciler};
use serde_json::Value;

use crate::{
    args::{ClusterKind, RenderArgs, RenderOutput, System},
    commands::{block_on, kaoto_settings, operator_config, write},
    exit::{ExitStatus, Rejected},
    input::{self, Input, Item},
    printer,
};

pub(crate) fn run(arguments: &RenderArgs) -> anyhow::Result<ExitStatus> {
    let input = input::load(&arguments.input)?;
    let settings = if arguments.clowder_from_cluster {
        let (_, settings) = block_on(operator_config::connected(
            &input,
            &arguments.clowder,
            &arguments.cluster,
        ))?;
        settings
    } else {
        operator_config::unconnected(&input, &arguments.clowder)?
    };
    // What is not ours passes through, so that the output is complete.
    let others = input.others.iter().map(|item| item.value.clone());
    let mut objects: Vec<Value> = others.collect();
    objects.extend(kaotos(arguments, &input)?);
    objects.extend(clowder(arguments, &settings, &input)?);
    print(arguments, &objects)?;
    Ok(ExitStatus::Success)
}

fn kaotos(arguments: &RenderArgs, input: &Input) -> anyhow::Result<Vec<Value>> {
    let cluster_type = match arguments.cluster_type {
        ClusterKind::Vanilla => ClusterType::Vanilla,
        ClusterKind::Openshift => ClusterType::OpenShift,
    };
    let reconciler = KaotoReconciler::new(kaoto_settings(cluster_type));
    let mut objects = Vec::new();
    for (_, item) in input.of(System::Kaoto) {
        let kaoto = reconciler
            .decode(&item.value)
            .map_err(|rejection| item.rejected(&rejection))?;
        let set = reconciler
            .render_kaoto(&kaoto)
            .map_err(|failure| item.not_rendered(&failure))?;
        objects.extend(set.bodies().cloned());
    }
    Ok(objects)
}

fn clowder(
    arguments: &RenderArgs,
    settings: &Arc<Settings>,
    input: &Input,
) -> anyhow::Result<Vec<Value>> {
    let roots: Vec<Value> = input
        .of(System::Clowder)
        .map(|(_, item)| item.value.clone())
        .collect();
    if roots.is_empty() {
        return Ok(Vec::new());
    }
    let namespace = arguments.input.namespace.as_deref();
    let others = input.others.iter().map(|item| item.in_namespace(namespace));
    let snapshot = views::files(others.chain(roots.iter().cloned()));
    let rendered = offline::render(settings, snapshot, &roots);
    Ok(rendered.map_err(|failure| failed(input, &failure))?)
}

/// A failure at the place of the object that it is about.
fn failed(input: &Input, failure: &Failure) -> Rejected {
    let item = input.of(System::Clowder).map(|(_, item)| item);
    let Some(item): Option<&Item> = item.into_iter().find(|item| item.key == *failure.key) else {
        return Rejected {
            message: failure.to_string(),
            hint: None,
        };
    };
    match &failure.reason {
        Reason::Rejected(rejection) => item.rejected(rejection),
        // The words that the condition of the app would have.
        Reason::NotRendered(failure) => {
            let words = &failure.source;
            item.stuck(&format_args!("could not render {}: {words}", item.key))
        }
        Reason::Waiting(hold) if hold.reason == gates::ENVIRONMENT_MISSING => {
            absent(item, "/spec/envName", "environment", "ClowdEnvironment")
        }
        Reason::Waiting(hold) if hold.reason == gates::APP_MISSING => {
            absent(item, "/spec/appName", "app", "ClowdApp")
        }
        reason => item.stuck(&format_args!("could not render {}: {reason}", item.key)),
    }
}

/// What an object refers to is not among the files.
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
