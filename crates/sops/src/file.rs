//! Whole files: encrypt, decrypt, and re-encrypt only what changed.

use std::collections::BTreeMap;

use mainstay_yaml::{Node, print_manifests};
use zeroize::Zeroizing;

use crate::{
    Cleartext, Error, Scope, Surroundings,
    age::{self, Identity, Recipient},
    cipher::{self, DATA_KEY, DataKey, Opened, Plain},
    metadata::{self, Metadata, WrappedKey},
    surroundings::{Entropy, random},
    walk::{Step, Walk},
};

/// How a file is encrypted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Who can open it.
    pub recipients: Vec<Recipient>,
    /// Which values are encrypted.
    pub scope: Scope,
}

/// Encrypts with a new data key.
pub fn encrypt(
    cleartext: &Cleartext,
    settings: &Settings,
    surroundings: &mut Surroundings<'_>,
) -> Result<String, Error> {
    let key: DataKey = random::<DATA_KEY>(surroundings.entropy)?;
    let keys = wrap(&key, &settings.recipients, surroundings.entropy)?;
    write(
        cleartext,
        &settings.scope,
        &key,
        keys,
        &Stash::default(),
        surroundings,
    )
}

/// Encrypts a new version of an encrypted file.
///
/// The same cleartext, recipients and scope give the same bytes; otherwise every value that did not change keeps its
/// ciphertext. If the recipients differ there is a new data key, and nothing is kept: whoever lost access knows the
/// old one.
pub fn update(
    old: &[u8],
    cleartext: &Cleartext,
    settings: &Settings,
    identities: &[Identity],
    surroundings: &mut Surroundings<'_>,
) -> Result<Vec<u8>, Error> {
    let opened = open(old, identities)?;
    if !opened.metadata.is_for(&settings.recipients) {
        return encrypt(cleartext, settings, surroundings).map(String::into_bytes);
    }
    if opened.metadata.scope == settings.scope && same(&opened.cleartext, cleartext) {
        return Ok(old.to_vec());
    }
    write(
        cleartext,
        &settings.scope,
        &opened.key,
        opened.metadata.keys,
        &opened.stash,
        surroundings,
    )
    .map(String::into_bytes)
}

/// Opens a file and checks its code.
pub fn decrypt(file: &[u8], identities: &[Identity]) -> Result<Cleartext, Error> {
    open(file, identities).map(|opened| opened.cleartext)
}

/// Whether the file has a `sops` block; says nothing about whether it opens.
pub fn is_encrypted(file: &[u8]) -> bool {
    let parsed = Cleartext::parse(file);
    parsed.is_ok_and(|documents| {
        let first = documents.documents().first();
        first.is_some_and(|document| document.get(metadata::KEY).is_some())
    })
}

/// The age recipients of an encrypted file, as written; checks the form of its metadata on the way.
pub fn recipients(file: &[u8]) -> Result<Vec<String>, Error> {
    let (_, metadata) = split(file)?;
    if !cipher::is_sealed(&metadata.code) {
        return Err(Error::CodeTampered);
    }
    Ok(metadata.recipients())
}

/// The rule by which the values of an encrypted file were selected.
pub fn scope(file: &[u8]) -> Result<Scope, Error> {
    Ok(split(file)?.1.scope)
}

/// Ciphertext by path and cleartext.
type Stash = BTreeMap<(String, Plain), String>;

struct OpenedFile {
    cleartext: Cleartext,
    metadata: Metadata,
    key: DataKey,
    stash: Stash,
}

fn open(file: &[u8], identities: &[Identity]) -> Result<OpenedFile, Error> {
    let (mut documents, metadata) = split(file)?;
    let key = unwrap(&metadata, identities)?;
    let mut walk = Walk::new(&metadata.scope, metadata.code_covers_encrypted_only)?;
    let mut stash = Stash::default();
    for document in documents.documents_mut() {
        walk.document(document, &mut |node, path, additional, is_encrypted| {
            decrypt_value(node, &key, path, additional, is_encrypted, &mut stash)
        })?;
    }
    let (_, code) = cipher::open(&metadata.code, &key, &metadata.last_modified)
        .map_err(|_| Error::CodeTampered)?;
    let Opened::Value(Node::Text(code)) = code else {
        return Err(Error::CodeTampered);
    };
    if code != *walk.code() {
        return Err(Error::CodeMismatch);
    }
    Ok(OpenedFile {
        cleartext: documents,
        metadata,
        key,
        stash,
    })
}

/// Takes the metadata out of the documents.
fn split(file: &[u8]) -> Result<(Cleartext, Metadata), Error> {
    let mut documents = Cleartext::parse(file)?;
    let mut metadata = None;
    for document in documents.documents_mut() {
        let Node::Map(entries) = document else {
            continue;
        };
        if let Some(index) = entries.iter().position(|(key, _)| key == metadata::KEY) {
            let (_, block) = entries.remove(index);
            // Every document repeats the block; the first counts, as for `sops`.
            metadata.get_or_insert(block);
        }
    }
    let block = metadata.ok_or(Error::NotEncrypted)?;
    Ok((documents, Metadata::read(&block)?))
}

