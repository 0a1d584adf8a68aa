//! What a plain scalar means, by the rules of `kubectl` (`sigs.k8s.io/yaml` over go-yaml 2).
//!
//! The printer asks the same functions what a reader would make of a string, so both sides agree by construction.

use serde_json::{Number, Value};

/// The meaning of a plain scalar.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Plain {
    Null,
    Bool(bool),
    Signed(i64),
    /// An integer above `i64::MAX`.
    Unsigned(u64),
    Float(f64),
    /// A string: the scalar's own text.
    Text,
}

/// Whose rules say what a plain scalar means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dialect {
    /// The rules of `kubectl`: YAML 1.1 as go-yaml 2 reads it. For everything that goes to a cluster.
    #[default]
    Kubectl,
    /// The core schema of YAML 1.2: `yes` and `0b1` are text, `010` is ten. For files of our own.
    Core,
    /// As go-yaml 3 reads a value of no known type: the words of YAML 1.2 (`yes` is text), the numbers of 1.1 (`010` is
    /// eight). Keys keep their type in [`Document::to_node`](crate::Document::to_node), and tags of an application are
    /// passed over. For what other programs write.
    Go,
    /// As go-yaml 3 reads a value where text is wanted: apart from `null`, `true` and `false` everything is the text as it
    /// stands. For configuration in which a number may stand for its digits.
    GoText,
}

impl Dialect {
    /// Resolves a plain scalar.
    pub(crate) fn resolve(self, text: &str) -> Plain {
        match self {
            Self::Kubectl => resolve(text),
            Self::Core => resolve_core(text),
            Self::Go => resolve_go(text),
            Self::GoText => resolve_core_word(text).unwrap_or(Plain::Text),
        }
    }

    /// Whether a tag that YAML does not define is passed over.
    pub(crate) fn passes_over_unknown_tags(self) -> bool {
        matches!(self, Self::Go | Self::GoText)
    }
}

/// The words of the core schema that are not text.
fn resolve_core_word(text: &str) -> Option<Plain> {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Some(Plain::Null),
        "true" | "True" | "TRUE" => Some(Plain::Bool(true)),
        "false" | "False" | "FALSE" => Some(Plain::Bool(false)),
        _ => None,
    }
}

fn resolve_go(text: &str) -> Plain {
    if let Some(word) = resolve_core_word(text) {
        return word;
    }
    match text.as_bytes().first() {
        Some(b'.') => resolve_dotted(text),
        Some(b'0'..=b'9' | b'+' | b'-') => resolve_number(text),
        _ => Plain::Text,
    }
}

/// Resolves a plain scalar by the core schema of YAML 1.2 (section 10.3.2).
fn resolve_core(text: &str) -> Plain {
    if let Some(word) = resolve_core_word(text) {
        return word;
    }
    if let Some(special) = resolve_special_float(text) {
        return Plain::Float(special);
    }
    let prefixed = |prefix: &str, radix: u32| {
        let digits = text.strip_prefix(prefix)?;
        let is_number = !digits.is_empty() && digits.chars().all(|digit| digit.is_digit(radix));
        is_number.then(|| u64::from_str_radix(digits, radix).ok())?
    };
    if let Some(number) = prefixed("0o", 8).or_else(|| prefixed("0x", 16)) {
        return i64::try_from(number).map_or(Plain::Unsigned(number), Plain::Signed);
    }
    let (_, digits) = split_sign(text);
    if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) {
        if let Ok(number) = text.parse::<i64>() {
            return Plain::Signed(number);
        }
        if let Ok(number) = text.parse::<u64>() {
            return Plain::Unsigned(number);
        }
    }
    parse_float(text)
}

/// Resolves a plain scalar. The first byte decides which rules apply, as in go-yaml.
pub(crate) fn resolve(text: &str) -> Plain {
    match text.as_bytes().first() {
        None | Some(b'~' | b'y' | b'Y' | b'n' | b'N' | b't' | b'T' | b'f' | b'F' | b'o' | b'O') => {
            resolve_word(text)
        }
        Some(b'.') => resolve_dotted(text),
        Some(b'0'..=b'9' | b'+' | b'-') => resolve_number(text),
        Some(_) => Plain::Text,
    }
}

fn resolve_word(text: &str) -> Plain {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Plain::Null,
        "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => {
            Plain::Bool(true)
        }
        "n" | "N" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => {
            Plain::Bool(false)
        }
        _ => Plain::Text,
    }
}

