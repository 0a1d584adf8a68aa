use serde_json::json;

use super::*;

fn edit(text: &str, work: impl FnOnce(&mut Editor)) -> String {
    let mut editor = Editor::new(Dialect::Core, text).unwrap();
    work(&mut editor);
    editor.into_text()
}

const CONFIG: &str = "\
---
# head
a: 1   # one
services:
  # about loki
  loki:
    enabled: false   # off for now
    list:
      - x   # first
      - y

  tempo: {enabled: true, size: 3}
  bare:
text: |
  several
  lines
# tail
";

#[test]
fn replaces_a_scalar_and_nothing_else() {
    let changed = edit(CONFIG, |editor| {
        assert!(
            editor
                .set(&["services", "loki", "enabled"], &json!(true))
                .unwrap()
        );
    });
    assert_eq!(changed, CONFIG.replace("enabled: false ", "enabled: true "));
}

#[test]
fn does_not_touch_a_text_that_says_so_already() {
    let same = edit(CONFIG, |editor| {
        assert!(!editor.set(&["a"], &json!(1)).unwrap());
        assert!(!editor.remove(&["absent", "key"]).unwrap());
    });
    assert_eq!(same, CONFIG);
}

#[test]
fn adds_a_key_behind_the_last_of_its_mapping() {
    let changed = edit(CONFIG, |editor| {
        editor
            .set(&["services", "loki", "bucket"], &json!("logs"))
            .unwrap();
    });
    assert_eq!(
        changed,
        CONFIG.replace("      - y\n", "      - y\n    bucket: logs\n")
    );
}

#[test]
fn makes_the_mappings_on_the_way() {
    let changed = edit(CONFIG, |editor| {
        editor
            .set(&["services", "velero", "source", "branch"], &json!("main"))
            .unwrap();
    });
    assert!(
        changed.contains("  bare:\n  velero:\n    source:\n      branch: main\n"),
        "{changed}"
    );
    let changed = edit(CONFIG, |editor| {
        editor
            .set(&["new", "deep"], &json!([1, {"a": "b"}]))
            .unwrap();
    });
    assert!(changed.contains("  lines\nnew:\n  deep:\n"), "{changed}");
    assert!(changed.ends_with("# tail\n"), "{changed}");
}

#[test]
fn fills_a_key_without_a_value() {
    let changed = edit(CONFIG, |editor| {
        editor
            .set(&["services", "bare", "enabled"], &json!(true))
            .unwrap();
    });
    assert_eq!(
        changed,
        CONFIG.replace("  bare:\n", "  bare:\n    enabled: true\n")
    );
}

#[test]
fn changes_flow_mappings_in_place() {
    let changed = edit(CONFIG, |editor| {
        editor
            .set(&["services", "tempo", "size"], &json!(5))
            .unwrap();
        editor
            .set(&["services", "tempo", "class"], &json!("fast"))
            .unwrap();
    });
    assert_eq!(changed, CONFIG.replace("size: 3}", "size: 5, class: fast}"));
}

#[test]
fn replaces_blocks_and_lists() {
    let changed = edit(CONFIG, |editor| {
        editor
            .set(&["services", "loki", "list"], &json!(["z"]))
            .unwrap();
        editor.set(&["text"], &json!("one line")).unwrap();
        editor.set(&["a"], &json!({"b": "yes"})).unwrap();
    });
    assert!(
        changed.contains("    list:\n      - z\n\n  tempo:")
            || changed.contains("    list:\n    - z\n\n  tempo:"),
        "{changed}"
    );
    assert!(changed.contains("\ntext: one line\n# tail\n"), "{changed}");
    assert!(
        changed.contains("\na:\n  b: \"yes\"\nservices:\n"),
        "{changed}"
    );
}

#[test]
fn removes_an_entry_with_its_lines() {
    let changed = edit(CONFIG, |editor| {
        assert!(editor.remove(&["services", "loki", "list"]).unwrap());
        assert!(editor.remove(&["text"]).unwrap());
    });
    let expected = CONFIG
        .replace("    list:\n      - x   # first\n      - y\n", "")
        .replace("text: |\n  several\n  lines\n", "");
    assert_eq!(changed, expected);
}

#[test]
fn removing_the_last_key_leaves_an_empty_mapping() {
    let changed = edit("a:\n  b: 1\nc: 2\n", |editor| {
        editor.remove(&["a", "b"]).unwrap();
    });
    assert_eq!(changed, "a: {}\nc: 2\n");
}

#[test]
fn refuses_what_would_change_something_else() {
    let text = "base: &base\n  size: 1\nuse: *base\n";
    let mut editor = Editor::new(Dialect::Core, text).unwrap();
    assert!(editor.set(&["base", "size"], &json!(2)).is_err());
    assert_eq!(editor.text(), text);
    assert!(editor.set(&["use", "size"], &json!(2)).is_ok());
    assert!(matches!(
        editor.set(&["base", "size", "deep"], &json!(1)),
        Err(EditError::NotAMapping(_))
    ));
}

#[test]
fn refuses_texts_that_are_not_one_mapping() {
    for text in ["", "- a\n", "a: 1\n---\nb: 2\n", "a: [\n"] {
        assert!(Editor::new(Dialect::Core, text).is_err(), "{text:?}");
    }
}

#[test]
fn works_without_a_newline_at_the_end() {
    let changed = edit("a: 1", |editor| {
        editor.set(&["b"], &json!("two")).unwrap();
    });
    assert_eq!(changed, "a: 1\nb: two");
}

#[test]
fn renames_a_key_in_its_place() {
    let changed = edit(CONFIG, |editor| {
        assert!(editor.rename(&["services", "loki"], "logs").unwrap());
        assert!(!editor.rename(&["services", "absent"], "x").unwrap());
        assert!(editor.rename(&["services", "logs"], "tempo").is_err());
    });
    assert_eq!(changed, CONFIG.replace("  loki:\n", "  logs:\n"));
}
