//! The expectations are what `sigs.k8s.io/yaml` 1.3 to 1.6 and `kubectl` 1.32 really answer.

use serde_json::{Value, json};

use super::*;

fn value(text: &str) -> Option<Value> {
    json_value(resolve(text), text)
}

#[test]
fn words_mean_what_kubectl_reads() {
    for text in [
        "y", "Y", "yes", "Yes", "YES", "on", "On", "ON", "true", "True", "TRUE",
    ] {
        assert_eq!(value(text), Some(json!(true)), "{text}");
    }
    for text in [
        "n", "N", "no", "No", "NO", "off", "Off", "OFF", "false", "False", "FALSE",
    ] {
        assert_eq!(value(text), Some(json!(false)), "{text}");
    }
    for text in ["", "~", "null", "Null", "NULL"] {
        assert_eq!(value(text), Some(json!(null)), "{text}");
    }
    for text in [
        "tRue", "yEs", "nULL", "oN", "<<", "=", "inf", "nan", "NaN", "Infinity", "-inf", "+.nan",
        ".iNF",
    ] {
        assert_eq!(value(text), Some(json!(text)), "{text}");
    }
}

#[test]
fn integers_mean_what_kubectl_reads() {
    let cases = [
        ("0", json!(0)),
        ("-0", json!(0)),
        ("+0", json!(0)),
        ("00", json!(0)),
        ("+1", json!(1)),
        ("0644", json!(420)),
        ("-0644", json!(-420)),
        ("+0644", json!(420)),
        ("0o644", json!(420)),
        ("0O644", json!(420)),
        ("-0o17", json!(-15)),
        ("08", json!(8)),
        ("089", json!(89)),
        ("0x1f", json!(31)),
        ("0X1F", json!(31)),
        ("-0x1f", json!(-31)),
        ("0b101", json!(5)),
        ("-0b101", json!(-5)),
        ("0b-1", json!(-1)),
        ("0b+1", json!(1)),
        ("1_000", json!(1000)),
        ("1_", json!(1)),
        ("1__0", json!(10)),
        ("0x_f", json!(15)),
        ("-_1", json!(-1)),
        ("9223372036854775807", json!(i64::MAX)),
        ("9223372036854775808", json!(9_223_372_036_854_775_808_u64)),
        ("18446744073709551615", json!(u64::MAX)),
        ("-9223372036854775808", json!(i64::MIN)),
        ("0xffffffffffffffff", json!(u64::MAX)),
        ("01777777777777777777777", json!(u64::MAX)),
    ];
    for (text, expected) in cases {
        assert_eq!(value(text), Some(expected), "{text}");
    }
}

#[test]
fn floats_mean_what_kubectl_reads() {
    let cases = [
        ("1.5", json!(1.5)),
        (".5", json!(0.5)),
        ("-.5", json!(-0.5)),
        ("1.", json!(1)),
        ("1.0", json!(1)),
        ("1e3", json!(1000)),
        ("1E+3", json!(1000)),
        ("1e-3", json!(0.001)),
        (".1_0", json!(0.1)),
        ("1_0.5", json!(10.5)),
        ("01.5", json!(1.5)),
        ("012e3", json!(12_000)),
        ("1e-400", json!(0)),
        ("-0.0", json!(-0.0)),
        ("1e21", json!(1e21)),
        ("123456789012345678.0", json!(123_456_789_012_345_680_i64)),
        ("18446744073709551616", json!(18_446_744_073_709_552_000.0)),
        ("-9223372036854775809", json!(-9_223_372_036_854_775_808.0)),
        ("02000000000000000000000", json!(2e21)),
        ("1.7976931348623157e308", json!(f64::MAX)),
        ("5e-324", json!(5e-324)),
    ];
    for (text, expected) in cases {
        assert_eq!(value(text), Some(expected), "{text}");
    }
    for text in [
        ".inf", ".Inf", ".INF", "-.inf", "+.inf", ".nan", ".NaN", ".NAN",
    ] {
        assert_eq!(value(text), None, "{text}");
    }
}

