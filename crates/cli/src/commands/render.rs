//! `mainstay render`: custom resources in, every object out, without a cluster.

use std::fmt::Write as _;

use mainstay_engine::{corridor::Corridor, key::ObjectKey};
use mainstay_kaoto::{ClusterType, KaotoCorridor};
use serde_json::Value;

use crate::{
    args::{ClusterKind, RenderArgs, RenderOutput},
    commands::{kaoto_settings, write},
    exit::ExitStatus,
    input, printer,
};

pub(crate) fn run(arguments: &RenderArgs) -> anyhow::Result<ExitStatus> {
    let input = input::load(&arguments.input)?;
    let cluster_type = match arguments.cluster_type {
        ClusterKind::Vanilla => ClusterType::Vanilla,
        ClusterKind::Openshift => ClusterType::OpenShift,
    };
    let corridor = KaotoCorridor::new(kaoto_settings(cluster_type));
    // What is not ours passes through, so that the output is complete.
    let mut objects: Vec<Value> = input.others.into_iter().map(|item| item.value).collect();
    for item in &input.kaotos {
        let validated = corridor
            .validate(&item.value, &())
            .map_err(|rejection| item.rejected(&rejection))?;
        let set = corridor
            .render(&validated)
            .map_err(|failure| item.not_rendered(&failure))?;
        objects.extend(set.bodies().cloned());
    }
    print(arguments, &objects)?;
    Ok(ExitStatus::Success)
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
                    write::file(directory, &file_name(&key), &mainstay_yaml::print(object))?;
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
