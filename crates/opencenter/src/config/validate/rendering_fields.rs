//! Rendering fields on services that have a descriptor of their own: harmless where they say what holds anyway.

use mainstay_yaml::{Dialect, Limits, SourceName, parse_documents_as};
use serde_json::Value;

use super::Validator;
use crate::{
    catalog::{self, CatalogEntry, ServiceLayer},
    config::{
        Common,
        field::{Fallback, Field},
        path,
    },
    finding::{Code, Finding},
};

/// Fields whose content adds to what the descriptor says.
const ADDITIVE: [&str; 3] = [
    "extra_dependencies",
    "conditional_dependencies",
    "custom_resources",
];

pub(super) fn check(validator: &mut Validator<'_>) {
    let services: Vec<(String, Common)> = validator
        .config
        .services()
        .iter()
        .map(|(name, common)| (name.to_owned(), common.clone()))
        .collect();
    for (name, common) in services {
        let service = path::child("opencenter.services", &name);
        if common.single_stage && common.base_only {
            validator.report(
                Code::Oc3011,
                format!("{service}.single_stage"),
                format!("{name} cannot be both single-stage and base-only"),
            );
        }
        match catalog::find_service(&name) {
            Some(entry) if entry.layer == ServiceLayer::Structural && !common.enabled => {
                let message =
                    format!("{name} is part of the tree's structure and cannot be switched off");
                validator.report(Code::Oc3012, format!("{service}.enabled"), message);
            }
            Some(entry) if entry.layer == ServiceLayer::ConfigOnly && common.enabled => {
                let message = format!("{name} is never rendered as an overlay");
                validator.report(Code::Oc3013, service, message);
            }
            Some(entry) if entry.is_rendered() => described(validator, entry, &service),
            _ => {}
        }
    }
}

fn described(validator: &mut Validator<'_>, entry: &'static CatalogEntry, service: &str) {
    let config = validator.config;
    let written = config.origins.keys_in_file(service);
    let fields = written.iter().filter_map(|key| Common::SECTION.field(key));
    for field in fields.filter(|field| field.rendering_field && !ADDITIVE.contains(&field.name)) {
        let place = path::child(service, field.name);
        let Some(value) = config.lookup(&place) else {
            continue;
        };
        let replaces = field.name == "override_values" && entry.replaceable_values;
        if replaces || says_nothing_new(entry, field, value) {
            continue;
        }
        validator.push(
            Finding::new(
                Code::Oc3010,
                place,
                format!(
                    "`{}` has no effect on {}, which has a descriptor of its own",
                    field.name, entry.name
                ),
            )
            .help("remove the field"),
        );
    }
}

/// Whether the value is what older tools write into every config, or what the descriptor does anyway.
fn says_nothing_new(entry: &CatalogEntry, field: &Field, value: &Value) -> bool {
    if let Fallback::Filled(literal) = field.fallback
        && literal.to_value() == *value
    {
        return true;
    }
    if let Some(usual) = usual_value(entry, field.name)
        && same(&usual, value)
    {
        return true;
    }
    let fact = match field.name {
        "source_name" => Some(format!("opencenter-{}", entry.name)),
        "kustomization_name" => Some(entry.name.to_owned()),
        "helm_release_name" => entry.helm_release.map(|(name, _)| name.to_owned()),
        "values_secret_name" => entry.values_secret.map(str::to_owned),
        "stage_order" => entry.override_first.then(|| "override-first".to_owned()),
        _ => None,
    };
    fact.is_some_and(|fact| *value == fact)
        || (field.name == "namespace_stage" && entry.namespace_stage)
}

/// Equal, or equal once both texts are read as YAML.
fn same(usual: &Value, value: &Value) -> bool {
    let read = |value: &Value| {
        let text = value.as_str()?;
        let documents = parse_documents_as(
            Dialect::Core,
            text,
            &SourceName::new("text"),
            &Limits::default(),
        );
        Some(
            documents
                .ok()?
                .into_iter()
                .map(|document| document.value)
                .collect::<Vec<_>>(),
        )
    };
    usual == value || read(usual).is_some_and(|usual| read(value) == Some(usual))
}

/// What older tools write into the block of a new config.
fn usual_value(entry: &CatalogEntry, field: &str) -> Option<Value> {
    let mut usual = entry.usual.iter();
    let (_, value) = usual.find(|(name, _)| *name == field)?;
    Some(value.to_value())
}
