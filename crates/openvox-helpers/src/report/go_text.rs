//! Values of events as text. PuppetDB wants text, and what is stored there is compared over years.

use serde_json::{Number, Value};

/// The text of a value; nothing for `null`.
///
/// Parity: lists and mappings have the form that Go prints for debugging, `[a b]` and `map[k:v]`. Integers do not change
/// to exponents from a million upwards, as the original's do.
pub(super) fn text(value: Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text,
        other => {
            let mut text = String::new();
            write(&mut text, &other);
            text
        }
    }
}

fn write(out: &mut String, value: &Value) {
    match value {
        Value::Null => out.push_str("<nil>"),
        Value::Bool(flag) => out.push_str(if *flag { "true" } else { "false" }),
        Value::Number(number) => out.push_str(&decimal(number)),
        Value::String(text) => out.push_str(text),
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                separate(out, index);
                write(out, item);
            }
            out.push(']');
        }
        Value::Object(entries) => {
            out.push_str("map[");
            for (index, (key, value)) in entries.iter().enumerate() {
                separate(out, index);
                out.push_str(key);
                out.push(':');
                write(out, value);
            }
            out.push(']');
        }
    }
}

fn separate(out: &mut String, index: usize) {
    if index > 0 {
        out.push(' ');
    }
}

/// The shortest digits that mean the number; with an exponent of at least two digits where Go writes one.
fn decimal(number: &Number) -> String {
    let Some(float) = number.as_f64().filter(|_| number.is_f64()) else {
        return number.to_string();
    };
    let scientific = format!("{float:e}");
    let Some((digits, exponent)) = scientific.split_once('e') else {
        return scientific;
    };
    match exponent.parse::<i32>() {
        Ok(exponent) if !(-4..21).contains(&exponent) => {
            let sign = if exponent < 0 { '-' } else { '+' };
            format!("{digits}e{sign}{:02}", exponent.unsigned_abs())
        }
        _ => float.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_value_has_a_text() {
        for (value, expected) in [
            (json!(null), ""),
            (json!("as is"), "as is"),
            (json!(true), "true"),
            (json!(999_999), "999999"),
            (json!(1_234_567), "1234567"),
            (json!(u64::MAX), "18446744073709551615"),
            (json!(-3), "-3"),
            (json!(1.5), "1.5"),
            (json!(1e6), "1000000"),
            (json!(1e20), "100000000000000000000"),
            (json!(1e21), "1e+21"),
            (json!(2.5e-7), "2.5e-07"),
            (json!(0.0001), "0.0001"),
            (json!(0.00001), "1e-05"),
            (json!([1, "x", null]), "[1 x <nil>]"),
            (json!({"k": 1.5, "a": [true]}), "map[a:[true] k:1.5]"),
            (json!([]), "[]"),
            (json!({}), "map[]"),
        ] {
            assert_eq!(text(value), expected);
        }
    }
}
