//! Certificates: the internal CA, and an ACME issuer for each DNS credential.

mod check;
mod settings;

use mainstay_yaml::Node;

use crate::{
    catalog::{CatalogEntry, ServiceCategory},
    config::{DnsCredential, DnsKeys, DnsProvider, IssuerType},
    flux::{KustomizeFile, SecretGenerator, list, map},
    overlay::{Decision, Sensitivity},
    render::{Context, Failure, block, decision},
};

use super::{
    BuildResult, Built, Emitted, ExtraFile, Template, UnitRenderer, VALUES,
    manifest::{filled, secret, text, when},
};

use settings::{CertManager, Issuer};

/// Settings in the config.
pub(crate) type Settings = CertManager;

/// The service in the catalog.
pub(crate) const ENTRY: CatalogEntry = CatalogEntry {
    name: "cert-manager",
    description: "Certificates from ACME servers and from an internal CA",
    category: ServiceCategory::Security,
    enabled_at_init: true,
    namespace: Some("cert-manager"),
    secret_block: Some("cert_manager"),
    helm_release: Some(("cert-manager", "cert-manager")),
    values_secret: Some("cert-manager-values-override"),
    descriptor: descriptor!("cert_manager", "cert-manager"),
    renderer: Some(&RENDERER),
    files_renderer: true,
    check: Some(check::check),
    secrets: Some(check::secrets),
    ..CatalogEntry::NEW
};

/// cert-manager.
const RENDERER: UnitRenderer = UnitRenderer {
    extra: Some(extra),
    ..UnitRenderer::new(
        "cert-manager",
        &[
            Template::plain("kustomization.yaml", kustomization),
            Template::plain("rackspace-selfsigned-issuer.yaml", selfsigned_issuer),
            Template::plain("rackspace-selfsigned-ca.yaml", selfsigned_ca),
            Template::plain("rackspace-ca-issuer.yaml", ca_issuer),
            Template::secret(
                "opencenter-openstack-designate-credentials-secret.yaml",
                designate_secret,
            ),
            Template::plain("letsencrypt-designate-issuer.yaml", designate_issuer),
            Template::plain(VALUES, values),
        ],
    )
};

const ROOT_SECRET: &str = "rackspace-root-secret";
const SELFSIGNED_ISSUER: &str = "rackspace-selfsigned-issuer";
const DESIGNATE_SECRET: &str = "opencenter-openstack-designate-credentials-secret";

fn settings<'c>(ctx: &Context<'c>) -> Result<&'c CertManager, Failure> {
    Ok(&block(ctx.config.services().cert_manager.as_ref(), "cert-manager")?.settings)
}

fn values(_: &Context<'_>, _: &Emitted<'_>) -> BuildResult {
    Ok(Built::empty_values())
}

fn kustomization(ctx: &Context<'_>, emitted: &Emitted<'_>) -> BuildResult {
    let resources = emitted.names.iter().filter(|name| !name.contains('/'));
    Ok(Built::one(
        KustomizeFile {
            namespace: ctx.namespace("cert-manager").map(str::to_owned),
            resources: resources.map(|name| format!("./{name}")).collect(),
            secret: emitted
                .has(VALUES)
                .then(|| SecretGenerator::of_values("cert-manager-values-override")),
            ..KustomizeFile::default()
        }
        .to_node(),
    ))
}

fn internal_ca(settings: &CertManager) -> Decision {
    decision(
        "opencenter.services.cert-manager.internal_ca_enabled",
        settings.internal_ca_enabled,
    )
}

fn selfsigned_issuer(ctx: &Context<'_>, _: &Emitted<'_>) -> BuildResult {
    Ok(when(internal_ca(settings(ctx)?), || {
        vec![map! {
            "apiVersion": "cert-manager.io/v1",
            "kind": "Issuer",
            "metadata": map! { "name": SELFSIGNED_ISSUER },
            "spec": map! { "selfSigned": map! {} },
        }]
    }))
}

fn selfsigned_ca(ctx: &Context<'_>, _: &Emitted<'_>) -> BuildResult {
    let domain = ctx.config.opencenter.cluster.base_domain.as_str();
    Ok(when(internal_ca(settings(ctx)?), || {
        vec![map! {
            "apiVersion": "cert-manager.io/v1",
            "kind": "Certificate",
            "metadata": map! { "name": "rackspace-selfsigned-ca" },
            "spec": map! {
                "isCA": true,
                "commonName": if domain.is_empty() { "rmpk.dev" } else { domain },
                "secretName": ROOT_SECRET,
                "duration": "87600h0m0s",
                "renewBefore": "360h0m0s",
                "privateKey": map! { "algorithm": "ECDSA", "size": 256 },
                "issuerRef": map! {
                    "name": SELFSIGNED_ISSUER,
                    "kind": "Issuer",
                    "group": "cert-manager.io",
                },
            },
        }]
    }))
}

