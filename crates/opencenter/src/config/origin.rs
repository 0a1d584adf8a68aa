//! Where each effective value comes from.
//!
//! Only what is not plain from the file is recorded: moved keys, references, filled-in defaults. Places in the file are
//! looked up when somebody asks.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    sync::Arc,
};

use mainstay_yaml::{Document, Position};
use serde_json::Value;

use super::{
    field::Fallback,
    lookup,
    outside::{Mask, OutsideText, OutsideValue},
    path,
};

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The file sets it, here.
    File(Position),
    /// The file sets it under a legacy key.
    Alias {
        /// The key in the file, as a dotted path.
        legacy: String,
        /// Where the key stands.
        position: Position,
    },
    /// The file names another value, a variable or a file.
    Reference {
        /// The reference as it is written, such as `${ref:opencenter.meta.name}`.
        expression: String,
        /// Where the reference stands.
        position: Position,
    },
    /// The default of the field's type.
    TypeDefault,
    /// The catalog's default for the service.
    CatalogDefault,
    /// The default of the infrastructure provider.
    ProviderDefault(&'static str),
    /// Made from other values by a rule.
    Derived(&'static str),
}

impl Origin {
    /// Whether the file itself sets the value.
    pub fn is_explicit(&self) -> bool {
        matches!(
            self,
            Self::File(_) | Self::Alias { .. } | Self::Reference { .. }
        )
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(position) => write!(formatter, "line {}", position.line),
            Self::Alias { legacy, position } => {
                write!(formatter, "line {}, as {legacy}", position.line)
            }
            Self::Reference {
                expression,
                position,
            } => {
                write!(formatter, "line {}, {expression}", position.line)
            }
            Self::TypeDefault => formatter.write_str("default"),
            Self::CatalogDefault => formatter.write_str("default of the service"),
            Self::ProviderDefault(rule) => write!(formatter, "default of the provider: {rule}"),
            Self::Derived(rule) => write!(formatter, "derived: {rule}"),
        }
    }
}

/// Whether the types fill in a value at this path.
fn is_type_default(path: &str) -> bool {
    let known = lookup::lookup(path);
    known.is_ok_and(|known| {
        known
            .field()
            .is_some_and(|field| matches!(field.fallback, Fallback::Filled(_)))
    })
}

/// The origin of every value of one config.
#[derive(Clone)]
pub struct Origins {
    document: Arc<Document>,
    /// Values that stood elsewhere in the file: where they are now, where they were.
    moved: Vec<(String, String)>,
    references: BTreeMap<String, String>,
    /// Values that came from the environment or from another file, by field.
    outside: Vec<OutsideValue>,
    /// Fields that hold such values, unless these are declared public; to be treated as secret.
    tainted: BTreeSet<String>,
    filled: BTreeMap<String, Origin>,
}

impl fmt::Debug for Origins {
    /// Without the document, which holds secrets.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Origins")
            .field("moved", &self.moved)
            .field("filled", &self.filled)
            .finish_non_exhaustive()
    }
}

impl Origins {
    pub(crate) fn new(document: Arc<Document>) -> Self {
        Self {
            document,
            moved: Vec::new(),
            references: BTreeMap::new(),
            outside: Vec::new(),
            tainted: BTreeSet::new(),
            filled: BTreeMap::new(),
        }
    }

    /// The origin of the value at a path; none if neither the file nor a default has it.
    pub fn get(&self, path: &str) -> Option<Origin> {
        if let Some(origin) = self.filled.get(path) {
            return Some(origin.clone());
        }
        let (in_file, is_moved) = self.path_in_file(path);
        let steps = path::steps(&in_file)?;
        let location = self.document.position(&path::pointer(&steps));
        if !location.exact || self.is_blank(&in_file) {
            return is_type_default(path).then_some(Origin::TypeDefault);
        }
        let position = location.value;
        Some(match self.references.get(path) {
            Some(expression) => Origin::Reference {
                expression: expression.clone(),
                position,
            },
            None if is_moved => Origin::Alias {
                legacy: in_file,
                position,
            },
            None => Origin::File(position),
        })
    }

