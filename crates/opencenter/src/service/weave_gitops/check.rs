//! Rules about the config.

use crate::config::Validator;

pub(super) fn secrets(validator: &mut Validator<'_>) {
    let weave = &validator.config.secrets.weave_gitops;
    let hash = weave.password_hash.as_ref().filter(|hash| !hash.is_empty());
    let (field, secret) = match hash {
        Some(hash) => ("password_hash", Some(hash)),
        None => ("password", weave.password.as_ref()),
    };
    validator.need(&format!("secrets.weave_gitops.{field}"), secret);
}
