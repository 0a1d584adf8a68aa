//! What holds for every value and every text.

use mainstay_yaml::{
    Limits, Position, SourceName, parse_bytes, parse_documents, print, print_documents,
};
use proptest::prelude::*;
use serde_json::{Map, Number, Value};

/// Pieces that mean something to some YAML reader.
const PIECES: &[&str] = &[
    "yes",
    "No",
    "on",
    "y",
    "n",
    "true",
    "null",
    "~",
    "0",
    "7",
    "12",
    "0x1f",
    "0o7",
    "0b+1",
    "1e3",
    "_",
    ".",
    ":",
    "-",
    " ",
    "  ",
    "\n",
    "\n\n",
    "\t",
    "#",
    " #",
    ": ",
    "'",
    "\"",
    "\\",
    "*",
    "&",
    "!",
    "|",
    ">",
    "%",
    "@",
    "`",
    "?",
    "[",
    "]",
    "{",
    "}",
    ",",
    "=",
    "<<",
    "---",
    "...",
    "\n--- ",
    "a",
    "word",
    "é",
    "\u{85}",
    "\u{2028}",
    "\u{feff}",
    "\u{a0}",
    "😀",
    "\r",
    "\r\n",
    "\0",
    "\u{7f}",
    "2026-01-01",
    "1:30",
    ".inf",
    "- a",
    "? b",
    "\n  x",
    "\u{ffff}",
];

fn text() -> impl Strategy<Value = String> {
    let pieces = prop::collection::vec(prop::sample::select(PIECES), 0..7)
        .prop_map(|pieces| pieces.concat());
    prop_oneof![
        6 => pieces,
        2 => "[a-z]{1,8}",
        2 => any::<String>(),
        1 => (1020_usize..1030).prop_map(|length| "k".repeat(length)),
    ]
}

fn number() -> impl Strategy<Value = Value> {
    let edges = prop::sample::select(vec![
        Value::from(i64::MIN),
        Value::from(i64::MAX),
        Value::from(u64::MAX),
        Value::from(f64::MAX),
        Value::from(f64::MIN_POSITIVE),
        Value::from(-0.0),
        Value::from(5e-324),
        Value::from(1e21),
        Value::from(999_999_999_999_999_900_000.0),
        Value::from(18_446_744_073_709_551_616.0),
        Value::from(9_223_372_036_854_775_808.0),
        Value::from(9_007_199_254_740_993.0),
    ]);
    prop_oneof![
        edges,
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>()
            .prop_filter_map("JSON has finite numbers only", Number::from_f64)
            .prop_map(Value::Number),
    ]
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        1 => Just(Value::Null),
        1 => any::<bool>().prop_map(Value::Bool),
        2 => number(),
        5 => text().prop_map(Value::String),
    ];
    leaf.prop_recursive(5, 48, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::Array),
            prop::collection::vec((text(), inner), 0..5)
                .prop_map(|entries| Value::Object(entries.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

/// The value as `kubectl` would send it: a whole float is an integer, because Go prints it without a fraction.
fn as_sent(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(as_sent).collect(),
        Value::Object(entries) => Value::Object(
            entries
                .iter()
                .map(|(key, value)| (key.clone(), as_sent(value)))
                .collect(),
        ),
        Value::Number(number) if number.is_f64() => {
            let float = number.as_f64().unwrap_or_default();
            let digits = float.to_string();
            let is_integer = float.abs() < 1e21 && digits != "-0";
            let signed = digits.parse::<i64>().map(Value::from);
            let integer = signed.or_else(|_| digits.parse::<u64>().map(Value::from));
            integer
                .ok()
                .filter(|_| is_integer)
                .unwrap_or_else(|| value.clone())
        }
        other => other.clone(),
    }
}

fn parse(text: &str) -> Result<Vec<Value>, mainstay_yaml::Error> {
    let documents = parse_documents(text, &SourceName::new("any.yaml"), &Limits::default())?;
    Ok(documents
        .into_iter()
        .map(|document| document.value)
        .collect())
}

/// Whether the position is a character of the text, or the place right behind a line.
fn is_inside(text: &str, position: Position) -> bool {
    let text = text
        .strip_prefix('\u{feff}')
        .unwrap_or(text)
        .replace("\r\n", "\n")
        .replace('\r', "\n");
    let line = text.split('\n').nth(position.line as usize - 1);
    line.is_some_and(|line| position.column as usize <= line.chars().count() + 1)
}

/// The pointers of all values inside a value.
fn pointers(value: &Value, prefix: &str, found: &mut Vec<String>) {
    found.push(prefix.to_owned());
    match value {
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                pointers(item, &format!("{prefix}/{index}"), found);
            }
        }
        Value::Object(entries) => {
            for (key, item) in entries {
                let step = key.replace('~', "~0").replace('/', "~1");
                pointers(item, &format!("{prefix}/{step}"), found);
            }
        }
        _ => {}
    }
}

