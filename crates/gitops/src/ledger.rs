//! What we wrote: the ledger of a cluster.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::{Error, layout, path, tree::Tree};

/// The version that this program writes and reads.
const VERSION: u32 = 1;

/// One file that we wrote.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// Hash of the content, as lower-case hexadecimal digits.
    pub sha256: String,
    /// The mode, as octal digits.
    pub mode: String,
    /// A keyed digest of the cleartext of an encrypted file, to recognise an unchanged one without its secret key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cleartext: Option<String>,
}

/// Every file that we wrote for one cluster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ledger {
    version: u32,
    /// The cluster.
    pub cluster: String,
    /// The files, by path in the overlay.
    pub files: BTreeMap<String, Record>,
}

impl Ledger {
    /// A ledger without files.
    pub fn new(cluster: &str) -> Self {
        Self {
            version: VERSION,
            cluster: cluster.to_owned(),
            files: BTreeMap::new(),
        }
    }

    /// Reads the ledger of a cluster; none if there is none. A broken one is an error, never an empty one.
    pub(crate) fn read(tree: &Tree<'_>, cluster: &str) -> Result<Option<Self>, Error> {
        let relative = layout::ledger(cluster);
        let Some(bytes) = tree.read(&relative)? else {
            return Ok(None);
        };
        let corrupt = |problem: String| Error::Ledger {
            path: tree.shown(&relative),
            problem,
        };
        let ledger: Self =
            serde_json::from_slice(&bytes).map_err(|error| corrupt(error.to_string()))?;
        if ledger.version != VERSION {
            return Err(corrupt(format!("version {} is unknown", ledger.version)));
        }
        if ledger.cluster != cluster {
            return Err(corrupt(format!("it belongs to {}", ledger.cluster)));
        }
        for (file, record) in &ledger.files {
            path::check(file).map_err(|error| corrupt(error.to_string()))?;
            let is_hash = record.sha256.len() == 64
                && record.sha256.bytes().all(|byte| byte.is_ascii_hexdigit());
            if !is_hash || layout::owner(file) != layout::Owner::Renderer {
                return Err(corrupt(format!("the entry `{file}` is not one of ours")));
            }
        }
        Ok(Some(ledger))
    }

    /// The text of the ledger.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = serde_json::to_vec_pretty(self).unwrap_or_default();
        bytes.push(b'\n');
        bytes
    }
}

/// Hash of a content, as lower-case hexadecimal digits.
pub fn sha256(bytes: &[u8]) -> String {
    let digit = |value: u8| char::from_digit(u32::from(value), 16).unwrap_or('0');
    let mut text = String::with_capacity(64);
    for byte in Sha256::digest(bytes) {
        text.push(digit(byte >> 4));
        text.push(digit(byte & 15));
    }
    text
}
