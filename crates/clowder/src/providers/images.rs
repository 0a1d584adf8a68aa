//! Images of components: from the environment, else from the operator's configuration, else built in.

use crate::providers::provider::ProviderError;

/// Sidecar and gateway for logins.
pub const CADDY: &str = "quay.io/redhat-services-prod/hcm-eng-prod-tenant/crc-caddy-plugin:0768503";
/// Sidecar for TLS.
pub const CADDY_PROXY: &str = "quay.io/redhat-services-prod/hcm-eng-prod-tenant/caddy-ubi:094d8a9";
/// Login server.
pub const KEYCLOAK: &str = "quay.io/keycloak/keycloak:23.0.1";
/// Stand-in for the back office.
pub const MOCK_BOP: &str = "quay.io/redhat-services-prod/hcc-fr-tenant/mbop/mbop:fbf8212";
/// Stand-in for entitlements.
pub const MOCKTITLEMENTS: &str = "quay.io/redhat-services-prod/hcm-eng-prod-tenant/mocktitlements-master/mocktitlements-master:27dadf8";
/// Proxy for the assets of frontends.
pub const REVERSE_PROXY: &str =
    "quay.io/redhat-services-prod/hcc-platex-services-tenant/frontend-asset-proxy:662ccb9";
/// Object store.
pub const MINIO: &str = "minio/minio:RELEASE.2020-11-19T23-48-16Z-amd64";
/// Feature flags.
pub const UNLEASH: &str = "unleashorg/unleash-server:5.6.9";
/// Feature flags, near the apps.
pub const UNLEASH_EDGE: &str = "unleashorg/unleash-edge:v19.6.3";
/// Sidecar for tokens; no setting changes it.
pub const TOKEN_REFRESHER: &str = "quay.io/redhat-services-prod/rhobs-mco-tenant/rhobs-token-refresher:b9f003e57d17de44a3aac77ff290fa1da2c453c8";
/// Sidecar for telemetry.
pub const OTEL_COLLECTOR: &str = "ghcr.io/os-observability/redhat-opentelemetry-collector/redhat-opentelemetry-collector:0.107.0";
/// In-memory database.
pub const IN_MEMORY_DB: &str = "registry.redhat.io/rhel10/valkey-8:10.0";
/// Prometheus push gateway.
pub const PUSH_GATEWAY: &str = "quay.io/prometheus/pushgateway:v1.11.1";

const POSTGRES: &str = "quay.io/cloudservices/postgresql-rds";
const POSTGRES_16: &str = "quay.io/redhat-services-prod/hcm-eng-prod-tenant/postgresql-rds";

/// The first that is set.
pub fn first<'image>(choices: &[&'image str]) -> &'image str {
    choices
        .iter()
        .find(|image| !image.is_empty())
        .copied()
        .unwrap_or_default()
}

/// The image of a PostgreSQL version; Cyndi needs another build.
pub fn postgres(version: i32, cyndi: bool) -> Result<String, ProviderError> {
    match (version, cyndi) {
        (12..=15, false) => Ok(format!("{POSTGRES}:{version}-2318dee")),
        (12..=15, true) => Ok(format!("{POSTGRES}:cyndi-{version}-2318dee")),
        (16, false) => Ok(format!("{POSTGRES_16}:d44b8d1")),
        (16, true) => Ok(format!("{POSTGRES_16}-cyndi:d44b8d1")),
        _ => Err(ProviderError::bare(format!(
            "no default image for PostgreSQL version {version}"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_supported_version_has_two_images() {
        assert_eq!(
            postgres(12, false).unwrap(),
            "quay.io/cloudservices/postgresql-rds:12-2318dee"
        );
        assert_eq!(
            postgres(13, true).unwrap(),
            "quay.io/cloudservices/postgresql-rds:cyndi-13-2318dee"
        );
        assert!(
            postgres(16, false)
                .unwrap()
                .ends_with("/postgresql-rds:d44b8d1")
        );
        assert!(
            postgres(16, true)
                .unwrap()
                .ends_with("/postgresql-rds-cyndi:d44b8d1")
        );
        let error = postgres(11, false).unwrap_err().to_string();
        assert_eq!(error, "no default image for PostgreSQL version 11: ");
    }

    #[test]
    fn the_first_choice_that_is_set_wins() {
        assert_eq!(first(&["", "b", "c"]), "b");
    }
}
