//! Values in document order, and the code over them.

use std::fmt::Write as _;

use mainstay_yaml::Node;
use sha2::{Digest as _, Sha512};

use crate::{Error, Scope, cipher::Plain, scope::Judge};

/// What `sops` puts in front of the values if the code covers encrypted values only.
const ENCRYPTED_ONLY: [u8; 32] = [
    0x8a, 0x3f, 0xd2, 0xad, 0x54, 0xce, 0x66, 0x52, 0x7b, 0x10, 0x34, 0xf3, 0xd1, 0x47, 0xbe, 0x0b,
    0x0b, 0x97, 0x5b, 0x3b, 0xf4, 0x4f, 0x72, 0xc6, 0xfd, 0xad, 0xec, 0x81, 0x76, 0xf2, 0x7d, 0x69,
];

/// What a leaf turned out to be.
pub(crate) enum Step {
    Value(Plain),
    Comment,
    Nothing,
}

/// What is done with a leaf: the value, its keys, its additional data, whether it is encrypted.
pub(crate) type OnLeaf<'a> =
    dyn FnMut(&mut Node, &[String], &str, bool) -> Result<Step, Error> + 'a;

/// Goes through values in document order and computes the code over them.
pub(crate) struct Walk<'a> {
    judge: Judge<'a>,
    code: Sha512,
    encrypted_only: bool,
    path: Vec<String>,
}

impl<'a> Walk<'a> {
    pub(crate) fn new(scope: &'a Scope, encrypted_only: bool) -> Result<Self, Error> {
        let mut code = Sha512::new();
        if encrypted_only {
            code.update(ENCRYPTED_ONLY);
        }
        Ok(Self {
            judge: scope.judge()?,
            code,
            encrypted_only,
            path: Vec::new(),
        })
    }

    pub(crate) fn document(
        &mut self,
        node: &mut Node,
        on_leaf: &mut OnLeaf<'_>,
    ) -> Result<(), Error> {
        self.path.clear();
        self.node(node, on_leaf)
    }

    fn node(&mut self, node: &mut Node, on_leaf: &mut OnLeaf<'_>) -> Result<(), Error> {
        match node {
            Node::Map(entries) => {
                for (key, value) in entries {
                    self.path.push(key.to_string());
                    self.node(value, on_leaf)?;
                    self.path.pop();
                }
                Ok(())
            }
            // Items have no part in the path, so that they can move.
            Node::List(items) => {
                let mut index = 0;
                while let Some(item) = items.get_mut(index) {
                    self.node(item, on_leaf)?;
                    // `sops` keeps encrypted comments between items as items.
                    if item.is_absent() {
                        items.remove(index);
                    } else {
                        index += 1;
                    }
                }
                Ok(())
            }
            leaf => self.leaf(leaf, on_leaf),
        }
    }

    fn leaf(&mut self, node: &mut Node, on_leaf: &mut OnLeaf<'_>) -> Result<(), Error> {
        let is_encrypted = self.judge.encrypts(&self.path);
        let mut additional = self.path.join(":");
        additional.push(':');
        match on_leaf(node, &self.path, &additional, is_encrypted)? {
            Step::Value(plain) if is_encrypted || !self.encrypted_only => {
                self.code.update(plain.bytes.as_slice());
            }
            Step::Value(_) | Step::Nothing => {}
            Step::Comment => *node = Node::Absent,
        }
        Ok(())
    }

    pub(crate) fn code(&self) -> String {
        let digest = self.code.clone().finalize();
        digest.iter().fold(String::new(), |mut text, byte| {
            // Writing to a String cannot fail.
            let _ = write!(text, "{byte:02X}");
            text
        })
    }
}
