//! Expectations about values are what `sigs.k8s.io/yaml` and `kubectl` answer, unless the test's name says otherwise.

use serde_json::json;

use super::*;

fn parse(text: &str) -> Result<Vec<Document>, Error> {
    parse_documents(text, &SourceName::new("app.yaml"), &Limits::default())
}

#[track_caller]
fn value(text: &str) -> Value {
    let mut documents = parse(text).unwrap();
    assert_eq!(documents.len(), 1, "{text:?}");
    documents.remove(0).value
}

#[track_caller]
fn error(text: &str) -> Error {
    parse(text).expect_err(text)
}

#[test]
fn resolves_plain_scalars_only() {
    assert_eq!(
        value("[yes, 'yes', \"yes\", !!str yes, ! yes, 0644, '0644']"),
        json!([true, "yes", "yes", "yes", "yes", 420, "0644"])
    );
    assert_eq!(value("a: |\n  1\n"), json!({"a": "1\n"}));
}

#[test]
fn honours_the_tags_of_the_core_schema() {
    let cases = [
        ("!!str 123", json!("123")),
        ("!!str", json!("")),
        ("!!str ~", json!("~")),
        ("!!int '12'", json!(12)),
        ("!!int 0644", json!(420)),
        ("!!float 1", json!(1)),
        ("!!float '1.5'", json!(1.5)),
        ("!!bool 'yes'", json!(true)),
        ("!!null ''", json!(null)),
        ("!!timestamp 2026-01-01", json!("2026-01-01")),
        ("!!binary aGVsbG8=", json!("hello")),
        ("!!binary |\n  aGVs\n  bG8=\n", json!("hello")),
        ("!!binary /w==", json!("\u{fffd}")),
        ("!<tag:yaml.org,2002:str> 12", json!("12")),
        ("!!map {x: 1}", json!({"x": 1})),
        ("!!seq [1]", json!([1])),
        ("! {x: 1}", json!({"x": 1})),
    ];
    for (text, expected) in cases {
        assert_eq!(
            value(&format!("a: {text}")),
            json!({"a": expected}),
            "{text}"
        );
    }
}

#[test]
fn refuses_tags_that_do_not_fit() {
    for text in [
        "!!int abc",
        "!!int 1.5",
        "!!int ''",
        "!!bool 1",
        "!!null x",
        "!!float x",
        "!!binary '?'",
        "!!seq {x: 1}",
        "!!map [1]",
        "!!str [1]",
        "!!map x",
    ] {
        let error = error(&format!("a: {text}"));
        assert_eq!(error.kind(), ErrorKind::Tag, "{text}");
        assert_eq!(error.line(), 1, "{text}");
    }
}

#[test]
fn refuses_unknown_tags_at_the_tag() {
    for text in [
        "a:\n  !Ref b",
        "a:\n  !foo {x: 1}",
        "a:\n  !!set {x}",
        "a:\n  !!python/object x",
        "a:\n  !foo [1]",
    ] {
        let error = error(text);
        assert_eq!(error.kind(), ErrorKind::Tag, "{text}");
        assert_eq!(error.position().to_string(), "2:3", "{text}");
    }
}

#[test]
fn refuses_what_json_cannot_say() {
    for text in [".inf", "-.inf", ".nan", "!!float .inf"] {
        assert_eq!(
            error(&format!("a: {text}")).kind(),
            ErrorKind::Scalar,
            "{text}"
        );
    }
}

#[test]
fn makes_strings_of_number_keys() {
    let cases = [
        ("1", "1"),
        ("-1", "-1"),
        ("0644", "420"),
        ("1.0", "1"),
        ("1e21", "1e+21"),
        ("true", "true"),
        ("2026-01-01", "2026-01-01"),
        ("'on'", "on"),
        ("!!str on", "on"),
        ("!!binary aGVsbG8=", "hello"),
        ("? |\n  x\n", "x\n"),
    ];
    for (key, expected) in cases {
        assert_eq!(value(&format!("{key}: v")), json!({expected: "v"}), "{key}");
    }
}

#[test]
fn refuses_keys_that_kubectl_would_turn_into_booleans() {
    for key in [
        "on", "yes", "no", "off", "y", "n", "Y", "On", "True", "FALSE",
    ] {
        let error = error(&format!("a: 1\n{key}: v"));
        assert_eq!(error.kind(), ErrorKind::Key, "{key}");
        assert_eq!(error.position().to_string(), "2:1", "{key}");
        assert_eq!(
            error.hint(),
            Some(&*format!("put the key in quotes: \"{key}\"")),
            "{key}"
        );
    }
}

