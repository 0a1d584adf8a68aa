//! The header of an age file.

use base64::{Engine as _, engine::general_purpose::STANDARD_NO_PAD};
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

use super::{Error, FILE_KEY, derive};

const VERSION: &[u8] = b"age-encryption.org/v1";
const STANZA: &str = "-> ";
const END: &str = "---";
const COLUMNS: usize = 64;

/// Longest header that is read: a few hundred recipients.
const LONGEST_HEADER: usize = 1 << 20;

/// The key of the file, wrapped for one recipient.
#[derive(Debug)]
pub(super) struct Stanza {
    pub(super) kind: String,
    pub(super) arguments: Vec<String>,
    pub(super) body: Vec<u8>,
}

/// A header that was read; its code is checked once the key of the file is known.
#[derive(Debug)]
pub(super) struct Header<'a> {
    pub(super) stanzas: Vec<Stanza>,
    covered: &'a [u8],
    code: Vec<u8>,
}

impl Header<'_> {
    pub(super) fn verify(&self, file_key: &[u8; FILE_KEY]) -> Result<(), Error> {
        code(file_key, self.covered)
            .verify_slice(&self.code)
            .map_err(|_| Error::Header)
    }
}

/// Writes a header, from its first line to the newline after its code.
pub(super) fn write(stanzas: &[Stanza], file_key: &[u8; FILE_KEY]) -> Vec<u8> {
    let mut out = VERSION.to_vec();
    out.push(b'\n');
    for stanza in stanzas {
        out.extend_from_slice(STANZA.as_bytes());
        out.extend_from_slice(stanza.kind.as_bytes());
        for argument in &stanza.arguments {
            out.push(b' ');
            out.extend_from_slice(argument.as_bytes());
        }
        out.push(b'\n');
        let body = STANDARD_NO_PAD.encode(&stanza.body);
        let mut rest = body.as_str();
        // The last line is shorter than the others, even if it is empty: that is how a reader knows the end.
        while let Some((line, after)) = rest.split_at_checked(COLUMNS) {
            out.extend_from_slice(line.as_bytes());
            out.push(b'\n');
            rest = after;
        }
        out.extend_from_slice(rest.as_bytes());
        out.push(b'\n');
    }
    out.extend_from_slice(END.as_bytes());
    let code = code(file_key, &out).finalize().into_bytes();
    out.push(b' ');
    out.extend_from_slice(STANDARD_NO_PAD.encode(code).as_bytes());
    out.push(b'\n');
    out
}

/// Splits a file into its header and its payload.
pub(super) fn read(file: &[u8]) -> Result<(Header<'_>, &[u8]), Error> {
    let mut reader = Lines { file, position: 0 };
    if reader.next()? != VERSION {
        return Err(Error::Format("it is not version 1"));
    }
    let mut stanzas = Vec::new();
    loop {
        let start = reader.position;
        let line =
            str::from_utf8(reader.next()?).map_err(|_| Error::Format("the header is not text"))?;
        if let Some(rest) = line.strip_prefix(END) {
            let code = rest
                .strip_prefix(' ')
                .and_then(|code| STANDARD_NO_PAD.decode(code).ok())
                .ok_or(Error::Format("the header has no code"))?;
            let covered = file.get(..start + END.len()).unwrap_or_default();
            let payload = file.get(reader.position..).unwrap_or_default();
            let header = Header {
                stanzas,
                covered,
                code,
            };
            return Ok((header, payload));
        }
        let words = line
            .strip_prefix(STANZA)
            .ok_or(Error::Format("a line of the header is out of place"))?;
        stanzas.push(reader.stanza(words)?);
    }
}

fn code(file_key: &[u8; FILE_KEY], covered: &[u8]) -> Hmac<Sha256> {
    let key = derive(None, file_key, b"header");
    let mut code =
        Hmac::<Sha256>::new_from_slice(key.as_slice()).expect("HMAC takes keys of any length");
    code.update(covered);
    code
}

struct Lines<'a> {
    file: &'a [u8],
    position: usize,
}

impl<'a> Lines<'a> {
    fn next(&mut self) -> Result<&'a [u8], Error> {
        let rest = self.file.get(self.position..).unwrap_or_default();
        let length = rest
            .iter()
            .take(LONGEST_HEADER)
            .position(|byte| *byte == b'\n')
            .ok_or(Error::Truncated)?;
        self.position += length + 1;
        if self.position > LONGEST_HEADER {
            return Err(Error::Format("the header is too long"));
        }
        Ok(rest.get(..length).unwrap_or_default())
    }

    fn stanza(&mut self, words: &str) -> Result<Stanza, Error> {
        let mut words = words.split(' ').map(str::to_owned);
        let kind = words.next().unwrap_or_default();
        let arguments: Vec<String> = words.collect();
        if kind.is_empty() || arguments.iter().any(String::is_empty) {
            return Err(Error::Format("a recipient has an empty word"));
        }
        let mut encoded = Vec::new();
        loop {
            let line = self.next()?;
            encoded.extend_from_slice(line);
            if line.len() < COLUMNS {
                break;
            }
            if line.len() > COLUMNS {
                return Err(Error::Format("a line of the header is too long"));
            }
        }
        let body = STANDARD_NO_PAD
            .decode(&encoded)
            .map_err(|_| Error::Format("a recipient is not base64"))?;
        Ok(Stanza {
            kind,
            arguments,
            body,
        })
    }
}
