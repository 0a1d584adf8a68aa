//! The `sops` block of a file.

use jiff::Timestamp;
use mainstay_yaml::Node;

use crate::{Error, Scope, age::Recipient};

/// The key of the block.
pub(crate) const KEY: &str = "sops";

/// The version of the format that we write: files look as this version of `sops` writes them.
const VERSION: &str = "3.9.4";

/// Kinds of keys that `sops` knows besides age.
const OTHER_KEYS: [&str; 6] = ["kms", "gcp_kms", "hckms", "azure_kv", "hc_vault", "pgp"];

/// The data key, wrapped for one recipient.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WrappedKey {
    /// As written in the file: it may be of a kind that we cannot encrypt to.
    pub(crate) recipient: String,
    pub(crate) armored: String,
}

/// The block, typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Metadata {
    pub(crate) keys: Vec<WrappedKey>,
    /// Wrapped for key services too, which we cannot wrap a new data key for.
    pub(crate) has_other_keys: bool,
    /// Exactly as written: it is part of how the code is sealed.
    pub(crate) last_modified: String,
    pub(crate) code: String,
    pub(crate) code_covers_encrypted_only: bool,
    pub(crate) scope: Scope,
}

impl Metadata {
    /// Whether the file is encrypted to exactly these recipients, in any order.
    pub(crate) fn is_for(&self, recipients: &[Recipient]) -> bool {
        let mut wanted: Vec<String> = recipients.iter().map(ToString::to_string).collect();
        let mut present: Vec<String> = self.keys.iter().map(|key| key.recipient.clone()).collect();
        wanted.sort_unstable();
        present.sort_unstable();
        !self.has_other_keys && wanted == present
    }

    pub(crate) fn recipients(&self) -> Vec<String> {
        self.keys.iter().map(|key| key.recipient.clone()).collect()
    }

    pub(crate) fn read(node: &Node) -> Result<Self, Error> {
        let Node::Map(_) = node else {
            return Err(broken("", "is not a mapping"));
        };
        if node.get("shamir_threshold").is_some() || has_items(node, "key_groups") {
            return Err(Error::Unsupported("a data key in several parts"));
        }
        let by_comment = ["encrypted_comment_regex", "unencrypted_comment_regex"];
        if by_comment.iter().any(|key| node.get(key).is_some()) {
            return Err(Error::Unsupported("selecting values by their comments"));
        }
        Ok(Self {
            keys: wrapped_keys(node)?,
            has_other_keys: OTHER_KEYS.iter().any(|key| has_items(node, key)),
            last_modified: canonical_time(&text(node, "lastmodified")?)?,
            code: text(node, "mac")?,
            code_covers_encrypted_only: node.get("mac_only_encrypted") == Some(&Node::Bool(true)),
            scope: scope(node)?,
        })
    }

    pub(crate) fn write(&self) -> Node {
        let (scope_key, scope_text) = match &self.scope {
            Scope::UnencryptedSuffix(text) => ("unencrypted_suffix", text.as_str()),
            Scope::EncryptedSuffix(text) => ("encrypted_suffix", text.as_str()),
            Scope::UnencryptedRegex(text) => ("unencrypted_regex", text.as_str()),
            Scope::EncryptedRegex(text) => ("encrypted_regex", text.as_str()),
        };
        let keys = self.keys.iter().map(|key| {
            Node::map([
                ("recipient", Node::from(&key.recipient)),
                ("enc", Node::from(&key.armored)),
            ])
        });
        Node::map([
            ("age", Node::list(keys)),
            ("lastmodified", Node::quoted(&self.last_modified)),
            ("mac", Node::from(&self.code)),
            (scope_key, Node::from(scope_text)),
            (
                "mac_only_encrypted",
                Node::from(self.code_covers_encrypted_only.then_some(true)),
            ),
            ("version", Node::from(VERSION)),
        ])
    }
}

/// Seconds are enough, and more would not survive a round trip through `sops`.
pub(crate) fn time_text(now: Timestamp) -> String {
    now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// The time as `sops` will print it when it opens the code: in UTC with `Z`, fractions gone.
fn canonical_time(text: &str) -> Result<String, Error> {
    let time: Timestamp = text
        .parse()
        .map_err(|_| broken("lastmodified", "is not a time"))?;
    // An offset is kept by Go's parser and printed again; only then is the text its own canonical form.
    if text.ends_with('Z') {
        Ok(time_text(time))
    } else {
        Ok(text.to_owned())
    }
}

fn scope(node: &Node) -> Result<Scope, Error> {
    let rules = [
        (
            "unencrypted_suffix",
            Scope::UnencryptedSuffix as fn(String) -> Scope,
        ),
        ("encrypted_suffix", Scope::EncryptedSuffix),
        ("unencrypted_regex", Scope::UnencryptedRegex),
        ("encrypted_regex", Scope::EncryptedRegex),
    ];
    let mut found = None;
    for (key, rule) in rules {
        match node.get(key).map(Node::as_text) {
            None | Some(Some("")) => {}
            Some(Some(text)) if found.is_none() => found = Some(rule(text.to_owned())),
            Some(Some(_)) => return Err(Error::Unsupported("more than one rule for values")),
            Some(None) => return Err(broken(key, "is not text")),
        }
    }
    Ok(found.unwrap_or_else(Scope::default_suffix))
}

fn wrapped_keys(node: &Node) -> Result<Vec<WrappedKey>, Error> {
    let Some(list) = node.get("age") else {
        return Ok(Vec::new());
    };
    let keys = list.items().iter().enumerate().map(|(index, item)| {
        let field = |name: &str| {
            let text = item.get(name).and_then(Node::as_text);
            text.map(str::to_owned)
                .ok_or_else(|| broken(&format!("age[{index}].{name}"), "is missing"))
        };
        Ok(WrappedKey {
            recipient: field("recipient")?,
            armored: field("enc")?,
        })
    });
    keys.collect()
}

fn has_items(node: &Node, key: &str) -> bool {
    node.get(key).is_some_and(|list| !list.items().is_empty())
}

fn text(node: &Node, key: &str) -> Result<String, Error> {
    match node.get(key).map(Node::as_text) {
        Some(Some(text)) if !text.is_empty() => Ok(text.to_owned()),
        Some(Some(_)) | None => Err(broken(key, "is missing")),
        Some(None) => Err(broken(key, "is not text")),
    }
}

fn broken(field: &str, problem: &'static str) -> Error {
    Error::Metadata {
        field: field.to_owned(),
        problem,
    }
}
