//! Rules about the config.

use crate::{
    config::{DatabaseType, HarborStorage, Validator},
    finding::Code,
};

pub(super) fn check(validator: &mut Validator<'_>) {
    let Some(harbor) = &validator.config.services().harbor else {
        return;
    };
    let harbor = &harbor.settings;
    let service = "opencenter.services.harbor";
    let is_web = |address: &str| address.starts_with("https://") || address.starts_with("http://");
    if !is_web(&harbor.external_url) {
        let message = "the external address must be http or https";
        validator.report_text(
            Code::Oc3141,
            format!("{service}.external_url"),
            message,
            &harbor.external_url,
        );
    }
    let storage = format!("{service}.storage_type");
    let explicit = |validator: &Validator<'_>, field: &str| {
        validator.is_explicit(&format!("{service}.{field}"))
    };
    if harbor.storage_type == HarborStorage::S3
        && validator.is_explicit(&storage)
        && !explicit(validator, "s3_bucket")
        && !explicit(validator, "s3_region")
    {
        let message = format!(
            "s3 storage without bucket and region; {} in {} is assumed",
            harbor.s3_bucket, harbor.s3_region
        );
        validator.report(Code::Oc3142, storage, message);
    }
    if harbor.database_type == DatabaseType::External {
        let missing: Vec<_> = [
            ("database_host", harbor.database_host.is_none()),
            (
                "database_port",
                harbor.database_port.is_none_or(|port| port <= 0),
            ),
            ("database_name", harbor.database_name.is_none()),
            ("database_user", harbor.database_user.is_none()),
        ]
        .into_iter()
        .filter_map(|(field, is_missing)| is_missing.then_some(field))
        .collect();
        if !missing.is_empty() {
            let message = format!("an external database needs {}", missing.join(", "));
            validator.report(Code::Oc3143, format!("{service}.database_type"), message);
        }
    }
}

pub(super) fn secrets(validator: &mut Validator<'_>) {
    let harbor = &validator.config.secrets.harbor;
    validator.need(
        "secrets.harbor.admin_password",
        harbor.admin_password.as_ref(),
    );
    validator.need(
        "secrets.harbor.registry_password",
        harbor.registry_password.as_ref(),
    );
    validator.need(
        "secrets.harbor.database_password",
        harbor.database_password.as_ref(),
    );
    let keys = validator.config.service_s3_keys("harbor");
    validator.real_pair(keys);
}
