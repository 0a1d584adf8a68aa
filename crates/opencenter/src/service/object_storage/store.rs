//! Rules of Loki and Tempo: the object store must be complete.

use crate::{
    config::{Resolved, ResolvedPair, Secret, StorageType, Validator},
    finding::{Code, Finding, Severity},
};

/// What the rules of both services need to know.
pub(crate) struct Store<'config> {
    pub(crate) service: &'static str,
    pub(crate) storage_type: StorageType,
    pub(crate) swift_auth_url: Option<&'config str>,
    pub(crate) swift_credential_id: Option<&'config str>,
    pub(crate) swift_container: &'config str,
    pub(crate) swift_secret: Option<Resolved<'config>>,
    pub(crate) s3_endpoint: &'config str,
    pub(crate) s3_keys: Option<ResolvedPair<'config>>,
    pub(crate) own_keys: [(&'static str, Option<&'config Secret>); 2],
}

/// Looks at a store.
pub(crate) fn check(validator: &mut Validator<'_>, store: &Store<'_>) {
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

/// What is named as a key of the store shall be one.
pub(crate) fn secrets(validator: &mut Validator<'_>, store: Store<'_>) {
    match store.storage_type {
        StorageType::S3 => validator.real_pair(store.s3_keys),
        StorageType::Swift => validator.real_secret(store.swift_secret),
        StorageType::Gcs | StorageType::Azure => {}
    }
}