#[test]
fn refuses_keys_that_are_no_text() {
    for text in [
        "null: v",
        "~: v",
        "? \n: v",
        "? [a]\n: v",
        "? {a: 1}\n: v",
        "{{ name }}: v",
        ".inf: v",
        "123456789.5: v",
        "12345678901234567890: v",
        "a: &x [1]\nb: {*x : 1}",
        "a: &x\nb: {*x : 1}",
    ] {
        assert_eq!(error(text).kind(), ErrorKind::Key, "{text}");
    }
}

#[test]
fn refuses_repeated_keys_and_names_both_places() {
    for text in [
        "a: 1\n'a': 2",
        "1: a\n'1': b",
        "{a: 1,\na: 2}",
        "true: a\n'true': b",
    ] {
        let error = error(text);
        assert_eq!(error.kind(), ErrorKind::DuplicateKey, "{text}");
        assert_eq!(error.position().to_string(), "2:1", "{text}");
        assert!(
            error.message().contains("first in line 1, column"),
            "{error}"
        );
    }
}

#[test]
fn merges_in_the_order_of_the_text() {
    let cases = [
        (
            "x: &a {p: 1, q: 2}\nw:\n  <<: *a\n  q: 3",
            json!({"p": 1, "q": 3}),
        ),
        (
            "x: &a {p: 1, q: 2}\nw:\n  q: 3\n  <<: *a",
            json!({"p": 1, "q": 2}),
        ),
        (
            "x: &a {p: 1}\nz: &b {p: 2, r: 3}\nw:\n  <<: [*a, *b]",
            json!({"p": 1, "r": 3}),
        ),
        (
            "x: &a {p: 1}\nz: &b {p: 2}\nw:\n  <<: *a\n  <<: *b",
            json!({"p": 2}),
        ),
        ("w:\n  <<: {<<: {a: 1}, b: 2}", json!({"a": 1, "b": 2})),
        ("w:\n  <<: []", json!({})),
        ("w:\n  '<<': {p: 1}", json!({"<<": {"p": 1}})),
        ("w:\n  !!str <<: 1", json!({"<<": 1})),
        ("w:\n  !!merge <<: {p: 1}", json!({"p": 1})),
        ("w: <<", json!("<<")),
    ];
    for (text, expected) in cases {
        assert_eq!(value(text)["w"], expected, "{text}");
    }
}

#[test]
fn refuses_merging_what_is_no_mapping() {
    for text in ["<<: 1", "<<: [1]", "<<:", "<<: [[{a: 1}]]"] {
        assert_eq!(error(text).kind(), ErrorKind::Merge, "{text}");
    }
}

#[test]
fn a_key_may_be_merged_and_written_but_not_written_twice() {
    assert_eq!(
        error("<<: {a: 1}\na: 2\na: 3").position().to_string(),
        "3:1"
    );
    assert_eq!(
        error("a: 2\n<<: {a: 1}\na: 3").position().to_string(),
        "3:1"
    );
}

#[test]
fn expands_aliases_within_one_document() {
    assert_eq!(value("a: &x yes\nb: *x"), json!({"a": true, "b": true}));
    assert_eq!(
        value("a: &x 1\nb: &x 2\nc: *x"),
        json!({"a": 1, "b": 2, "c": 2})
    );
    assert_eq!(value("- &k a\n- {*k : 1}"), json!(["a", {"a": 1}]));
    assert_eq!(value("&k a: *k"), json!({"a": "a"}));
    assert_eq!(error("a: &x 1\n---\nb: *x").kind(), ErrorKind::Alias);
    assert_eq!(error("a: *x").kind(), ErrorKind::Alias);
}

#[test]
fn refuses_aliases_inside_their_own_value() {
    for text in [
        "a: &a [*a]",
        "&a {b: *a}",
        "&a {b: {c: [*a]}}",
        "&a {<<: *a}",
    ] {
        assert_eq!(error(text).kind(), ErrorKind::Alias, "{text}");
    }
}

#[test]
fn leaves_out_empty_documents_and_numbers_the_others() {
    let documents =
        parse("# only a comment\n---\n---\nnull\n---\na: 1\n---\n~\n...\n---\n# x\n\n- b\n")
            .unwrap();
    let found: Vec<_> = documents
        .iter()
        .map(|it| (it.index(), it.first_line(), it.value.clone()))
        .collect();
    assert_eq!(found, [(0, 6, json!({"a": 1})), (1, 13, json!(["b"]))]);
    for text in ["", "\n", "---", "---\n---\n", "# c", "\u{feff}", "null"] {
        assert!(parse(text).unwrap().is_empty(), "{text:?}");
    }
}

