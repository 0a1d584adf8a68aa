//! Ordered values of a file in the clear, zeroed when dropped.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use mainstay_yaml::{Document, Limits, Node, SourceName, parse_bytes, print_manifests};
use zeroize::{Zeroize, Zeroizing};

use crate::{Error, Scope, cipher::Plain, scope::Judge};

/// The documents of a file in the clear.
#[derive(Clone, PartialEq)]
pub struct Cleartext(Vec<Node>);

impl Cleartext {
    /// Reads the documents of a YAML file; each has to be a mapping.
    pub fn parse(bytes: &[u8]) -> Result<Self, Error> {
        let limits = Limits::default();
        let documents = parse_bytes(bytes, &SourceName::new("<cleartext>"), &limits)
            // What the parser says may quote a value.
            .map_err(|error| Error::Yaml(error.redacted()))?;
        let nodes: Vec<Node> = documents.iter().map(Document::to_node).collect();
        let cleartext = Self(nodes);
        for (index, node) in cleartext.0.iter().enumerate() {
            if !matches!(node, Node::Map(_)) {
                return Err(Error::NotAMapping { index: index + 1 });
            }
        }
        Ok(cleartext)
    }

    /// The documents, in order.
    pub fn documents(&self) -> &[Node] {
        &self.0
    }

    pub(crate) fn documents_mut(&mut self) -> &mut [Node] {
        &mut self.0
    }

    /// The text of the file with a word in the place of every value that is encrypted.
    pub fn redacted(&self, scope: &Scope, word: &str) -> Result<String, Error> {
        let judge = scope.judge()?;
        let mut copy = self.clone();
        for document in copy.documents_mut() {
            replace(document, &judge, &mut Vec::new(), word);
        }
        Ok(print_manifests(&copy.0))
    }

    /// The paths of the values that are encrypted and differ from those of another version of the file.
    ///
    /// Values in lists go by the path of their list. A value that only one of the two has counts as different.
    pub fn changed_secrets(&self, other: &Self, scope: &Scope) -> Result<BTreeSet<String>, Error> {
        let judge = scope.judge()?;
        let (left, right) = (secrets(self, &judge), secrets(other, &judge));
        let paths = left.keys().chain(right.keys());
        Ok(paths
            .filter(|path| left.get(*path) != right.get(*path))
            .cloned()
            .collect())
    }

    /// The text of the file.
    pub fn expose(&self) -> Zeroizing<String> {
        Zeroizing::new(print_manifests(&self.0))
    }
}

impl Drop for Cleartext {
    fn drop(&mut self) {
        self.0.iter_mut().for_each(erase);
    }
}

impl fmt::Debug for Cleartext {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Cleartext(***)")
    }
}

fn replace(node: &mut Node, judge: &Judge<'_>, path: &mut Vec<String>, word: &str) {
    match node {
        Node::Map(entries) => {
            for (key, value) in entries {
                path.push(key.to_string());
                replace(value, judge, path, word);
                path.pop();
            }
        }
        Node::List(items) => items
            .iter_mut()
            .for_each(|item| replace(item, judge, path, word)),
        leaf => {
            if Plain::of(leaf).is_some_and(|plain| !plain.bytes.is_empty()) && judge.encrypts(path)
            {
                erase(leaf);
                *leaf = Node::Text(word.to_owned());
            }
        }
    }
}

/// The encrypted values of all documents, by path.
fn secrets(cleartext: &Cleartext, judge: &Judge<'_>) -> BTreeMap<String, Vec<Plain>> {
    let mut found = BTreeMap::new();
    for document in cleartext.documents() {
        collect(document, judge, &mut Vec::new(), &mut found);
    }
    found
}

fn collect(
    node: &Node,
    judge: &Judge<'_>,
    path: &mut Vec<String>,
    found: &mut BTreeMap<String, Vec<Plain>>,
) {
    match node {
        Node::Map(entries) => {
            for (key, value) in entries {
                path.push(key.to_string());
                collect(value, judge, path, found);
                path.pop();
            }
        }
        Node::List(items) => items
            .iter()
            .for_each(|item| collect(item, judge, path, found)),
        leaf => {
            if let Some(plain) = Plain::of(leaf).filter(|_| judge.encrypts(path)) {
                found.entry(path.join(".")).or_default().push(plain);
            }
        }
    }
}

/// Zeroes the strings of a value. Numbers and flags hold too little to be worth it.
fn erase(node: &mut Node) {
    match node {
        Node::Text(text) | Node::Quoted(text) | Node::SingleQuoted(text) => text.zeroize(),
        Node::List(items) => items.iter_mut().for_each(erase),
        Node::Map(entries) => entries.iter_mut().for_each(|(_, value)| erase(value)),
        Node::KeyedMap(entries) => entries.iter_mut().for_each(|(_, value)| erase(value)),
        Node::Absent | Node::Null | Node::Bool(_) | Node::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_redacted_text_shows_shape_and_no_secret() {
        let file = Cleartext::parse(b"kind: Secret\ndata:\n  a: hunter2\n  b: [x, '']\n").unwrap();
        let scope = Scope::EncryptedRegex("^data$".to_owned());
        assert_eq!(
            file.redacted(&scope, "<secret>").unwrap(),
            "---\nkind: Secret\ndata:\n  a: <secret>\n  b:\n    - <secret>\n    - \"\"\n"
        );
    }

    #[test]
    fn changed_secrets_are_named_by_path() {
        let parse = |text: &str| Cleartext::parse(text.as_bytes()).unwrap();
        let old = parse("kind: A\ndata: {a: x, b: y, c: [1, 2]}\n");
        let new = parse("kind: B\ndata: {a: x, b: z, c: [2, 1], d: n}\n");
        let scope = Scope::EncryptedRegex("^data$".to_owned());
        let changed: Vec<String> = old
            .changed_secrets(&new, &scope)
            .unwrap()
            .into_iter()
            .collect();
        assert_eq!(changed, ["data.b", "data.c", "data.d"]);
    }
}
