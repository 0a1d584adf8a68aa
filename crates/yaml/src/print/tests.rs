use serde_json::json;

use super::*;

#[test]
fn leads_with_what_identifies_an_object() {
    let value = json!({
        "data": {"metadata": 1, "kind": 2, "apiVersion": 3},
        "kind": "ConfigMap",
        "metadata": {"annotations": {}, "namespace": "team", "name": "shop", "labels": {"name": "x", "app": "y"}},
        "apiVersion": "v1",
    });
    let expected = "\
apiVersion: v1
kind: ConfigMap
metadata:
  name: shop
  namespace: team
  annotations: {}
  labels:
    app: \"y\"
    name: x
data:
  apiVersion: 3
  kind: 2
  metadata: 1
";
    assert_eq!(print(&value), expected);
}

#[test]
fn does_not_indent_lists_under_their_key() {
    let value = json!({"a": [{"b": [1, []], "c": {"d": [[2, [3]], {}]}}, "x"]});
    let expected = "\
a:
- b:
  - 1
  - []
  c:
    d:
    - - 2
      - - 3
    - {}
- x
";
    assert_eq!(print(&value), expected);
}

#[test]
fn separates_documents_and_ends_with_one_newline() {
    let values = [
        json!({"a": 1}),
        json!([]),
        json!("x"),
        json!(null),
        json!("one\ntwo\n"),
    ];
    assert_eq!(
        print_documents(&values),
        "a: 1\n---\n[]\n---\nx\n---\nnull\n---\n|\n  one\n  two\n"
    );
    assert_eq!(print_documents([]), "");
}

#[test]
fn quotes_what_some_reader_would_not_take_for_text() {
    for text in [
        "",
        "yes",
        "No",
        "ON",
        "y",
        "N",
        "true",
        "FALSE",
        "null",
        "Null",
        "~",
        "1",
        "-1",
        "+1",
        "012",
        "0o17",
        "0x1f",
        "0b11",
        "0b+1",
        "0x_",
        "1_000",
        "1e3",
        "1e400",
        "0x1ffffffffffffffff",
        "1.5",
        ".5",
        "1.",
        ".inf",
        "-.INF",
        ".nan",
        "1:30",
        "190:20:30.5",
        "2026-01-01",
        "2026-1-1",
        "2026-01-01T10:00:00Z",
        "<<",
        "=",
        " a",
        "a ",
        "a: b",
        "a:",
        "a #b",
        "#a",
        "*a",
        "&a",
        "!a",
        "|a",
        ">a",
        "%a",
        "@a",
        "`a",
        "- a",
        "-",
        "? a",
        "?",
        "[a",
        "{a",
        "]",
        "}",
        ",a",
        "'a",
        "---",
        "--- a",
        "...",
        "a'b: c",
        "tRUE",
        ":a",
    ] {
        assert_eq!(print(&json!(text)), format!("\"{text}\"\n"), "{text:?}");
        assert_eq!(
            print(&json!({text: 1})),
            format!("\"{text}\": 1\n"),
            "{text:?}"
        );
    }
}

#[test]
fn leaves_ordinary_text_alone() {
    for text in [
        "shop",
        "v1",
        "1.2.3",
        "10.0.0.1",
        "500m",
        "5Gi",
        "30s",
        "1h30m",
        "--verbose",
        "-c",
        "quay.io/cloud/shop:1.2",
        "a#b",
        "a:b",
        "http://x/y?z=1&b=2",
        "$(HOST)",
        "/etc/x",
        "it's",
        "a \"b\" c",
        "über",
        "日本語",
        "a, b",
        "x*",
        "sha256:0123",
        "+x",
        "<none>",
        "a\\b",
        ".dockerconfigjson",
        "00-base.yaml",
        "1/2",
        "a-",
        "x=y",
        "-_-",
    ] {
        assert_eq!(print(&json!(text)), format!("{text}\n"), "{text:?}");
    }
}

