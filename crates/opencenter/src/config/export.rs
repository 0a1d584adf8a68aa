//! The effective config as text, with secrets hidden and with the origin of each value beside it.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use super::{
    ClusterConfig, Common, ManagedServices, Root, Services,
    field::{Field, Kind, Section},
    path,
};

/// What stands in the place of a secret.
pub const HIDDEN: &str = "***";

/// How to export a config.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExportOptions {
    /// Whether secrets are hidden.
    pub redact: bool,
    /// Whether each value has a comment with its origin.
    pub show_origin: bool,
}

impl Default for ExportOptions {
    fn default() -> Self {
        Self {
            redact: true,
            show_origin: false,
        }
    }
}

impl ClusterConfig {
    /// The effective config with secrets hidden.
    pub fn redacted(&self) -> Value {
        let mut value = self.effective.clone();
        if let Value::Object(fields) = &mut value {
            self.hide_section(&[Root::SECTION], fields, "");
        }
        value
    }

    fn hide_section(
        &self,
        sections: &[&'static Section],
        fields: &mut Map<String, Value>,
        path: &str,
    ) {
        for (key, value) in fields {
            let place = path::child(path, key);
            match sections.iter().find_map(|section| section.field(key)) {
                Some(field) => self.hide(field, &field.kind, value, &place),
                None => self.hide_tainted(value, &place),
            }
        }
    }

    fn hide(&self, field: &'static Field, kind: &'static Kind, value: &mut Value, path: &str) {
        match (kind, &mut *value) {
            (Kind::Object(section), Value::Object(fields)) => {
                self.hide_section(&[section], fields, path);
            }
            (Kind::List(item), Value::Array(items)) => {
                for (index, value) in items.iter_mut().enumerate() {
                    self.hide(field, item, value, &path::item(path, index));
                }
            }
            (Kind::Map(item), Value::Object(entries)) => {
                for (key, value) in entries {
                    self.hide(field, item, value, &path::child(path, key));
                }
            }
            (Kind::Services, Value::Object(blocks)) => {
                self.hide_services(blocks, path, Services::settings_section);
            }
            (Kind::ManagedServices, Value::Object(blocks)) => {
                self.hide_services(blocks, path, ManagedServices::settings_section);
            }
            (_, Value::String(text)) if field.secret => HIDDEN.clone_into(text),
            _ => self.hide_tainted(value, path),
        }
    }

    fn hide_services(
        &self,
        blocks: &mut Map<String, Value>,
        path: &str,
        settings: fn(&str) -> Option<&'static Section>,
    ) {
        for (name, block) in blocks {
            if let Value::Object(fields) = block {
                let sections: Vec<_> = std::iter::once(Common::SECTION)
                    .chain(settings(name))
                    .collect();
                self.hide_section(&sections, fields, &path::child(path, name));
            }
        }
    }

    /// Values from the environment or from files are secret wherever they stand; so is free text that looks the part.
    fn hide_tainted(&self, value: &mut Value, path: &str) {
        match value {
            Value::String(text) => {
                let key = path.rsplit('.').next().unwrap_or_default();
                if self.origins.is_tainted(path) || looks_secret(key) {
                    HIDDEN.clone_into(text);
                }
            }
            Value::Array(items) => {
                for (index, item) in items.iter_mut().enumerate() {
                    self.hide_tainted(item, &path::item(path, index));
                }
            }
            Value::Object(fields) => {
                for (key, field) in fields {
                    self.hide_tainted(field, &path::child(path, key));
                }
            }
            _ => {}
        }
    }

    /// The effective config as YAML, in the order of the schema.
    pub fn export(&self, options: ExportOptions) -> String {
        let value = if options.redact {
            self.redacted()
        } else {
            self.effective.clone()
        };
        let mut out = String::from("---\n");
        if let Value::Object(fields) = &value {
            let writer = Writer {
                config: self,
                show_origin: options.show_origin,
            };
            writer.section(&mut out, &[Root::SECTION], fields, "", 0);
        }
        out
    }
}

/// Whether the name of a free field says that its value is secret.
fn looks_secret(key: &str) -> bool {
    let key = key.to_lowercase();
    ["password", "secret", "token", "private_key", "credential"]
        .iter()
        .any(|word| key.contains(word))
        && !key.ends_with("_name")
        && !key.ends_with("_file")
        && !key.ends_with("_ref")
}

struct Writer<'config> {
    config: &'config ClusterConfig,
    show_origin: bool,
}

