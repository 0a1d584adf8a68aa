//! Sign-in: database, operator, server and realm, one stage each.

mod backup;
mod check;
mod database;
mod realm;
mod server;
mod settings;

use mainstay_yaml::Node;

use crate::{
    catalog::{CatalogEntry, Host, Listeners, ServiceCategory},
    config::{DefaultRules, Provider},
    flux::{KustomizeFile, list, map},
    overlay::Decision,
    render::{Context, Failure, block, decision},
};

use super::{
    BuildResult, Built, Emitted, Listener, Template, UnitRenderer,
    manifest::{Backend, Route, when, with_service},
};

use settings::Keycloak;

/// Settings in the config.
pub(crate) type Settings = Keycloak;

/// The service in the catalog.
pub(crate) const ENTRY: CatalogEntry = CatalogEntry {
    name: "keycloak",
    description: "Sign-in for users and services",
    category: ServiceCategory::Security,
    enabled_at_init: true,
    namespace: Some("keycloak"),
    requires: &[
        "cert-manager",
        "olm",
        "postgres-operator",
        "gateway-api",
        "gateway",
        "rbac-manager",
    ],
    secret_block: Some("keycloak"),
    descriptor: descriptor!("keycloak", "keycloak"),
    renderer: Some(&RENDERER),
    hosts: &[Host {
        field: "hostname",
        label: "auth",
        rule: "auth.<cluster_fqdn>",
    }],
    listeners: Some(Listeners {
        place: 10,
        names: &["keycloak-https", "keycloak-http"],
        build: listeners,
    }),
    placeholders: &["keycloak.client_secret", "keycloak.admin_password"],
    defaults: Some(defaults),
    check: Some(check::check),
    secrets: Some(check::secrets),
    ..CatalogEntry::NEW
};

/// Keycloak.
const RENDERER: UnitRenderer = UnitRenderer::new(
    "keycloak",
    &[
        Template::plain("00-postgres/kustomization.yaml", postgres_stage),
        Template::plain("00-postgres/postgres-cluster.yaml", database::cluster),
        Template::plain("10-operator/kustomization.yaml", operator_stage),
        Template::plain("10-operator/patch-subscription.yaml", subscription_patch),
        Template::plain("20-keycloak/kustomization.yaml", server_stage),
        Template::plain("20-keycloak/keycloak-cr-patch.yaml", server::patch),
        Template::plain("20-keycloak/httproute.yaml", routes),
        Template::plain("20-keycloak/keycloak-certificate.yaml", certificate),
        Template::secret("20-keycloak/opencenter-realm.yaml", realm::import),
        Template::plain("20-keycloak/keycloak-hpa.yaml", server::autoscaler),
        Template::plain("20-keycloak/keycloak-backup-cronjob.yaml", backup::cron_job),
        Template::plain("20-keycloak/rbac-manager-users.yaml", rbac_users),
    ],
);

const SERVER_DIRECTORY: &str = "20-keycloak";
const SUBSCRIPTION: &str = "keycloak-subscription";

fn settings<'c>(ctx: &Context<'c>) -> Result<&'c Keycloak, Failure> {
    Ok(&block(ctx.config.services().keycloak.as_ref(), "keycloak")?.settings)
}

fn namespace<'c>(ctx: &Context<'c>) -> &'c str {
    ctx.namespace("keycloak").unwrap_or("keycloak")
}

fn is_local(ctx: &Context<'_>) -> bool {
    ctx.config.opencenter.infrastructure.provider == Provider::Kind
}

fn postgres_stage(_: &Context<'_>, _: &Emitted<'_>) -> BuildResult {
    Ok(Built::one(
        KustomizeFile {
            resources: vec!["../../base/keycloak/00-postgres".to_owned()],
            patches: vec![("./postgres-cluster.yaml".to_owned(), None)],
            ..KustomizeFile::default()
        }
        .to_node(),
    ))
}

fn operator_stage(ctx: &Context<'_>, emitted: &Emitted<'_>) -> BuildResult {
    let target = map! {
        "kind": "Subscription",
        "name": SUBSCRIPTION,
        "namespace": namespace(ctx),
    };
    let patch = emitted.has("10-operator/patch-subscription.yaml");
    Ok(Built::one(
        KustomizeFile {
            resources: vec!["../../base/keycloak/10-operator".to_owned()],
            patches: patch
                .then(|| ("patch-subscription.yaml".to_owned(), Some(target)))
                .into_iter()
                .collect(),
            ..KustomizeFile::default()
        }
        .to_node(),
    ))
}

