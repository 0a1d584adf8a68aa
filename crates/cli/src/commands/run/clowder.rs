//! Clowder as a part of the process.

use std::{fs, sync::Arc};

use anyhow::Context as _;
use kube::Client;
use mainstay_clowder::{
    names,
    settings::{OperatorConfig, Settings},
};
use mainstay_clowder_operator::{
    introspection,
    operator::{self, OperatorSettings},
};
use mainstay_clowder_webhook::{WebhookMetrics, Webhooks};
use mainstay_runtime::{process::Participant, server::Probe};

use crate::{
    commands::operator_config,
    settings::{RunSettings, own_namespace},
};

pub(super) async fn participant(
    client: &Client,
    settings: &RunSettings,
) -> anyhow::Result<Participant> {
    let operator = OperatorSettings {
        settings: Arc::new(clowder_settings(settings)),
        namespace: settings.namespace.clone(),
        concurrency: settings.concurrency,
        port: settings.ports.clone(),
    };
    let features = &operator.settings.config.features;
    let webhooks = settings.webhooks.clone();
    let webhooks = webhooks.filter(|_| !features.disable_webhooks);
    let counted = WebhookMetrics::default();
    let start = |settings| Webhooks::start(settings, counted.clone());
    let webhooks = webhooks.map(start).transpose();
    let webhooks = webhooks.context("could not start the webhooks")?;
    let client = client.clone();
    let listener = introspection::bind(&settings.introspection_address).await;
    Ok(Participant {
        name: operator::NAME,
        election: super::election(settings, names::LEASE),
        ready: webhooks.map(|webhooks| -> Probe { Arc::new(move || webhooks.check()) }),
        start: Box::new(move |metrics, fence| {
            counted.register(&metrics);
            operator::start(client, operator, listener, metrics, fence)
        }),
    })
}

/// Settings from the configuration file. Parity: one that is missing or cannot be read counts as empty.
fn clowder_settings(settings: &RunSettings) -> Settings {
    let (path, _) = operator_config::environment_path();
    let config = match fs::read_to_string(&path).map(|text| OperatorConfig::parse(&text)) {
        Ok(Ok(config)) => config,
        Ok(Err(error)) => {
            tracing::warn!(path, error = %error, "The configuration file is not valid; defaults are used");
            OperatorConfig::absent()
        }
        Err(error) => {
            tracing::info!(path, error = %error, "There is no configuration file; defaults are used");
            OperatorConfig::absent()
        }
    };
    let mut clowder = Settings {
        config,
        suffixed_config_secret: settings.suffixed_config_secret,
        ..Settings::default()
    };
    if let Some(namespace) = own_namespace() {
        clowder.namespace = namespace;
    }
    clowder
}
