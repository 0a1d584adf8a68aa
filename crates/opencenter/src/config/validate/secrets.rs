//! Secrets that active services cannot do without.

use super::Validator;
use crate::{
    config::{DnsKeys, DnsProvider, Purpose, Secret, StorageType, path},
    finding::{Code, Finding, Severity},
};

pub(super) fn check(validator: &mut Validator<'_>) {
    cert_manager(validator);
    velero(validator);
    sign_in(validator);
    let secrets = &validator.config.secrets;
    let services = validator.config.services();
    if services.is_active("kube-prometheus-stack") {
        need(
            validator,
            "secrets.grafana.admin_password",
            secrets.grafana.admin_password.as_ref(),
        );
    }
    if services.is_active("weave-gitops") {
        let weave = &secrets.weave_gitops;
        let (field, secret) = match weave.password_hash.as_ref().filter(|hash| !hash.is_empty()) {
            Some(hash) => ("password_hash", Some(hash)),
            None => ("password", weave.password.as_ref()),
        };
        need(validator, &format!("secrets.weave_gitops.{field}"), secret);
    }
    if services.is_active("vsphere-csi") {
        let vsphere = &secrets.vsphere_csi;
        need(
            validator,
            "secrets.vsphere_csi.vcenter_host",
            vsphere.vcenter_host.as_ref(),
        );
        need(
            validator,
            "secrets.vsphere_csi.username",
            vsphere.username.as_ref(),
        );
        need(
            validator,
            "secrets.vsphere_csi.password",
            vsphere.password.as_ref(),
        );
    }
    if services.is_active("harbor") {
        let harbor = &secrets.harbor;
        need(
            validator,
            "secrets.harbor.admin_password",
            harbor.admin_password.as_ref(),
        );
        need(
            validator,
            "secrets.harbor.registry_password",
            harbor.registry_password.as_ref(),
        );
        need(
            validator,
            "secrets.harbor.database_password",
            harbor.database_password.as_ref(),
        );
    }
    if validator.config.managed_services().is_active("alert-proxy") {
        let proxy = &secrets.alert_proxy;
        need(
            validator,
            "secrets.alert_proxy.core_device_id",
            proxy.core_device_id.as_ref(),
        );
        need(
            validator,
            "secrets.alert_proxy.account_service_token",
            proxy.account_service_token.as_ref(),
        );
        need(
            validator,
            "secrets.alert_proxy.core_account_number",
            proxy.core_account_number.as_ref(),
        );
    }
    object_stores(validator);
}

/// Asks for a secret: an error if it is missing, a remark if it is a placeholder.
fn need(validator: &mut Validator<'_>, path: &str, secret: Option<&Secret>) {
    match secret {
        Some(secret) if secret.is_real() => {}
        Some(secret) if secret.is_placeholder() => placeholder(validator, path),
        _ => {
            let severity = if validator.options.allow_missing_secrets {
                Severity::Warning
            } else {
                Severity::Error
            };
            let finding = Finding::new(Code::Oc3030, path, format!("`{path}` is missing"));
            validator.push(finding.severity(severity).help(format!("set `{path}`")));
        }
    }
}

fn placeholder(validator: &mut Validator<'_>, path: &str) {
    let severity = match validator.options.purpose {
        Purpose::Deploy => Severity::Error,
        Purpose::Render | Purpose::Validate => Severity::Warning,
    };
    let finding = Finding::new(
        Code::Oc3031,
        path,
        format!("`{path}` is still a placeholder"),
    );
    validator.push(finding.severity(severity));
}

fn cert_manager(validator: &mut Validator<'_>) {
    let config = validator.config;
    let Some(service) = config
        .services()
        .cert_manager
        .as_ref()
        .filter(|service| service.is_active())
    else {
        return;
    };
    for credential in config.dns_credentials() {
        let is_named = |map: &str| {
            config.is_explicit(&path::child(
                &format!("secrets.cert_manager.{map}"),
                &credential.name,
            ))
        };
        match credential.keys {
            DnsKeys::Route53 {
                access_key,
                secret_access_key,
                ..
            } => {
                let holder = if is_named("aws") {
                    path::child("secrets.cert_manager.aws", &credential.name)
                } else {
                    "secrets.cert_manager".to_owned()
                };
                need(validator, &format!("{holder}.aws_access_key"), access_key);
                need(
                    validator,
                    &format!("{holder}.aws_secret_access_key"),
                    secret_access_key,
                );
            }
            DnsKeys::Cloudflare { api_token } if is_named("cloudflare") => {
                let holder = path::child("secrets.cert_manager.cloudflare", &credential.name);
                need(validator, &format!("{holder}.api_token"), api_token);
            }
            DnsKeys::Cloudflare { api_token } => {
                need(
                    validator,
                    "secrets.cert_manager.cloudflare_api_token",
                    api_token,
                );
            }
        }
    }
    match service.settings.dns_provider {
        Some(DnsProvider::Clouddns) => {
            free(validator, "cert_manager", &["gcp_service_account_key"]);
        }
        Some(DnsProvider::Azuredns) => free(
            validator,
            "cert_manager",
            &["azure_client_id", "azure_client_secret", "azure_tenant_id"],
        ),
        Some(DnsProvider::Designate) => openstack_credential(validator),
        Some(DnsProvider::Route53 | DnsProvider::Cloudflare) | None => {}
    }
}

