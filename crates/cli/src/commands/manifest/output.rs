//! Sets on stdout.

use std::fmt::Write as _;

use mainstay_manifest::{ManifestSet, Object};
use serde_json::{Value, json};

use super::args::Output;
use crate::printer;

/// Prints the objects of a set.
pub(super) fn print(set: &ManifestSet, output: Output) -> anyhow::Result<()> {
    let text = match output {
        Output::Yaml => set.to_yaml(),
        Output::Json => {
            let items: Vec<&Value> = set.iter().map(Object::value).collect();
            let list = json!({"apiVersion": "v1", "kind": "List", "items": items});
            format!("{}\n", serde_json::to_string_pretty(&list)?)
        }
        Output::Name => set.iter().fold(String::new(), |mut text, object| {
            // Writing to a String cannot fail.
            let _ = writeln!(text, "{object}");
            text
        }),
        Output::Hash => format!("{}\n", set.hash()),
    };
    Ok(printer::to_stdout(&text)?)
}
