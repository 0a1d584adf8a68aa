//! Rules about the config.

use crate::{
    config::{StorageType, Validator},
    finding::Code,
};

pub(super) fn check(validator: &mut Validator<'_>) {
    let service = validator.config.services().velero.as_ref();
    if service.is_some_and(|service| service.settings.backup_bucket.is_empty()) {
        let path = "opencenter.services.velero.backup_bucket";
        validator.report(Code::Oc3151, path, "there is no backup bucket");
    }
}

pub(super) fn secrets(validator: &mut Validator<'_>) {
    let config = validator.config;
    let Some(service) = &config.services().velero else {
        return;
    };
    match service.settings.storage_type {
        StorageType::Swift => match config.velero_swift_secret() {
            Some(found) => validator.need(&found.path, Some(found.secret)),
            None => validator.need_openstack_credential(),
        },
        StorageType::S3 => validator.need_free("velero", &["s3_access_key", "s3_secret_key"]),
        StorageType::Gcs => validator.need_free("velero", &["gcp_service_account_key"]),
        StorageType::Azure => validator.need_free("velero", &["azure_storage_account_key"]),
    }
}
