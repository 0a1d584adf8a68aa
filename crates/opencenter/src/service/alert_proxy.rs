//! Forwards alerts to the provider of the platform.

mod check;
mod settings;

use mainstay_yaml::Node;

use crate::{
    catalog::{CatalogEntry, ServiceCategory, ServiceLayer},
    config::{Secret, Service},
    finding::Code,
    flux::map,
    render::{Context, Failure, failure},
};

use super::{
    BuildResult, Built, Emitted, Template, UnitRenderer, VALUES,
    manifest::{encoded_secret, filled, namespace},
};

use settings::AlertProxy;

/// Settings in the config.
pub(crate) type Settings = AlertProxy;

/// The service in the catalog.
pub(crate) const ENTRY: CatalogEntry = CatalogEntry {
    name: "alert-proxy",
    description: "Forwards alerts to the provider of the platform",
    category: ServiceCategory::Monitoring,
    layer: ServiceLayer::ManagedServices,
    namespace: Some("rackspace"),
    goes_with: &["kube-prometheus-stack"],
    secret_block: Some("alert_proxy"),
    helm_release: Some(("alert-proxy", "rackspace")),
    values_secret: Some("alert-proxy-values-override"),
    override_first: true,
    descriptor: descriptor!("alert_proxy", "alert-proxy"),
    renderer: Some(&RENDERER),
    secrets: Some(check::secrets),
    ..CatalogEntry::NEW
};

/// The alert proxy.
const RENDERER: UnitRenderer = UnitRenderer::new(
    NAME,
    &[
        Template::plain("namespace.yaml", proxy_namespace),
        Template::secret("account-service-token-secret.yaml", account_service_token),
        Template::secret("alert-manager-base-url-secret.yaml", alert_manager_url),
        Template::secret("core-account-id-secret.yaml", core_account),
        Template::secret("overseer-core-device-id-secret.yaml", core_device),
        Template::secret("http-route-fqdn-secret.yaml", route_host),
        Template::plain(VALUES, values),
    ],
);

const NAME: &str = "alert-proxy";

/// The Alertmanager of this cluster.
const ALERTMANAGER: &str = "http://observability-kube-prometh-alertmanager.observability.svc.cluster.local:9093/api/v2/alerts";

fn service<'c>(ctx: &Context<'c>) -> Result<&'c Service<AlertProxy>, Failure> {
    let service = ctx.config.managed_services().alert_proxy.as_ref();
    service.ok_or_else(|| {
        failure(
            Code::Oc6003,
            "opencenter.managed_services.alert-proxy",
            "the service is not in the config",
        )
    })
}

fn proxy_namespace(ctx: &Context<'_>, _: &Emitted<'_>) -> BuildResult {
    let name = ctx.managed_namespace(NAME).unwrap_or_default();
    Ok(Built::one(namespace(name, Node::Absent, Node::Absent)))
}

/// A Secret without a namespace of its own: the kustomization sets it.
fn one_key(name: &str, key: &'static str, text: &str) -> Built {
    Built::one(encoded_secret(name, None, [(key, text)]))
}

fn from_secrets(
    ctx: &Context<'_>,
    secret: Option<&Secret>,
    field: &str,
) -> Result<String, Failure> {
    ctx.required_secret(secret, NAME, &format!("secrets.alert_proxy.{field}"))
}

fn account_service_token(ctx: &Context<'_>, _: &Emitted<'_>) -> BuildResult {
    let secret = ctx
        .config
        .secrets
        .alert_proxy
        .account_service_token
        .as_ref();
    let text = from_secrets(ctx, secret, "account_service_token")?;
    Ok(one_key(
        "account-service-token-secret",
        "account_service_token",
        &text,
    ))
}

fn core_account(ctx: &Context<'_>, _: &Emitted<'_>) -> BuildResult {
    let secret = ctx.config.secrets.alert_proxy.core_account_number.as_ref();
    let text = from_secrets(ctx, secret, "core_account_number")?;
    Ok(one_key(
        "core-account-id-secret",
        "core_account_number",
        &text,
    ))
}

fn core_device(ctx: &Context<'_>, _: &Emitted<'_>) -> BuildResult {
    let secret = ctx.config.secrets.alert_proxy.core_device_id.as_ref();
    let text = from_secrets(ctx, secret, "core_device_id")?;
    Ok(one_key(
        "overseer-core-device-id-secret",
        "overseer_core_device_id",
        &text,
    ))
}

fn alert_manager_url(ctx: &Context<'_>, _: &Emitted<'_>) -> BuildResult {
    let configured = filled(service(ctx)?.settings.alert_manager_base_url.as_ref());
    let has_alertmanager = ctx.config.is_active("kube-prometheus-stack");
    let fallback = if has_alertmanager { ALERTMANAGER } else { "" };
    Ok(one_key(
        "alert-manager-url-secret",
        "alert_manager_url",
        configured.unwrap_or(fallback),
    ))
}

fn route_host(ctx: &Context<'_>, _: &Emitted<'_>) -> BuildResult {
    let host = filled(service(ctx)?.settings.http_route_fqdn.as_ref()).unwrap_or_default();
    Ok(one_key("http-route-fqdn-secret", "http_route_fqdn", host))
}

fn values(ctx: &Context<'_>, _: &Emitted<'_>) -> BuildResult {
    let image = &service(ctx)?.common.image;
    Ok(Built::one(map! {
        "nodeSelector": map! {},
        "image": map! {
            "repository": filled(image.repository.as_ref()),
            "tag": filled(image.tag.as_ref()).unwrap_or("latest"),
        },
        "config": map! {
            "logging": map! { "log_level": "DEBUG" },
            "alert_proxy_config": map! { "alert_verification": true, "create_ticket": true },
        },
    }))
}
