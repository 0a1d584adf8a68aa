//! The answer of a classifier, and the form in which a Puppet server reads it.

use std::str::FromStr;

use mainstay_yaml::{Dialect, Limits, Node, SourceName, parse_bytes_as, print_node};
use serde_json::Value;

/// How a classifier answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    Json,
    Yaml,
}

/// Why an answer is no classification.
#[derive(Debug, thiserror::Error)]
pub(super) enum Error {
    #[error("unsupported response format: {0}")]
    Format(String),
    #[error("parsing JSON response: {0}")]
    Json(String),
    #[error("parsing YAML response: {0}")]
    Yaml(String),
}

impl FromStr for Format {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        match text {
            "json" => Ok(Self::Json),
            "yaml" => Ok(Self::Yaml),
            other => Err(Error::Format(other.to_owned())),
        }
    }
}

/// The parts of an answer that count.
#[derive(Default)]
struct Parts {
    classes: Option<Node>,
    parameters: Option<Node>,
    environment: Option<Node>,
}

/// Reads an answer and prints what counts of it.
pub(super) fn normalise(format: Format, body: &[u8]) -> Result<String, Error> {
    match format {
        Format::Json => print(json(body).map_err(Error::Json)?).map_err(Error::Json),
        Format::Yaml => print(yaml(body).map_err(Error::Yaml)?).map_err(Error::Yaml),
    }
}

/// Prints the parts in a fixed order, keys sorted, so that equal answers give equal text.
fn print(parts: Parts) -> Result<String, String> {
    let classes = parts.classes.filter(|node| *node != Node::Null);
    let parameters = match parts.parameters {
        None | Some(Node::Null) => Node::Absent,
        Some(Node::Map(entries)) => Node::Map(entries),
        Some(Node::KeyedMap(entries)) => {
            let entries = entries.into_iter();
            // These become names of variables, which are text.
            Node::map(entries.map(|(key, value)| (key.key_text(), value)))
        }
        Some(_) => return Err("parameters: a mapping is expected".to_owned()),
    };
    let environment = match parts.environment {
        None | Some(Node::Null) => Node::Absent,
        Some(Node::Text(text)) if text.is_empty() => Node::Absent,
        Some(Node::Text(text)) => Node::Text(text),
        Some(Node::Number(number)) => Node::Text(number.to_string()),
        Some(Node::Bool(flag)) => Node::Text(flag.to_string()),
        Some(_) => return Err("environment: text is expected".to_owned()),
    };
    Ok(print_node(&Node::map([
        ("classes", sorted(classes.unwrap_or(Node::Map(Vec::new())))),
        ("parameters", sorted(parameters.or_absent())),
        ("environment", environment),
    ])))
}

fn yaml(body: &[u8]) -> Result<Parts, String> {
    let source = SourceName::new("response");
    let documents = parse_bytes_as(Dialect::Go, body, &source, &Limits::default());
    let documents = documents.map_err(|error| error.to_string())?;
    let Some(document) = documents.first() else {
        return Ok(Parts::default());
    };
    let entries: Vec<(String, Node)> = match document.to_node() {
        Node::Map(entries) => {
            let entries = entries.into_iter();
            entries
                .map(|(key, value)| (key.into_owned(), value))
                .collect()
        }
        Node::KeyedMap(entries) => {
            let entries = entries.into_iter();
            entries
                .map(|(key, value)| (key.key_text(), value))
                .collect()
        }
        _ => return Err("a mapping is expected".to_owned()),
    };
    let mut parts = Parts::default();
    for (key, value) in entries {
        match key.as_str() {
            "classes" => parts.classes = Some(value),
            "parameters" => parts.parameters = Some(value),
            "environment" => parts.environment = Some(value),
            _ => {}
        }
    }
    Ok(parts)
}

/// Parity: Go takes a key in any case, the exact one first.
fn json(body: &[u8]) -> Result<Parts, String> {
    let value: Value = serde_json::from_slice(body).map_err(|error| error.to_string())?;
    let entries = match value {
        Value::Null => return Ok(Parts::default()),
        Value::Object(entries) => entries,
        _ => return Err("an object is expected".to_owned()),
    };
    let part = |name: &str| {
        let exact = entries.get(name);
        let mut all = entries.iter();
        exact
            .or_else(|| Some(all.find(|(key, _)| key.eq_ignore_ascii_case(name))?.1))
            .map(Node::from)
    };
    let environment = part("environment");
    if !matches!(environment, None | Some(Node::Null | Node::Text(_))) {
        return Err("environment: text is expected".to_owned());
    }
    Ok(Parts {
        classes: part("classes"),
        parameters: part("parameters"),
        environment,
    })
}

