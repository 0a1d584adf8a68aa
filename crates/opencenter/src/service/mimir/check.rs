//! Rules about the config.

use crate::config::Validator;

pub(super) fn secrets(validator: &mut Validator<'_>) {
    let keys = validator.config.service_s3_keys("mimir");
    validator.real_pair(keys);
}
