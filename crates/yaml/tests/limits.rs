//! What a hostile or broken text costs.

use std::ops::Range;

use mainstay_yaml::{Document, Error, ErrorKind, Limits, SourceName, parse_documents, print};

fn parse(text: &str) -> Result<Vec<Document>, Error> {
    parse_documents(text, &SourceName::new("big.yaml"), &Limits::default())
}

fn joined(levels: Range<usize>, part: impl Fn(usize) -> String) -> String {
    levels.map(part).collect::<Vec<_>>().concat()
}

#[test]
fn refuses_bombs_and_giants() {
    let billion = "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\n".to_owned()
        + "c: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\n"
        + "e: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: &f [*e,*e,*e,*e,*e,*e,*e,*e,*e]\n"
        + "g: &g [*f,*f,*f,*f,*f,*f,*f,*f,*f]\nh: [*g,*g,*g,*g,*g,*g,*g,*g,*g]\n";
    let long = "x".repeat(1024 * 1024);
    let nested_anchors = joined(0..120, |level| format!("&a{level} ["));
    let wide = "1,".repeat(50_000);
    let deep_alias = joined(1..130, |level| {
        format!("a{level}: &a{level} [*a{}]\n", level - 1)
    });
    let cases = [
        ("repeated aliases", billion),
        (
            "repeated long text",
            format!("a: &a {long}\nb: [{}]", "*a,".repeat(40)),
        ),
        (
            "nested anchors",
            format!("{nested_anchors}{wide}{}", "]".repeat(120)),
        ),
        ("deep flow", "[".repeat(100_000)),
        ("deep block", "- ".repeat(100_000)),
        (
            "deep mapping",
            joined(0..200, |level| format!("{}a:\n", " ".repeat(level))),
        ),
        ("deep aliases", format!("a0: &a0 [1]\n{deep_alias}")),
        ("many documents", "---\n".repeat(20_000)),
        ("huge scalar", format!("a: {}", long.repeat(5))),
        ("huge key", format!("? {}\n: 1", long.repeat(5))),
        ("huge text", "# comment\n".repeat(4 * 1024 * 1024)),
    ];
    for (name, text) in cases {
        let error = parse(&text).expect_err(name);
        assert_eq!(error.kind(), ErrorKind::Limit, "{name}: {error}");
    }
}

#[test]
fn depth_counts_mappings_and_lists_alike() {
    let limits = Limits {
        depth: 3,
        ..Limits::default()
    };
    let parse = |text| parse_documents(text, &SourceName::stdin(), &limits);
    for text in [
        "[[[1]]]",
        "a:\n- b: 1",
        "a: &x [1]\nb: [*x]",
        "a: {b: {c: 1}}",
    ] {
        assert!(parse(text).is_ok(), "{text}");
    }
    for text in [
        "[[[[1]]]]",
        "a:\n- b: [1]",
        "a: &x [1]\nb: [[*x]]",
        "a:\n  b:\n    c:\n      d: 1",
    ] {
        assert_eq!(
            parse(text).expect_err(text).kind(),
            ErrorKind::Limit,
            "{text}"
        );
    }
}

#[test]
fn the_deepest_setting_fits_on_the_stack() {
    let limits = Limits {
        depth: usize::MAX,
        ..Limits::default()
    };
    let text = format!(
        "{}{}",
        "[".repeat(Limits::DEEPEST),
        "]".repeat(Limits::DEEPEST)
    );
    let documents = parse_documents(&text, &SourceName::stdin(), &limits).unwrap();
    assert_eq!(
        print(&documents[0].value).trim_end(),
        format!("{}[]", "- ".repeat(Limits::DEEPEST - 1))
    );
    let deeper = format!("[{text}]");
    assert_eq!(
        parse_documents(&deeper, &SourceName::stdin(), &limits)
            .unwrap_err()
            .kind(),
        ErrorKind::Limit
    );
}

#[test]
fn merging_large_mappings_again_and_again_keeps_each_key_once() {
    let keys = joined(0..20_000, |index| format!("k{index}: 1, "));
    let written = joined(0..20_000, |index| format!("  k{index}: 2\n"));
    let text = format!("a: &a {{{keys}}}\nb:\n  <<: [*a, *a, *a]\n  <<: *a\n{written}");
    let documents = parse(&text).expect("the text is within all limits");
    let names = documents[0].keys_in_order("/b");
    assert_eq!(names.len(), 20_000);
    assert_eq!(names[..3], ["k0", "k1", "k2"]);
    let merged = documents[0].value["b"].as_object().expect("a mapping");
    assert!(merged.values().all(|value| value == 2));
}