impl Writer<'_> {
    fn section(
        &self,
        out: &mut String,
        sections: &[&'static Section],
        fields: &Map<String, Value>,
        path: &str,
        depth: usize,
    ) {
        let known = sections.iter().flat_map(|section| section.fields);
        for field in known.clone() {
            if let Some(value) = fields.get(field.name) {
                self.entry(out, Some(&field.kind), field.name, value, path, depth);
            }
        }
        for (key, value) in fields {
            if !known.clone().any(|field| field.name == key) {
                self.entry(out, None, key, value, path, depth);
            }
        }
    }

    fn entry(
        &self,
        out: &mut String,
        kind: Option<&Kind>,
        key: &str,
        value: &Value,
        path: &str,
        depth: usize,
    ) {
        if value.as_object().is_some_and(Map::is_empty) {
            return;
        }
        let place = path::child(path, key);
        let indent = "  ".repeat(depth);
        let name = scalar(&Value::from(key));
        // Writing to a String cannot fail.
        let Value::Object(fields) = value else {
            let origin = self.origin(&place);
            let _ = match value {
                Value::Array(items) if !items.is_empty() => {
                    let block = indented(value, &format!("{indent}  "));
                    write!(out, "{indent}{name}:{origin}\n{block}")
                }
                _ => writeln!(out, "{indent}{name}: {}{origin}", scalar(value)),
            };
            return;
        };
        let before = out.len();
        let _ = writeln!(out, "{indent}{name}:");
        let heading = out.len();
        match kind {
            Some(Kind::Object(section)) => self.section(out, &[section], fields, &place, depth + 1),
            Some(Kind::Services) => {
                self.services(out, fields, &place, depth + 1, Services::settings_section);
            }
            Some(Kind::ManagedServices) => {
                self.services(
                    out,
                    fields,
                    &place,
                    depth + 1,
                    ManagedServices::settings_section,
                );
            }
            Some(Kind::Map(item)) => {
                for (key, value) in fields {
                    self.entry(out, Some(item), key, value, &place, depth + 1);
                }
            }
            _ => {
                for (key, value) in fields {
                    self.entry(out, None, key, value, &place, depth + 1);
                }
            }
        }
        // A mapping of empty mappings says nothing.
        if out.len() == heading {
            out.truncate(before);
        }
    }

    fn services(
        &self,
        out: &mut String,
        blocks: &Map<String, Value>,
        path: &str,
        depth: usize,
        settings: fn(&str) -> Option<&'static Section>,
    ) {
        for (name, block) in blocks {
            let Value::Object(fields) = block else {
                continue;
            };
            let indent = "  ".repeat(depth);
            let _ = writeln!(out, "{indent}{name}:");
            let sections: Vec<_> = std::iter::once(Common::SECTION)
                .chain(settings(name))
                .collect();
            self.section(out, &sections, fields, &path::child(path, name), depth + 1);
        }
    }

    fn origin(&self, path: &str) -> String {
        if !self.show_origin {
            return String::new();
        }
        match self.config.origins.get(path) {
            Some(origin) => format!("  # {}", origin.to_string().replace(char::is_control, " ")),
            None => String::new(),
        }
    }
}

fn scalar(value: &Value) -> String {
    let printed = mainstay_yaml::print(value);
    let printed = printed.trim_end_matches('\n');
    if printed.contains('\n') {
        value.to_string()
    } else {
        printed.to_owned()
    }
}

fn indented(value: &Value, indent: &str) -> String {
    mainstay_yaml::print(value)
        .lines()
        .fold(String::new(), |out, line| format!("{out}{indent}{line}\n"))
}
