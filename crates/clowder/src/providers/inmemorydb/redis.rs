//! Mode `redis`: a server for each app.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{
    ConfigMap, ConfigMapVolumeSource, Container, PodSpec, Probe, Volume,
};

use super::{UNIT, lender};
use crate::{
    names::{self, Labels},
    providers::{
        app_config::InMemoryDbConfig,
        component::{self, Check, Component, Pace},
        credentials, images, pod,
        provider::{AppRender, ProviderError},
    },
};

const PORT: i32 = 6379;
const CONFIGURATION: &str = "stop-writes-on-bgsave-error no\nprotected-mode no";

pub(super) fn app(ctx: &mut AppRender<'_>) -> Result<InMemoryDbConfig, ProviderError> {
    let lookup = ctx.shared.lookup;
    if let Some(lender) = lender(ctx)? {
        let secret = names::part(&lender.name, "redis");
        let secret = credentials::stored(lookup, &lender.namespace, &secret)?
            .map_err(|cause| ProviderError::caused("Couldn't set/get secret", cause))?;
        return config(|key| secret.text(key))
            .map_err(|cause| ProviderError::caused("couldn't convert to int", cause));
    }
    let component = Component::of_app(ctx, ctx.part("redis"));
    let values =
        credentials::get_or_generate(lookup, ctx.set, UNIT, component.generated(&[]), |_| {
            known_values(&component)
        })?;
    add_server(ctx, &component)?;
    config(|key| values.get(key).cloned())
        .map_err(|cause| ProviderError::caused("couldn't populate creds", cause))
}

/// Nothing of it is secret; but people put a user and a password here to have it told to the app.
fn known_values(component: &Component<'_>) -> BTreeMap<String, String> {
    let values = [
        ("hostname", component.host()),
        ("port", PORT.to_string()),
        ("sslmode", "false".to_owned()),
    ];
    values.map(|(key, value)| (key.to_owned(), value)).into()
}

fn config(value: impl Fn(&str) -> Option<String>) -> Result<InMemoryDbConfig, String> {
    let text = |key| value(key).unwrap_or_default();
    let filled = |key| value(key).filter(|value| !value.is_empty());
    Ok(InMemoryDbConfig {
        hostname: text("hostname"),
        password: filled("password"),
        port: credentials::integer(&text("port"))?,
        ssl_mode: Some(credentials::boolean(&text("sslmode"))?),
        username: filled("username"),
    })
}

fn add_server(ctx: &mut AppRender<'_>, component: &Component<'_>) -> Result<(), ProviderError> {
    let data = ("redis.conf".to_owned(), CONFIGURATION.to_owned());
    let configuration = ConfigMap {
        metadata: component.metadata(Labels::new()),
        data: Some([data].into()),
        ..ConfigMap::default()
    };
    let lookup = ctx.shared.lookup;
    let labels = component.labels(&[("env-app", &component.name), ("service", "redis")]);
    let pod = pod_spec(ctx, component);
    let deployment = component.deployment(lookup, labels.clone(), pod);
    let service = component.service(lookup, labels, ("redis", PORT), ctx.shared.node_port());
    ctx.set.add(UNIT, &configuration)?;
    ctx.set.add(UNIT, &deployment)?;
    ctx.set.add(UNIT, &service)?;
    Ok(())
}

fn pod_spec(ctx: &AppRender<'_>, component: &Component<'_>) -> PodSpec {
    let given = &ctx
        .shared
        .environment
        .spec
        .providers
        .in_memory_database
        .image;
    let configured = &ctx.shared.settings.config.images.in_memory_db;
    let image = images::first(&[given, configured, images::IN_MEMORY_DB]);
    PodSpec {
        containers: vec![Container {
            ports: Some(vec![pod::port("redis", PORT)]),
            volume_mounts: Some(vec![component.mount("/etc/redis")]),
            liveness_probe: Some(ask_after(15)),
            readiness_probe: Some(ask_after(45)),
            ..component.container(image)
        }],
        volumes: Some(vec![Volume {
            name: component.name.clone(),
            config_map: Some(ConfigMapVolumeSource {
                name: component.name.clone(),
                default_mode: Some(names::VOLUME_MODE),
                ..ConfigMapVolumeSource::default()
            }),
            ..Volume::default()
        }]),
        ..PodSpec::default()
    }
}

fn ask_after(delay: i32) -> Probe {
    let pace = Pace {
        delay,
        timeout: 2,
        period: 10,
    };
    component::probe(Check::Command(&["valkey-cli"]), pace)
}
