//! Mode `minio`: a MinIO server for the environment.

use std::collections::BTreeMap;

use k8s_openapi::{
    api::{
        core::v1::{Container, PodSpec},
        networking::v1::{
            NetworkPolicy, NetworkPolicyIngressRule, NetworkPolicyPeer, NetworkPolicySpec,
        },
    },
    apimachinery::pkg::apis::meta::v1::LabelSelector,
};
use mainstay_engine::ObjectSet;

use super::UNIT;
use crate::{
    names,
    providers::{
        app_config::{BucketConfig, ObjectStoreConfig},
        component::{self, Check, Component, Pace, variable_from},
        credentials::{self, Generator},
        effect::{Effect, Hidden},
        images, pod,
        postgres::Size,
        provider::{AppRender, Context, EnvironmentRender, ProviderError},
        serviceaccount,
    },
};
use mainstay_engine::snapshot::Alphabet;

/// Keys of the Secret that a server and its apps cannot do without.
const KEYS: &[&str] = &["accessKey", "secretKey"];

/// Port of the server.
pub(crate) const PORT: i32 = 9000;

/// Name of the server and of the Secret with its keys.
pub(crate) fn server_name(context: &Context<'_>) -> String {
    names::part(context.environment_name(), "minio")
}

/// Adds the server. Passes of the environment and of its apps add the very same objects.
pub(super) fn add_server(context: &Context<'_>, set: &mut ObjectSet) -> Result<(), ProviderError> {
    let component = Component::of_environment(context, server_name(context));
    let values = credentials::get_or_generate(
        context.lookup,
        set,
        UNIT,
        component.generated(KEYS),
        |generator| generate(generator, &component.host()),
    )
    .map_err(ProviderError::of_setup)?;
    let port = values.get("port").map_or("", String::as_str);
    credentials::integer(port).map_err(ProviderError::Setup)?;
    let labels = component.labels(&[("env-app", &component.name)]);
    let persistent = context.environment.spec.providers.object_store.persistent;
    let pod = pod_spec(context, &component, persistent);
    let deployment = component.deployment(context.lookup, labels.clone(), pod);
    set.add(UNIT, &deployment)?;
    let port = ("minio", PORT);
    let service = component.service(context.lookup, labels.clone(), port, context.node_port());
    set.add(UNIT, &service)?;
    if persistent {
        set.add(UNIT, &component.claim(labels, Size::ExtraSmall.volume()))?;
    }
    Ok(())
}

fn generate(generator: &Generator<'_>, host: &str) -> BTreeMap<String, String> {
    let random = |key| generator.random(key, Alphabet::Alphanumeric, 12);
    let values = [
        ("accessKey", random("accessKey")),
        ("secretKey", random("secretKey")),
        ("hostname", host.to_owned()),
        ("port", PORT.to_string()),
    ];
    values.map(|(key, value)| (key.to_owned(), value)).into()
}

fn pod_spec(context: &Context<'_>, component: &Component<'_>, persistent: bool) -> PodSpec {
    let given = &context.environment.spec.providers.object_store.images.minio;
    let configured = &context.settings.config.images.object_store_minio;
    let image = images::first(&[given, configured, images::MINIO]);
    // Newer servers read the last two, older ones the first two.
    let variables = [
        ("MINIO_ACCESS_KEY", "accessKey"),
        ("MINIO_SECRET_KEY", "secretKey"),
        ("MINIO_ROOT_USER", "accessKey"),
        ("MINIO_ROOT_PASSWORD", "secretKey"),
    ];
    let connect = |delay| {
        let pace = Pace {
            delay,
            timeout: 2,
            period: 10,
        };
        Some(component::probe(Check::Connect(PORT), pace))
    };
    PodSpec {
        containers: vec![Container {
            args: Some(["server", "/storage"].map(str::to_owned).into()),
            env: Some(
                variables
                    .map(|(name, key)| variable_from(name, &component.name, key))
                    .into(),
            ),
            ports: Some(vec![pod::port("minio", PORT)]),
            volume_mounts: Some(vec![component.mount("/storage")]),
            liveness_probe: connect(10),
            readiness_probe: connect(20),
            ..component.container(image)
        }],
        volumes: Some(vec![component.volume(persistent)]),
        // Stated here and not by the provider of accounts: a reconcile that left it out would take it away again.
        service_account_name: Some(serviceaccount::environment_account(context)),
        ..PodSpec::default()
    }
}

/// Lets the operator in, which makes the buckets.
pub(super) fn add_policy(ctx: &mut EnvironmentRender<'_>) -> Result<(), ProviderError> {
    let operator = &ctx.shared.settings.namespace;
    let name = format!("allow-from-{operator}-namespace");
    let component = Component::of_environment(&ctx.shared, name);
    let label = ("kubernetes.io/metadata.name".to_owned(), operator.clone());
    let peer = NetworkPolicyPeer {
        namespace_selector: Some(LabelSelector {
            match_labels: Some([label].into()),
            match_expressions: None,
        }),
        ..NetworkPolicyPeer::default()
    };
    let policy = NetworkPolicy {
        metadata: component.metadata(component.base_labels.clone()),
        spec: Some(NetworkPolicySpec {
            pod_selector: Some(LabelSelector::default()),
            policy_types: Some(vec!["Ingress".to_owned()]),
            ingress: Some(vec![NetworkPolicyIngressRule {
                from: Some(vec![peer]),
                ports: None,
            }]),
            egress: None,
        }),
    };
    ctx.set.add(UNIT, &policy)?;
    Ok(())
}

pub(super) fn app(ctx: &mut AppRender<'_>) -> Result<ObjectStoreConfig, ProviderError> {
    let context = ctx.shared;
    let name = server_name(&context);
    // Stored values only: with those that were just made up there is no server yet.
    let secret = credentials::stored(context.lookup, context.target_namespace, &name)?
        .map_err(ProviderError::Failed)?;
    credentials::require(&secret, context.target_namespace, KEYS)?;
    ctx.associations
        .track_for_environment(context.lookup, context.target_namespace, &name)?;
    let text = |key| secret.text(key).unwrap_or_default();
    let filled = |key| Some(text(key)).filter(|value| !value.is_empty());
    let port = credentials::port(&text("port")).map_err(ProviderError::Failed)?;
    let mut buckets = Vec::new();
    for bucket in &ctx.app.spec.object_store {
        let effect = Effect::Bucket {
            host: text("hostname"),
            port,
            access_key: Hidden(text("accessKey")),
            secret_key: Hidden(text("secretKey")),
            name: bucket.clone(),
        };
        context
            .lookup
            .effect(effect)?
            .map_err(ProviderError::Failed)?;
        buckets.push(BucketConfig {
            access_key: filled("accessKey"),
            endpoint: Some(text("hostname")),
            name: bucket.clone(),
            requested_name: bucket.clone(),
            secret_key: filled("secretKey"),
            ..BucketConfig::default()
        });
    }
    Ok(ObjectStoreConfig {
        access_key: Some(text("accessKey")),
        buckets,
        hostname: text("hostname"),
        port: port.into(),
        secret_key: Some(text("secretKey")),
        tls: false,
    })
}
