//! Bech32 (BIP 173), as age writes its keys. Longer than the 90 characters of the original is allowed, as in age.

use zeroize::Zeroizing;

const ALPHABET: &[u8; 32] = b"qpzry9x8gf2tvdw0s3jn54khce6mua7l";
const CHECKSUM: usize = 6;

/// Decodes `text` whose human-readable part has to be `prefix`, in the same case throughout.
pub(super) fn decode(prefix: &str, text: &str) -> Result<Zeroizing<Vec<u8>>, &'static str> {
    let is_lower = !text.bytes().any(|byte| byte.is_ascii_uppercase());
    let is_upper = !text.bytes().any(|byte| byte.is_ascii_lowercase());
    if !is_lower && !is_upper {
        return Err("upper and lower case are mixed");
    }
    let text = Zeroizing::new(text.to_ascii_lowercase());
    let prefix = prefix.to_ascii_lowercase();
    let data = text
        .strip_prefix(&prefix)
        .and_then(|rest| rest.strip_prefix('1'))
        .ok_or("it starts differently")?;
    let mut values = Zeroizing::new(Vec::with_capacity(data.len()));
    for byte in data.bytes() {
        let position = ALPHABET.iter().position(|letter| *letter == byte);
        let value = position.and_then(|position| u8::try_from(position).ok());
        values.push(value.ok_or("a character does not belong there")?);
    }
    if checksum(&prefix, &values) != 1 {
        return Err("the checksum is wrong");
    }
    let length = values
        .len()
        .checked_sub(CHECKSUM)
        .ok_or("it is too short")?;
    values.truncate(length);
    regroup::<5, 8>(&values, false).ok_or("the padding is wrong")
}

/// Encodes bytes in lower case.
pub(super) fn encode(prefix: &str, bytes: &[u8]) -> Zeroizing<String> {
    let prefix = prefix.to_ascii_lowercase();
    let mut values = regroup::<8, 5>(bytes, true).unwrap_or_default();
    let length = values.len();
    values.extend([0; CHECKSUM]);
    let sum = checksum(&prefix, &values) ^ 1;
    for (index, value) in values.iter_mut().skip(length).enumerate() {
        *value = u8::try_from((sum >> (5 * (CHECKSUM - 1 - index))) & 31).unwrap_or_default();
    }
    let mut text = Zeroizing::new(String::with_capacity(prefix.len() + 1 + values.len()));
    text.push_str(&prefix);
    text.push('1');
    for value in values.iter() {
        let letter = ALPHABET.get(usize::from(*value)).copied().unwrap_or(b'q');
        text.push(char::from(letter));
    }
    text
}

fn checksum(prefix: &str, values: &[u8]) -> u32 {
    const GENERATOR: [u32; 5] = [
        0x3b6a_57b2,
        0x2650_8e6d,
        0x1ea1_19fa,
        0x3d42_33dd,
        0x2a14_62b3,
    ];
    let high = prefix.bytes().map(|byte| byte >> 5);
    let low = prefix.bytes().map(|byte| byte & 31);
    let all = high.chain([0]).chain(low).chain(values.iter().copied());
    all.fold(1, |sum: u32, value| {
        let top = sum >> 25;
        let mut next = ((sum & 0x01ff_ffff) << 5) ^ u32::from(value);
        for (bit, factor) in GENERATOR.iter().enumerate() {
            if (top >> bit) & 1 == 1 {
                next ^= factor;
            }
        }
        next
    })
}

/// Regroups bits from groups of `FROM` to groups of `TO`.
fn regroup<const FROM: u32, const TO: u32>(values: &[u8], pad: bool) -> Option<Zeroizing<Vec<u8>>> {
    let mut out = Zeroizing::new(Vec::with_capacity(values.len() * 2));
    let (mut bits, mut count) = (0_u32, 0_u32);
    for value in values {
        bits = (bits << FROM) | u32::from(*value);
        count += FROM;
        while count >= TO {
            count -= TO;
            out.push(u8::try_from((bits >> count) & ((1 << TO) - 1)).ok()?);
        }
        bits &= (1 << count) - 1;
    }
    if pad && count > 0 {
        out.push(u8::try_from((bits << (TO - count)) & ((1 << TO) - 1)).ok()?);
    } else if !pad && (count >= FROM || bits != 0) {
        return None;
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_it_writes() {
        for length in 0..70_u8 {
            let bytes: Vec<u8> = (0..length).collect();
            let text = encode("age", &bytes);
            assert_eq!(*decode("age", &text).unwrap(), bytes);
            assert_eq!(*decode("AGE", &text.to_uppercase()).unwrap(), bytes);
        }
    }

    #[test]
    fn finds_every_changed_character() {
        let text = encode("age", &[7; 32]);
        for index in 4..text.len() {
            let mut changed = text.as_bytes().to_vec();
            changed[index] = if changed[index] == b'q' { b'p' } else { b'q' };
            let changed = String::from_utf8(changed).unwrap();
            assert!(decode("age", &changed).is_err(), "{changed}");
        }
    }

    #[test]
    fn refuses_mixed_case_and_foreign_prefixes() {
        assert!(decode("age", "age1Q").is_err());
        assert!(decode("age", "bge1qqqqqq").is_err());
        assert!(decode("age", "age1").is_err());
    }
}
