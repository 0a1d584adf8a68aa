//! What the installed definition of a kind declares, as far as our objects need to know.
//!
//! A definition of another operator may be older than what we write. The API server prunes undeclared fields from a
//! create or update, but refuses a whole apply because of one. So what the published schema does not declare is left out
//! when a plan is made: one body is compared, shown, sent and modelled. Kept is not the schema, only a tree of the paths
//! that were looked up. See `docs/decisions/0005-undeclared-fields.md`.

mod schema;

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use self::schema::Schema;
pub use self::schema::Schemas;

/// Stands for the items of a list in a tree of paths.
const ITEMS: &str = "[]";
/// Stands for all names that have no declaration of their own.
const ANY: &str = "*";
/// Identity and metadata are declared by every definition.
const ALWAYS_DECLARED: &[&str] = &["apiVersion", "kind", "metadata"];

/// A path that was looked up.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Path {
    /// It is declared; below it what was looked up.
    Declared(BTreeMap<Box<str>, Self>),
    /// It is declared, and so is everything below it.
    Open,
    /// It is not declared.
    Undeclared,
}

/// What is known of a definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    /// Tells one published document from the next.
    pub version: String,
    paths: Path,
}

impl Definition {
    /// A definition that nobody publishes: everything counts as declared.
    pub const fn unpublished() -> Self {
        Self {
            version: String::new(),
            paths: Path::Open,
        }
    }

    /// A definition of which nothing has been looked up.
    pub const fn new(version: String) -> Self {
        Self {
            version,
            paths: Path::Declared(BTreeMap::new()),
        }
    }

    /// Looks up all paths of a body.
    pub fn look_up(&mut self, body: &Value, schemas: &Schemas<'_>) {
        let Some(schema) = schemas.root() else {
            self.paths = Path::Open;
            return;
        };
        let (Path::Declared(known), Value::Object(fields)) = (&mut self.paths, body) else {
            return;
        };
        for (name, value) in own_fields(fields) {
            look_up_field(known, name, value, schema, schemas);
        }
    }

    /// Whether all paths of a body have been looked up.
    pub fn covers(&self, body: &Value) -> bool {
        match (&self.paths, body) {
            (Path::Declared(known), Value::Object(fields)) => {
                own_fields(fields).all(|(name, value)| covers(known, name, value))
            }
            _ => true,
        }
    }

    /// Removes from a body what is not declared, and names it: `spec.triggers[].metricType`.
    pub fn leave_out(&self, body: &mut Value) -> Vec<String> {
        let mut left_out = Vec::new();
        if let (Path::Declared(known), Value::Object(fields)) = (&self.paths, body) {
            remove_fields(known, fields, "", &mut left_out);
        }
        left_out.sort();
        left_out.dedup();
        left_out
    }
}

/// The fields of an object that its definition decides about.
fn own_fields(fields: &Map<String, Value>) -> impl Iterator<Item = (&String, &Value)> {
    let decides = |name: &String| !ALWAYS_DECLARED.contains(&name.as_str());
    fields.iter().filter(move |(name, _)| decides(name))
}

fn look_up_field<'document>(
    known: &mut BTreeMap<Box<str>, Path>,
    name: &str,
    value: &Value,
    schema: Schema<'document>,
    schemas: &Schemas<'document>,
) {
    match schemas.field(schema, name) {
        Some((field, is_any)) => {
            let name = if is_any { ANY } else { name };
            let path = known.entry(name.into()).or_insert_with(|| empty(field));
            look_up_value(path, value, field, schemas);
        }
        None => {
            known.insert(name.into(), Path::Undeclared);
        }
    }
}

fn look_up_value<'document>(
    path: &mut Path,
    value: &Value,
    schema: Schema<'document>,
    schemas: &Schemas<'document>,
) {
    let Path::Declared(known) = path else { return };
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                look_up_field(known, name, value, schema, schemas);
            }
        }
        Value::Array(items) => {
            let Some(item) = schemas.items(schema) else {
                *path = Path::Open;
                return;
            };
            let path = known.entry(ITEMS.into()).or_insert_with(|| empty(item));
            for value in items {
                look_up_value(path, value, item, schemas);
            }
        }
        _ => {}
    }
}

fn empty(schema: Schema<'_>) -> Path {
    if schema.is_open() {
        Path::Open
    } else {
        Path::Declared(BTreeMap::new())
    }
}

/// What is known of a field: its own declaration, or that of all names.
fn path_of<'known>(known: &'known BTreeMap<Box<str>, Path>, name: &str) -> Option<&'known Path> {
    known.get(name).or_else(|| known.get(ANY))
}

fn covers(known: &BTreeMap<Box<str>, Path>, name: &str, value: &Value) -> bool {
    path_of(known, name).is_some_and(|path| covers_value(path, value))
}

fn covers_value(path: &Path, value: &Value) -> bool {
    let Path::Declared(known) = path else {
        return true;
    };
    match value {
        Value::Object(fields) => fields
            .iter()
            .all(|(name, value)| covers(known, name, value)),
        Value::Array(items) => items.iter().all(|item| covers(known, ITEMS, item)),
        _ => true,
    }
}

fn remove_fields(
    known: &BTreeMap<Box<str>, Path>,
    fields: &mut Map<String, Value>,
    at: &str,
    left_out: &mut Vec<String>,
) {
    fields.retain(|name, value| {
        let place = || {
            if at.is_empty() {
                name.clone()
            } else {
                format!("{at}.{name}")
            }
        };
        match path_of(known, name) {
            Some(Path::Undeclared) => {
                left_out.push(place());
                false
            }
            Some(Path::Declared(below)) => {
                remove_below(below, value, &place(), left_out);
                true
            }
            Some(Path::Open) | None => true,
        }
    });
}

fn remove_below(
    known: &BTreeMap<Box<str>, Path>,
    value: &mut Value,
    at: &str,
    left_out: &mut Vec<String>,
) {
    match value {
        Value::Object(fields) => remove_fields(known, fields, at, left_out),
        Value::Array(items) => {
            if let Some(Path::Declared(below)) = known.get(ITEMS) {
                let at = format!("{at}{ITEMS}");
                for item in items {
                    remove_below(below, item, &at, left_out);
                }
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests;