fn ca_issuer(ctx: &Context<'_>, _: &Emitted<'_>) -> BuildResult {
    Ok(when(internal_ca(settings(ctx)?), || {
        vec![cluster_issuer(
            "rackspace-ca",
            map! { "ca": map! { "secretName": ROOT_SECRET } },
        )]
    }))
}

fn cluster_issuer(name: &str, spec: Node) -> Node {
    map! {
        "apiVersion": "cert-manager.io/v1",
        "kind": "ClusterIssuer",
        "metadata": map! { "name": name },
        "spec": spec,
    }
}

/// An ACME issuer with one solver; `name` is what follows `letsencrypt-`.
fn acme_issuer(settings: &CertManager, name: &str, solver: Node) -> Node {
    cluster_issuer(
        &format!("letsencrypt-{name}"),
        map! {
            "acme": map! {
                "server": &settings.letsencrypt_server,
                "email": &settings.email,
                "privateKeySecretRef": map! { "name": format!("letsencrypt-dns01-{name}") },
                "solvers": list![solver],
            },
        },
    )
}

fn uses_designate(settings: &CertManager) -> Decision {
    Decision {
        field: "opencenter.services.cert-manager.dns_provider".to_owned(),
        operator: "equals",
        value: Some(DnsProvider::Designate.as_str().to_owned()),
        result: settings.dns_provider == Some(DnsProvider::Designate),
    }
}

fn creates_issuers(settings: &CertManager) -> Decision {
    decision(
        "opencenter.services.cert-manager.create_cluster_issuer",
        settings.create_cluster_issuer,
    )
}

fn designate_secret(ctx: &Context<'_>, _: &Emitted<'_>) -> BuildResult {
    let gate = uses_designate(settings(ctx)?);
    if !gate.result {
        return Ok(Built::Skipped(gate));
    }
    let cloud = ctx.openstack("cert-manager with Designate")?;
    let domain = filled(cloud.domain.as_ref()).or_else(|| filled(cloud.domain_name.as_ref()));
    let project =
        filled(cloud.project_name.as_ref()).or_else(|| filled(cloud.tenant_name.as_ref()));
    Ok(Built::one(secret(
        DESIGNATE_SECRET,
        None,
        map! {
            "OS_AUTH_URL": &cloud.auth_url,
            "OS_REGION_NAME": &cloud.region,
            "OS_DOMAIN_NAME": domain,
            "OS_PROJECT_ID": filled(cloud.project_id.as_ref()),
            "OS_PROJECT_NAME": project,
            "OS_APPLICATION_CREDENTIAL_ID": text(cloud.application_credential_id.as_ref()),
            "OS_APPLICATION_CREDENTIAL_SECRET": text(cloud.application_credential_secret.as_ref()),
        },
    )))
}

fn designate_issuer(ctx: &Context<'_>, _: &Emitted<'_>) -> BuildResult {
    let settings = settings(ctx)?;
    let mut gate = uses_designate(settings);
    if gate.result {
        let issuers = creates_issuers(settings);
        if !issuers.result {
            gate = issuers;
        }
    }
    Ok(when(gate, || {
        let webhook = map! { "groupName": "acme.syseleven.de", "solverName": "designatedns" };
        vec![acme_issuer(
            settings,
            "designate",
            map! { "dns01": map! { "webhook": webhook } },
        )]
    }))
}

/// Secret and issuer of each credential, then the issuers that the config lists.
fn extra(ctx: &Context<'_>) -> Result<Vec<ExtraFile>, Failure> {
    let settings = settings(ctx)?;
    let mut files = Vec::new();
    for credential in ctx.config.dns_credentials() {
        let (secret_name, secret) = credential_secret(ctx, &credential)?;
        files.push(ExtraFile {
            name: format!("{secret_name}.yaml"),
            documents: vec![secret],
            sensitivity: Some(Sensitivity::Fields),
            condition: None,
        });
        let issuers = creates_issuers(settings);
        if issuers.result {
            files.push(ExtraFile {
                name: format!("letsencrypt-{}-issuer.yaml", credential.name),
                documents: vec![acme_issuer(
                    settings,
                    &credential.name,
                    solver(&credential, &secret_name),
                )],
                sensitivity: None,
                condition: Some(issuers),
            });
        }
    }
    files.extend(
        settings
            .issuers
            .iter()
            .map(|issuer| listed_issuer(ctx, settings, issuer)),
    );
    Ok(files)
}

