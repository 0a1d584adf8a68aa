//! `mainstay manifest select`.

use mainstay_manifest::{LoadLimits, Predicate, Scopes, Source};

use super::{args::SelectArgs, input, output};
use crate::exit::ExitStatus;

pub(super) async fn run(arguments: &SelectArgs) -> anyhow::Result<ExitStatus> {
    let set = input::load(&arguments.source).await?;
    let scopes = Scopes::default().with_definitions(&set);
    let predicate = predicate(arguments, scopes).await?;
    let predicate = if arguments.not { !predicate } else { predicate };
    output::print(&set.select(&predicate), arguments.output)?;
    Ok(ExitStatus::Success)
}

async fn predicate(arguments: &SelectArgs, scopes: Scopes) -> anyhow::Result<Predicate> {
    let mut all = Vec::new();
    if !arguments.kind.is_empty() {
        all.push(Predicate::any(arguments.kind.iter().map(Predicate::kind)));
    }
    if !arguments.name.is_empty() {
        all.push(Predicate::any(arguments.name.iter().map(Predicate::name)));
    }
    all.extend(arguments.group.as_ref().map(Predicate::group));
    all.extend(arguments.namespace.as_ref().map(Predicate::namespace));
    all.extend(arguments.label.iter().map(|text| {
        let (key, value) = key_and_value(text);
        Predicate::label(key, value)
    }));
    all.extend(arguments.annotation.iter().map(|text| {
        let (key, value) = key_and_value(text);
        Predicate::annotation(key, value)
    }));
    if arguments.crds {
        all.push(Predicate::crds());
    }
    if arguments.cluster_scoped {
        all.push(Predicate::cluster_scoped(scopes));
    }
    if let Some(places) = &arguments.in_set {
        let policy = input::policy(&arguments.source)?;
        let source = Source::parse(places, arguments.source.recursive, &policy);
        let other = source
            .map_err(input::refused)?
            .load(&LoadLimits::default())
            .await;
        all.push(Predicate::in_set(&other.map_err(input::refused)?));
    }
    Ok(Predicate::all(all))
}

fn key_and_value(text: &str) -> (&str, Option<&str>) {
    match text.split_once('=') {
        Some((key, value)) => (key, Some(value)),
        None => (text, None),
    }
}
