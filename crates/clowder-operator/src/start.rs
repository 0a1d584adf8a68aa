//! Clowder as a part of the process: settings from flags, environment and file; webhooks; controllers.

use std::{fs, sync::Arc};

use anyhow::Context as _;
use clap::FromArgMatches as _;
use futures::future::BoxFuture;
use mainstay_clowder::{
    names,
    settings::{OperatorConfig, Settings},
};
use mainstay_clowder_ports::Ports;
use mainstay_runtime::{
    process::Participant,
    server::{self, Probe},
};
use mainstay_system::{RunContext, operator::own_namespace};
use mainstay_webhook::{WebhookMetrics, WebhookSettings, Webhooks, certificate};

use crate::{
    config,
    effects::ClowderPort,
    flags::ProcessArgs,
    introspection,
    operator::{self, OperatorSettings},
    webhooks::WEBHOOKS,
};

/// Makes the system a part of the process.
pub(crate) fn start(context: RunContext) -> BoxFuture<'static, anyhow::Result<Participant>> {
    Box::pin(participant(context))
}

async fn participant(context: RunContext) -> anyhow::Result<Participant> {
    let flags = ProcessArgs::from_arg_matches(&context.flags)?;
    let operator = OperatorSettings {
        settings: Arc::new(settings(flags.clowder_suffixed_config_secret)),
        namespace: context.namespace.clone(),
        concurrency: context.concurrency,
        port: Arc::new(ClowderPort(Ports::new(flags.resolve.table()))),
    };
    let features = &operator.settings.config.features;
    let webhooks = server::address(&flags.clowder_webhook_address).map(|address| {
        let certificates = flags.clowder_webhook_certificates;
        WebhookSettings {
            address,
            certificates: certificates.unwrap_or_else(certificate::default_directory),
        }
    });
    let webhooks = webhooks.filter(|_| !features.disable_webhooks);
    let counted = WebhookMetrics::new(&WEBHOOKS);
    let start = |settings| Webhooks::start(&WEBHOOKS, settings, counted.clone());
    let webhooks = webhooks.map(start).transpose();
    let webhooks = webhooks.context("could not start the webhooks")?;
    let listener = introspection::bind(&flags.clowder_introspection_address).await;
    let election = context.election(names::LEASE);
    let client = context.client;
    Ok(Participant {
        name: operator::NAME,
        election,
        ready: webhooks.map(|webhooks| -> Probe { Arc::new(move || webhooks.check()) }),
        start: Box::new(move |metrics, fence| {
            counted.register(&metrics);
            operator::start(client, operator, listener, metrics, fence)
        }),
    })
}

/// Settings from the configuration file. Parity: one that is missing or cannot be read counts as empty.
fn settings(suffixed_config_secret: bool) -> Settings {
    let (path, _) = config::environment_path();
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
        suffixed_config_secret,
        ..Settings::default()
    };
    if let Some(namespace) = own_namespace() {
        clowder.namespace = namespace;
    }
    clowder
}
