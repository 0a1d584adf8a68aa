//! Metrics, alerts and Grafana.

mod check;
mod dashboards;
mod settings;
mod values;

use mainstay_yaml::Node;

use crate::{
    catalog::{CatalogEntry, Host, Listeners, ServiceCategory, Usual},
    flux::{KustomizeFile, SecretGenerator, list, map},
    overlay::Decision,
    render::{Context, Failure, block, decision},
};

use super::{
    BuildResult, Built, Emitted, Listener, Template, UnitRenderer, VALUES,
    manifest::{Backend, Route, secret, when, with_service},
};

use settings::PrometheusStack;

/// Settings in the config.
pub(crate) type Settings = PrometheusStack;

/// The service in the catalog.
pub(crate) const ENTRY: CatalogEntry = CatalogEntry {
    name: "kube-prometheus-stack",
    description: "Metrics, alerts and Grafana",
    category: ServiceCategory::Monitoring,
    enabled_at_init: true,
    namespace: Some("observability"),
    secret_block: Some("grafana"),
    helm_release: Some(("kube-prometheus-stack", "observability")),
    values_secret: Some("kube-prometheus-stack-values-override"),
    override_first: true,
    descriptor: descriptor!("kube_prometheus_stack", "kube-prometheus-stack"),
    renderer: Some(&RENDERER),
    values_renderer: true,
    files_renderer: true,
    usual: &[
        ("source_name", Usual::Word("opencenter-observability")),
        ("override_depends_on", Usual::Words(&["sources"])),
        (
            "override_values_renderer",
            Usual::Word("kube-prometheus-stack"),
        ),
    ],
    hosts: &[
        Host {
            field: "hostname",
            label: "grafana",
            rule: "grafana.<cluster_fqdn>",
        },
        Host {
            field: "prometheus_hostname",
            label: "prometheus",
            rule: "prometheus.<cluster_fqdn>",
        },
        Host {
            field: "alertmanager_hostname",
            label: "alertmanager",
            rule: "alertmanager.<cluster_fqdn>",
        },
    ],
    listeners: Some(Listeners {
        place: 40,
        names: &["prometheus-https", "alertmanager-https", "grafana-https"],
        build: listeners,
    }),
    check: Some(check::check),
    secrets: Some(check::secrets),
    ..CatalogEntry::NEW
};

/// The Prometheus stack.
const RENDERER: UnitRenderer = UnitRenderer::new(
    NAME,
    &[
        Template::plain("kustomization.yaml", kustomization),
        Template::plain("custom-alertmanager-routes.yaml", alertmanager_route),
        Template::plain("custom-prometheus-routes.yaml", prometheus_route),
        Template::plain("custom-grafana-routes.yaml", grafana_route),
        Template::secret("grafana-admin-password.yaml", admin_password),
        Template::plain("prometheus-security-policy.yaml", prometheus_policy),
        Template::plain("alertmanager-security-policy.yaml", alertmanager_policy),
        Template::secret("gateway-oidc-secret.yaml", gateway_oidc_secret),
        Template::secret("grafana-oauth-secret.yaml", grafana_oauth_secret),
        Template::plain(
            "grafana-dashboards/kustomization.yaml",
            dashboards::kustomization,
        ),
        Template::plain(
            "grafana-dashboards/fluxcd-cluster.yaml",
            dashboards::cluster,
        ),
        Template::plain(
            "grafana-dashboards/fluxcd-control-plane.yaml",
            dashboards::control_plane,
        ),
        Template::plain("grafana-dashboards/fluxcd-logs.yaml", dashboards::logs),
        Template::plain(VALUES, values::values),
    ],
);

const NAME: &str = "kube-prometheus-stack";
const ADMIN_SECRET: &str = "grafana-admin-password";
const OIDC_SECRET: &str = "gateway-oidc-secret";
const ALERTMANAGER_ROUTE: &str = "alertmanager-gateway-route";
const PROMETHEUS_ROUTE: &str = "prometheus-gateway-route";

