//! Durations as users write them, and as messages show them.

/// Seconds of a duration: a whole number with `s`, `m`, `h`, `d` or `y` behind it, or without a unit for seconds. Nothing
/// is zero.
pub fn parse(text: &str) -> Result<i64, String> {
    let text = text.trim();
    if text.is_empty() {
        return Ok(0);
    }
    if let Ok(seconds) = text.parse() {
        return Ok(seconds);
    }
    let invalid = || format!("invalid duration: {}", crate::quote::go(text));
    let unit = text.chars().next_back().ok_or_else(invalid)?;
    let number = text.get(..text.len() - unit.len_utf8());
    let number = number.filter(|number| !number.is_empty());
    let number: i64 = number
        .and_then(|number| number.parse().ok())
        .ok_or_else(invalid)?;
    let factor = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3_600,
        'd' => 86_400,
        'y' => 365 * 86_400,
        _ => {
            return Err(format!(
                "unknown duration unit {} in {} (supported: s, m, h, d, y)",
                crate::quote::go(unit.encode_utf8(&mut [0; 4])),
                crate::quote::go(text)
            ));
        }
    };
    number.checked_mul(factor).ok_or_else(invalid)
}

/// Seconds as hours, minutes and seconds: `1440h0m0s`, `5m0s`, `0s`.
pub fn show(seconds: i64) -> String {
    let sign = if seconds < 0 { "-" } else { "" };
    let seconds = seconds.unsigned_abs();
    let (hours, minutes, rest) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    match (hours, minutes) {
        (0, 0) => format!("{sign}{rest}s"),
        (0, _) => format!("{sign}{minutes}m{rest}s"),
        _ => format!("{sign}{hours}h{minutes}m{rest}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_may_have_one_unit() {
        for (text, seconds) in [
            ("", 0),
            ("  ", 0),
            ("90", 90),
            ("-5", -5),
            ("7s", 7),
            ("5m", 300),
            ("2h", 7_200),
            ("90d", 7_776_000),
            ("5y", 157_680_000),
            (" 1d ", 86_400),
            ("-1h", -3_600),
        ] {
            assert_eq!(parse(text), Ok(seconds), "{text:?}");
        }
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        for (text, error) in [
            ("1h30m", r#"invalid duration: "1h30m""#),
            ("d", r#"invalid duration: "d""#),
            ("xd", r#"invalid duration: "xd""#),
            (
                "3w",
                r#"unknown duration unit "w" in "3w" (supported: s, m, h, d, y)"#,
            ),
            (
                "9223372036854775807y",
                r#"invalid duration: "9223372036854775807y""#,
            ),
            (
                "5ü",
                r#"unknown duration unit "ü" in "5ü" (supported: s, m, h, d, y)"#,
            ),
        ] {
            assert_eq!(parse(text).unwrap_err(), error);
        }
    }

    #[test]
    fn durations_are_shown_as_the_original_shows_them() {
        let shown = [0, 7, 60, 300, 3_600, 5_184_000, -61].map(show);
        assert_eq!(
            shown,
            ["0s", "7s", "1m0s", "5m0s", "1h0m0s", "1440h0m0s", "-1m1s"]
        );
    }
}
