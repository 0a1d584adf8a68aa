//! Which secrets a service has, needs and gets; never their values.

use serde_json::Value;

use super::{
    ClusterConfig, LoadOptions, Resolved, ResolvedPair, StorageType,
    field::Kind,
    lookup::{lookup, rows},
    path, validate,
};
use crate::{
    catalog,
    finding::{Code, Severity},
};

/// Whether a secret is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecretState {
    /// A value is set.
    Set,
    /// A stand-in is set.
    Placeholder,
    /// Nothing is set.
    Missing,
}

impl SecretState {
    /// The word in tables.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Set => "set",
            Self::Placeholder => "placeholder",
            Self::Missing => "missing",
        }
    }
}

/// One secret field of a service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretStatus {
    /// The path in the config.
    pub path: String,
    /// Whether it is there.
    pub state: SecretState,
    /// Whether the config, as it is, cannot do without it.
    pub required: bool,
    /// What the field is for.
    pub description: &'static str,
}

/// The secrets of one service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceSecrets {
    /// The fields of the service's own block.
    pub fields: Vec<SecretStatus>,
    /// The places that the service really takes its credentials from.
    pub sources: Vec<String>,
}

impl ClusterConfig {
    /// The secrets of a service: fields, their state, and which place of the fallback chains won.
    pub fn service_secrets(&self, service: &str) -> ServiceSecrets {
        let block = catalog::find(service).map_or_else(
            || path::child("service_secrets", service),
            catalog::CatalogEntry::secret_path,
        );
        let block = format!("secrets.{block}");
        let mut fields = Vec::new();
        if let Ok(Kind::Object(section)) = lookup(&block).map(|known| known.kind()) {
            for row in rows(section).iter().filter(|row| row.field.secret) {
                for path in self.expand_names(&format!("{block}.{}", row.path)) {
                    fields.push(self.secret_status(path, row.field.description()));
                }
            }
        } else {
            let free = self.lookup(&block).and_then(Value::as_object);
            for key in free.into_iter().flat_map(serde_json::Map::keys) {
                let path = path::child(&block, key);
                fields.push(self.secret_status(path, "Secret of the service."));
            }
        }
        ServiceSecrets {
            fields,
            sources: self.secret_sources(service),
        }
    }

    /// Replaces `<name>` in a path by the names that the config has.
    fn expand_names(&self, pattern: &str) -> Vec<String> {
        let Some((map, rest)) = pattern.split_once(".<name>") else {
            return vec![pattern.to_owned()];
        };
        let entries = self.lookup(map).and_then(Value::as_object);
        entries
            .into_iter()
            .flat_map(serde_json::Map::keys)
            .map(|name| format!("{}{rest}", path::child(map, name)))
            .collect()
    }

    fn secret_status(&self, path: String, description: &'static str) -> SecretStatus {
        let state = match self.lookup(&path).and_then(Value::as_str) {
            None | Some("") => SecretState::Missing,
            Some(text) if super::is_placeholder(text) => SecretState::Placeholder,
            Some(_) => SecretState::Set,
        };
        SecretStatus {
            required: self.cannot_do_without(&path),
            path,
            state,
            description,
        }
    }

    /// Whether the config without this value has an error about it.
    fn cannot_do_without(&self, path: &str) -> bool {
        let mut effective = self.effective.clone();
        let steps = path::steps(path).unwrap_or_default();
        if let Some((last, parents)) = steps.split_last()
            && let Some(Value::Object(fields)) = effective.pointer_mut(&path::pointer(parents))
        {
            fields.remove(last);
        }
        let Ok(root) = serde::Deserialize::deserialize(&effective) else {
            return false;
        };
        let without = Self {
            root,
            effective,
            origins: self.origins.clone(),
        };
        validate::validate(&without, &LoadOptions::default())
            .iter()
            .any(|finding| {
                let is_about_secrets = matches!(
                    finding.code,
                    Code::Oc3030 | Code::Oc3133 | Code::Oc4014 | Code::Oc4015 | Code::Oc4016
                );
                is_about_secrets && finding.severity == Severity::Error && finding.path == path
            })
    }

    /// Where a service takes its credentials from, after all fallbacks.
    fn secret_sources(&self, service: &str) -> Vec<String> {
        let pair = |found: Option<ResolvedPair<'_>>| found.map(|found| found.path);
        let single = |found: Option<Resolved<'_>>| found.map(|found| found.path);
        let services = self.services();
        let found = match service {
            "loki" => match services
                .loki
                .as_ref()
                .map(|loki| loki.settings.storage_type)
            {
                Some(StorageType::Swift) => single(self.loki_swift_secret()),
                Some(_) => pair(self.loki_s3_keys()),
                None => None,
            },
            "tempo" => match services
                .tempo
                .as_ref()
                .map(|tempo| tempo.settings.storage_type)
            {
                Some(StorageType::Swift) => single(self.tempo_swift_secret()),
                Some(_) => pair(self.tempo_s3_keys()),
                None => None,
            },
            "mimir" | "harbor" | "etcd-backup" => pair(self.service_s3_keys(service)),
            "velero" => match services
                .velero
                .as_ref()
                .map(|velero| velero.settings.storage_type)
            {
                Some(StorageType::Swift) => single(self.velero_swift_secret()),
                Some(_) => pair(self.velero_s3_keys()),
                None => None,
            },
            "openstack-ccm" | "openstack-csi" => pair(self.openstack_credential()),
            "customer-managed" => self.customer_repository_keys().map(|(path, _)| path),
            _ => None,
        };
        found.into_iter().collect()
    }
}
