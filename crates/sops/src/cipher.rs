//! One value: sealed text and back.

use std::cmp::Ordering;

use aes_gcm::{
    AesGcm, KeyInit as _,
    aead::{
        Aead as _, Payload,
        consts::{U12, U32},
    },
    aes::Aes256,
};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use mainstay_yaml::Node;
use serde_json::Number;
use zeroize::Zeroizing;

use crate::surroundings::{Entropy, NoEntropy, random};

/// Bytes of the key that seals the values of one file.
pub(crate) const DATA_KEY: usize = 32;

const NONCE: usize = 32;
const TAG: usize = 16;
const START: &str = "ENC[AES256_GCM,data:";

/// The key that seals the values of one file.
pub(crate) type DataKey = Zeroizing<[u8; DATA_KEY]>;

/// A value in the clear as its bytes, and the word that says how to read them.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Plain {
    pub(crate) bytes: Zeroizing<Vec<u8>>,
    pub(crate) kind: &'static str,
}

/// What an opened value is.
#[derive(PartialEq)]
pub(crate) enum Opened {
    Value(Node),
    /// `sops` encrypts comments too; they are no values.
    Comment,
}

impl Ord for Plain {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.bytes.as_slice(), self.kind).cmp(&(other.bytes.as_slice(), other.kind))
    }
}

impl PartialOrd for Plain {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Plain {
    /// The bytes of a scalar as `sops` counts them; none for what is never encrypted.
    pub(crate) fn of(node: &Node) -> Option<Self> {
        let (text, kind) = match node {
            Node::Text(text) | Node::Quoted(text) | Node::SingleQuoted(text) => {
                (text.clone(), "str")
            }
            // The first version of sops was written in Python, and its spelling stayed.
            Node::Bool(true) => ("True".to_owned(), "bool"),
            Node::Bool(false) => ("False".to_owned(), "bool"),
            Node::Number(number) => match number.as_i64() {
                Some(integer) => (integer.to_string(), "int"),
                // Without an exponent and as short as possible, as Go's format `f` with precision -1.
                None => (number.as_f64()?.to_string(), "float"),
            },
            Node::Absent | Node::Null | Node::List(_) | Node::Map(_) | Node::KeyedMap(_) => {
                return None;
            }
        };
        Some(Self {
            bytes: Zeroizing::new(text.into_bytes()),
            kind,
        })
    }
}

/// Seals a value. Empty strings stay as they are, as `sops` leaves them.
pub(crate) fn seal(
    plain: &Plain,
    key: &DataKey,
    additional: &str,
    entropy: &mut dyn Entropy,
) -> Result<String, NoEntropy> {
    if plain.bytes.is_empty() {
        return Ok(String::new());
    }
    let nonce = random::<NONCE>(entropy)?;
    let payload = Payload {
        msg: &plain.bytes,
        aad: additional.as_bytes(),
    };
    let sealed = AesGcm::<Aes256, U32>::new(&(**key).into())
        .encrypt(&(*nonce).into(), payload)
        .expect("a value is shorter than the 64 GiB that the cipher can take");
    let (data, tag) = sealed
        .split_at_checked(sealed.len().saturating_sub(TAG))
        .unwrap_or_default();
    Ok(format!(
        "{START}{},iv:{},tag:{},type:{}]",
        STANDARD.encode(data),
        STANDARD.encode(nonce.as_slice()),
        STANDARD.encode(tag),
        plain.kind
    ))
}

/// Opens a value; says what is wrong with it.
pub(crate) fn open(
    sealed: &str,
    key: &DataKey,
    additional: &str,
) -> Result<(Plain, Opened), &'static str> {
    if sealed.is_empty() {
        let plain = Plain {
            bytes: Zeroizing::default(),
            kind: "str",
        };
        return Ok((plain, Opened::Value(Node::Text(String::new()))));
    }
    let parts = Parts::read(sealed)?;
    let payload = Payload {
        msg: &parts.data_and_tag,
        aad: additional.as_bytes(),
    };
    let opened = match parts.nonce.as_slice() {
        nonce if nonce.len() == NONCE => {
            let nonce: [u8; NONCE] = nonce.try_into().unwrap_or([0; NONCE]);
            AesGcm::<Aes256, U32>::new(&(**key).into()).decrypt(&nonce.into(), payload)
        }
        nonce if nonce.len() == 12 => {
            let nonce: [u8; 12] = nonce.try_into().unwrap_or_default();
            AesGcm::<Aes256, U12>::new(&(**key).into()).decrypt(&nonce.into(), payload)
        }
        _ => return Err("has a nonce of the wrong length"),
    };
    let bytes = opened
        .map(Zeroizing::new)
        .map_err(|_| "was tampered with, moved, or belongs to another file")?;
    let text = str::from_utf8(&bytes).map_err(|_| "does not hold text")?;
    let opened = read(text, parts.kind)?;
    Ok((
        Plain {
            kind: parts.kind,
            bytes,
        },
        opened,
    ))
}