    /// Whether the file has the key, but no value for it.
    fn is_blank(&self, path: &str) -> bool {
        match path::get(&self.document.value, path) {
            None | Some(Value::Null) => true,
            Some(value) => value.as_str() == Some(""),
        }
    }

    /// The keys of a mapping as the file has them.
    pub(crate) fn keys_in_file(&self, path: &str) -> Vec<&str> {
        match path::get(&self.document.value, &self.path_in_file(path).0) {
            Some(Value::Object(fields)) => fields.keys().map(String::as_str).collect(),
            _ => Vec::new(),
        }
    }

    /// Whether the value came from the environment or from another file, and must be treated as secret.
    pub fn is_tainted(&self, path: &str) -> bool {
        self.tainted.contains(path)
    }

    /// The place of a value in the file, or of its nearest parent that exists.
    pub fn position(&self, path: &str) -> Position {
        self.place(path, false)
    }

    /// The place of a key in the file, or of its nearest parent that exists.
    pub fn key_position(&self, path: &str) -> Position {
        self.place(path, true)
    }

    fn place(&self, path: &str, at_key: bool) -> Position {
        let (in_file, _) = self.path_in_file(path);
        let steps = path::steps(&in_file).unwrap_or_default();
        let location = self.document.position(&path::pointer(&steps));
        // What is missing is best pointed at by the key of what lacks it.
        match location.key {
            Some(key) if at_key || !location.exact => key,
            _ => location.value,
        }
    }

    /// Where a value stands in the file, and whether that is another path.
    fn path_in_file(&self, path: &str) -> (String, bool) {
        let mut current = path.to_owned();
        let mut is_moved = false;
        // The last move was made last, so it is undone first.
        for (now, before) in self.moved.iter().rev() {
            if let Some(rest) = current.strip_prefix(now.as_str())
                && (rest.is_empty() || rest.starts_with(['.', '[']))
            {
                current = format!("{before}{rest}");
                is_moved = true;
            }
        }
        (current, is_moved)
    }

    pub(crate) fn record_move(&mut self, legacy: &str, canonical: &str) {
        self.moved.push((canonical.to_owned(), legacy.to_owned()));
    }

    pub(crate) fn record_reference(
        &mut self,
        path: &str,
        expression: &str,
        outside: Vec<Arc<OutsideText>>,
    ) {
        self.references
            .insert(path.to_owned(), expression.to_owned());
        for source in outside {
            if !source.is_public {
                self.tainted.insert(path.to_owned());
            }
            self.outside.push(OutsideValue {
                path: path.to_owned(),
                source,
            });
        }
    }

    /// Says that a field holds a copy of another.
    pub(crate) fn record_copy(&mut self, from: &str, to: &str) {
        let copies: Vec<OutsideValue> = self
            .outside
            .iter()
            .filter(|value| value.path == from)
            .map(|value| OutsideValue {
                path: to.to_owned(),
                source: Arc::clone(&value.source),
            })
            .collect();
        self.outside.extend(copies);
        if self.tainted.contains(from) {
            self.tainted.insert(to.to_owned());
        }
    }

    /// Everything that came from the environment or from other files, field by field.
    pub fn outside(&self) -> &[OutsideValue] {
        &self.outside
    }

    /// What hides the values from outside in texts for people.
    pub fn mask(&self) -> Mask {
        let hidden = self.outside.iter().filter(|value| value.is_hidden());
        Mask::new(hidden.map(OutsideValue::expose))
    }

    pub(crate) fn record_default(&mut self, path: String, origin: Origin) {
        self.filled.insert(path, origin);
    }

    /// The name of the file.
    pub fn source_name(&self) -> &mainstay_yaml::SourceName {
        self.document.source_name()
    }

    pub(crate) fn document(&self) -> &Document {
        &self.document
    }
}
