//! How findings look to people.

use std::collections::BTreeMap;

use insta::assert_snapshot;
use mainstay_yaml::{Error, Limits, SourceName, from_value_strict, parse_documents};
use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[expect(dead_code, reason = "only the way in is of interest")]
struct Manifest {
    kind: String,
    #[serde(default)]
    spec: Spec,
    #[serde(default)]
    data: BTreeMap<String, String>,
}

#[derive(Debug, Default, Deserialize)]
#[expect(dead_code, reason = "only the way in is of interest")]
struct Spec {
    #[serde(default)]
    path: String,
    #[serde(default)]
    replicas: u8,
}

fn error(text: &str) -> Error {
    match parse_documents(text, &SourceName::new("app.yaml"), &Limits::default()) {
        Err(error) => error,
        Ok(documents) => documents
            .iter()
            .find_map(|document| from_value_strict::<Manifest>(document).err())
            .expect("one document does not fit"),
    }
}

#[test]
fn a_wrong_type_shows_the_value() {
    assert_snapshot!(error("kind: App\nspec:\n  path: 5\n").render());
}

#[test]
fn an_unknown_field_shows_the_key_and_a_suggestion() {
    assert_snapshot!(error("kind: App\n---\nkind: App\nspec:\n  replica: 5\n").render());
}

#[test]
fn a_repeated_key_names_both_places() {
    assert_snapshot!(error("kind: App\nspec:\n  path: /a\n  replicas: 1\n  path: /b\n").render());
}

#[test]
fn a_key_that_means_a_boolean_shows_how_to_quote_it() {
    assert_snapshot!(error("kind: App\non:\n  push: true\n").render());
}

#[test]
fn a_tab_is_named() {
    assert_snapshot!(error("kind: App\nspec:\n\tpath: /a\n").render());
}

#[test]
fn a_long_line_is_cut_around_the_place() {
    let text = format!(
        "{{kind: App, text: \"{}\", kind: Again, more: \"{}\"}}",
        "x".repeat(300),
        "y".repeat(300)
    );
    assert_snapshot!(error(&text).render());
}

#[test]
fn a_secret_is_not_shown_when_its_text_is_broken() {
    let rendered = error("kind: Secret\nstringData:\n  password: hunter2: x\n").render();
    assert!(!rendered.contains("hunter2"));
    assert_snapshot!(rendered);
}

#[test]
fn a_secret_is_not_shown_when_its_value_does_not_fit() {
    let rendered = error("data:\n  password: [hunter2]\nkind: Secret\n").render();
    assert!(!rendered.contains("hunter2"));
    assert_snapshot!(rendered);
}