#[test]
fn near_numbers_stay_text() {
    for text in [
        "0o8",
        "0xg",
        "0x",
        "0o",
        "0b",
        "0b12",
        "_1",
        "1e",
        "e3",
        ".",
        "+",
        "-",
        "+.",
        ".e3",
        "._1",
        ".1__0",
        "1e400",
        "-1e400",
        "0x1ffffffffffffffff",
        "0x1p4",
        "1e3.5",
        "1.2.3",
        "0.0.0.0",
        "1:30",
        "190:20:30",
        "1:30.5",
        "2026-01-01",
        "2026-01-01T10:00:00Z",
        "500m",
        "5Gi",
    ] {
        assert_eq!(value(text), Some(json!(text)), "{text}");
    }
}

#[test]
fn float_keys_are_written_like_kubectl_does() {
    let cases = [
        (1.5, Some("1.5")),
        (1.0, Some("1")),
        (-0.0, Some("-0")),
        (0.1, Some("0.1")),
        (1e5, Some("100000")),
        (1e6, Some("1e+06")),
        (1e20, Some("1e+20")),
        (0.0001, Some("0.0001")),
        (1e-5, Some("1e-05")),
        (3.4e38, Some("3.4e+38")),
    ];
    for (number, expected) in cases {
        assert_eq!(float_key(number).as_deref(), expected, "{number}");
    }
}

#[test]
fn float_keys_that_kubectl_would_change_are_refused() {
    for number in [
        123_456_789.5,
        16_777_217.0,
        0.300_000_000_000_000_04,
        5e-324,
        1e39,
        f64::NAN,
        f64::INFINITY,
    ] {
        assert_eq!(float_key(number), None, "{number}");
    }
}

#[test]
fn base64_needs_padding_and_ignores_line_breaks() {
    let cases: [(&str, Option<&[u8]>); 9] = [
        ("", Some(b"")),
        ("aGVsbG8=", Some(b"hello")),
        ("aGVs\nbG8=\n", Some(b"hello")),
        ("/w==", Some(&[0xff])),
        ("+/+/", Some(&[0xfb, 0xff, 0xbf])),
        ("aGVsbG8", None),
        ("a===", None),
        ("aG =", None),
        ("?", None),
    ];
    for (text, expected) in cases {
        assert_eq!(decode_base64(text).as_deref(), expected, "{text:?}");
    }
}

#[test]
fn the_core_dialect_follows_yaml_1_2() {
    for (text, expected) in [
        ("", Plain::Null),
        ("~", Plain::Null),
        ("NULL", Plain::Null),
        ("True", Plain::Bool(true)),
        ("false", Plain::Bool(false)),
        ("yes", Plain::Text),
        ("on", Plain::Text),
        ("n", Plain::Text),
        ("010", Plain::Signed(10)),
        ("0o10", Plain::Signed(8)),
        ("0xff", Plain::Signed(255)),
        ("0b1", Plain::Text),
        ("1_000", Plain::Text),
        ("-3", Plain::Signed(-3)),
        ("+3", Plain::Signed(3)),
        ("18446744073709551615", Plain::Unsigned(u64::MAX)),
        ("2026.01", Plain::Float(2026.01)),
        (".5", Plain::Float(0.5)),
        ("1e3", Plain::Float(1000.0)),
        ("12:30:45", Plain::Text),
        ("2026-01-01", Plain::Text),
        ("-", Plain::Text),
        ("0x", Plain::Text),
        ("0x_1", Plain::Text),
    ] {
        assert_eq!(Dialect::Core.resolve(text), expected, "{text}");
    }
}

#[test]
fn the_go_dialect_has_the_words_of_yaml_1_2_and_the_numbers_of_1_1() {
    for (text, expected) in [
        ("", Plain::Null),
        ("NULL", Plain::Null),
        ("True", Plain::Bool(true)),
        ("yes", Plain::Text),
        ("off", Plain::Text),
        ("010", Plain::Signed(8)),
        ("0o10", Plain::Signed(8)),
        ("0b11", Plain::Signed(3)),
        ("1_000", Plain::Signed(1000)),
        ("18446744073709551615", Plain::Unsigned(u64::MAX)),
        (".5", Plain::Float(0.5)),
        ("1e3", Plain::Float(1000.0)),
        ("2026-01-01", Plain::Text),
        ("x", Plain::Text),
    ] {
        assert_eq!(Dialect::Go.resolve(text), expected, "{text}");
    }
    for text in ["010", "1e3", "yes", ".5", "x"] {
        assert_eq!(Dialect::GoText.resolve(text), Plain::Text, "{text}");
    }
    assert_eq!(Dialect::GoText.resolve("~"), Plain::Null);
    assert_eq!(Dialect::GoText.resolve("true"), Plain::Bool(true));
}
