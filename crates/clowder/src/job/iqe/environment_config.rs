//! `cdenvconfig.json`: the configuration of every app of the environment in one document.

use std::collections::BTreeMap;

use k8s_openapi::{ByteString, api::core::v1::Secret};
use serde_json::{Value, json};

use super::{Stage, naming};
use crate::{
    names::{self, Labels},
    providers::{app_config, credentials, provider::ProviderError},
    views::summary::AppSummary,
};

/// Members that every configuration has.
const REQUIRED: [&str; 3] = ["logging", "metricsPath", "metricsPort"];

/// The Secret with the document.
pub(super) fn secret(stage: &Stage<'_>) -> Result<Secret, ProviderError> {
    let apps = stage.shared.lookup.apps(&stage.app.spec.environment_name);
    let mut configs = BTreeMap::new();
    for app in &apps {
        // Of two apps with one name the last counts.
        configs.insert(app.name.clone(), config(stage, app)?);
    }
    let document = app_config::to_json(&json!({"cdappconfigs": configs}));
    let data = (
        names::ENVIRONMENT_CONFIG_KEY.to_owned(),
        ByteString(document.into_bytes()),
    );
    Ok(Secret {
        metadata: names::metadata(
            (stage.namespace(), &naming::tests_base(stage.invocation)),
            Labels::new(),
            &names::invocation_owner(stage.invocation),
        ),
        data: Some([data].into()),
        ..Secret::default()
    })
}

/// The configuration of one app, read from its Secret.
fn config(stage: &Stage<'_>, app: &AppSummary) -> Result<Value, ProviderError> {
    let name = stage.shared.settings.config_secret(&app.name);
    let secret = credentials::stored(stage.shared.lookup, &app.namespace, &name)?
        .map_err(ProviderError::Failed)?;
    let broken = |what: String| {
        ProviderError::Failed(format!(
            "Secret \"{name}\" in namespace \"{}\" has no usable {}: {what}; its ClowdApp writes it anew when it is reconciled",
            app.namespace,
            names::CONFIG_KEY,
        ))
    };
    let document = secret
        .data
        .get(names::CONFIG_KEY)
        .ok_or_else(|| broken("the key is missing".to_owned()))?;
    // Where the text cannot be read stands in the error, what it says does not.
    let config: Value = serde_json::from_slice(document).map_err(|error| {
        broken(format!(
            "line {} column {} cannot be read",
            error.line(),
            error.column()
        ))
    })?;
    match REQUIRED.iter().find(|name| config.get(name).is_none()) {
        Some(name) => Err(broken(format!("`{name}` is missing"))),
        None => Ok(config),
    }
}
