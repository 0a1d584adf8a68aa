//! Text → objects: every document, lists expanded. Pure.

use std::sync::Arc;

use mainstay_yaml::{Document, ErrorKind, SourceName, parse_released};
use serde_json::Value;

use crate::{
    limits::LoadLimits,
    object::{self, InvalidObject, Object, Origin},
};

/// A text that does not hold objects.
#[derive(Debug, thiserror::Error)]
pub enum ParseError {
    /// It is not YAML, or more than is allowed.
    #[error(transparent)]
    Yaml(#[from] mainstay_yaml::Error),
    /// A document, or an item of a list in it, is no object.
    #[error("{origin}, line {line}, column {column}{item}: {problem}")]
    Object {
        /// The document.
        origin: Origin,
        /// Line of the field, or of its nearest parent that exists.
        line: u32,
        /// Column of it.
        column: u32,
        /// ` items[2]` if it is an item of a list.
        item: String,
        /// What it lacks.
        problem: InvalidObject,
    },
    /// There are more objects than one load may have.
    #[error("{source_name}: there are more than {limit} objects")]
    TooMany {
        /// The text.
        source_name: SourceName,
        /// How many were allowed.
        limit: usize,
    },
}

impl ParseError {
    /// What to do about it, if that is known.
    pub fn hint(&self) -> Option<&str> {
        match self {
            Self::Yaml(error) => error.hint(),
            Self::Object { .. } => {
                Some("every document needs apiVersion, kind and metadata.name or generateName")
            }
            Self::TooMany { .. } => Some("split the bundle"),
        }
    }

    /// Whether the text was refused for its size.
    pub fn is_limit(&self) -> bool {
        match self {
            Self::Yaml(error) => error.kind() == ErrorKind::Limit,
            Self::Object { .. } => false,
            Self::TooMany { .. } => true,
        }
    }
}

/// Objects of a text; any error fails all of it.
///
/// ```
/// let objects = mainstay_manifest::parse::text("
/// apiVersion: v1
/// kind: List
/// items:
/// - {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}
/// - {apiVersion: v1, kind: ConfigMap, metadata: {name: b}}
/// ", "bundle.yaml")?;
/// assert_eq!(objects.len(), 2);
///
/// let error = mainstay_manifest::parse::text("kind: ConfigMap\n", "bundle.yaml").unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "bundle.yaml:1: document 1, line 1, column 1: `apiVersion` is missing or no text"
/// );
/// # Ok::<(), mainstay_manifest::parse::ParseError>(())
/// ```
pub fn text(text: &str, source: &str) -> Result<Vec<Object>, ParseError> {
    bytes(
        text.as_bytes(),
        &SourceName::new(source),
        &LoadLimits::default(),
    )
}

/// Objects of bytes that may not be text, within limits.
pub fn bytes(
    bytes: &[u8],
    source: &SourceName,
    limits: &LoadLimits,
) -> Result<Vec<Object>, ParseError> {
    let documents = parse_released(bytes, source, &limits.for_text())?;
    let mut objects = Vec::new();
    for document in documents {
        let place = Place::of(&document);
        place.expand(document.value.clone(), "", &mut objects)?;
        if objects.len() > limits.documents {
            return Err(ParseError::TooMany {
                source_name: source.clone(),
                limit: limits.documents,
            });
        }
    }
    Ok(objects)
}

/// A document while its objects are taken out.
struct Place<'text> {
    document: &'text Document,
    origin: Arc<Origin>,
}

impl<'text> Place<'text> {
    fn of(document: &'text Document) -> Self {
        Self {
            document,
            origin: Arc::new(Origin {
                source: document.source_name().clone(),
                document: document.index() + 1,
                line: document.first_line(),
            }),
        }
    }

    /// Takes an object, or the items of a list. `pointer` says where it stands in the document.
    fn expand(
        &self,
        mut value: Value,
        pointer: &str,
        objects: &mut Vec<Object>,
    ) -> Result<(), ParseError> {
        let Some(items) = take_items(&mut value) else {
            object::check(&value).map_err(|problem| self.invalid(pointer, problem))?;
            let object = Object::new(value).map_err(|problem| self.invalid(pointer, problem))?;
            objects.push(object.at(Arc::clone(&self.origin)));
            return Ok(());
        };
        for (index, mut item) in items.into_iter().enumerate() {
            name_item(&value, &mut item);
            self.expand(item, &format!("{pointer}/items/{index}"), objects)?;
        }
        Ok(())
    }

    fn invalid(&self, pointer: &str, problem: InvalidObject) -> ParseError {
        let field = format!("{pointer}{}", problem.pointer());
        let position = self.document.position(&field).value;
        let steps = pointer.split('/').skip(1).filter(|step| *step != "items");
        let item = steps.fold(String::new(), |item, step| format!("{item} items[{step}]"));
        ParseError::Object {
            origin: (*self.origin).clone(),
            line: position.line,
            column: position.column,
            item,
            problem,
        }
    }
}

