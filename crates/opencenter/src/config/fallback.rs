//! Which secret a service really gets: chains of places, the first usable one wins.
//!
//! A pair is taken from one place or not at all; its members are never mixed. A placeholder counts as empty as long as
//! a later place has a real value, so a forgotten `CHANGEME` does not hide a working credential.

use super::{ClusterConfig, RepositoryKeys, Secret};

/// A secret and the place that it was found in.
#[derive(Clone, Debug, PartialEq)]
pub struct Resolved<'config> {
    /// The value.
    pub secret: &'config Secret,
    /// Its dotted path in the config.
    pub path: String,
}

/// Two secrets that belong together, and the place that they were found in.
#[derive(Clone, Debug, PartialEq)]
pub struct ResolvedPair<'config> {
    /// The access key, or the id of a credential.
    pub key: &'config Secret,
    /// The secret that goes with it.
    pub secret: &'config Secret,
    /// Their dotted path in the config: what holds both.
    pub path: String,
}

/// One place of a chain: its path and what stands there.
type Link<'config> = (String, Option<&'config Secret>);

/// One place of a chain of pairs.
type PairLink<'config> = (String, Option<&'config Secret>, Option<&'config Secret>);

fn resolve(chain: Vec<Link<'_>>) -> Option<Resolved<'_>> {
    let set: Vec<_> = chain
        .into_iter()
        .filter_map(|(path, secret)| {
            let secret = secret.filter(|secret| !secret.is_empty())?;
            Some(Resolved { secret, path })
        })
        .collect();
    let real = set.iter().position(|found| found.secret.is_real());
    set.into_iter().nth(real.unwrap_or(0))
}

fn resolve_pair(chain: Vec<PairLink<'_>>) -> Option<ResolvedPair<'_>> {
    let set: Vec<_> = chain
        .into_iter()
        .filter_map(|(path, key, secret)| {
            let key = key.filter(|key| !key.is_empty())?;
            let secret = secret.filter(|secret| !secret.is_empty())?;
            Some(ResolvedPair { key, secret, path })
        })
        .collect();
    let real = set
        .iter()
        .position(|found| found.key.is_real() && found.secret.is_real());
    set.into_iter().nth(real.unwrap_or(0))
}

impl ClusterConfig {
    fn aws_links(&self) -> Vec<PairLink<'_>> {
        let aws = &self.secrets.global.aws;
        [
            ("application", &aws.application),
            ("infrastructure", &aws.infrastructure),
        ]
        .map(|(name, keys)| {
            (
                format!("secrets.global.aws.{name}"),
                keys.access_key.as_ref(),
                keys.secret_access_key.as_ref(),
            )
        })
        .into()
    }

    fn pair_or_aws<'config>(
        &'config self,
        first: PairLink<'config>,
    ) -> Option<ResolvedPair<'config>> {
        resolve_pair(std::iter::once(first).chain(self.aws_links()).collect())
    }

    /// The AWS keys for applications.
    pub fn aws_application_keys(&self) -> Option<ResolvedPair<'_>> {
        resolve_pair(self.aws_links())
    }

    /// The S3 keys of Loki.
    pub fn loki_s3_keys(&self) -> Option<ResolvedPair<'_>> {
        let loki = &self.secrets.loki;
        self.pair_or_aws((
            "secrets.loki".into(),
            loki.s3_access_key_id.as_ref(),
            loki.s3_secret_access_key.as_ref(),
        ))
    }

    /// The S3 keys of Tempo.
    pub fn tempo_s3_keys(&self) -> Option<ResolvedPair<'_>> {
        let tempo = &self.secrets.tempo;
        self.pair_or_aws((
            "secrets.tempo".into(),
            tempo.access_key.as_ref(),
            tempo.secret_key.as_ref(),
        ))
    }

    /// The S3 keys of a service without a block of its own: mimir, harbor, etcd-backup.
    pub fn service_s3_keys(&self, service: &str) -> Option<ResolvedPair<'_>> {
        self.pair_or_aws((
            format!("secrets.service_secrets.{service}"),
            self.secrets.service_secret(service, "access_key"),
            self.secrets.service_secret(service, "secret_key"),
        ))
    }

    fn swift_secret<'config>(
        &'config self,
        service: &str,
        own: Option<&'config Secret>,
        deprecated: Option<&'config Secret>,
    ) -> Option<Resolved<'config>> {
        let free = |key: &str| {
            let path = format!("secrets.service_secrets.{service}.{key}");
            (path, self.secrets.service_secret(service, key))
        };
        resolve(vec![
            (
                format!("secrets.{service}.swift_application_credential_secret"),
                own,
            ),
            free("swift_application_credential_secret"),
            free("swift_password"),
            (format!("secrets.{service}.swift_password"), deprecated),
        ])
    }

    /// The secret of Loki's Swift credential.
    pub fn loki_swift_secret(&self) -> Option<Resolved<'_>> {
        let loki = &self.secrets.loki;
        let own = loki.swift_application_credential_secret.as_ref();
        self.swift_secret("loki", own, loki.swift_password.as_ref())
    }

    /// The secret of Tempo's Swift credential.
    pub fn tempo_swift_secret(&self) -> Option<Resolved<'_>> {
        let tempo = &self.secrets.tempo;
        let own = tempo.swift_application_credential_secret.as_ref();
        self.swift_secret("tempo", own, tempo.swift_password.as_ref())
    }

    /// The application credential of OpenStack.
    pub fn openstack_credential(&self) -> Option<ResolvedPair<'_>> {
        let openstack = self.opencenter.infrastructure.cloud.openstack.as_ref()?;
        resolve_pair(vec![(
            "opencenter.infrastructure.cloud.openstack".into(),
            openstack.application_credential_id.as_ref(),
            openstack.application_credential_secret.as_ref(),
        )])
    }

    /// The secret with which Velero reaches Swift.
    pub fn velero_swift_secret(&self) -> Option<Resolved<'_>> {
        let openstack = self.opencenter.infrastructure.cloud.openstack.as_ref();
        resolve(vec![
            (
                "secrets.service_secrets.velero.swift_password".into(),
                self.secrets.service_secret("velero", "swift_password"),
            ),
            (
                "opencenter.infrastructure.cloud.openstack.application_credential_secret".into(),
                openstack.and_then(|openstack| openstack.application_credential_secret.as_ref()),
            ),
        ])
    }

    /// The S3 keys of Velero.
    pub fn velero_s3_keys(&self) -> Option<ResolvedPair<'_>> {
        resolve_pair(vec![(
            "secrets.service_secrets.velero".into(),
            self.secrets.service_secret("velero", "s3_access_key"),
            self.secrets.service_secret("velero", "s3_secret_key"),
        )])
    }

    /// The Route 53 keys of files that know only one credential.
    pub fn legacy_route53_keys(&self) -> Option<ResolvedPair<'_>> {
        let flat = &self.secrets.cert_manager;
        let own = (
            "secrets.cert_manager".to_owned(),
            flat.aws_access_key.as_ref(),
            flat.aws_secret_access_key.as_ref(),
        );
        let chosen = self
            .services()
            .cert_manager
            .as_ref()
            .is_some_and(|service| {
                service.settings.dns_provider == Some(super::DnsProvider::Route53)
            });
        if chosen {
            self.pair_or_aws(own)
        } else {
            resolve_pair(vec![own])
        }
    }

    /// The keys of the customer's repository, and their dotted path.
    pub fn customer_repository_keys(&self) -> Option<(String, &RepositoryKeys)> {
        let by_name = self.customer_secret_name().and_then(|name| {
            let keys = self.secrets.customer_managed.get(name)?;
            Some((format!("secrets.customer_managed.{name}"), keys))
        });
        let plain = self.secrets.overlay_units.customer_managed.as_ref();
        by_name
            .or_else(|| plain.map(|keys| ("secrets.overlay_units.customer_managed".into(), keys)))
    }

    /// The entry of `secrets.customer_managed` that is meant: the named one, or the only one.
    fn customer_secret_name(&self) -> Option<&str> {
        let customer = &self.opencenter.gitops.overlay_units.customer_managed;
        if let Some(reference) = customer.secret_ref.as_deref() {
            let name = reference.strip_prefix("customer_managed.");
            return Some(name.unwrap_or(reference));
        }
        let mut names = self.secrets.customer_managed.keys();
        let only = names.next().filter(|_| names.next().is_none());
        only.map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(path: &str, secret: Option<&'static Secret>) -> Link<'static> {
        (path.to_owned(), secret)
    }

    fn leak(text: &str) -> &'static Secret {
        Box::leak(Box::new(Secret::new(text)))
    }

    #[test]
    fn takes_the_first_that_is_set() {
        let found = resolve(vec![
            link("a", None),
            link("b", Some(leak(""))),
            link("c", Some(leak("x"))),
            link("d", Some(leak("y"))),
        ]);
        assert_eq!(found.map(|found| found.path), Some("c".into()));
        assert_eq!(resolve(vec![link("a", None)]), None);
    }

    #[test]
    fn prefers_a_later_real_value_over_a_placeholder() {
        let found = resolve(vec![
            link("a", Some(leak("CHANGEME"))),
            link("b", Some(leak("x"))),
        ]);
        assert_eq!(found.map(|found| found.path), Some("b".into()));
        let found = resolve(vec![
            link("a", Some(leak("CHANGEME"))),
            link("b", Some(leak("PLACEHOLDER-B"))),
        ]);
        assert_eq!(found.map(|found| found.path), Some("a".into()));
    }

    #[test]
    fn never_mixes_a_pair() {
        let found = resolve_pair(vec![
            ("a".into(), Some(leak("key")), None),
            ("b".into(), Some(leak("key")), Some(leak("CHANGEME"))),
            ("c".into(), Some(leak("key")), Some(leak("secret"))),
        ]);
        assert_eq!(found.map(|found| found.path), Some("c".into()));
    }
}
