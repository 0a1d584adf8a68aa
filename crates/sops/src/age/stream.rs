//! The payload: chunks of 64 KiB, each sealed with its number and with whether it is the last.

use chacha20poly1305::{ChaCha20Poly1305, KeyInit as _, aead::Aead as _};
use zeroize::Zeroizing;

use super::{Error, FILE_KEY, derive};

/// Bytes in front of the payload that make its key unique.
pub(super) const NONCE: usize = 16;

const CHUNK: usize = 64 * 1024;
const TAG: usize = 16;

pub(super) fn payload_key(file_key: &[u8; FILE_KEY], nonce: &[u8]) -> Zeroizing<[u8; 32]> {
    derive(Some(nonce), file_key, b"payload")
}

pub(super) fn seal(key: &[u8; 32], cleartext: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
    let cipher = ChaCha20Poly1305::new(&(*key).into());
    let mut rest = cleartext;
    for number in 0.. {
        let (chunk, after) = rest.split_at_checked(CHUNK).unwrap_or((rest, &[]));
        let is_last = after.is_empty();
        let sealed = cipher.encrypt(&nonce(number, is_last).into(), chunk);
        out.extend_from_slice(&sealed.map_err(|_| Error::Payload)?);
        if is_last {
            break;
        }
        rest = after;
    }
    Ok(())
}

pub(super) fn open(key: &[u8; 32], payload: &[u8]) -> Result<Zeroizing<Vec<u8>>, Error> {
    let cipher = ChaCha20Poly1305::new(&(*key).into());
    let mut cleartext = Zeroizing::new(Vec::with_capacity(payload.len()));
    let mut rest = payload;
    for number in 0.. {
        if rest.is_empty() {
            return Err(Error::Truncated);
        }
        let (chunk, after) = rest.split_at_checked(CHUNK + TAG).unwrap_or((rest, &[]));
        let is_last = after.is_empty();
        let opened = match cipher.decrypt(&nonce(number, is_last).into(), chunk) {
            Ok(opened) => Zeroizing::new(opened),
            // A whole chunk that is good in the middle, but stands at the end: the rest is missing.
            Err(_) if is_last && cipher.decrypt(&nonce(number, false).into(), chunk).is_ok() => {
                return Err(Error::Truncated);
            }
            Err(_) => return Err(Error::Payload),
        };
        // The last chunk may be empty only if it is the only one.
        if is_last && opened.is_empty() && number > 0 {
            return Err(Error::Payload);
        }
        cleartext.extend_from_slice(&opened);
        if is_last {
            break;
        }
        rest = after;
    }
    Ok(cleartext)
}

/// Eleven bytes of number, one of flag.
fn nonce(number: u64, is_last: bool) -> [u8; 12] {
    let mut nonce = [0; 12];
    let (counter, flag) = nonce.split_at_mut(11);
    for (place, byte) in counter
        .iter_mut()
        .rev()
        .zip(number.to_be_bytes().iter().rev())
    {
        *place = *byte;
    }
    for place in flag {
        *place = u8::from(is_last);
    }
    nonce
}
