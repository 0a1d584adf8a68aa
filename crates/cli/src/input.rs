//! Files in: YAML documents with their positions, told apart into our custom resources and the rest.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{self, Read},
    path::{Path, PathBuf},
};

use anyhow::Context;
use mainstay_engine::{key::ObjectKey, kind::Scope, reconciler::Rejection, unit::UnitFailure};
use mainstay_system::System;
use mainstay_yaml::{Document, Limits, SourceName, parse_bytes};
use serde_json::Value;

use crate::{args::FileArgs, exit::Rejected, systems::OwnKind};

/// One object of the input.
#[derive(Debug)]
pub(crate) struct Item {
    /// Its identity; the namespace is filled in.
    pub(crate) key: ObjectKey,
    /// The object, with the namespace filled in.
    pub(crate) value: Value,
    /// Where it stands.
    document: Document,
}

/// The whole input.
#[derive(Debug, Default)]
pub(crate) struct Input {
    /// Custom resources of ours, in the order in which they have to be applied.
    pub(crate) own: Vec<(OwnKind, Item)>,
    /// Everything else.
    pub(crate) others: Vec<Item>,
}

impl Input {
    /// The custom resources of one system.
    pub(crate) fn of(&self, system: &'static System) -> impl Iterator<Item = &(OwnKind, Item)> {
        self.own.iter().filter(move |(own, _)| own.system == system)
    }
}

impl Item {
    /// The object as it stands in a namespace: its own, or the one that is used for those that name none.
    pub(crate) fn in_namespace(&self, namespace: Option<&str>) -> Value {
        let mut value = self.value.clone();
        if self.key.namespace.is_empty() {
            set_namespace(&mut value, namespace.unwrap_or("default"));
        }
        value
    }

    /// `file:line:column` of a value in the object.
    pub(crate) fn at(&self, pointer: &str) -> String {
        at(&self.document, pointer)
    }

    /// `file:line` of the object.
    pub(crate) fn place(&self) -> String {
        format!(
            "{}:{}",
            self.document.source_name().as_str(),
            self.document.first_line()
        )
    }

    /// A failed unit with file and line of the object.
    pub(crate) fn not_rendered(&self, failure: &UnitFailure) -> Rejected {
        self.stuck(&format_args!("could not render {}: {failure}", self.key))
    }

    /// Words about the object with its file and line.
    pub(crate) fn stuck(&self, why: &dyn std::fmt::Display) -> Rejected {
        Rejected {
            message: format!("{}: {why}", self.place()),
            hint: None,
        }
    }

    /// A rejection with file, line and column of the field.
    pub(crate) fn rejected(&self, rejection: &Rejection) -> Rejected {
        let pointer = format!("/{}", rejection.path.replace('.', "/"));
        Rejected {
            message: format!("{}: {rejection}", at(&self.document, &pointer)),
            hint: rejection.hint.clone(),
        }
    }
}

/// `file:line:column` of a value.
fn at(document: &Document, pointer: &str) -> String {
    let position = document.position(pointer).value;
    let source = document.source_name().as_str();
    format!("{source}:{}:{}", position.line, position.column)
}

/// Reads all files and directories.
pub(crate) fn load(arguments: &FileArgs) -> anyhow::Result<Input> {
    let mut input = Input::default();
    let mut places: BTreeMap<ObjectKey, String> = BTreeMap::new();
    for path in files(&arguments.files)? {
        let (source, bytes) = read(&path)?;
        let documents =
            parse_bytes(&bytes, &source, &Limits::default()).map_err(|error| rejected(&error))?;
        for document in documents {
            let item = item(document, arguments.namespace.as_deref())?;
            if let Some(first) = places.insert(item.key.clone(), item.place()) {
                return Err(Rejected {
                    message: format!(
                        "{}: {} was declared before at {first}",
                        at(&item.document, "/metadata/name"),
                        item.key
                    ),
                    hint: Some("remove one of the two".to_owned()),
                }
                .into());
            }
            match own_kind(&item)? {
                Some(own) => input.own.push((own, item)),
                None => input.others.push(item),
            }
        }
    }
    input.own.sort_by_key(|(own, _)| own.position());
    Ok(input)
}