fn settings<'c>(ctx: &Context<'c>) -> Result<&'c PrometheusStack, Failure> {
    Ok(&block(ctx.config.services().kube_prometheus_stack.as_ref(), NAME)?.settings)
}

fn kustomization(ctx: &Context<'_>, emitted: &Emitted<'_>) -> BuildResult {
    let files = emitted
        .names
        .iter()
        .filter(|name| !name.contains('/'))
        .cloned();
    let dashboards = emitted
        .below("grafana-dashboards")
        .next()
        .map(|_| "grafana-dashboards/".to_owned());
    Ok(Built::one(
        KustomizeFile {
            namespace: ctx.namespace(NAME).map(str::to_owned),
            resources: files.chain(dashboards).collect(),
            secret: emitted
                .has(VALUES)
                .then(|| SecretGenerator::of_values("kube-prometheus-stack-values-override")),
            ..KustomizeFile::default()
        }
        .to_node(),
    ))
}

fn route(ctx: &Context<'_>, name: &str, section: &str, host: &str, backend: &Backend<'_>) -> Built {
    let route = Route {
        name,
        namespace: ctx.namespace(NAME),
        section,
        host,
    };
    with_service(ctx, "gateway", || vec![route.to(ctx, backend)])
}

fn alertmanager_route(ctx: &Context<'_>, _: &Emitted<'_>) -> BuildResult {
    let backend = Backend {
        service: "observability-kube-prometh-alertmanager",
        port: 9093,
    };
    let host = &settings(ctx)?.alertmanager_hostname;
    Ok(route(
        ctx,
        ALERTMANAGER_ROUTE,
        "alertmanager-https",
        host,
        &backend,
    ))
}

fn prometheus_route(ctx: &Context<'_>, _: &Emitted<'_>) -> BuildResult {
    let backend = Backend {
        service: "observability-kube-prometh-prometheus",
        port: 9090,
    };
    let host = &settings(ctx)?.prometheus_hostname;
    Ok(route(
        ctx,
        PROMETHEUS_ROUTE,
        "prometheus-https",
        host,
        &backend,
    ))
}

fn grafana_route(ctx: &Context<'_>, _: &Emitted<'_>) -> BuildResult {
    let backend = Backend {
        service: "observability-kube-prometheus-stack-grafana",
        port: 80,
    };
    let host = &settings(ctx)?.hostname;
    Ok(route(
        ctx,
        "grafana-gateway-route",
        "grafana-https",
        host,
        &backend,
    ))
}

fn admin_password(ctx: &Context<'_>, _: &Emitted<'_>) -> BuildResult {
    let grafana = &ctx.config.secrets.grafana;
    let password = ctx.required_secret(
        grafana.admin_password.as_ref(),
        "grafana",
        "secrets.grafana.admin_password",
    )?;
    let user = grafana.admin_user.expose();
    Ok(Built::one(secret(
        ADMIN_SECRET,
        ctx.namespace(NAME),
        map! {
            "admin-user": if user.is_empty() { "admin" } else { user },
            "admin-password": password,
        },
    )))
}

/// Gateway and Keycloak must be there, and the policy must be wanted.
fn policy_gate(ctx: &Context<'_>, field: &str, wanted: bool) -> Decision {
    let services = ctx.all_of(&["gateway", "keycloak"]);
    if services.result {
        decision(format!("opencenter.services.{NAME}.{field}"), wanted)
    } else {
        services
    }
}

