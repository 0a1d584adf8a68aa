//! Rules about the config.

use crate::{
    config::{ClusterConfig, Validator},
    service::object_storage::store::{self, Store},
};

fn store(config: &ClusterConfig) -> Option<Store<'_>> {
    let settings = &config.services().loki.as_ref()?.settings;
    let secrets = &config.secrets.loki;
    Some(Store {
        service: "loki",
        storage_type: settings.storage_type,
        swift_auth_url: settings.swift_auth_url.as_deref(),
        swift_credential_id: settings.swift_application_credential_id.as_deref(),
        swift_container: &settings.swift_container_name,
        swift_secret: config.loki_swift_secret(),
        s3_endpoint: &settings.s3_endpoint,
        s3_keys: config.loki_s3_keys(),
        own_keys: [
            ("s3_access_key_id", secrets.s3_access_key_id.as_ref()),
            (
                "s3_secret_access_key",
                secrets.s3_secret_access_key.as_ref(),
            ),
        ],
    })
}

pub(super) fn check(validator: &mut Validator<'_>) {
    if let Some(store) = store(validator.config) {
        store::check(validator, &store);
    }
}

pub(super) fn secrets(validator: &mut Validator<'_>) {
    if let Some(store) = store(validator.config) {
        store::secrets(validator, store);
    }
}