fn resolve_special_float(text: &str) -> Option<f64> {
    match text {
        ".nan" | ".NaN" | ".NAN" => Some(f64::NAN),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => Some(f64::INFINITY),
        "-.inf" | "-.Inf" | "-.INF" => Some(f64::NEG_INFINITY),
        _ => None,
    }
}

fn resolve_dotted(text: &str) -> Plain {
    if let Some(special) = resolve_special_float(text) {
        return Plain::Float(special);
    }
    // Unlike in numbers that start with a digit, an underscore must separate two digits here.
    let bytes = text.as_bytes();
    let well_separated = bytes.iter().enumerate().all(|(index, byte)| {
        let is_digit = |at: Option<usize>| {
            at.and_then(|at| bytes.get(at))
                .is_some_and(u8::is_ascii_digit)
        };
        *byte != b'_' || (is_digit(index.checked_sub(1)) && is_digit(index.checked_add(1)))
    });
    if well_separated {
        parse_float(&text.replace('_', ""))
    } else {
        Plain::Text
    }
}

fn resolve_number(text: &str) -> Plain {
    if let Some(special) = resolve_special_float(text) {
        return Plain::Float(special);
    }
    let without_separators;
    let plain = if text.contains('_') {
        without_separators = text.replace('_', "");
        &without_separators
    } else {
        text
    };
    parse_integer(plain)
        .or_else(|| parse_signed_binary(plain))
        .unwrap_or_else(|| parse_float(plain))
}

/// Parity: go-yaml's own rule for binary numbers also takes a sign after the prefix, `0b-1`.
fn parse_signed_binary(text: &str) -> Option<Plain> {
    text.strip_prefix("0b")
        .filter(|rest| rest.starts_with(['+', '-']))
        .and_then(|rest| {
            let digits = rest
                .get(1..)
                .filter(|digits| digits.bytes().all(|byte| matches!(byte, b'0' | b'1')))?;
            let magnitude = i64::from_str_radix(digits, 2).ok()?;
            Some(Plain::Signed(if rest.starts_with('-') {
                -magnitude
            } else {
                magnitude
            }))
        })
}

/// Parses an integer with optional sign and base prefix; a bare leading zero means octal.
fn parse_integer(text: &str) -> Option<Plain> {
    let (sign, digits) = split_sign(text);
    let (radix, digits) = split_radix(digits);
    if !digits.bytes().all(|byte| char::from(byte).is_digit(radix)) {
        return None;
    }
    // The digits of a lone `0` are empty, because its zero is the octal prefix.
    let magnitude = if digits.is_empty() {
        if radix != 8 || !text.ends_with('0') {
            return None;
        }
        0
    } else {
        u64::from_str_radix(digits, radix).ok()?
    };
    if sign == Some('-') {
        return 0_i64.checked_sub_unsigned(magnitude).map(Plain::Signed);
    }
    match i64::try_from(magnitude) {
        Ok(number) => Some(Plain::Signed(number)),
        Err(_) if sign.is_none() => Some(Plain::Unsigned(magnitude)),
        Err(_) => None,
    }
}

fn split_sign(text: &str) -> (Option<char>, &str) {
    match text.as_bytes().first() {
        Some(b'-') => (Some('-'), text.get(1..).unwrap_or_default()),
        Some(b'+') => (Some('+'), text.get(1..).unwrap_or_default()),
        _ => (None, text),
    }
}

fn split_radix(digits: &str) -> (u32, &str) {
    let prefixed = |radix| (radix, digits.get(2..).unwrap_or_default());
    match digits.as_bytes() {
        [b'0', b'x' | b'X', _, ..] => prefixed(16),
        [b'0', b'o' | b'O', _, ..] => prefixed(8),
        [b'0', b'b' | b'B', _, ..] => prefixed(2),
        [b'0', ..] => (8, digits.get(1..).unwrap_or_default()),
        _ => (10, digits),
    }
}

fn parse_float(text: &str) -> Plain {
    if !has_float_syntax(text) {
        return Plain::Text;
    }
    match text.parse::<f64>() {
        // Parity: a number too large for a float is a string.
        Ok(number) if number.is_finite() => Plain::Float(number),
        _ => Plain::Text,
    }
}

/// Whether the text is a decimal number with optional sign, fraction and exponent.
fn has_float_syntax(text: &str) -> bool {
    let (_, unsigned) = split_sign(text);
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(split_sign(exponent).1)),
        None => (unsigned, None),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    all_digits(whole)
        && all_digits(fraction)
        && !(whole.is_empty() && fraction.is_empty())
        && exponent.is_none_or(|exponent| !exponent.is_empty() && all_digits(exponent))
}