/// A value with its keys in order, all the way down.
fn sorted(node: Node) -> Node {
    match node {
        Node::Map(mut entries) => {
            entries.sort_by(|(left, _), (right, _)| left.cmp(right));
            let entries = entries.into_iter();
            Node::Map(entries.map(|(key, value)| (key, sorted(value))).collect())
        }
        Node::KeyedMap(mut entries) => {
            entries.sort_by_cached_key(|(key, _)| key.key_text());
            let entries = entries.into_iter();
            Node::KeyedMap(entries.map(|(key, value)| (key, sorted(value))).collect())
        }
        Node::List(items) => Node::List(items.into_iter().map(sorted).collect()),
        scalar => scalar,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from_yaml(body: &str) -> Result<String, String> {
        normalise(Format::Yaml, body.as_bytes()).map_err(|error| error.to_string())
    }

    fn from_json(body: &str) -> Result<String, String> {
        normalise(Format::Json, body.as_bytes()).map_err(|error| error.to_string())
    }

    #[test]
    fn yaml_is_reduced_to_what_counts() {
        for (body, expected) in [
            ("", "classes: {}\n"),
            ("---\n", "classes: {}\n"),
            ("{}", "classes: {}\n"),
            ("classes:\n", "classes: {}\n"),
            ("classes: [b, a]\n", "classes:\n  - b\n  - a\n"),
            ("classes: one\n", "classes: one\n"),
            ("classes: {a: }\nparameters: {}\n", "classes:\n  a: null\n"),
            (
                "other: 1\nenvironment: dev\n",
                "classes: {}\nenvironment: dev\n",
            ),
            ("environment: 5\n", "classes: {}\nenvironment: \"5\"\n"),
            ("environment: ''\n", "classes: {}\n"),
            (
                "a: &x {k: 1}\nclasses: {m: *x}\n",
                "classes:\n  m:\n    k: 1\n",
            ),
            (
                "1: x\nclasses: {b: 1, a: 2}\n",
                "classes:\n  a: 2\n  b: 1\n",
            ),
        ] {
            assert_eq!(from_yaml(body).as_deref(), Ok(expected), "{body}");
        }
    }

    #[test]
    fn text_stays_text_and_numbers_stay_numbers_also_as_keys() {
        for (body, expected) in [
            ("{yes: on, n: \"1\"}", "\"n\": \"1\"\n  \"yes\": \"on\""),
            ("{80: x, \"81\": z}", "80: x\n  \"81\": z"),
            ("{true: 1.5}", "true: 1.5"),
            (
                "{a: 0644, b: \"0644\", c: 1000000}",
                "a: 420\n  b: \"0644\"\n  c: 1000000",
            ),
            ("{d: 2024-01-02}", "d: \"2024-01-02\""),
            ("{a: \"~\", b: ~}", "a: \"~\"\n  b: null"),
        ] {
            let body = format!("classes: {body}\n");
            let expected = format!("classes:\n  {expected}\n");
            assert_eq!(from_yaml(&body).unwrap(), expected, "{body}");
        }
        assert_eq!(
            from_yaml("parameters: {8: {9: x}}").unwrap(),
            "classes: {}\nparameters:\n  \"8\":\n    9: x\n"
        );
    }

    #[test]
    fn json_is_reduced_to_what_counts() {
        for (body, expected) in [
            ("null", "classes: {}\n"),
            (r#"{"classes":null}"#, "classes: {}\n"),
            (r#"{"Classes":{"a":{}},"x":1}"#, "classes:\n  a: {}\n"),
            (r#"{"CLASSES":["b"],"classes":["a"]}"#, "classes:\n  - a\n"),
            (
                r#"{"parameters":{"n":1000000,"big":12345678901234567890,"yes":"yes"}}"#,
                "classes: {}\nparameters:\n  big: 12345678901234567890\n  \"n\": 1000000\n  \"yes\": \"yes\"\n",
            ),
            (
                r#"{"environment":"prod"}"#,
                "classes: {}\nenvironment: prod\n",
            ),
        ] {
            assert_eq!(from_json(body).as_deref(), Ok(expected), "{body}");
        }
    }

    #[test]
    fn what_is_no_classification_is_refused() {
        for body in [
            "[1]",
            "plain",
            "classes: [",
            "parameters: [a]",
            "environment: {a: 1}",
        ] {
            let refused = from_yaml(body).unwrap_err();
            assert!(refused.starts_with("parsing YAML response: "), "{refused}");
        }
        for body in [
            "",
            "[]",
            "{} x",
            r#"{"environment":1}"#,
            r#"{"parameters":[]}"#,
        ] {
            let refused = from_json(body).unwrap_err();
            assert!(refused.starts_with("parsing JSON response: "), "{refused}");
        }
        assert!(normalise(Format::Yaml, b"\xff\xfe").is_err());
        assert_eq!(
            "xml".parse::<Format>().unwrap_err().to_string(),
            "unsupported response format: xml"
        );
    }
}
