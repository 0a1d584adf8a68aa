//! Rules about the config.

use crate::config::Validator;

pub(super) fn secrets(validator: &mut Validator<'_>) {
    let proxy = &validator.config.secrets.alert_proxy;
    validator.need(
        "secrets.alert_proxy.core_device_id",
        proxy.core_device_id.as_ref(),
    );
    validator.need(
        "secrets.alert_proxy.account_service_token",
        proxy.account_service_token.as_ref(),
    );
    validator.need(
        "secrets.alert_proxy.core_account_number",
        proxy.core_account_number.as_ref(),
    );
}