/// Asks for free secrets of a service.
fn free(validator: &mut Validator<'_>, service: &str, keys: &[&str]) {
    for key in keys {
        let secret = validator.config.secrets.service_secret(service, key);
        need(
            validator,
            &format!("secrets.service_secrets.{service}.{key}"),
            secret,
        );
    }
}

fn openstack_credential(validator: &mut Validator<'_>) {
    let Some(openstack) = &validator.config.opencenter.infrastructure.cloud.openstack else {
        return;
    };
    let holder = "opencenter.infrastructure.cloud.openstack";
    let id = openstack.application_credential_id.as_ref();
    need(
        validator,
        &format!("{holder}.application_credential_id"),
        id,
    );
    let secret = openstack.application_credential_secret.as_ref();
    need(
        validator,
        &format!("{holder}.application_credential_secret"),
        secret,
    );
}

fn velero(validator: &mut Validator<'_>) {
    let config = validator.config;
    let Some(service) = config
        .services()
        .velero
        .as_ref()
        .filter(|service| service.is_active())
    else {
        return;
    };
    match service.settings.storage_type {
        StorageType::Swift => match config.velero_swift_secret() {
            Some(found) => need(validator, &found.path, Some(found.secret)),
            None => openstack_credential(validator),
        },
        StorageType::S3 => free(validator, "velero", &["s3_access_key", "s3_secret_key"]),
        StorageType::Gcs => free(validator, "velero", &["gcp_service_account_key"]),
        StorageType::Azure => free(validator, "velero", &["azure_storage_account_key"]),
    }
}

fn sign_in(validator: &mut Validator<'_>) {
    let config = validator.config;
    let internal = config.has_internal_client_secrets();
    let keycloak = &config.secrets.keycloak;
    if config.services().is_active("keycloak") {
        need(
            validator,
            "secrets.keycloak.admin_password",
            keycloak.admin_password.as_ref(),
        );
        if !internal {
            need(
                validator,
                "secrets.keycloak.client_secret",
                keycloak.client_secret.as_ref(),
            );
        }
    }
    if let Some(headlamp) = config
        .services()
        .headlamp
        .as_ref()
        .filter(|service| service.is_active())
    {
        let uses_oidc =
            config.opencenter.identity.oidc.enabled || headlamp.settings.oidc_issuer_url.is_some();
        if uses_oidc && !internal {
            let secret = config.secrets.headlamp.oidc_client_secret.as_ref();
            need(validator, "secrets.headlamp.oidc_client_secret", secret);
        }
    }
}

/// Keys of object stores may be absent; if they are there, they shall be real.
fn object_stores(validator: &mut Validator<'_>) {
    let config = validator.config;
    let services = config.services();
    let loki = services
        .loki
        .as_ref()
        .filter(|service| service.is_active())
        .map(|service| service.settings.storage_type);
    let tempo = services
        .tempo
        .as_ref()
        .filter(|service| service.is_active())
        .map(|service| service.settings.storage_type);
    let pairs = [
        (loki == Some(StorageType::S3)).then(|| config.loki_s3_keys()),
        (tempo == Some(StorageType::S3)).then(|| config.tempo_s3_keys()),
        services
            .is_active("mimir")
            .then(|| config.service_s3_keys("mimir")),
        services
            .is_active("etcd-backup")
            .then(|| config.service_s3_keys("etcd-backup")),
        services
            .is_active("harbor")
            .then(|| config.service_s3_keys("harbor")),
    ];
    for pair in pairs.into_iter().flatten().flatten() {
        if !(pair.key.is_real() && pair.secret.is_real()) {
            placeholder(validator, &pair.path);
        }
    }
    let swift = [
        (loki == Some(StorageType::Swift)).then(|| config.loki_swift_secret()),
        (tempo == Some(StorageType::Swift)).then(|| config.tempo_swift_secret()),
    ];
    for found in swift.into_iter().flatten().flatten() {
        if !found.secret.is_real() {
            placeholder(validator, &found.path);
        }
    }
}