#[test]
fn uses_single_quotes_where_double_quotes_would_need_escapes() {
    assert_eq!(print(&json!("{\"a\": 1}")), "'{\"a\": 1}'\n");
    assert_eq!(print(&json!("*\\d+")), "'*\\d+'\n");
    assert_eq!(
        print(&json!("{\"a\": \"it's\"}")),
        "\"{\\\"a\\\": \\\"it's\\\"}\"\n"
    );
}

#[test]
fn escapes_what_cannot_be_seen_or_read_back() {
    let text = "a\u{0}\u{7}\t\r\u{1b}\u{7f}\u{85}\u{a0}\u{200b}\u{2028}\u{feff}\u{ffff}";
    let expected =
        "\"a\\u0000\\u0007\\t\\r\\u001b\\u007f\\u0085\\u00a0\\u200b\\u2028\\ufeff\\uffff\"\n";
    assert_eq!(print(&json!(text)), expected);
}

#[test]
fn writes_lines_as_blocks_where_nothing_is_lost() {
    let cases = [
        ("one\ntwo", "a: |-\n  one\n  two\nb: 1\n"),
        ("one\ntwo\n", "a: |\n  one\n  two\nb: 1\n"),
        ("one\n\n\n", "a: |+\n  one\n\n\nb: 1\n"),
        ("\n\none\n", "a: |\n\n\n  one\nb: 1\n"),
        (
            "one\n  two\n\tx: # y\n--- \"\n",
            "a: \"one\\n  two\\n\\tx: # y\\n--- \\\"\\n\"\nb: 1\n",
        ),
        (
            "one:\n  two # x\n---\n",
            "a: |\n  one:\n    two # x\n  ---\nb: 1\n",
        ),
        (" one\ntwo\n", "a: \" one\\ntwo\\n\"\nb: 1\n"),
        ("\n one\n", "a: \"\\n one\\n\"\nb: 1\n"),
        ("one \ntwo\n", "a: \"one \\ntwo\\n\"\nb: 1\n"),
        ("one\n \ntwo\n", "a: \"one\\n \\ntwo\\n\"\nb: 1\n"),
        ("one\r\ntwo\n", "a: \"one\\r\\ntwo\\n\"\nb: 1\n"),
        ("\n\n", "a: \"\\n\\n\"\nb: 1\n"),
    ];
    for (text, expected) in cases {
        assert_eq!(print(&json!({"a": text, "b": 1})), expected, "{text:?}");
    }
}

#[test]
fn the_end_of_the_text_is_never_a_blank_line() {
    assert_eq!(
        print(&json!({"a": {"b": ["x\n\n"]}})),
        "a:\n  b:\n  - \"x\\n\\n\"\n"
    );
    let values = [json!({"a": "x\n\n"}), json!({"a": 1})];
    assert_eq!(print_documents(&values), "a: |+\n  x\n\n---\na: 1\n");
}

#[test]
fn does_not_fold_long_lines() {
    let text = "word ".repeat(200) + "end";
    assert_eq!(print(&json!({"a": text})), format!("a: {text}\n"));
}

#[test]
fn writes_very_long_keys_in_their_own_line() {
    let key = "k".repeat(2000);
    assert_eq!(
        print(&json!({&*key: [1, 2]})),
        format!("? {key}\n:\n- 1\n- 2\n")
    );
    let key = "k".repeat(1000);
    assert_eq!(print(&json!({&*key: 1})), format!("{key}: 1\n"));
}

#[test]
fn writes_numbers_that_all_readers_take_for_numbers() {
    let cases = [
        (json!(u64::MAX), "18446744073709551615"),
        (json!(i64::MIN), "-9223372036854775808"),
        (json!(1.0), "1"),
        (json!(-0.0), "-0.0"),
        (json!(0.1), "0.1"),
        (json!(1e21), "1.0e+21"),
        (json!(1.5e-7), "1.5e-7"),
        (json!(5e-324), "5.0e-324"),
        (json!(f64::MAX), "1.7976931348623157e+308"),
    ];
    for (number, expected) in cases {
        assert_eq!(print(&number), format!("{expected}\n"));
    }
}
