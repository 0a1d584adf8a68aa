//! Values that several steps make from the config in the same way.

use super::{ClusterConfig, DnsProvider, OidcProvider, OidcSource, Secret};

/// Issuer of certificates when no other can be told.
const LAST_RESORT_ISSUER: &str = "letsencrypt-default";

/// How Flux reads the repositories.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GitAuthMethod {
    /// Over https with a token.
    Token,
    /// Over ssh with a key.
    Ssh,
}

/// A DNS credential that leads to a Secret and an ACME issuer.
#[derive(Clone, Debug, PartialEq)]
pub struct DnsCredential<'config> {
    /// The name; the issuer is `letsencrypt-<name>`.
    pub name: String,
    /// The keys, by DNS service.
    pub keys: DnsKeys<'config>,
    /// Zones that the issuer answers for; never empty.
    pub dns_zones: Vec<String>,
}

/// The keys of a DNS credential.
#[derive(Clone, Debug, PartialEq)]
pub enum DnsKeys<'config> {
    /// AWS Route 53.
    Route53 {
        /// Access key; none if it is missing.
        access_key: Option<&'config Secret>,
        /// Secret key; none if it is missing.
        secret_access_key: Option<&'config Secret>,
        /// Region of the zones.
        region: String,
    },
    /// Cloudflare.
    Cloudflare {
        /// API token; none if it is missing.
        api_token: Option<&'config Secret>,
    },
}

impl DnsCredential<'_> {
    /// The name of the ACME issuer.
    pub fn issuer(&self) -> String {
        format!("letsencrypt-{}", self.name)
    }
}

impl ClusterConfig {
    /// The Git access that the config itself asks for.
    pub fn configured_git_auth(&self) -> Option<GitAuthMethod> {
        let auth = &self.opencenter.gitops.auth;
        match (&auth.ssh, &auth.token) {
            (Some(_), _) => Some(GitAuthMethod::Ssh),
            (None, Some(_)) => Some(GitAuthMethod::Token),
            (None, None) => None,
        }
    }

    /// The host name of Keycloak, also where Keycloak is not part of this config.
    pub fn keycloak_host(&self) -> String {
        match &self.services().keycloak {
            Some(keycloak) => keycloak.settings.hostname.clone(),
            None => format!("auth.{}", self.fqdn()),
        }
    }

    /// The realm that services sign in with.
    pub fn keycloak_realm(&self) -> &str {
        let keycloak = self.services().keycloak.as_ref();
        keycloak.map_or("opencenter", |keycloak| &keycloak.settings.realm)
    }

    /// Whether Keycloak of this cluster makes the client secrets itself, so that none need be configured.
    pub fn has_internal_client_secrets(&self) -> bool {
        let oidc = &self.opencenter.identity.oidc;
        oidc.enabled
            && oidc.source == OidcSource::Internal
            && oidc.provider == OidcProvider::Keycloak
            && self
                .services()
                .get("keycloak")
                .is_some_and(|common| common.enabled)
    }

    /// The DNS credentials that are rendered, sorted by service and name.
    pub fn dns_credentials(&self) -> Vec<DnsCredential<'_>> {
        let Some(service) = &self.services().cert_manager else {
            return Vec::new();
        };
        let secrets = &self.secrets.cert_manager;
        // An issuer without zones would answer for every certificate.
        let zones = |of_credential: &[String]| {
            let of_service = service.settings.dns_zones.as_slice();
            match (of_credential, of_service) {
                ([], []) => vec![self.fqdn().to_owned()],
                ([], zones) | (zones, _) => zones.to_vec(),
            }
        };
        let mut found: Vec<_> = secrets
            .aws
            .iter()
            .filter(|(_, credential)| credential.enabled)
            .map(|(name, credential)| DnsCredential {
                name: name.clone(),
                keys: DnsKeys::Route53 {
                    access_key: credential.aws_access_key.as_ref(),
                    secret_access_key: credential.aws_secret_access_key.as_ref(),
                    region: credential
                        .region
                        .clone()
                        .unwrap_or_else(|| service.settings.region.clone()),
                },
                dns_zones: zones(&credential.dns_zones),
            })
            .collect();
        if found.is_empty()
            && let Some(pair) = self.legacy_route53_keys()
        {
            found.push(DnsCredential {
                name: self.cluster_name().to_owned(),
                keys: DnsKeys::Route53 {
                    access_key: Some(pair.key),
                    secret_access_key: Some(pair.secret),
                    region: service.settings.region.clone(),
                },
                dns_zones: zones(&[]),
            });
        }
        let cloudflare: Vec<_> = secrets
            .cloudflare
            .iter()
            .filter(|(_, credential)| credential.enabled)
            .map(|(name, credential)| {
                (
                    name.as_str(),
                    credential.api_token.as_ref(),
                    zones(&credential.dns_zones),
                )
            })
            .collect();
        let legacy = secrets
            .cloudflare_api_token
            .as_ref()
            .filter(|token| cloudflare.is_empty() && !token.is_empty())
            // Both old credentials would claim the same issuer; the first keeps it.
            .filter(|_| {
                found
                    .iter()
                    .all(|credential| credential.name != self.cluster_name())
            })
            .map(|token| (self.cluster_name(), Some(token), zones(&[])));
        found.extend(
            cloudflare
                .into_iter()
                .chain(legacy)
                .map(|(name, api_token, dns_zones)| DnsCredential {
                    name: name.to_owned(),
                    keys: DnsKeys::Cloudflare { api_token },
                    dns_zones,
                }),
        );
        found
    }

    /// The names of the ACME issuers that are rendered.
    pub fn acme_issuers(&self) -> Vec<String> {
        let Some(service) = self
            .services()
            .cert_manager
            .as_ref()
            .filter(|service| service.is_active())
        else {
            return Vec::new();
        };
        if !service.settings.create_cluster_issuer {
            return Vec::new();
        }
        let mut issuers: Vec<_> = self
            .dns_credentials()
            .iter()
            .map(DnsCredential::issuer)
            .collect();
        if service.settings.dns_provider == Some(DnsProvider::Designate) {
            issuers.push("letsencrypt-designate".to_owned());
        }
        issuers
    }

    /// The issuer of certificates for the gateway and everything behind it.
    pub fn default_issuer(&self) -> String {
        let configured = self
            .services()
            .gateway
            .as_ref()
            .and_then(|gateway| gateway.settings.default_issuer.clone());
        configured.unwrap_or_else(|| match self.acme_issuers().as_slice() {
            [only] => only.clone(),
            _ => LAST_RESORT_ISSUER.to_owned(),
        })
    }

    /// Whether the Secret of the customer's repository is part of the tree.
    pub fn emits_customer_secret(&self) -> bool {
        let customer = &self.opencenter.gitops.overlay_units.customer_managed;
        customer.enabled
            && customer
                .emit_secret
                .unwrap_or(customer.secret_ref.is_some())
    }
}