/// A finding in a text, with the line that it is about.
pub(crate) fn rejected(error: &mainstay_yaml::Error) -> Rejected {
    let text = error.render();
    let hint = error.hint().map(str::to_owned);
    // The hint has its own place in what the user sees.
    let told = hint.as_ref().map(|hint| format!("hint: {hint}"));
    let message = told
        .as_deref()
        .and_then(|told| text.trim_end().strip_suffix(told));
    Rejected {
        message: message.unwrap_or(&text).trim_end().to_owned(),
        hint,
    }
}

/// The row of a custom resource of ours, if the object is one and well-formed.
fn own_kind(item: &Item) -> anyhow::Result<Option<OwnKind>> {
    let kind = &item.key.kind;
    if !OwnKind::is_own_group(&kind.group) {
        return Ok(None);
    }
    let Some(own) = OwnKind::find(kind) else {
        let known = OwnKind::all().map(|own| &own.row.kind);
        let known: Vec<String> = known
            .filter(|known| known.group == kind.group)
            .map(|known| format!("apiVersion {} and kind {known}", known.api_version()))
            .collect();
        return Err(Rejected {
            message: format!(
                "{}: there is no kind {kind} in {}",
                at(&item.document, "/kind"),
                kind.api_version()
            ),
            hint: Some(format!("use {}", known.join(", or "))),
        }
        .into());
    };
    own.check(&item.document)
        .map_err(|error| rejected(&error))?;
    Ok(Some(own))
}

fn item(document: Document, namespace: Option<&str>) -> anyhow::Result<Item> {
    let mut value = document.value.clone();
    let Some(mut key) = ObjectKey::of(&value) else {
        return Err(Rejected {
            message: format!("{}: this is no Kubernetes object", at(&document, "")),
            hint: Some("apiVersion, kind and metadata.name are needed".to_owned()),
        }
        .into());
    };
    if let Some(own) = OwnKind::find(&key.kind) {
        match own.row.scope {
            Scope::Namespaced if key.namespace.is_empty() => {
                namespace
                    .unwrap_or("default")
                    .clone_into(&mut key.namespace);
            }
            Scope::Namespaced => {}
            // The API server overlooks a namespace here.
            Scope::Cluster => key.namespace.clear(),
        }
        set_namespace(&mut value, &key.namespace);
    }
    Ok(Item {
        key,
        value,
        document,
    })
}

fn set_namespace(object: &mut Value, namespace: &str) {
    let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) else {
        return;
    };
    if namespace.is_empty() {
        metadata.remove("namespace");
    } else {
        metadata.insert("namespace".to_owned(), Value::from(namespace));
    }
}

/// Files in the given order, those of a directory sorted by name.
fn files(paths: &[PathBuf]) -> anyhow::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for path in paths {
        if !path.is_dir() {
            files.push(path.clone());
            continue;
        }
        let could_not = || format!("could not read directory `{}`", path.display());
        let entries: Vec<_> = path
            .read_dir()
            .with_context(could_not)?
            .collect::<io::Result<_>>()
            .with_context(could_not)?;
        let is_manifest = |path: &PathBuf| {
            let extension = path.extension().and_then(|extension| extension.to_str());
            path.is_file() && matches!(extension, Some("yaml" | "yml" | "json"))
        };
        let mut inside: Vec<PathBuf> = entries
            .into_iter()
            .map(|entry| entry.path())
            .filter(is_manifest)
            .collect();
        inside.sort();
        if inside.is_empty() {
            anyhow::bail!(
                "directory `{}` holds no .yaml, .yml or .json file",
                path.display()
            );
        }
        files.extend(inside);
    }
    Ok(files)
}

/// Reads a file, or stdin for `-`, but never more than the limit and one byte: the parser then says so.
fn read(path: &Path) -> anyhow::Result<(SourceName, Vec<u8>)> {
    let limit = u64::try_from(Limits::default().bytes)
        .unwrap_or(u64::MAX)
        .saturating_add(1);
    let mut bytes = Vec::new();
    if path == Path::new("-") {
        io::stdin()
            .lock()
            .take(limit)
            .read_to_end(&mut bytes)
            .context("could not read stdin")?;
        return Ok((SourceName::stdin(), bytes));
    }
    let could_not = || format!("could not read `{}`", path.display());
    let file = File::open(path).with_context(could_not)?;
    file.take(limit)
        .read_to_end(&mut bytes)
        .with_context(could_not)?;
    Ok((SourceName::new(path.display().to_string()), bytes))
}