#[test]
fn accepts_a_byte_order_mark_and_any_line_break() {
    assert_eq!(
        value("\u{feff}a: 1\r\nb: |\r\n  x\r\n  y\r\n"),
        json!({"a": 1, "b": "x\ny\n"})
    );
    assert_eq!(value("a: 1\rb: 2"), json!({"a": 1, "b": 2}));
    let documents = parse("\u{feff}a: 1\r\nb: 2\r\n").unwrap();
    let places = ["/a", "/b"].map(|pointer| documents[0].position(pointer).value.to_string());
    assert_eq!(places, ["1:4", "2:4"]);
}

#[test]
fn accepts_json() {
    let text = "{\n\t\"a\": [1, 2.5, null, true],\n\t\"b\": \"\\ud83d\\ude00\\/\\u2028\"\n}";
    assert_eq!(
        value(text),
        json!({"a": [1, 2.5, null, true], "b": "😀/\u{2028}"})
    );
}

#[test]
fn a_block_at_the_end_of_the_text_ends_with_a_newline() {
    assert_eq!(value("a: |\n  x"), json!({"a": "x\n"}));
}

#[test]
fn explains_tabs_in_indentation() {
    let cases = [
        ("a:\n\tb: 1", "2:1"),
        ("a:\n  b: 1\n\tc: 2", "3:1"),
        ("a:\n- b\n\n\t- c", "4:1"),
        ("a:\n  b:\n  \tc: 1", "3:3"),
        ("a: |\n\tx", "2:1"),
        ("a:\n \t- b", "2:3"),
        ("\ta: 1", "1:2"),
        ("-\t- a", "1:3"),
    ];
    for (text, place) in cases {
        let error = error(text);
        assert_eq!(error.message(), "a tab is used for indentation", "{text:?}");
        assert_eq!(error.hint(), Some("indent with spaces"), "{text:?}");
        assert_eq!(error.position().to_string(), place, "{text:?}");
    }
}

#[test]
fn tabs_that_are_no_indentation_are_not_blamed() {
    assert_eq!(value("a:\tb"), json!({"a": "b"}));
    assert_eq!(value("[\n\t1\n]"), json!([1]));
    let error = error("{\n\t\"a\": 1\n\t\"b\": 2\n}");
    assert!(error.message().contains("','"), "{error}");
}

#[test]
fn refuses_characters_that_kubectl_refuses_or_misreads() {
    for text in [
        "a: \u{7f}",
        "a: \"\u{1}\"",
        "a: \0",
        "a: \u{80}",
        "a: \u{ffff}",
    ] {
        assert_eq!(error(text).kind(), ErrorKind::Encoding, "{text:?}");
        assert_eq!(error(text).line(), 1, "{text:?}");
    }
    for text in [
        "a: x\u{85}y",
        "a: \"x\u{85}y\"",
        "a: x\u{2028}y",
        "a: |\n  x\u{2029}y",
    ] {
        assert_eq!(error(text).kind(), ErrorKind::Scalar, "{text:?}");
    }
    assert_eq!(
        value("a: \"x\u{2028}y\" # \u{85}"),
        json!({"a": "x\u{2028}y"})
    );
}

#[test]
fn names_the_place_where_bytes_stop_being_text() {
    let error =
        parse_bytes(b"a: 1\nb: \xff", &SourceName::stdin(), &Limits::default()).unwrap_err();
    assert_eq!(error.to_string(), "<stdin>:2:4: the text is not UTF-8");
}

#[test]
fn finds_keys_and_values_in_the_text() {
    let text = "kind: App\nspec:\n  ports:\n  - name: web\n    \"a/b~c\": [1, 22]\n  empty:\n";
    let document = &parse(text).unwrap()[0];
    let cases = [
        ("", None, "1:1", true),
        ("/kind", Some("1:1"), "1:7", true),
        ("/spec", Some("2:1"), "3:3", true),
        ("/spec/ports/0", None, "4:5", true),
        ("/spec/ports/0/name", Some("4:5"), "4:11", true),
        ("/spec/ports/0/a~1b~0c/1", None, "5:18", true),
        ("/spec/ports/7/name", Some("3:3"), "4:3", false),
        ("/spec/missing/deeper", Some("2:1"), "3:3", false),
        ("/kind/x", Some("1:1"), "1:7", false),
    ];
    for (pointer, key, value, exact) in cases {
        let found = document.position(pointer);
        assert_eq!(
            found.key.map(|key| key.to_string()).as_deref(),
            key,
            "{pointer}"
        );
        assert_eq!(found.value.to_string(), value, "{pointer}");
        assert_eq!(found.exact, exact, "{pointer}");
    }
    assert_eq!(document.position("/spec/empty").value.line, 6);
}

