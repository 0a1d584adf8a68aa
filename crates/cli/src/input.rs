//! Files in: YAML documents with their positions, told apart into our custom resources and the rest.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{self, Read},
    path::{Path, PathBuf},
};

use anyhow::Context;
use mainstay_api::kaoto::Kaoto;
use mainstay_engine::{corridor::Rejection, key::ObjectKey, unit::UnitFailure};
use mainstay_kaoto::names;
use mainstay_yaml::{Document, Limits, SourceName, from_value_strict, parse_bytes};
use serde_json::Value;

use crate::{args::FileArgs, exit::Rejected};

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
    /// Objects of `Kaoto`.
    pub(crate) kaotos: Vec<Item>,
    /// Everything that is not a custom resource of ours.
    pub(crate) others: Vec<Item>,
}

impl Item {
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
        Rejected {
            message: format!("{}: could not render {}: {failure}", self.place(), self.key),
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
            if item.key.kind.group == names::GROUP {
                check_kaoto(&item)?;
                input.kaotos.push(item);
            } else {
                input.others.push(item);
            }
        }
    }
    Ok(input)
}

fn rejected(error: &mainstay_yaml::Error) -> Rejected {
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

/// The strict reading finds what the API server would silently drop.
fn check_kaoto(item: &Item) -> anyhow::Result<()> {
    if item.key.kind.kind != names::KIND || item.key.kind.version != names::VERSION {
        return Err(Rejected {
            message: format!(
                "{}: there is no kind {} in {}",
                at(&item.document, "/kind"),
                item.key.kind,
                item.key.kind.api_version()
            ),
            hint: Some(format!(
                "use apiVersion {}/{} and kind {}",
                names::GROUP,
                names::VERSION,
                names::KIND
            )),
        }
        .into());
    }
    // The type carries its own identity and does not know these two as fields.
    let mut document = item.document.clone();
    if let Some(fields) = document.value.as_object_mut() {
        fields.remove("apiVersion");
        fields.remove("kind");
    }
    from_value_strict::<Kaoto>(&document).map_err(|error| rejected(&error))?;
    Ok(())
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
    if key.namespace.is_empty() && key.kind.group == names::GROUP {
        namespace
            .unwrap_or("default")
            .clone_into(&mut key.namespace);
        if let Some(metadata) = value.get_mut("metadata").and_then(Value::as_object_mut) {
            metadata.insert("namespace".to_owned(), Value::from(key.namespace.as_str()));
        }
    }
    Ok(Item {
        key,
        value,
        document,
    })
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
