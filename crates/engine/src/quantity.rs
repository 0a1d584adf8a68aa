//! Kubernetes quantities by value: the API server stores `1000m` as `1`, which is no change.

/// Nano units of a quantity text; `None` if it is not a quantity or needs more precision than nano.
pub fn parse(text: &str) -> Option<i128> {
    let digits_end = text
        .char_indices()
        .find(|&(position, character)| {
            !(character.is_ascii_digit()
                || character == '.'
                || (position == 0 && matches!(character, '+' | '-')))
        })
        .map_or(text.len(), |(position, _)| position);
    let (number, suffix) = text.split_at(digits_end);
    let (mantissa, fraction_digits) = decimal(number)?;
    let (numerator, denominator) = scale(suffix)?;
    let scaled = mantissa
        .checked_mul(numerator)?
        .checked_mul(1_000_000_000)?;
    let divisor = denominator.checked_mul(10_i128.checked_pow(fraction_digits)?)?;
    (scaled % divisor == 0).then(|| scaled / divisor)
}

/// Whether two texts are the same quantity.
pub fn equal(left: &str, right: &str) -> bool {
    match (parse(left), parse(right)) {
        (Some(left), Some(right)) => left == right,
        _ => left == right,
    }
}

/// Digits without the point, and how many of them stood behind it.
fn decimal(number: &str) -> Option<(i128, u32)> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.trim_start_matches(['+', '-']).is_empty() && fraction.is_empty() {
        return None;
    }
    let joined = format!("{whole}{fraction}");
    Some((joined.parse().ok()?, u32::try_from(fraction.len()).ok()?))
}

/// Factor of a suffix as numerator and denominator.
fn scale(suffix: &str) -> Option<(i128, i128)> {
    let binary = |power: u32| Some((1_i128 << (10 * power), 1));
    let decimal = |power: u32| Some((10_i128.pow(power), 1));
    match suffix {
        "" => Some((1, 1)),
        "n" => Some((1, 1_000_000_000)),
        "u" => Some((1, 1_000_000)),
        "m" => Some((1, 1_000)),
        "k" => decimal(3),
        "M" => decimal(6),
        "G" => decimal(9),
        "T" => decimal(12),
        "P" => decimal(15),
        "E" => decimal(18),
        "Ki" => binary(1),
        "Mi" => binary(2),
        "Gi" => binary(3),
        "Ti" => binary(4),
        "Pi" => binary(5),
        "Ei" => binary(6),
        _ => {
            let exponent: i32 = suffix.strip_prefix(['e', 'E'])?.parse().ok()?;
            let power = 10_i128.checked_pow(exponent.unsigned_abs())?;
            Some(if exponent < 0 { (1, power) } else { (power, 1) })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compares_by_value() {
        for (left, right) in [
            ("1000m", "1"),
            ("0.5", "500m"),
            ("1Gi", "1024Mi"),
            ("1e3", "1k"),
            ("1E3", "1000"),
            ("100e-2", "1"),
            (".5", "500m"),
            ("1.5Gi", "1536Mi"),
        ] {
            assert!(equal(left, right), "{left} = {right}");
        }
        for (left, right) in [
            ("1G", "1Gi"),
            ("1", "2"),
            ("abc", "abd"),
            ("", "0"),
            ("m", "0"),
        ] {
            assert!(!equal(left, right), "{left} ≠ {right}");
        }
    }

    #[test]
    fn never_panics_on_hostile_text() {
        for text in [
            "9".repeat(80),
            "1e99999999999".to_owned(),
            "1e400".to_owned(),
            "..".to_owned(),
            "-".to_owned(),
            "1é".to_owned(),
        ] {
            assert_eq!(parse(&text), None, "{text}");
        }
    }
}