#[test]
fn an_alias_stands_where_it_is_used_and_its_content_where_it_is_written() {
    let document = &parse("a: &x {b: 1}\nc: *x\nd:\n  <<: *x\n").unwrap()[0];
    let places = ["/c", "/c/b", "/d/b"].map(|pointer| document.position(pointer).value.to_string());
    assert_eq!(places, ["2:4", "1:11", "1:11"]);
}

#[test]
fn keeps_the_order_of_keys() {
    let document =
        &parse("z: 1\na: {y2: 1, b: 2}\nm:\n  q: 1\n  <<: {z: 1, c: 2}\n  c: 3\n  a: 4\n").unwrap()
            [0];
    assert_eq!(document.keys_in_order(""), ["z", "a", "m"]);
    assert_eq!(document.keys_in_order("/a"), ["y2", "b"]);
    assert_eq!(document.keys_in_order("/m"), ["q", "z", "c", "a"]);
    assert!(document.keys_in_order("/z").is_empty());
    assert!(document.keys_in_order("/missing").is_empty());
}

#[test]
fn the_core_dialect_keeps_keys_and_words_as_text() {
    let text = "on: yes\n2026.01: 010\ntrue: n\n";
    let documents = parse_documents_as(
        Dialect::Core,
        text,
        &SourceName::stdin(),
        &Limits::default(),
    )
    .unwrap();
    assert_eq!(
        documents[0].value,
        serde_json::json!({"on": "yes", "2026.01": 10, "true": "n"})
    );
}

#[test]
fn released_manifests_may_repeat_themselves_but_not_contradict_themselves() {
    let source = SourceName::new("a.yaml");
    let parse = |text: &str| parse_released(text.as_bytes(), &source, &Limits::default());
    let same = parse("a: {b: [1, 2], c: x}\nd: 1\na: {c: x, b: [1, 2]}\n").unwrap();
    assert_eq!(same[0].value, json!({"a": {"b": [1, 2], "c": "x"}, "d": 1}));
    for text in [
        "a: 1\na: 2\n",
        "a: 1\na: '1'\n",
        "a: {b: 1}\na: {b: 1, c: 2}\n",
    ] {
        let error = parse(text).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::DuplicateKey, "{text}");
    }
    let twice = parse_bytes(b"a: 1\na: 1\n", &source, &Limits::default());
    assert_eq!(
        twice.unwrap_err().kind(),
        ErrorKind::DuplicateKey,
        "of our own files none is odd"
    );
}

fn as_go(text: &str) -> Document {
    let source = SourceName::stdin();
    let documents = parse_documents_as(Dialect::Go, text, &source, &Limits::default());
    documents.unwrap().remove(0)
}

#[test]
fn the_go_dialect_keeps_the_type_of_keys() {
    let document = as_go("z: &n 7\n80: {on: off}\n\"81\": x\n*n : y\ntrue: 0644\n");
    assert_eq!(
        document.value,
        json!({"z": 7, "80": {"on": "off"}, "81": "x", "7": "y", "true": 420})
    );
    assert_eq!(
        crate::print_node(&document.to_node()),
        "z: 7\n80:\n  \"on\": \"off\"\n\"81\": x\n7: \"y\"\ntrue: 420\n"
    );
    assert_eq!(document.to_node().to_value(), document.value);
    let text = as_go("a: 1\n\"2\": 3\n").to_node();
    assert!(matches!(text, crate::Node::Map(_)), "{text:?}");
}

#[test]
fn the_go_dialect_passes_over_tags_of_applications_and_no_others() {
    let document = as_go("--- !ruby/object:Some::Thing\na: !sym 12\nb: !x [1]\n");
    assert_eq!(document.value, json!({"a": "12", "b": [1]}));
    for text in ["a: !!int x\n", "a: !!seq {x: }\n"] {
        let source = SourceName::stdin();
        let refused = parse_documents_as(Dialect::Go, text, &source, &Limits::default());
        assert_eq!(refused.unwrap_err().kind(), ErrorKind::Tag, "{text}");
    }
}
