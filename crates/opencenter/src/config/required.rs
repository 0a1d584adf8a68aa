//! What must be there once defaults are filled in.
//!
//! Blocks that are switched off are not asked for anything.

use serde_json::{Map, Value};

use super::{
    Common, ManagedServices, Services,
    draft::Draft,
    field::{Kind, Section},
    path::Trail,
    root::Root,
};
use crate::finding::{Code, Finding};

/// Reports every required value that is absent.
pub(crate) fn check(draft: &mut Draft) {
    let mut missing = Vec::new();
    if let Value::Object(fields) = &draft.value {
        section(Root::SECTION, fields, &Trail::Root, &mut missing);
    }
    for finding in missing {
        draft.report(finding);
    }
}

fn section(
    section: &'static Section,
    fields: &Map<String, Value>,
    path: &Trail<'_>,
    missing: &mut Vec<Finding>,
) {
    let is_switch = section.field("enabled").is_some();
    if is_switch && fields.get("enabled") != Some(&Value::Bool(true)) {
        return;
    }
    for field in section.fields {
        let place = path.key(field.name);
        match fields.get(field.name) {
            Some(found) => value(&field.kind, found, &place, missing),
            None if field.required => {
                let code = field.missing.unwrap_or(Code::Oc2001);
                let message = format!("`{}` is missing", field.name);
                let help = format!("add `{}`: {}", field.name, field.description());
                missing.push(
                    Finding::new(code, place.path(), message).help(help.trim_end_matches('.')),
                );
            }
            None => {}
        }
    }
}

fn value(kind: &'static Kind, found: &Value, path: &Trail<'_>, missing: &mut Vec<Finding>) {
    match (kind, found) {
        (Kind::Object(inner), Value::Object(fields)) => section(inner, fields, path, missing),
        (Kind::List(item), Value::Array(items)) => {
            for (index, found) in items.iter().enumerate() {
                value(item, found, &path.item(index), missing);
            }
        }
        (Kind::Map(item), Value::Object(entries)) => {
            for (key, found) in entries {
                value(item, found, &path.key(key), missing);
            }
        }
        (Kind::Services, Value::Object(blocks)) => {
            services(blocks, path, Services::settings_section, missing);
        }
        (Kind::ManagedServices, Value::Object(blocks)) => {
            services(blocks, path, ManagedServices::settings_section, missing);
        }
        _ => {}
    }
}

fn services(
    blocks: &Map<String, Value>,
    path: &Trail<'_>,
    settings: fn(&str) -> Option<&'static Section>,
    missing: &mut Vec<Finding>,
) {
    for (name, block) in blocks {
        let Some(fields) = block.as_object() else {
            continue;
        };
        if fields.get("enabled") != Some(&Value::Bool(true)) {
            continue;
        }
        for part in std::iter::once(Common::SECTION).chain(settings(name)) {
            section(part, fields, &path.key(name), missing);
        }
    }
}
