//! Rules about the config.

use crate::{
    config::{ClusterConfig, Validator},
    service::object_storage::store::{self, Store},
};

fn store(config: &ClusterConfig) -> Option<Store<'_>> {
    let settings = &config.services().tempo.as_ref()?.settings;
    let secrets = &config.secrets.tempo;
    Some(Store {
        service: "tempo",
        storage_type: settings.storage_type,
        swift_auth_url: settings.swift_auth_url.as_deref(),
        swift_credential_id: settings.swift_application_credential_id.as_deref(),
        swift_container: &settings.swift_container_name,
        swift_secret: config.tempo_swift_secret(),
        s3_endpoint: &settings.s3_endpoint,
        s3_keys: config.tempo_s3_keys(),
        own_keys: [
            ("access_key", secrets.access_key.as_ref()),
            ("secret_key", secrets.secret_key.as_ref()),
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
