//! Rules of cert-manager.

use std::collections::BTreeMap;

use crate::{
    config::{DnsKeys, DnsProvider, IssuerType, Validator, format::is_dns_label, path},
    finding::{Code, Finding},
};

use super::CertManager;

const SERVICE: &str = "opencenter.services.cert-manager";

pub(super) fn check(validator: &mut Validator<'_>) {
    let config = validator.config;
    let Some(service) = &config.services().cert_manager else {
        return;
    };
    let settings = &service.settings;
    if !settings.letsencrypt_server.starts_with("https://") {
        let path = format!("{SERVICE}.letsencrypt_server");
        let message = "the ACME server must be an https address";
        validator.report_text(Code::Oc3101, path, message, &settings.letsencrypt_server);
    }
    if !settings.email.contains('@') {
        let path = format!("{SERVICE}.email");
        validator.report_text(
            Code::Oc3102,
            path,
            "the e-mail address has no @",
            &settings.email,
        );
    }
    names(validator, settings);
    zones(validator, settings);
    let issues_itself = settings
        .issuers
        .iter()
        .any(|issuer| issuer.kind == Some(IssuerType::Letsencrypt));
    if config.is_active("gateway") && config.acme_issuers().is_empty() && !issues_itself {
        validator.report(
            Code::Oc3107,
            SERVICE,
            "the gateway is active, but no ACME issuer would be rendered",
        );
    }
}

/// Credentials and issuers become files and objects: names must be usable and unique.
fn names(validator: &mut Validator<'_>, settings: &CertManager) {
    let mut first_place: BTreeMap<String, String> = BTreeMap::new();
    let secrets = &validator.config.secrets.cert_manager;
    let aws = secrets
        .aws
        .iter()
        .filter(|(_, credential)| credential.enabled)
        .map(|(name, _)| (name.clone(), path::child("secrets.cert_manager.aws", name)));
    let cloudflare = secrets
        .cloudflare
        .iter()
        .filter(|(_, credential)| credential.enabled)
        .map(|(name, _)| {
            (
                name.clone(),
                path::child("secrets.cert_manager.cloudflare", name),
            )
        });
    let credentials: Vec<_> = aws.chain(cloudflare).collect();
    for (name, place) in credentials {
        if !is_dns_label(&name) {
            validator.push(
                Finding::new(Code::Oc2003, place.as_str(), "the name of a credential must be a DNS label")
                    .help("the name becomes part of files and objects: lower-case letters, digits, inner hyphens"),
            );
        }
        if let Some(first) = first_place.insert(name.clone(), place.clone()) {
            let message = format!("credential `{name}` has the name of `{first}`");
            validator.report(Code::Oc3105, place, message);
        }
    }
    let mut seen = std::collections::BTreeSet::new();
    for (index, issuer) in settings.issuers.iter().enumerate() {
        if let Some(name) = &issuer.name
            && !seen.insert(name)
        {
            let place = path::item(&format!("{SERVICE}.issuers"), index);
            validator.report(
                Code::Oc3105,
                place,
                format!("two issuers are called `{name}`"),
            );
        }
    }
}

fn zones(validator: &mut Validator<'_>, settings: &CertManager) {
    if !settings.dns_zones.is_empty() {
        return;
    }
    let secrets = &validator.config.secrets.cert_manager;
    let fqdn = validator.config.fqdn().to_owned();
    let aws = secrets
        .aws
        .iter()
        .filter(|(_, credential)| credential.enabled && credential.dns_zones.is_empty())
        .map(|(name, _)| path::child("secrets.cert_manager.aws", name));
    let cloudflare = secrets
        .cloudflare
        .iter()
        .filter(|(_, credential)| credential.enabled && credential.dns_zones.is_empty())
        .map(|(name, _)| path::child("secrets.cert_manager.cloudflare", name));
    for place in aws.chain(cloudflare).collect::<Vec<_>>() {
        let place = format!("{place}.dns_zones");
        let message = format!("the credential has no DNS zones; {fqdn} is assumed");
        validator.report(Code::Oc3106, place, message);
    }
}

pub(super) fn secrets(validator: &mut Validator<'_>) {
    let config = validator.config;
    let Some(service) = &config.services().cert_manager else {
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
                validator.need(&format!("{holder}.aws_access_key"), access_key);
                validator.need(
                    &format!("{holder}.aws_secret_access_key"),
                    secret_access_key,
                );
            }
            DnsKeys::Cloudflare { api_token } if is_named("cloudflare") => {
                let holder = path::child("secrets.cert_manager.cloudflare", &credential.name);
                validator.need(&format!("{holder}.api_token"), api_token);
            }
            DnsKeys::Cloudflare { api_token } => {
                validator.need("secrets.cert_manager.cloudflare_api_token", api_token);
            }
        }
    }
    match service.settings.dns_provider {
        Some(DnsProvider::Clouddns) => {
            validator.need_free("cert_manager", &["gcp_service_account_key"]);
        }
        Some(DnsProvider::Azuredns) => validator.need_free(
            "cert_manager",
            &["azure_client_id", "azure_client_secret", "azure_tenant_id"],
        ),
        Some(DnsProvider::Designate) => validator.need_openstack_credential(),
        Some(DnsProvider::Route53 | DnsProvider::Cloudflare) | None => {}
    }
}
