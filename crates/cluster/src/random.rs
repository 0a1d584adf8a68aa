//! Values that nobody can guess.

use mainstay_engine::snapshot::Alphabet;

/// A random text over an alphabet; `None` if the machine has no randomness to give. Without it there are no passwords:
/// whoever asked tries again later, and nothing is guessed.
pub(crate) fn text(alphabet: Alphabet, length: usize) -> Option<String> {
    text_from(alphabet, length, |bytes| getrandom::fill(bytes).ok())
}

/// Bytes that would make some letters likelier than others are thrown away.
fn text_from(
    alphabet: Alphabet,
    length: usize,
    mut fill: impl FnMut(&mut [u8]) -> Option<()>,
) -> Option<String> {
    let letters = alphabet.letters().as_bytes();
    let fair = 256 - 256 % letters.len();
    let mut text = String::with_capacity(length);
    while text.len() < length {
        let mut bytes = [0_u8; 64];
        fill(&mut bytes)?;
        let usable = bytes.iter().map(|&byte| usize::from(byte));
        let usable = usable.filter(|&byte| byte < fair);
        let drawn = usable.filter_map(|byte| letters.get(byte % letters.len()));
        text.extend(
            drawn
                .map(|&letter| char::from(letter))
                .take(length - text.len()),
        );
    }
    Some(text)
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
            let (one, other) = (text(alphabet, 200).unwrap(), text(alphabet, 200).unwrap());
            assert_eq!(one.len(), 200);
            assert!(
                one.chars()
                    .all(|letter| alphabet.letters().contains(letter))
            );
            assert_ne!(one, other);
        }
    }

    #[test]
    fn a_source_that_fails_is_asked_once_and_nothing_is_guessed() {
        let mut asked = 0;
        let text = text_from(Alphabet::Alphanumeric, 16, |_| {
            asked += 1;
            None
        });
        assert_eq!((text, asked), (None, 1));
    }
}
