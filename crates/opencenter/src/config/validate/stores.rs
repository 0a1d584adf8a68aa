//! Rules of Loki and Tempo: the object store must be complete.

use super::Validator;
use crate::{
    config::{Resolved, ResolvedPair, Secret, StorageType},
    finding::{Code, Finding, Severity},
};

/// What the rules of both services need to know.
struct Store<'config> {
    service: &'static str,
    storage_type: StorageType,
    swift_auth_url: Option<&'config str>,
    swift_credential_id: Option<&'config str>,
    swift_container: &'config str,
    swift_secret: Option<Resolved<'config>>,
    s3_endpoint: &'config str,
    s3_keys: Option<ResolvedPair<'config>>,
    own_keys: [(&'static str, Option<&'config Secret>); 2],
}

pub(super) fn check(validator: &mut Validator<'_>) {
    let config = validator.config;
    let secrets = &config.secrets;
    if let Some(service) = config
        .services()
        .loki
        .as_ref()
        .filter(|service| service.is_active())
    {
        let settings = &service.settings;
        check_store(
            validator,
            &Store {
                service: "loki",
                storage_type: settings.storage_type,
                swift_auth_url: settings.swift_auth_url.as_deref(),
                swift_credential_id: settings.swift_application_credential_id.as_deref(),
                swift_container: &settings.swift_container_name,
                swift_secret: config.loki_swift_secret(),
                s3_endpoint: &settings.s3_endpoint,
                s3_keys: config.loki_s3_keys(),
                own_keys: [
                    ("s3_access_key_id", secrets.loki.s3_access_key_id.as_ref()),
                    (
                        "s3_secret_access_key",
                        secrets.loki.s3_secret_access_key.as_ref(),
                    ),
                ],
            },
        );
    }
    if let Some(service) = config
        .services()
        .tempo
        .as_ref()
        .filter(|service| service.is_active())
    {
        let settings = &service.settings;
        check_store(
            validator,
            &Store {
                service: "tempo",
                storage_type: settings.storage_type,
                swift_auth_url: settings.swift_auth_url.as_deref(),
                swift_credential_id: settings.swift_application_credential_id.as_deref(),
                swift_container: &settings.swift_container_name,
                swift_secret: config.tempo_swift_secret(),
                s3_endpoint: &settings.s3_endpoint,
                s3_keys: config.tempo_s3_keys(),
                own_keys: [
                    ("access_key", secrets.tempo.access_key.as_ref()),
                    ("secret_key", secrets.tempo.secret_key.as_ref()),
                ],
            },
        );
    }
}

fn check_store(validator: &mut Validator<'_>, store: &Store<'_>) {
    match store.storage_type {
        StorageType::Swift => check_swift(validator, store),
        StorageType::S3 => check_s3(validator, store),
        // Refused by the provider rules.
        StorageType::Gcs | StorageType::Azure => {}
    }
}

fn check_swift(validator: &mut Validator<'_>, store: &Store<'_>) {
    let service = format!("opencenter.services.{}", store.service);
    let path = format!("{service}.swift_auth_url");
    match store.swift_auth_url {
        None => validator.report(Code::Oc3132, path, "swift storage needs `swift_auth_url`"),
        Some(address) if !address.trim_end_matches('/').ends_with("/v3") => {
            validator.report_text(
                Code::Oc3132,
                path,
                "`swift_auth_url` must end in /v3",
                address,
            );
        }
        Some(_) => {}
    }
    if store.swift_credential_id.is_none() {
        validator.report(
            Code::Oc3133,
            format!("{service}.swift_application_credential_id"),
            "swift storage needs `swift_application_credential_id`",
        );
    }
    if store.swift_secret.is_none() {
        let path = format!(
            "secrets.{}.swift_application_credential_secret",
            store.service
        );
        let message = "swift storage needs the secret of the application credential";
        let severity = if validator.options.allow_missing_secrets {
            Severity::Warning
        } else {
            Severity::Error
        };
        validator.push(Finding::new(Code::Oc3133, path, message).severity(severity));
    }
    if store.swift_container.is_empty() {
        let path = format!("{service}.swift_container_name");
        validator.report(Code::Oc3134, path, "there is no Swift container");
    }
}

fn check_s3(validator: &mut Validator<'_>, store: &Store<'_>) {
    if store.s3_endpoint.is_empty() {
        let path = format!("opencenter.services.{}.s3_endpoint", store.service);
        validator.report(Code::Oc3136, path, "there is no S3 endpoint");
    }
    if store.s3_keys.is_some() {
        return;
    }
    let is_set = |secret: Option<&Secret>| secret.is_some_and(|secret| !secret.is_empty());
    let [(first, first_value), (second, second_value)] = store.own_keys;
    let (set, unset) = match (is_set(first_value), is_set(second_value)) {
        (true, false) => (first, second),
        (false, true) => (second, first),
        _ => return,
    };
    let path = format!("secrets.{}.{set}", store.service);
    validator.report(
        Code::Oc3135,
        path,
        format!("`{set}` is set without `{unset}`"),
    );
}