fn security_policy(ctx: &Context<'_>, name: &str, route: &str, host: &str) -> Node {
    let keycloak = ctx.config.services().keycloak.as_ref();
    let client = keycloak.map(|keycloak| &keycloak.settings.client_id);
    let issuer = format!(
        "https://{}/realms/{}",
        ctx.config.keycloak_host(),
        ctx.config.keycloak_realm()
    );
    map! {
        "apiVersion": "gateway.envoyproxy.io/v1alpha1",
        "kind": "SecurityPolicy",
        "metadata": map! { "name": name, "namespace": ctx.namespace(NAME) },
        "spec": map! {
            // Newer versions prefer a list, but all versions know the single reference.
            "targetRef": map! {
                "group": "gateway.networking.k8s.io",
                "kind": "HTTPRoute",
                "name": route,
            },
            "oidc": map! {
                "provider": map! { "issuer": issuer },
                "clientID": client,
                "clientSecret": map! { "name": OIDC_SECRET },
                "redirectURL": format!("https://{host}/oauth2/callback"),
                "scopes": list!["openid", "profile", "email", "roles"],
                "logoutPath": "/logout",
            },
        },
    }
}

fn prometheus_gate(ctx: &Context<'_>, settings: &PrometheusStack) -> Decision {
    policy_gate(
        ctx,
        "prometheus_policy_enabled",
        settings.prometheus_policy_enabled,
    )
}

fn alertmanager_gate(ctx: &Context<'_>, settings: &PrometheusStack) -> Decision {
    policy_gate(
        ctx,
        "alertmanager_policy_enabled",
        settings.alertmanager_policy_enabled,
    )
}

fn prometheus_policy(ctx: &Context<'_>, _: &Emitted<'_>) -> BuildResult {
    let settings = settings(ctx)?;
    Ok(when(prometheus_gate(ctx, settings), || {
        let host = &settings.prometheus_hostname;
        vec![security_policy(
            ctx,
            "prometheus-oidc",
            PROMETHEUS_ROUTE,
            host,
        )]
    }))
}

fn alertmanager_policy(ctx: &Context<'_>, _: &Emitted<'_>) -> BuildResult {
    let settings = settings(ctx)?;
    Ok(when(alertmanager_gate(ctx, settings), || {
        let host = &settings.alertmanager_hostname;
        vec![security_policy(
            ctx,
            "alertmanager-oidc",
            ALERTMANAGER_ROUTE,
            host,
        )]
    }))
}

fn client_secret(ctx: &Context<'_>) -> Result<String, Failure> {
    ctx.required_secret(
        ctx.config.secrets.keycloak.client_secret.as_ref(),
        "keycloak",
        "secrets.keycloak.client_secret",
    )
}

fn gateway_oidc_secret(ctx: &Context<'_>, _: &Emitted<'_>) -> BuildResult {
    let settings = settings(ctx)?;
    let prometheus = prometheus_gate(ctx, settings);
    let gate = if prometheus.result {
        prometheus
    } else {
        alertmanager_gate(ctx, settings)
    };
    if !gate.result {
        return Ok(Built::Skipped(gate));
    }
    Ok(Built::one(secret(
        OIDC_SECRET,
        ctx.namespace(NAME),
        map! { "client-secret": client_secret(ctx)? },
    )))
}

fn grafana_oauth_secret(ctx: &Context<'_>, _: &Emitted<'_>) -> BuildResult {
    let gate = decision(
        format!("opencenter.services.{NAME}.grafana_oauth_enabled"),
        settings(ctx)?.grafana_oauth_enabled,
    );
    if !gate.result {
        return Ok(Built::Skipped(gate));
    }
    Ok(Built::one(secret(
        "grafana-oauth-secret",
        ctx.namespace(NAME),
        map! { "client_id": "grafana-oauth", "client_secret": client_secret(ctx)? },
    )))
}

fn listeners(ctx: &Context<'_>) -> Vec<Listener> {
    let Some(service) = &ctx.config.services().kube_prometheus_stack else {
        return Vec::new();
    };
    let hosts = &service.settings;
    [
        ("prometheus", &hosts.prometheus_hostname),
        ("alertmanager", &hosts.alertmanager_hostname),
        ("grafana", &hosts.hostname),
    ]
    .map(|(name, host)| Listener::https(&format!("{name}-https"), host, &format!("{name}-tls")))
    .into()
}