/// Whether some YAML reader, old or new, takes the text for a number, date or time, even if `kubectl` does not.
///
/// Wider than [`resolve`]: numbers of any size, sexagesimal numbers, dates.
pub(crate) fn looks_like_number_or_date(text: &str) -> bool {
    if !text.starts_with(|first: char| first.is_ascii_digit() || matches!(first, '+' | '-' | '.')) {
        return false;
    }
    let plain = split_sign(text).1.replace('_', "");
    let (radix, digits) = split_radix(&plain);
    let is_integer =
        !digits.is_empty() && digits.chars().all(|character| character.is_digit(radix));
    let is_sexagesimal = plain.contains(':')
        && plain
            .bytes()
            .all(|byte| byte.is_ascii_digit() || matches!(byte, b':' | b'.'));
    let is_date = plain
        .get(..4)
        .is_some_and(|year| year.bytes().all(|byte| byte.is_ascii_digit()))
        && plain
            .get(4..)
            .is_some_and(|rest| rest.starts_with('-') && rest.len() > 1);
    let is_special = matches!(
        plain.to_ascii_lowercase().as_str(),
        ".inf" | ".nan" | "0x" | "0o" | "0b"
    );
    is_integer
        || is_sexagesimal
        || is_date
        || is_special
        || has_float_syntax(&plain)
        || resolve(text) != Plain::Text
}

/// The JSON number for a float, as `kubectl` would send it: whole numbers lose their fraction.
///
/// None for infinity and not-a-number, which JSON does not have.
pub(crate) fn json_number(number: f64) -> Option<Number> {
    // The bound is where Go's JSON encoder changes to exponents. Negative zero keeps its sign only as a float.
    let is_whole = number.fract() == 0.0
        && number.abs() < 1e21
        && !(number == 0.0 && number.is_sign_negative());
    if is_whole {
        // Display gives the shortest digits that identify the float, filled up with zeros, as Go does.
        let digits = number.to_string();
        if let Ok(signed) = digits.parse::<i64>() {
            return Some(signed.into());
        }
        if let Ok(unsigned) = digits.parse::<u64>() {
            return Some(unsigned.into());
        }
    }
    Number::from_f64(number)
}

/// The JSON value of a resolved scalar; none if JSON has none.
pub(crate) fn json_value(plain: Plain, text: &str) -> Option<Value> {
    Some(match plain {
        Plain::Null => Value::Null,
        Plain::Bool(flag) => Value::Bool(flag),
        Plain::Signed(number) => number.into(),
        Plain::Unsigned(number) => number.into(),
        Plain::Float(number) => Value::Number(json_number(number)?),
        Plain::Text => Value::String(text.to_owned()),
    })
}

/// A float as `kubectl` writes it when it is a mapping key; none if the key would come out as another number.
///
/// Parity: single precision, with an exponent from a million on (Go's `%g` for 32 bits).
pub(crate) fn float_key(number: f64) -> Option<String> {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the original rounds to single precision"
    )]
    let scientific = format!("{:e}", number as f32);
    let survives = scientific.parse::<f64>() == Ok(number);
    let (mantissa, exponent) = scientific.split_once('e').filter(|_| survives)?;
    let exponent: i32 = exponent.parse().ok()?;
    if (-4..6).contains(&exponent) {
        return Some(number.to_string());
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    Some(format!("{mantissa}e{sign}{:02}", exponent.unsigned_abs()))
}

/// Decodes base64 with padding; line breaks are skipped.
pub(crate) fn decode_base64(text: &str) -> Option<Vec<u8>> {
    let symbols: Vec<u8> = text
        .bytes()
        .filter(|byte| !matches!(byte, b'\r' | b'\n'))
        .collect();
    if !symbols.len().is_multiple_of(4) {
        return None;
    }
    let padding = symbols
        .iter()
        .rev()
        .take_while(|byte| **byte == b'=')
        .count();
    let data = symbols.get(..symbols.len() - padding)?;
    if padding > 2 {
        return None;
    }
    let mut out = Vec::with_capacity(symbols.len() / 4 * 3);
    let mut buffer = 0_u32;
    let mut bits = 0_u32;
    for symbol in data {
        let sextet = match symbol {
            b'A'..=b'Z' => symbol - b'A',
            b'a'..=b'z' => symbol - b'a' + 26,
            b'0'..=b'9' => symbol - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        buffer = (buffer << 6) | u32::from(sextet);
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            out.push(u8::try_from((buffer >> bits) & 0xff).ok()?);
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests;
