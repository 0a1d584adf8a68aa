//! The one door for YAML: strict reading with positions, safe printing.
//!
//! Reading goes text → [`serde_json::Value`] → type, never straight from text to type: a `String` field would
//! otherwise accept a bare `123` or `yes`, which a cluster refuses. Scalars resolve exactly as `kubectl` resolves
//! them, so what is rendered from a file is what `kubectl apply` would have sent. Every value keeps its place in
//! the text, and every [`Error`] names file, line and column.
//!
//! Printing writes text that YAML 1.1 readers (`kubectl`, Helm, Python) and YAML 1.2 readers take for the same value.
//!
//! ```
//! use mainstay_yaml::{Limits, SourceName, from_value, parse_documents, print};
//!
//! let source = SourceName::new("shop.yaml");
//! let documents = parse_documents("mode: 0644\nname: shop\n", &source, &Limits::default())?;
//! let document = documents.first().expect("the text has one document");
//! assert_eq!(document.value["mode"], 420);
//!
//! let error = from_value::<std::collections::BTreeMap<String, u8>>(document).unwrap_err();
//! assert_eq!(error.to_string(), "shop.yaml:1:7: mode: invalid value: integer `420`, expected u8");
//! assert_eq!(print(&document.value), "mode: 420\nname: shop\n");
//! # Ok::<(), mainstay_yaml::Error>(())
//! ```

#![deny(missing_docs)]

mod document;
mod edit;
mod error;
mod limits;
mod node;
mod parse;
mod print;
mod resolve;
mod source;
mod suggest;
mod typed;

pub use document::{Document, Location};
pub use edit::{EditError, Editor};
pub use error::{Error, ErrorKind};
pub use limits::Limits;
pub use node::Node;
pub use parse::{parse_bytes, parse_bytes_as, parse_documents, parse_documents_as, parse_released};
pub use print::{print, print_documents, print_manifests, print_node};
pub use resolve::Dialect;
pub use source::{Position, SourceName};
pub use suggest::closest;
pub use typed::{from_value, from_value_reporting, from_value_strict};
