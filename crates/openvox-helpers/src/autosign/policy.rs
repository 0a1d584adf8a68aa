//! Signing policies.

use serde::Deserialize;

use super::{extensions, glob::Glob, request::CertificateRequest};
use crate::config::{or_default, text};

/// All policies.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Policies {
    #[serde(deserialize_with = "or_default")]
    policies: Vec<Policy>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Policy {
    #[serde(deserialize_with = "or_default")]
    any: bool,
    pattern: Option<Names>,
    dns_alt_names: Option<Names>,
    #[serde(deserialize_with = "or_default")]
    csr_attributes: Vec<Attribute>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Names {
    #[serde(deserialize_with = "or_default")]
    allow: Vec<Pattern>,
}

#[derive(Deserialize)]
struct Pattern(#[serde(deserialize_with = "text")] String);

#[derive(Default, Deserialize)]
#[serde(default)]
struct Attribute {
    #[serde(deserialize_with = "text")]
    name: String,
    #[serde(deserialize_with = "text")]
    value: String,
}

impl Policies {
    /// Whether one policy approves the request for a name.
    pub(super) fn approve(&self, certname: &str, request: &CertificateRequest) -> bool {
        let mut policies = self.policies.iter();
        policies.any(|policy| policy.approves(certname, request))
    }
}

impl Policy {
    /// Everything that the policy names has to hold. One that names neither a pattern nor an attribute approves nothing,
    /// and names that it does not allow are not wanted in any certificate.
    fn approves(&self, certname: &str, request: &CertificateRequest) -> bool {
        if self.any {
            return true;
        }
        if self.pattern.is_none() && self.csr_attributes.is_empty() {
            return false;
        }
        let names = [certname.to_owned()];
        let pattern = self.pattern.as_ref();
        pattern.is_none_or(|pattern| pattern.allow_all(&names))
            && self
                .csr_attributes
                .iter()
                .all(|attribute| attribute.is_in(request))
            && (request.dns_names.is_empty()
                || self
                    .dns_alt_names
                    .as_ref()
                    .is_some_and(|allowed| allowed.allow_all(&request.dns_names)))
    }
}

impl Names {
    fn allow_all(&self, names: &[String]) -> bool {
        let globs: Vec<Glob> = self
            .allow
            .iter()
            .map(|Pattern(pattern)| Glob::new(pattern))
            .collect();
        let allowed = |name: &String| globs.iter().any(|glob| glob.matches(name));
        names.iter().all(allowed)
    }
}

impl Attribute {
    fn is_in(&self, request: &CertificateRequest) -> bool {
        extensions::identifier(&self.name)
            .and_then(|identifier| request.text(identifier))
            .is_some_and(|text| text == self.value.as_bytes())
    }
}