fn credential_secret(
    ctx: &Context<'_>,
    credential: &DnsCredential<'_>,
) -> Result<(String, Node), Failure> {
    let name = &credential.name;
    Ok(match &credential.keys {
        DnsKeys::Route53 {
            access_key,
            secret_access_key,
            ..
        } => {
            let path = format!("secrets.cert_manager.aws.{name}");
            let secret_name = format!("opencenter-aws-credentials-secret-{name}");
            let key = ctx.required_secret(
                *access_key,
                "cert-manager",
                &format!("{path}.aws_access_key"),
            )?;
            let secret_key = ctx.required_secret(
                *secret_access_key,
                "cert-manager",
                &format!("{path}.aws_secret_access_key"),
            )?;
            let entries = map! { "access-key-id": key, "secret-access-key": secret_key };
            let manifest = secret(&secret_name, None, entries);
            (secret_name, manifest)
        }
        DnsKeys::Cloudflare { api_token } => {
            let path = format!("secrets.cert_manager.cloudflare.{name}.api_token");
            let secret_name = format!("opencenter-cloudflare-credentials-secret-{name}");
            let token = ctx.required_secret(*api_token, "cert-manager", &path)?;
            let manifest = secret(&secret_name, None, map! { "api-token": token });
            (secret_name, manifest)
        }
    })
}

fn solver(credential: &DnsCredential<'_>, secret_name: &str) -> Node {
    let reference = |key: &str| map! { "name": secret_name, "key": key };
    let dns = match &credential.keys {
        DnsKeys::Route53 { region, .. } => map! {
            "route53": map! {
                "region": region,
                "accessKeyIDSecretRef": reference("access-key-id"),
                "secretAccessKeySecretRef": reference("secret-access-key"),
            },
        },
        DnsKeys::Cloudflare { .. } => map! {
            "cloudflare": map! { "apiTokenSecretRef": reference("api-token") },
        },
    };
    map! {
        "dns01": dns,
        "selector": map! { "dnsZones": Node::list(credential.dns_zones.iter()) },
    }
}

/// How a listed ACME issuer proves that a name is ours: it has no DNS credential, so over HTTP.
fn http_solver(ctx: &Context<'_>, settings: &CertManager) -> Node {
    let gateway = ctx.config.services().get("gateway");
    // Also one that somebody else runs.
    let http = if gateway.is_some_and(|gateway| gateway.enabled) {
        let (name, namespace) = ctx.gateway_reference();
        let parent = map! { "kind": "Gateway", "name": name, "namespace": namespace };
        map! { "gatewayHTTPRoute": map! { "parentRefs": list![parent] } }
    } else {
        map! { "ingress": map! {} }
    };
    let zones = map! { "dnsZones": Node::list(settings.dns_zones.iter()).or_absent() };
    map! { "http01": http, "selector": zones.or_absent() }
}

fn listed_issuer(ctx: &Context<'_>, settings: &CertManager, issuer: &Issuer) -> ExtraFile {
    let name = issuer.name.as_deref().unwrap_or_default();
    let spec = match issuer.kind.unwrap_or_default() {
        IssuerType::Selfsigned => map! { "selfSigned": map! {} },
        IssuerType::Ca => map! { "ca": map! { "secretName": ROOT_SECRET } },
        IssuerType::Letsencrypt => map! {
            "acme": map! {
                "server": issuer.server.as_ref().unwrap_or(&settings.letsencrypt_server),
                "email": &settings.email,
                "privateKeySecretRef": map! { "name": format!("{name}-account-key") },
                "solvers": list![http_solver(ctx, settings)],
            },
        },
    };
    ExtraFile {
        name: format!("issuer-{name}.yaml"),
        documents: vec![cluster_issuer(name, spec)],
        sensitivity: None,
        condition: Some(Decision {
            field: "opencenter.services.cert-manager.issuers".to_owned(),
            operator: "exists",
            value: None,
            result: true,
        }),
    }
}
