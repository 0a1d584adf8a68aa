//! Registry for images.

mod check;
mod settings;

use mainstay_yaml::Node;

use crate::{
    catalog::{CatalogEntry, Host, Listeners, ServiceCategory},
    config::{DatabaseType, DefaultRules, HarborStorage},
    flux::{list, map},
    render::{Context, Failure, block, decision},
};

use super::{
    BuildResult, Built, Emitted, Listener, Template, UnitRenderer, VALUES,
    manifest::{Backend, Route, filled, rule, when, with_service},
};

use settings::Harbor;

/// Settings in the config.
pub(crate) type Settings = Harbor;

/// The service in the catalog.
pub(crate) const ENTRY: CatalogEntry = CatalogEntry {
    name: "harbor",
    description: "Registry for images",
    category: ServiceCategory::Storage,
    namespace: Some("harbor"),
    requires: &["cert-manager"],
    secret_block: Some("harbor"),
    helm_release: Some(("harbor", "harbor")),
    values_secret: Some("harbor-values-override"),
    override_first: true,
    descriptor: descriptor!("harbor", "harbor"),
    renderer: Some(&RENDERER),
    values_renderer: true,
    hosts: &[Host {
        field: "hostname",
        label: "harbor",
        rule: "harbor.<cluster_fqdn>",
    }],
    listeners: Some(Listeners {
        place: 50,
        names: &["harbor-http", "harbor-https"],
        build: listeners,
    }),
    defaults: Some(defaults),
    check: Some(check::check),
    secrets: Some(check::secrets),
    ..CatalogEntry::NEW
};

/// Harbor.
const RENDERER: UnitRenderer = UnitRenderer::new(
    "harbor",
    &[
        Template::plain("certificate.yaml", certificate),
        Template::plain("httproute.yaml", routes),
        Template::secret_values(VALUES, values),
    ],
);

fn settings<'c>(ctx: &Context<'c>) -> Result<&'c Harbor, Failure> {
    Ok(&block(ctx.config.services().harbor.as_ref(), "harbor")?.settings)
}

fn certificate(ctx: &Context<'_>, _: &Emitted<'_>) -> BuildResult {
    let settings = settings(ctx)?;
    let gate = decision(
        "opencenter.services.harbor.emit_certificate",
        settings.emit_certificate,
    );
    Ok(when(gate, || {
        vec![map! {
            "apiVersion": "cert-manager.io/v1",
            "kind": "Certificate",
            "metadata": map! { "name": "harbor-tls" },
            "spec": map! {
                "secretName": "harbor-tls",
                "dnsNames": list![&settings.hostname],
                "issuerRef": map! {
                    "name": ctx.config.default_issuer(),
                    "kind": "ClusterIssuer",
                    "group": "cert-manager.io",
                },
            },
        }]
    }))
}

fn routes(ctx: &Context<'_>, _: &Emitted<'_>) -> BuildResult {
    let redirect = Route {
        name: "harbor-redirect",
        namespace: None,
        section: "harbor-http",
        host: &settings(ctx)?.hostname,
    };
    let main = Route {
        name: "harbor",
        section: "harbor-https",
        ..redirect
    };
    let core = Backend {
        service: "harbor-core",
        port: 80,
    };
    let portal = Backend {
        service: "harbor-portal",
        port: 80,
    };
    Ok(with_service(ctx, "gateway", || {
        let mut rules: Vec<Node> = ["/api/", "/service/", "/v2/", "/c/"]
            .map(|prefix| rule(&core, prefix))
            .into();
        rules.push(rule(&portal, "/"));
        vec![
            redirect.redirect(ctx),
            main.with_rules(ctx, Node::list(rules)),
        ]
    }))
}

fn values(ctx: &Context<'_>, _: &Emitted<'_>) -> BuildResult {
    let settings = settings(ctx)?;
    let secrets = &ctx.config.secrets.harbor;
    let secret = |found: Option<&crate::config::Secret>, field: &str| {
        ctx.required_secret(found, "harbor", &format!("secrets.harbor.{field}"))
    };
    let single = || map! { "replicas": 1 };
    Ok(Built::one(map! {
        "externalURL": &settings.external_url,
        "logLevel": "info",
        "expose": map! { "type": "clusterIP" },
        "persistence": persistence(ctx, settings)?,
        "harborAdminPassword": secret(secrets.admin_password.as_ref(), "admin_password")?,
        "metrics": map! { "enabled": true, "serviceMonitor": map! { "enabled": true } },
        "cache": map! { "enabled": true, "expireHours": 24 },
        "portal": single(),
        "core": single(),
        "jobservice": single(),
        "registry": map! {
            "replicas": 1,
            "credentials": map! {
                "username": "harbor-registry",
                "password": secret(secrets.registry_password.as_ref(), "registry_password")?,
                "htpasswdString": secret(secrets.registry_htpasswd.as_ref(), "registry_htpasswd")?,
            },
        },
        "trivy": single(),
        "exporter": single(),
        "database": database(settings, &secret(secrets.database_password.as_ref(), "database_password")?),
    }))
}

