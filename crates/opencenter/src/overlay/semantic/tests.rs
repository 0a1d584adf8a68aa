//! Which fields differ, and which are never shown.

use serde_json::json;

use super::*;
use crate::overlay::{ActionKind, OverlayFile, Scope, Sensitivity};

fn tree(path: &str, text: &str, sensitivity: Option<Sensitivity>) -> OverlayTree {
    let file = OverlayFile {
        bytes: text.into(),
        owner: "x".to_owned(),
        kind: ActionKind::Overlay,
        sensitivity,
        condition: None,
    };
    OverlayTree {
        cluster: "alpha".to_owned(),
        scope: Scope::Full,
        files: [(path.to_owned(), file)].into(),
    }
}

#[test]
fn names_the_field_of_the_object() {
    let before = [(
        "a.yaml".to_owned(),
        b"kind: X\nmetadata: {name: thing}\nspec: {a: 1, b: [1]}\n".to_vec(),
    )]
    .into();
    let after = tree(
        "a.yaml",
        "kind: X\nmetadata: {name: thing}\nspec: {a: 2, b: [1, 2]}\n",
        None,
    );
    let diff = semantic_diff(&before, &after);
    let [change] = diff.as_slice() else {
        panic!("{diff:?}")
    };
    assert_eq!(change.documents[0].object, "X thing");
    assert_eq!(
        change.documents[0].fields,
        [
            FieldChange {
                pointer: "/spec/a".into(),
                before: Some(json!(1)),
                after: Some(json!(2))
            },
            FieldChange {
                pointer: "/spec/b[]".into(),
                before: None,
                after: Some(json!(2))
            },
        ]
    );
}

#[test]
fn items_of_lists_belong_together_by_name_or_value() {
    let pointers = |before: Value, after: Value| {
        let changes = field_changes(Some(&before), Some(&after));
        let lines = changes.iter().map(|change| {
            let side = |value: &Option<Value>| value.as_ref().map(Value::to_string);
            (
                change.pointer.clone(),
                side(&change.before).unwrap_or_default(),
                side(&change.after).unwrap_or_default(),
            )
        });
        lines.collect::<Vec<_>>()
    };
    let line = |pointer: &str, before: &str, after: &str| {
        (pointer.to_owned(), before.to_owned(), after.to_owned())
    };
    assert_eq!(
        pointers(
            json!({"l": [{"name": "a", "port": 1}, {"name": "b", "port": 2}]}),
            json!({"l": [{"name": "new", "port": 3}, {"name": "b", "port": 4}]}),
        ),
        [
            line("/l[a]", r#"{"name":"a","port":1}"#, ""),
            line("/l[b]/port", "2", "4"),
            line("/l[new]", "", r#"{"name":"new","port":3}"#),
        ]
    );
    assert_eq!(
        pointers(
            json!(["./a.yaml", "./c.yaml"]),
            json!(["./a.yaml", "./b.yaml", "./c.yaml"])
        ),
        [line("[]", "", r#""./b.yaml""#)]
    );
    // Where the items are the same, their order is what differs.
    assert_eq!(
        pointers(json!([1, 2]), json!([2, 1])),
        [line("", "[1,2]", "[2,1]")]
    );
    assert_eq!(
        pointers(json!([{"a": 1}, {"a": 2}]), json!([{"a": 1}, {"a": 3}])),
        [line("/1/a", "2", "3")]
    );
}

#[test]
fn never_shows_a_secret() {
    let before = [(
        "s.yaml".to_owned(),
        b"kind: Secret\nmetadata: {name: thing}\nstringData: {a: old-word}\n".to_vec(),
    )]
    .into();
    let after = tree(
        "s.yaml",
        "kind: Secret\nmetadata: {name: thing}\nstringData: {a: new-word}\n",
        None,
    );
    let text = format!("{:?}", semantic_diff(&before, &after));
    assert!(
        text.contains("secret changed") && !text.contains("-word"),
        "{text}"
    );
    let before = [("v.yaml".to_owned(), b"password: old-word\n".to_vec())].into();
    let after = tree(
        "v.yaml",
        "password: new-word\n",
        Some(Sensitivity::WholeFile),
    );
    let text = format!("{:?}", semantic_diff(&before, &after));
    assert!(!text.contains("-word"), "{text}");
}

#[test]
fn marks_what_a_reviewer_must_see() {
    let source = "services/sources/a.yaml";
    let before = [(
        source.to_owned(),
        b"kind: GitRepository\nspec: {url: https://a/b}\n".to_vec(),
    )]
    .into();
    let after = tree(
        source,
        "kind: GitRepository\nspec: {url: https://a/c}\n",
        None,
    );
    assert!(semantic_diff(&before, &after)[0].security_sensitive);
    let after = tree(
        source,
        "kind: GitRepository\nspec: {url: https://a/b, interval: 1m}\n",
        None,
    );
    assert!(!semantic_diff(&before, &after)[0].security_sensitive);
    assert!(
        semantic_diff(&Contents::new(), &tree(".sops.yaml", "a: 1\n", None))[0].security_sensitive
    );
}
