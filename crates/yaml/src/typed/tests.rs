use std::collections::BTreeMap;

use serde::Deserialize;

use super::*;
use crate::{Limits, SourceName, parse_documents};

#[derive(Debug, PartialEq, Deserialize)]
struct App {
    name: String,
    #[serde(default)]
    ports: Vec<Port>,
    #[serde(default)]
    mode: Option<Mode>,
    #[serde(default)]
    labels: BTreeMap<String, String>,
    #[serde(default)]
    weights: BTreeMap<u16, f32>,
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Port {
    container_port: u16,
    #[serde(default)]
    host: Host,
}

#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Host {
    path: Option<String>,
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Mode {
    Local,
    Shared(String),
    Remote { host: String },
    Pair(u8, u8),
}

fn document(text: &str) -> Document {
    parse_documents(text, &SourceName::new("app.yaml"), &Limits::default())
        .unwrap()
        .remove(0)
}

#[track_caller]
fn error(text: &str) -> Error {
    from_value::<App>(&document(text)).expect_err(text)
}

#[test]
fn reads_every_shape_of_type() {
    let text = "name: shop\nports:\n- containerPort: 80\n  host: {path: /x}\nlabels: {a: b}\nweights: {8: 0.5, 9: 1}\n";
    let app: App = from_value_strict(&document(text)).unwrap();
    let expected = App {
        name: "shop".to_owned(),
        ports: vec![Port {
            container_port: 80,
            host: Host {
                path: Some("/x".to_owned()),
            },
        }],
        mode: None,
        labels: [("a".to_owned(), "b".to_owned())].into(),
        weights: [(8, 0.5), (9, 1.0)].into(),
    };
    assert_eq!(app, expected);
}

#[test]
fn reads_what_serde_json_reads() {
    for text in [
        "mode: local",
        "mode: {shared: x}",
        "mode: {remote: {host: h}}",
        "mode: {pair: [1, 2]}",
        "mode: null",
        "mode: {local: null}",
        "mode: shared",
        "mode: {pair: [1]}",
        "mode: {pair: [1, 2, 3]}",
        "mode: {}",
        "mode: 1",
        "mode: {local: 1}",
        "mode: {local: null, pair: [1, 2]}",
        "labels: {a: 1}",
        "weights: {x: 1}",
        "weights: {70000: 1}",
        "ports: {}",
        "ports: [[80]]",
        "ports: [[80, {}]]",
        "ports: [[80, {}, 1]]",
    ] {
        let document = document(&format!("name: shop\n{text}"));
        let ours = from_value::<App>(&document).ok();
        let theirs = serde_json::from_value::<App>(document.value).ok();
        assert_eq!(ours, theirs, "{text}");
    }
}

#[test]
fn names_path_and_place_of_what_does_not_fit() {
    let cases = [
        (
            "name: 5",
            "app.yaml:1:7: name: invalid type: integer `5`, expected a string",
        ),
        (
            "name: yes",
            "app.yaml:1:7: name: invalid type: boolean `true`, expected a string",
        ),
        ("ports: []", "app.yaml:1:1: missing field `name`"),
        (
            "name: a\nports:\n- containerPort: 80\n- containerPort: 70000",
            "app.yaml:4:18: ports[1].containerPort: invalid value: integer `70000`, expected u16",
        ),
        (
            "name: a\nports:\n- host: {}",
            "app.yaml:3:3: ports[0]: missing field `containerPort`",
        ),
        (
            "name: a\nlabels:\n  app.kubernetes.io/name: 1",
            "app.yaml:3:27: labels[`app.kubernetes.io/name`]: invalid type: integer `1`, expected a string",
        ),
        (
            "name: a\nweights: {x: 1}",
            "app.yaml:2:11: weights.x: invalid type: string \"x\", expected u16",
        ),
        (
            "name: a\nmode: loca",
            "app.yaml:2:7: mode: unknown variant `loca`",
        ),
        (
            "name: a\nmode: {remote: {host: 1}}",
            "app.yaml:2:23: mode.remote.host: invalid type: integer `1`, expected a string",
        ),
        (
            "[]",
            "app.yaml:1:1: invalid length 0, expected struct App with 5 elements",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(error(text).to_string(), expected);
        assert_eq!(error(text).kind(), ErrorKind::Type, "{text}");
    }
}

#[test]
fn a_value_that_came_through_an_alias_is_found_where_it_is_written() {
    let error = error("labels: &l {a: 1}\nname: x\n");
    assert_eq!(error.position().to_string(), "1:16");
}

#[test]
fn a_type_that_refuses_unknown_fields_points_at_the_key() {
    let error = error("name: a\nports:\n- containerPort: 80\n  host:\n    pth: /x\n");
    assert_eq!(
        error.to_string(),
        "app.yaml:5:5: ports[0].host: unknown field `pth`"
    );
    assert_eq!(error.kind(), ErrorKind::UnknownField);
    assert_eq!(error.hint(), Some("did you mean `path`?"));
}

#[test]
fn ignores_unknown_fields_unless_told_otherwise() {
    let document = document(
        "name: a\nextra: 1\nports:\n- container_port: 1\n  containerPort: 2\nmodes: {a: {b: c}}\n",
    );
    assert!(from_value::<App>(&document).is_ok());
    let (app, unknown) = from_value_reporting::<App>(&document).unwrap();
    assert_eq!(app.ports[0].container_port, 2);
    let found: Vec<_> = unknown
        .iter()
        .map(|error| (error.to_string(), error.hint().unwrap()))
        .collect();
    let expected = [
        (
            "app.yaml:2:1: unknown field `extra`",
            "accepted: `name`, `ports`, `mode`, `labels`, `weights`",
        ),
        (
            "app.yaml:4:3: ports[0]: unknown field `container_port`",
            "did you mean `containerPort`?",
        ),
        (
            "app.yaml:6:1: unknown field `modes`",
            "did you mean `mode`?",
        ),
    ];
    assert_eq!(
        found,
        expected.map(|(message, hint)| (message.to_owned(), hint))
    );
    let first = from_value_strict::<App>(&document).unwrap_err();
    assert_eq!(first.position().to_string(), "2:1");
}

#[test]
fn a_long_value_is_cut_in_the_middle_of_the_message() {
    let message = error(&format!("name: a\nports: {}", "x".repeat(10_000)))
        .message()
        .to_owned();
    assert!(
        message.starts_with("ports: invalid type: string \"xxx"),
        "{message}"
    );
    assert!(message.ends_with("xxx\", expected a sequence"), "{message}");
    assert!(message.chars().count() < 400, "{message}");
}

#[test]
fn reports_a_limited_number_of_unknown_fields() {
    let fields: String = (0..5000).fold("name: a\n".to_owned(), |text, index| {
        text + &format!("x{index}: 1\n")
    });
    let (_, unknown) = from_value_reporting::<App>(&document(&fields)).unwrap();
    assert_eq!(unknown.len(), 100);
}

#[test]
fn never_shows_values_of_a_secret() {
    let text = "kind: Secret\nname: a\nlabels:\n  password: [hunter2]\nmode: hunter2\n";
    let document = document(text);
    let error = from_value::<App>(&document).unwrap_err();
    assert_eq!(
        error.to_string(),
        "app.yaml:4:13: labels.password: the value does not fit"
    );
    let error = from_value::<Mode>(&document).unwrap_err();
    assert!(!error.render().contains("hunter2"), "{}", error.render());
}

#[test]
fn a_redacted_finding_shows_no_value_and_no_line() {
    let error = error("name: a\nmode: hunter2\n");
    assert!(error.render().contains("hunter2"));
    let redacted = error.redacted();
    assert!(
        !redacted.render().contains("hunter2"),
        "{}",
        redacted.render()
    );
    assert_eq!(redacted.message(), "mode: the value does not fit");
}
