//! Choices that must fit the infrastructure provider.

use super::Validator;
use crate::{
    config::{DnsKeys, DnsProvider, Provider, StorageType, provider_choices},
    finding::{Code, Finding, Severity},
};

pub(super) fn check(validator: &mut Validator<'_>) {
    dns(validator);
    storage(validator);
    openstack(validator);
}

fn dns(validator: &mut Validator<'_>) {
    let config = validator.config;
    let provider = config.opencenter.infrastructure.provider;
    let Some(service) = config
        .services()
        .cert_manager
        .as_ref()
        .filter(|service| service.is_active())
    else {
        return;
    };
    let Some(chosen) = service.settings.dns_provider else {
        return;
    };
    let allowed = provider_choices::dns_providers(provider);
    if allowed.contains(&chosen) {
        return;
    }
    // Named AWS credentials work from anywhere.
    let has_aws = config
        .dns_credentials()
        .iter()
        .any(|credential| matches!(credential.keys, DnsKeys::Route53 { .. }));
    let severity = if chosen == DnsProvider::Route53 && has_aws {
        Severity::Warning
    } else {
        Severity::Error
    };
    let words: Vec<_> = allowed.iter().map(|choice| choice.as_str()).collect();
    validator.push(
        Finding::new(
            Code::Oc3020,
            "opencenter.services.cert-manager.dns_provider",
            format!("{chosen} does not serve DNS zones on {provider}"),
        )
        .severity(severity)
        .got(chosen.as_str())
        .help(format!("on {provider} use {}", words.join(" or "))),
    );
}

fn storage(validator: &mut Validator<'_>) {
    let services = validator.config.services();
    let chosen: [(&str, Option<StorageType>); 3] = [
        (
            "loki",
            services
                .loki
                .as_ref()
                .filter(|service| service.is_active())
                .map(|service| service.settings.storage_type),
        ),
        (
            "tempo",
            services
                .tempo
                .as_ref()
                .filter(|service| service.is_active())
                .map(|service| service.settings.storage_type),
        ),
        (
            "velero",
            services
                .velero
                .as_ref()
                .filter(|service| service.is_active())
                .map(|service| service.settings.storage_type),
        ),
    ];
    let provider = validator.config.opencenter.infrastructure.provider;
    for (service, storage_type) in chosen {
        let path = format!("opencenter.services.{service}.storage_type");
        let Some(storage_type) = storage_type.filter(|_| validator.is_explicit(&path)) else {
            continue;
        };
        if service != "velero" && matches!(storage_type, StorageType::Gcs | StorageType::Azure) {
            let message = format!("{service} cannot use {storage_type}");
            validator.report_text(Code::Oc3021, path, message, storage_type.as_str());
            continue;
        }
        let allowed = provider_choices::storage_types(service, provider);
        if !allowed.contains(&storage_type) {
            let words: Vec<_> = allowed.iter().map(|choice| choice.as_str()).collect();
            validator.push(
                Finding::new(
                    Code::Oc3020,
                    path,
                    format!("{service} cannot use {storage_type} on {provider}"),
                )
                .got(storage_type.as_str())
                .help(format!("on {provider} use {}", words.join(" or "))),
            );
        }
    }
}

/// Services that speak to OpenStack need to know how, whatever the provider is.
fn openstack(validator: &mut Validator<'_>) {
    let config = validator.config;
    if config.opencenter.infrastructure.cloud.openstack.is_none() {
        for service in ["openstack-ccm", "openstack-csi"] {
            if config.is_active(service) {
                missing_openstack(
                    validator,
                    &format!("opencenter.services.{service}"),
                    service,
                );
            }
        }
        let velero = config
            .services()
            .velero
            .as_ref()
            .filter(|velero| velero.is_active());
        if velero.is_some_and(|velero| velero.settings.storage_type == StorageType::Swift) {
            missing_openstack(validator, "opencenter.services.velero", "velero with swift");
        }
        let designate = config
            .services()
            .cert_manager
            .as_ref()
            .is_some_and(|service| {
                service.is_active() && service.settings.dns_provider == Some(DnsProvider::Designate)
            });
        if designate {
            missing_openstack(
                validator,
                "opencenter.services.cert-manager",
                "cert-manager with designate",
            );
        }
    }
    let provider = config.opencenter.infrastructure.provider;
    let section = match provider {
        Provider::Aws | Provider::Gcp | Provider::Azure | Provider::Vmware => provider.as_str(),
        Provider::Openstack | Provider::Baremetal | Provider::Kind => return,
    };
    let path = format!("opencenter.infrastructure.cloud.{section}");
    let vsphere = config
        .lookup("opencenter.infrastructure.cloud.vsphere")
        .is_some();
    if config.lookup(&path).is_none() && !(provider == Provider::Vmware && vsphere) {
        let severity = validator.provisioning_severity();
        let message = format!("provider {provider} needs `cloud.{section}`");
        validator.push(Finding::new(Code::Oc2005, path, message).severity(severity));
    }
}

fn missing_openstack(validator: &mut Validator<'_>, path: &str, who: &str) {
    validator.push(
        Finding::new(
            Code::Oc2005,
            path,
            format!("{who} needs `opencenter.infrastructure.cloud.openstack`"),
        )
        .help("describe the access to OpenStack, or disable the service"),
    );
}