proptest! {
    #[test]
    fn what_is_printed_reads_back_as_the_same_value(value in value()) {
        let expected: Vec<_> = Some(as_sent(&value)).filter(|value| !value.is_null()).into_iter().collect();
        prop_assert_eq!(parse(&print(&value)).unwrap(), expected);
    }

    #[test]
    fn documents_read_back_one_by_one(values in prop::collection::vec(value(), 0..4)) {
        let expected: Vec<_> = values.iter().filter(|value| !value.is_null()).map(as_sent).collect();
        prop_assert_eq!(parse(&print_documents(&values)).unwrap(), expected);
    }

    #[test]
    fn printing_again_changes_nothing(value in value()) {
        let text = print(&value);
        prop_assert_eq!(&print(&value), &text);
        prop_assert_eq!(print(&as_sent(&value)), text);
    }

    #[test]
    fn printed_text_is_tidy(value in value()) {
        let text = print(&value);
        prop_assert!(text.ends_with('\n') && !text.ends_with("\n\n"), "{:?}", text);
        prop_assert!(text.lines().all(|line| !line.ends_with([' ', '\t'])), "{:?}", text);
        prop_assert!(!text.contains(['\r', '\u{85}', '\u{2028}', '\u{feff}']), "{:?}", text);
    }

    #[test]
    fn every_value_has_a_place_inside_the_text(value in value()) {
        let text = print(&value);
        let documents = parse_documents(&text, &SourceName::stdin(), &Limits::default()).unwrap();
        for document in documents {
            let mut found = Vec::new();
            pointers(&document.value, "", &mut found);
            for pointer in found {
                let location = document.position(&pointer);
                prop_assert!(location.exact, "{} in {:?}", pointer, text);
                prop_assert!(is_inside(&text, location.value), "{} at {} in {:?}", pointer, location.value, text);
                prop_assert!(location.key.is_none_or(|key| is_inside(&text, key)), "{} in {:?}", pointer, text);
            }
            if let Value::Object(entries) = &document.value {
                let mut keys = document.keys_in_order("");
                keys.sort_unstable();
                prop_assert_eq!(keys, entries.keys().map(String::as_str).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn any_text_is_read_or_refused_inside_the_text(text in text()) {
        if let Err(error) = parse(&text) {
            prop_assert!(is_inside(&text, error.position()), "{} in {:?}", error, text);
            prop_assert!(!error.to_string().contains('\n'));
            prop_assert!(!error.render().is_empty());
        }
    }

    #[test]
    fn long_mixtures_never_panic(pieces in prop::collection::vec(prop::sample::select(PIECES), 0..60)) {
        let text = pieces.concat();
        if let Err(error) = parse(&text) {
            prop_assert!(is_inside(&text, error.position()), "{} in {:?}", error, text);
        }
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let result = parse_bytes(&bytes, &SourceName::stdin(), &Limits::default());
        if std::str::from_utf8(&bytes).is_err() {
            prop_assert!(result.is_err());
        }
    }
}
