//! What a classifier is told of a node.

use std::path::PathBuf;

use mainstay_yaml::{Dialect, Limits, SourceName, parse_bytes_as};
use serde_json::{Value, json};

use crate::files;

/// Largest file of facts; the facts of a node rarely have more than a few hundred thousand bytes.
const LARGEST: usize = 64 * 1024 * 1024;

/// The body of a request.
pub(super) fn body(kind: &str, certname: &str, places: &[PathBuf]) -> Vec<u8> {
    let body = match kind {
        "certname" => json!({"certname": certname}),
        "facts" => json!({"certname": certname, "facts": facts(certname, places)}),
        _ => return Vec::new(),
    };
    body.to_string().into_bytes()
}

/// The facts that the server keeps of a node; none if it has none, or has written something else.
fn facts(certname: &str, places: &[PathBuf]) -> Value {
    let limit = u64::try_from(LARGEST).unwrap_or(u64::MAX);
    let mut paths = places
        .iter()
        .map(|place| place.join(format!("{certname}.yaml")));
    let found = paths.find_map(|path| files::read(&path, limit).ok());
    let values = found.and_then(|text| {
        let limits = Limits {
            bytes: LARGEST,
            ..Limits::default()
        };
        let source = SourceName::new("facts");
        let documents = parse_bytes_as(Dialect::Go, &text, &source, &limits).ok()?;
        let mut document = documents.into_iter().next()?;
        document.value.get_mut("values").map(Value::take)
    });
    values.filter(Value::is_object).unwrap_or_else(|| json!({}))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts_of(text: &[u8]) -> Value {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("n.yaml"), text).unwrap();
        let missing = directory.path().join("none");
        facts("n", &[missing, directory.path().to_owned()])
    }

    #[test]
    fn facts_are_read_as_the_server_writes_them() {
        let text = b"--- !ruby/object:Puppet::Node::Facts\nname: n\nvalues:\n  os:\n    family: RedHat\n  \
            processors: 4\n  'on': yes\n  mode: 0644\n  day: 2024-01-02\n  sym: !ruby/sym x\n\
            timestamp: 2024-01-15 10:30:00.000000000 +00:00\n";
        assert_eq!(
            facts_of(text),
            json!({
                "os": {"family": "RedHat"}, "processors": 4, "on": "yes", "mode": 420, "day": "2024-01-02",
                "sym": "x",
            })
        );
    }

    #[test]
    fn what_are_no_facts_counts_as_none() {
        let deep = "[".repeat(100_000);
        let bomb = "a: &a [x, x, x, x, x, x, x, x, x, x]\nb: &b [*a, *a, *a, *a, *a, *a, *a, *a]\n\
            c: &c [*b, *b, *b, *b, *b, *b, *b, *b, *b]\nd: &d [*c, *c, *c, *c, *c, *c, *c, *c, *c]\n\
            e: &e [*d, *d, *d, *d, *d, *d, *d, *d, *d]\nf: &f [*e, *e, *e, *e, *e, *e, *e, *e, *e]\n\
            values: {g: [*f, *f, *f, *f, *f, *f, *f, *f, *f]}\n";
        for text in [
            &b""[..],
            b"values: text\n",
            b"values: [1]\n",
            b"other: {}\n",
            b"\xff\xfe\x00",
            deep.as_bytes(),
            bomb.as_bytes(),
        ] {
            assert_eq!(facts_of(text), json!({}));
        }
    }

    #[test]
    fn bodies_are_compact_json() {
        let text = |kind| String::from_utf8(body(kind, "n", &[])).unwrap();
        assert_eq!(text("certname"), r#"{"certname":"n"}"#);
        assert_eq!(text("facts"), r#"{"certname":"n","facts":{}}"#);
        assert_eq!(text("other"), "");
    }
}