fn write(
    cleartext: &Cleartext,
    scope: &Scope,
    key: &DataKey,
    keys: Vec<WrappedKey>,
    stash: &Stash,
    surroundings: &mut Surroundings<'_>,
) -> Result<String, Error> {
    // From here on every value is replaced by its ciphertext.
    let mut documents = cleartext.clone();
    let mut walk = Walk::new(scope, false)?;
    for document in documents.documents_mut() {
        if document.get(metadata::KEY).is_some() {
            return Err(Error::AlreadyEncrypted);
        }
        walk.document(document, &mut |node, _, additional, is_encrypted| {
            encrypt_value(
                node,
                key,
                additional,
                is_encrypted,
                stash,
                surroundings.entropy,
            )
        })?;
    }
    let last_modified = metadata::time_text(surroundings.now);
    let code = Plain {
        bytes: Zeroizing::new(walk.code().into_bytes()),
        kind: "str",
    };
    let metadata = Metadata {
        keys,
        has_other_keys: false,
        code: cipher::seal(&code, key, &last_modified, surroundings.entropy)?,
        last_modified,
        code_covers_encrypted_only: false,
        scope: scope.clone(),
    };
    let block = metadata.write();
    for document in documents.documents_mut() {
        if let Node::Map(entries) = document {
            entries.push((metadata::KEY.into(), block.clone()));
        }
    }
    Ok(print_manifests(documents.documents()))
}

fn encrypt_value(
    node: &mut Node,
    key: &DataKey,
    additional: &str,
    is_encrypted: bool,
    stash: &Stash,
    entropy: &mut dyn Entropy,
) -> Result<Step, Error> {
    let Some(plain) = Plain::of(node) else {
        return Ok(Step::Nothing);
    };
    if is_encrypted {
        let known = (additional.to_owned(), plain);
        let sealed = match stash.get(&known) {
            Some(sealed) => sealed.clone(),
            None => cipher::seal(&known.1, key, additional, entropy)?,
        };
        *node = Node::Text(sealed);
        return Ok(Step::Value(known.1));
    }
    Ok(Step::Value(plain))
}

fn decrypt_value(
    node: &mut Node,
    key: &DataKey,
    path: &[String],
    additional: &str,
    is_encrypted: bool,
    stash: &mut Stash,
) -> Result<Step, Error> {
    let broken = |problem| Error::Value {
        path: path.join("."),
        problem,
    };
    let Some(plain) = Plain::of(node) else {
        return Ok(Step::Nothing);
    };
    if !is_encrypted {
        return Ok(Step::Value(plain));
    }
    let Some(sealed) = node.as_text() else {
        return Err(broken("should be encrypted and is not"));
    };
    let (plain, opened) = cipher::open(sealed, key, additional).map_err(broken)?;
    match opened {
        Opened::Comment => Ok(Step::Comment),
        Opened::Value(value) => {
            stash.insert((additional.to_owned(), plain.clone()), sealed.to_owned());
            *node = value;
            Ok(Step::Value(plain))
        }
    }
}

fn wrap(
    key: &DataKey,
    recipients: &[Recipient],
    entropy: &mut dyn Entropy,
) -> Result<Vec<WrappedKey>, Error> {
    if recipients.is_empty() {
        return Err(Error::NoRecipient);
    }
    let wrapped = recipients.iter().map(|recipient| {
        let file = age::encrypt(key.as_slice(), recipient, entropy)?;
        Ok(WrappedKey {
            recipient: recipient.to_string(),
            armored: age::enarmor(&file),
        })
    });
    wrapped.collect()
}

/// The data key, from the first copy that one of the identities opens.
fn unwrap(metadata: &Metadata, identities: &[Identity]) -> Result<DataKey, Error> {
    for wrapped in &metadata.keys {
        let broken = |source| Error::DataKey {
            recipient: wrapped.recipient.clone(),
            source,
        };
        let file = age::dearmor(&wrapped.armored).map_err(broken)?;
        let opened = match age::decrypt(&file, identities) {
            Err(age::Error::NoMatch) => continue,
            other => other.map_err(broken)?,
        };
        let mut key = Zeroizing::new([0; DATA_KEY]);
        if opened.len() != DATA_KEY {
            return Err(broken(age::Error::Format("it holds no data key")));
        }
        key.copy_from_slice(&opened);
        return Ok(key);
    }
    Err(Error::WrongKey {
        recipients: match metadata.recipients() {
            none if none.is_empty() => "no age recipient".to_owned(),
            some => some.join(", "),
        },
    })
}

/// Equal up to how strings are quoted.
fn same(left: &Cleartext, right: &Cleartext) -> bool {
    let (left, right) = (left.documents(), right.documents());
    left.len() == right.len()
        && left
            .iter()
            .zip(right)
            .all(|(left, right)| same_node(left, right))
}

fn same_node(left: &Node, right: &Node) -> bool {
    match (left, right) {
        (Node::Map(left), Node::Map(right)) => {
            let pairs = left.iter().zip(right);
            left.len() == right.len()
                && pairs
                    .into_iter()
                    .all(|(left, right)| left.0 == right.0 && same_node(&left.1, &right.1))
        }
        (Node::List(left), Node::List(right)) => {
            left.len() == right.len()
                && left
                    .iter()
                    .zip(right)
                    .all(|(left, right)| same_node(left, right))
        }
        _ => match (Plain::of(left), Plain::of(right)) {
            (Some(left), Some(right)) => left == right,
            (None, None) => left == right,
            _ => false,
        },
    }
}

#[cfg(test)]
mod tests;