/// The items of a list.
fn take_items(value: &mut Value) -> Option<Vec<Value>> {
    let kind = value.get("kind").and_then(Value::as_str)?;
    if !kind.ends_with("List") {
        return None;
    }
    match value.get_mut("items")?.take() {
        Value::Array(items) => Some(items),
        other => {
            if let Some(items) = value.get_mut("items") {
                *items = other;
            }
            None
        }
    }
}

/// Items of a list of one kind need not say what they are.
fn name_item(list: &Value, item: &mut Value) {
    let kind = list.get("kind").and_then(Value::as_str).unwrap_or_default();
    let kind = kind.strip_suffix("List").filter(|kind| !kind.is_empty());
    if let (Some(kind), Some(item)) = (kind, item.as_object_mut()) {
        item.entry("kind").or_insert_with(|| Value::from(kind));
        if let Some(version) = list.get("apiVersion") {
            item.entry("apiVersion").or_insert_with(|| version.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn names(objects: &[Object]) -> Vec<String> {
        objects.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn documents_without_content_are_skipped_and_json_is_read_in_any_file() {
        let objects = text(
            "\u{feff}# only words\n---\n---\nnull\n---\r\n{\"apiVersion\": \"v1\",\r\n\t\"kind\": \"A\", \"metadata\": {\"name\": \"a\"}}\r\n---\napiVersion: v1\nkind: B\nmetadata: {generateName: b-}\n",
            "a.yaml",
        );
        assert_eq!(names(&objects.unwrap()), ["A a", "B b-*"]);
    }

    #[test]
    fn lists_are_expanded_however_deep_and_their_items_get_their_kind() {
        let objects = text(
            "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: ConfigMapList\n  items:\n  - metadata: {name: a}\n  - {kind: Other, metadata: {name: b}}\n- {apiVersion: v1, kind: A, metadata: {name: c}}\n",
            "a.yaml",
        )
        .unwrap();
        assert_eq!(names(&objects), ["ConfigMap a", "Other b", "A c"]);
        assert_eq!(objects[0].value()["apiVersion"], "v1");
        // A kind that merely ends so is an object.
        let plain = text(
            "apiVersion: v1\nkind: AllowList\nmetadata: {name: a}\n",
            "a",
        )
        .unwrap();
        assert_eq!(names(&plain), ["AllowList a"]);
    }

    #[test]
    fn a_bad_document_is_named_with_file_number_line_and_item() {
        let failure = text(
            "apiVersion: v1\nkind: A\nmetadata: {name: a}\n---\napiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: B\n  metadata: {}\n",
            "bundle/a.yaml",
        )
        .unwrap_err();
        assert_eq!(
            failure.to_string(),
            "bundle/a.yaml:5: document 2, line 10, column 13 items[0]: `metadata.name` or `metadata.generateName` is needed"
        );
    }

    #[test]
    fn modes_are_octal_and_large_numbers_stay_what_they_are() {
        let objects = text(
            "apiVersion: v1\nkind: A\nmetadata: {name: a}\ndefaultMode: 0644\nother: 0o644\nlarge: 9223372036854775807\nbase: &base {x: 1}\nmerged: {<<: *base, z: 2}\n",
            "a.yaml",
        )
        .unwrap();
        let value = objects[0].value();
        assert_eq!(
            (&value["defaultMode"], &value["other"]),
            (&json!(420), &json!(420))
        );
        assert_eq!(value["large"], json!(i64::MAX));
        assert_eq!(value["merged"], json!({"x": 1, "z": 2}));
    }

    #[test]
    fn hostile_texts_are_refused() {
        let twice = "apiVersion: v1\nkind: A\nmetadata: {name: a}\nkind: A\n";
        assert_eq!(text(twice, "a.yaml").unwrap().len(), 1, "nothing is lost");
        let repeated = text("apiVersion: v1\nkind: A\nkind: B\n", "a.yaml").unwrap_err();
        assert!(
            repeated.to_string().starts_with("a.yaml:3:1: "),
            "{repeated}"
        );
        let mut bomb = "a: &a [x,x,x,x,x,x,x,x,x,x]\n".to_owned();
        for level in 0..10 {
            let (this, last) = (char::from(b'b' + level), char::from(b'a' + level));
            let items = format!("*{last},").repeat(10);
            bomb = format!(
                "{bomb}{this}: &{this} [{items}]
"
            );
        }
        assert!(text(&bomb, "a.yaml").unwrap_err().is_limit());
        let deep = format!("a: {}{}", "[".repeat(5_000), "]".repeat(5_000));
        assert!(text(&deep, "a.yaml").is_err());
        let limits = LoadLimits {
            documents: 2,
            ..LoadLimits::default()
        };
        let item = "{apiVersion: v1, kind: A, metadata: {name: a}}";
        let list = format!("{{apiVersion: v1, kind: List, items: [{item}, {item}, {item}]}}");
        let failure = bytes(list.as_bytes(), &SourceName::new("a"), &limits).unwrap_err();
        assert_eq!(failure.to_string(), "a: there are more than 2 objects");
    }
}
