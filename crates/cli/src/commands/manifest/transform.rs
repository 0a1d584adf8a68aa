//! `mainstay manifest transform`.

use std::{collections::BTreeMap, fs, path::Path};

use anyhow::Context;
use mainstay_manifest::{
    LoadLimits, ManifestSet, Scopes, Source,
    render::{Adjustments, render},
    transform::{Images, Namespace, WorkloadOverride, Workloads},
};
use mainstay_yaml::{Limits, SourceName, from_value_strict, parse_bytes};

use super::{args::TransformArgs, input, output};
use crate::{
    exit::{ExitStatus, Rejected},
    input as files, printer,
};

pub(super) async fn run(arguments: &TransformArgs) -> anyhow::Result<ExitStatus> {
    let set = input::load(&arguments.source).await?;
    let additional = match &arguments.additional {
        None => ManifestSet::default(),
        Some(places) => {
            let policy = input::policy(&arguments.source)?;
            let source = Source::parse(places, false, &policy).map_err(input::refused)?;
            source
                .load(&LoadLimits::default())
                .await
                .map_err(input::refused)?
        }
    };
    let adjustments = adjustments(arguments)?;
    let rendered = render(&set, &additional, &adjustments, &Scopes::default());
    let rendered = rendered.map_err(|error| Rejected {
        message: error.to_string(),
        hint: None,
    })?;
    for name in &rendered.workloads_not_found {
        printer::to_stderr(&format!(
            "warning: there is no Deployment or StatefulSet `{name}`\n"
        ));
    }
    for identity in &rendered.repeated {
        printer::to_stderr(&format!(
            "warning: {identity} is there more than once, the last one counts\n"
        ));
    }
    output::print(&rendered.set, arguments.output)?;
    Ok(ExitStatus::Success)
}

fn adjustments(arguments: &TransformArgs) -> anyhow::Result<Adjustments> {
    let lookup = |name: &str| std::env::var(name).ok();
    let namespace = Namespace::resolved(&arguments.namespace, Scopes::default(), lookup);
    let namespace = namespace.map_err(|problem| rejected("--namespace", &problem))?;
    let workloads = match &arguments.workloads {
        None => Vec::new(),
        Some(path) => workloads(path)?,
    };
    Ok(Adjustments {
        namespace: namespace.target().to_owned(),
        annotations: pairs("--annotation", &arguments.annotation)?,
        labels: pairs("--label", &arguments.label)?,
        images: Images::new()
            .with_registry(arguments.registry.as_str())
            .with_overrides(pairs("--image", &arguments.image)?)
            .with_pull_secrets(arguments.pull_secret.clone()),
        workloads: Workloads(workloads),
        deny_cluster_scoped_additions: arguments.deny_cluster_scoped,
    })
}

fn pairs(flag: &str, texts: &[String]) -> anyhow::Result<BTreeMap<String, String>> {
    let pair = |text: &String| {
        let pair = text.split_once('=').filter(|(key, _)| !key.is_empty());
        let (key, value) =
            pair.ok_or_else(|| rejected(flag, &format!("`{text}` is not KEY=VALUE")))?;
        Ok((key.to_owned(), value.to_owned()))
    };
    texts.iter().map(pair).collect()
}

fn rejected(flag: &str, problem: &dyn std::fmt::Display) -> Rejected {
    Rejected {
        message: format!("{flag}: {problem}"),
        hint: None,
    }
}

/// Overrides, as a list in a file.
fn workloads(path: &Path) -> anyhow::Result<Vec<WorkloadOverride>> {
    let shown = path.display().to_string();
    let bytes = fs::read(path).with_context(|| format!("could not read `{shown}`"))?;
    let source = SourceName::new(&shown);
    let documents = parse_bytes(&bytes, &source, &Limits::default());
    let documents = documents.map_err(|error| files::rejected(&error))?;
    let mut all = Vec::new();
    for document in &documents {
        let read: Vec<WorkloadOverride> =
            from_value_strict(document).map_err(|error| files::rejected(&error))?;
        all.extend(read);
    }
    Ok(all)
}
