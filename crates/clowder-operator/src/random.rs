//! Values that nobody can guess.

use mainstay_clowder::world::Alphabet;

/// A random text over an alphabet. Bytes that would make some letters likelier than others are thrown away.
pub(crate) fn text(alphabet: Alphabet, length: usize) -> String {
    let letters = alphabet.letters().as_bytes();
    let fair = 256 - 256 % letters.len();
    let mut text = String::with_capacity(length);
    while text.len() < length {
        let mut bytes = [0_u8; 64];
        // Without randomness there are no passwords, and no process that could go on: better to wait than to guess.
        if getrandom::fill(&mut bytes).is_err() {
            continue;
        }
        let usable = bytes.iter().map(|&byte| usize::from(byte));
        let usable = usable.filter(|&byte| byte < fair);
        let drawn = usable.filter_map(|byte| letters.get(byte % letters.len()));
        text.extend(
            drawn
                .map(|&letter| char::from(letter))
                .take(length - text.len()),
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_have_the_asked_length_and_letters_and_differ() {
        for alphabet in [
            Alphabet::Alphanumeric,
            Alphabet::LowerAlphanumeric,
            Alphabet::Hexadecimal,
        ] {
            let (one, other) = (text(alphabet, 200), text(alphabet, 200));
            assert_eq!(one.len(), 200);
            assert!(
                one.chars()
                    .all(|letter| alphabet.letters().contains(letter))
            );
            assert_ne!(one, other);
        }
    }
}
