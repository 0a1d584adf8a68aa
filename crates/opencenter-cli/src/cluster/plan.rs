//! `cluster plan`: what would be rendered and why; and the artifact that binds a later render to it.

use std::{fs, path::Path};

use anyhow::Context as _;
use mainstay_opencenter::{
    descriptor::Registry,
    finding::{Code, Finding},
    overlay::{PlanArtifact, PlanInputs},
    render::RenderOptions,
};
use mainstay_terminal::printer;

use crate::{
    args::{OutputForm, PlanTreeArgs, SecretsMode},
    load::{self, Cluster},
    report::{self, Answer, code},
    save,
    session::Session,
    tree::{self, Target},
};

pub(super) fn run(session: &Session, arguments: &PlanTreeArgs) -> Answer {
    session.refuse_dry_run("cluster plan")?;
    let options = tree::load_options(session, &arguments.tree);
    let cluster = load::with_options(session, arguments.cluster.id.as_deref(), &options)?;
    let registry = session.registry()?;
    let target = Target::new(
        session,
        &cluster.config,
        &arguments.tree,
        SecretsMode::Encrypt,
    )?;
    let rendered = target.render(&cluster.config, &registry)?;
    if let Some(path) = &arguments.out {
        let inputs = PlanInputs::new(&cluster.bytes, &cluster.config, &registry, &target.options);
        let artifact = PlanArtifact::new(&rendered.tree, inputs);
        let text = serde_json::to_string_pretty(&artifact).map_err(anyhow::Error::new)?;
        save::atomically(path, format!("{text}\n").as_bytes())?;
    }
    if session.output == OutputForm::Text {
        let mut findings = cluster.warnings.clone();
        findings.extend(rendered.warnings.iter().cloned());
        load::tell_warnings(session, &findings);
        printer::to_stdout(&rendered.report.to_text(arguments.explain))?;
    } else {
        let value = serde_json::to_value(&rendered.report).map_err(anyhow::Error::new)?;
        report::show(&value, session.output)?;
    }
    Ok(code::SUCCESS)
}

/// Reads a plan. Refuses if something that it was made from has changed since.
pub(super) fn check(
    path: &Path,
    cluster: &Cluster,
    registry: &Registry,
    options: &RenderOptions,
) -> Answer<PlanArtifact> {
    let could_not = || format!("could not read `{}`", path.display());
    let text = fs::read_to_string(path).with_context(could_not)?;
    let artifact: PlanArtifact = serde_json::from_str(&text)
        .map_err(|error| stale(path, format!("this is no plan: {error}")))?;
    let inputs = PlanInputs::new(&cluster.bytes, &cluster.config, registry, options);
    artifact
        .verify(cluster.config.cluster_name(), &inputs)
        .map_err(|error| stale(path, error.to_string()))?;
    Ok(artifact)
}

/// Refuses a plan that does not hold any more.
pub(super) fn stale(path: &Path, problem: String) -> Finding {
    let mut finding = Finding::new(Code::Oc6047, "", problem);
    finding.file = Some(path.display().to_string());
    finding
}