fn persistence(ctx: &Context<'_>, settings: &Harbor) -> Result<Node, Failure> {
    let volume = || map! { "size": "100Gi" };
    Ok(map! {
        "enabled": true,
        "resourcePolicy": "keep",
        "persistentVolumeClaim": map! {
            "registry": map! { "size": format!("{}Gi", settings.registry_volume_size) },
            "jobservice": map! { "jobLog": volume() },
            "database": volume(),
            "redis": volume(),
            "trivy": volume(),
        },
        "imageChartStorage": image_storage(ctx, settings)?,
    })
}

fn image_storage(ctx: &Context<'_>, settings: &Harbor) -> Result<Node, Failure> {
    let store = match settings.storage_type {
        HarborStorage::Filesystem => map! { "rootdirectory": "/storage" },
        HarborStorage::S3 => s3_store(ctx, settings)?,
        HarborStorage::Swift => {
            let cloud = ctx.openstack("harbor with Swift")?;
            let secret = ctx.config.openstack_credential();
            map! {
                "authurl": &cloud.auth_url,
                "region": &cloud.region,
                "container": &settings.s3_bucket,
                "applicationcredentialid": secret.as_ref().map(|pair| pair.key.expose()),
                "applicationcredentialsecret": secret.as_ref().map(|pair| pair.secret.expose()),
            }
        }
    };
    let kind = settings.storage_type.as_str();
    Ok(Node::map([("type", Node::from(kind)), (kind, store)]))
}

fn s3_store(ctx: &Context<'_>, settings: &Harbor) -> Result<Node, Failure> {
    let keys = ctx.config.service_s3_keys("harbor");
    let path = "secrets.global.aws.application";
    let key = ctx.required_secret(
        keys.as_ref().map(|pair| pair.key),
        "harbor",
        &format!("{path}.access_key"),
    )?;
    let secret = ctx.required_secret(
        keys.as_ref().map(|pair| pair.secret),
        "harbor",
        &format!("{path}.secret_access_key"),
    )?;
    Ok(map! {
        "region": settings.s3_region.to_ascii_uppercase(),
        "bucket": &settings.s3_bucket,
        "accesskey": key,
        "secretkey": secret,
        "regionendpoint": format!("swift.api.{}.rackspacecloud.com", ctx.config.region()),
        "v4auth": true,
        "secure": true,
        "rootdirectory": "images",
    })
}

fn database(settings: &Harbor, password: &str) -> Node {
    match settings.database_type {
        DatabaseType::Internal => map! {
            "type": "internal",
            "internal": map! { "password": password },
        },
        DatabaseType::External => map! {
            "type": "external",
            "external": map! {
                "host": filled(settings.database_host.as_ref()),
                "port": settings.database_port,
                "username": filled(settings.database_user.as_ref()),
                "password": password,
                "coreDatabase": filled(settings.database_name.as_ref()),
            },
        },
    }
}

/// The address and the bucket.
fn defaults(rules: &mut DefaultRules<'_>) {
    let holder = ENTRY.config_path();
    let host = rules.text("opencenter.services.harbor.hostname");
    rules.set(
        &holder,
        "external_url",
        format!("https://{host}"),
        "https://<hostname>",
    );
    let cluster = rules.text("opencenter.cluster.cluster_name");
    rules.set(
        &holder,
        "s3_bucket",
        format!("{cluster}-harbor"),
        "<cluster_name>-harbor",
    );
    rules.set(
        &holder,
        "s3_region",
        rules.text("opencenter.meta.region").to_uppercase(),
        "opencenter.meta.region in upper case",
    );
}

fn listeners(ctx: &Context<'_>) -> Vec<Listener> {
    let Some(service) = &ctx.config.services().harbor else {
        return Vec::new();
    };
    let host = &service.settings.hostname;
    vec![
        Listener::http("harbor-http", host),
        Listener::https("harbor-https", host, "harbor-tls"),
    ]
}