fn subscription_patch(ctx: &Context<'_>, _: &Emitted<'_>) -> BuildResult {
    let settings = settings(ctx)?;
    let pinned = decision(
        "opencenter.services.keycloak.pin_operator_version",
        settings.pin_operator_version,
    );
    Ok(when(pinned, || {
        vec![map! {
            "apiVersion": "operators.coreos.com/v1alpha1",
            "kind": "Subscription",
            "metadata": map! { "name": SUBSCRIPTION, "namespace": namespace(ctx) },
            "spec": map! { "startingCSV": &settings.operator_csv },
        }]
    }))
}

/// The base, what this stage adds to it, and one patch of what the base already has.
fn server_stage(_: &Context<'_>, emitted: &Emitted<'_>) -> BuildResult {
    const PATCH: &str = "keycloak-cr-patch.yaml";
    let added = emitted
        .below(SERVER_DIRECTORY)
        .filter(|name| *name != PATCH);
    let base = std::iter::once("../../base/keycloak/20-keycloak");
    Ok(Built::one(
        KustomizeFile {
            resources: base.chain(added).map(str::to_owned).collect(),
            patches: vec![(format!("./{PATCH}"), None)],
            ..KustomizeFile::default()
        }
        .to_node(),
    ))
}

fn routes(ctx: &Context<'_>, _: &Emitted<'_>) -> BuildResult {
    let host = &settings(ctx)?.hostname;
    let main = Route {
        name: "keycloak",
        namespace: Some(namespace(ctx)),
        section: "keycloak-https",
        host,
    };
    let redirect = Route {
        name: "keycloak-http-redirect",
        section: "keycloak-http",
        ..main
    };
    let backend = Backend {
        service: "keycloak-service",
        port: 8080,
    };
    Ok(with_service(ctx, "gateway", || {
        vec![main.to(ctx, &backend), redirect.redirect(ctx)]
    }))
}

fn certificate(ctx: &Context<'_>, _: &Emitted<'_>) -> BuildResult {
    let settings = settings(ctx)?;
    let mut gate = ctx.service_gate("cert-manager");
    if gate.result {
        gate = decision(
            "opencenter.services.keycloak.tls_enabled",
            settings.tls_enabled,
        );
    }
    let namespace = namespace(ctx);
    Ok(when(gate, || {
        vec![map! {
            "apiVersion": "cert-manager.io/v1",
            "kind": "Certificate",
            "metadata": map! { "name": "keycloak-tls", "namespace": namespace },
            "spec": map! {
                "secretName": &settings.tls_secret_name,
                "duration": "8760h0m0s",
                "renewBefore": "360h0m0s",
                "dnsNames": list![
                    &settings.hostname,
                    format!("keycloak.{namespace}.svc.cluster.local"),
                    format!("keycloak.{namespace}.svc"),
                    "keycloak",
                ],
                "issuerRef": map! {
                    "name": "rackspace-ca",
                    "kind": "ClusterIssuer",
                    "group": "cert-manager.io",
                },
            },
        }]
    }))
}

fn rbac_users(ctx: &Context<'_>, _: &Emitted<'_>) -> BuildResult {
    let settings = settings(ctx)?;
    let gate: Decision = decision(
        "opencenter.services.keycloak.emit_rbac_users",
        settings.emit_rbac_users,
    );
    Ok(when(gate, || {
        let bindings = settings.rbac_bindings.iter().map(|binding| {
            let group = binding.group.as_deref().unwrap_or_default();
            let role = map! {
                "clusterRole": binding.cluster_role.as_ref(),
                "namespace": binding.namespace.as_ref(),
            };
            let (everywhere, somewhere) = match binding.namespace {
                Some(_) => (Node::Absent, list![role]),
                None => (list![role], Node::Absent),
            };
            map! {
                "name": binding.name.as_ref(),
                "subjects": list![map! { "kind": "Group", "name": format!("oidc:{group}") }],
                "clusterRoleBindings": everywhere,
                "roleBindings": somewhere,
            }
        });
        vec![map! {
            "apiVersion": "rbacmanager.reactiveops.io/v1beta1",
            "kind": "RBACDefinition",
            "metadata": map! { "name": "rbac-manager-users" },
            "rbacBindings": Node::list(bindings),
        }]
    }))
}

/// The version of the operator is fixed in one region.
fn defaults(rules: &mut DefaultRules<'_>) {
    let pinned = rules.text("opencenter.meta.region") == "ord1";
    rules.set(
        &ENTRY.config_path(),
        "pin_operator_version",
        pinned,
        "true in region ord1",
    );
}

fn listeners(ctx: &Context<'_>) -> Vec<Listener> {
    let Some(service) = &ctx.config.services().keycloak else {
        return Vec::new();
    };
    let host = &service.settings.hostname;
    vec![
        Listener::https("keycloak-https", host, "keycloak-tls"),
        Listener::http("keycloak-http", host),
    ]
}