/// Whether this text looks like a sealed value.
pub(crate) fn is_sealed(text: &str) -> bool {
    text.starts_with(START) && text.ends_with(']')
}

fn read(text: &str, kind: &str) -> Result<Opened, &'static str> {
    let number = |number: Option<Number>| number.map(Node::Number);
    let node = match kind {
        "str" | "time" | "bytes" => Some(Node::Text(text.to_owned())),
        "int" => number(text.parse::<i64>().ok().map(Number::from)),
        "float" => number(text.parse().ok().and_then(Number::from_f64)),
        "bool" => match text {
            "True" | "true" | "TRUE" | "1" | "t" | "T" => Some(Node::Bool(true)),
            "False" | "false" | "FALSE" | "0" | "f" | "F" => Some(Node::Bool(false)),
            _ => None,
        },
        _ => return Ok(Opened::Comment),
    };
    node.map(Opened::Value)
        .ok_or("does not hold what its type says")
}

struct Parts {
    data_and_tag: Vec<u8>,
    nonce: Vec<u8>,
    kind: &'static str,
}

impl Parts {
    fn read(sealed: &str) -> Result<Self, &'static str> {
        const KINDS: [&str; 7] = ["str", "int", "float", "bool", "bytes", "time", "comment"];
        let malformed = "is not encrypted, or not in the form of sops";
        let inner = sealed
            .strip_prefix(START)
            .and_then(|rest| rest.strip_suffix(']'))
            .ok_or(malformed)?;
        let (data, rest) = inner.split_once(",iv:").ok_or(malformed)?;
        let (nonce, rest) = rest.split_once(",tag:").ok_or(malformed)?;
        let (tag, kind) = rest.split_once(",type:").ok_or(malformed)?;
        let decode = |text: &str| STANDARD.decode(text).map_err(|_| "is not base64");
        let mut data_and_tag = decode(data)?;
        data_and_tag.extend(decode(tag)?);
        Ok(Self {
            data_and_tag,
            nonce: decode(nonce)?,
            kind: KINDS
                .into_iter()
                .find(|known| *known == kind)
                .ok_or("has an unknown type")?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::surroundings::tests::Counter;

    fn key() -> DataKey {
        Zeroizing::new([7; DATA_KEY])
    }

    fn sealed(node: &Node) -> String {
        let plain = Plain::of(node).unwrap();
        seal(&plain, &key(), "a:b:", &mut Counter::default()).unwrap()
    }

    #[test]
    fn every_type_survives() {
        for node in [
            Node::from("text: with\nlines"),
            Node::from(-42_i64),
            Node::Number(Number::from_f64(0.25).unwrap()),
            Node::Bool(true),
            Node::Bool(false),
        ] {
            let (_, opened) = open(&sealed(&node), &key(), "a:b:").unwrap();
            assert!(opened == Opened::Value(node));
        }
        assert_eq!(sealed(&Node::from("")), "");
    }

    #[test]
    fn a_value_belongs_to_its_path_and_key() {
        let text = sealed(&Node::from("secret"));
        assert!(open(&text, &key(), "a:c:").is_err());
        assert!(open(&text, &Zeroizing::new([8; DATA_KEY]), "a:b:").is_err());
    }

    #[test]
    fn a_changed_value_does_not_open() {
        let text = sealed(&Node::from("secret"));
        for (from, to) in [
            ("type:str", "type:int"),
            ("type:str", "type:odd"),
            ("ENC[AES256_GCM", "ENC[AES128_GCM"),
            ("tag:", "tag:AAAA"),
            ("iv:", "iv:AAAA"),
            ("data:", "data:!"),
        ] {
            let changed = text.replace(from, to);
            assert_ne!(changed, text);
            assert!(open(&changed, &key(), "a:b:").is_err(), "{changed}");
        }
    }

    #[test]
    fn floats_are_written_as_go_writes_them() {
        for (number, text) in [
            (1e21, "1000000000000000000000"),
            (1e-7, "0.0000001"),
            (1.5, "1.5"),
        ] {
            let plain = Plain::of(&Node::Number(Number::from_f64(number).unwrap())).unwrap();
            assert_eq!(*plain.bytes, text.as_bytes());
        }
    }
}
