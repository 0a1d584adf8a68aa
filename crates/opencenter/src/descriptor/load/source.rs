//! Git sources.

use super::{Reader, names::is_dns_subdomain};
use crate::{
    descriptor::{Include, ReferenceKind, SourceEntry, SourceKind, raw::RawSource},
    finding::Code,
};

impl Reader<'_> {
    pub(super) fn source(&mut self, raw: RawSource, pointer: &str) -> Option<SourceEntry> {
        let Some(name) = raw.name.filter(|name| is_dns_subdomain(name)) else {
            self.report(
                Code::Oc5019,
                pointer,
                "the source has no DNS name as its name",
            );
            return None;
        };
        let kind = match (raw.source.as_deref(), &raw.url) {
            (Some("explicit"), _) | (None, Some(_)) => SourceKind::Explicit,
            (Some("base-repo") | None, _) => SourceKind::BaseRepository,
            (Some("cluster-repo"), _) => SourceKind::ClusterRepository,
            (Some("customer-repo"), _) => SourceKind::CustomerRepository,
            (Some(other), _) => {
                self.report(
                    Code::Oc5001,
                    &format!("{pointer}/source"),
                    format!("there is no kind of source `{other}`"),
                );
                return None;
            }
        };
        let reference = match (raw.ref_type.as_deref(), raw.ref_value) {
            (None, None) => None,
            (kind, Some(value)) => Some((self.reference_kind(kind, pointer)?, value)),
            (Some(_), None) => {
                self.report(Code::Oc5001, pointer, "`ref_type` needs `ref_value`");
                None
            }
        };
        Some(SourceEntry {
            file: raw.file.unwrap_or_else(|| format!("{name}.yaml")),
            name,
            kind,
            url: raw.url,
            reference,
            interval: raw.interval.unwrap_or_else(|| "15m".to_owned()),
            secret_name: raw.secret_name,
            override_from: raw.override_from,
            include: raw
                .include
                .into_iter()
                .map(|include| Include {
                    repository: include.repository,
                    from_path: include.from_path,
                    to_path: include.to_path,
                })
                .collect(),
            shared: raw.shared,
            when: self.condition(raw.when.as_ref(), &format!("{pointer}/when")),
        })
    }

    fn reference_kind(&mut self, word: Option<&str>, pointer: &str) -> Option<ReferenceKind> {
        match word {
            Some("branch") | None => Some(ReferenceKind::Branch),
            Some("tag") => Some(ReferenceKind::Tag),
            Some("semver") => Some(ReferenceKind::Semver),
            Some("commit") => Some(ReferenceKind::Commit),
            Some(other) => {
                self.report(
                    Code::Oc5001,
                    &format!("{pointer}/ref_type"),
                    format!("there is no kind of reference `{other}`"),
                );
                None
            }
        }
    }
}
