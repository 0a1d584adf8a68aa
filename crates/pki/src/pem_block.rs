//! Blocks between `-----BEGIN …-----` and `-----END …-----`.

use pem::{EncodeConfig, LineEnding, Pem};

use crate::{Error, LARGEST_TEXT, MOST_CERTIFICATES};

/// The first block, which has to be of this label.
pub(crate) fn first(text: &[u8], what: &'static str, label: &str) -> Result<Vec<u8>, Error> {
    let block = any(text, what)?;
    if block.tag() != label {
        return Err(wrong(what, &block));
    }
    Ok(block.into_contents())
}

/// The first block, whatever it holds.
pub(crate) fn any(text: &[u8], what: &'static str) -> Result<Pem, Error> {
    bounded(text, what)?;
    pem::parse(text).map_err(|_| Error::NoBlock { what })
}

/// All blocks of this label; others are passed over, as everybody does who reads a bundle.
pub(crate) fn all(text: &[u8], what: &'static str, label: &str) -> Result<Vec<Vec<u8>>, Error> {
    bounded(text, what)?;
    let blocks = pem::parse_many(text).map_err(|_| Error::NoBlock { what })?;
    if blocks.len() > MOST_CERTIFICATES {
        return Err(Error::TooMany {
            what,
            limit: MOST_CERTIFICATES,
        });
    }
    let wanted = blocks.into_iter().filter(|block| block.tag() == label);
    let contents: Vec<Vec<u8>> = wanted.map(Pem::into_contents).collect();
    if contents.is_empty() {
        return Err(Error::NoBlock { what });
    }
    Ok(contents)
}

pub(crate) fn wrong(what: &'static str, block: &Pem) -> Error {
    Error::WrongLabel {
        what,
        // The label comes from whoever wrote the text.
        label: block.tag().chars().take(64).collect(),
    }
}

/// A block with line feeds.
pub(crate) fn encode(label: &str, contents: &[u8]) -> String {
    let config = EncodeConfig::new().set_line_ending(LineEnding::LF);
    pem::encode_config(&Pem::new(label, contents), config)
}

fn bounded(text: &[u8], what: &'static str) -> Result<(), Error> {
    if text.len() > LARGEST_TEXT {
        return Err(Error::TooLarge {
            what,
            limit: LARGEST_TEXT,
        });
    }
    Ok(())
}
