//! The gateway for clients that show a certificate: Caddy, with a certificate that cert-manager issues.

mod config;

use k8s_openapi::api::core::v1::{
    ConfigMap, ConfigMapVolumeSource, Container, PodSpec, Probe, SecretVolumeSource, Volume,
    VolumeMount,
};
use mainstay_api::clowder::environment::web::{GatewayCertificate, GatewayCertificateMode};
use mainstay_engine::Kind;
use serde_json::{Value, json};

use super::{super::UNIT, auth, hostname};
use crate::{
    kinds,
    names::{self, Labels},
    providers::{
        component::{self, Check, Component, Pace},
        confighash, images, ingress,
        metrics::monitor,
        pod,
        provider::{Context, EnvironmentRender, ProviderError},
    },
};

const PORT: i32 = 9090;
const PORT_NAME: &str = "gateway";
const CONFIG_KEY: &str = "Caddyfile.json";
const CONFIG_DIRECTORY: &str = "/etc/caddy";
const CERTIFICATE_DIRECTORY: &str = "/certs";
const AUTHORITY_DIRECTORY: &str = "/cas";
/// Parity: every environment has it under the same name.
const CERTIFICATE: &str = "caddy-gateway";
const ISSUER_GROUP: &str = "cert-manager.io";
/// Parity: the directory for trials; browsers do not trust its certificates.
const ACME_DIRECTORY: &str = "https://acme-staging-v02.api.letsencrypt.org/directory";

/// Adds everything that the gateway consists of.
pub(super) fn add(ctx: &mut EnvironmentRender<'_>) -> Result<(), ProviderError> {
    let context = ctx.shared;
    let name = names::part(context.environment_name(), "caddy-gateway");
    let component = Component::of_environment(&context, name);
    let host = hostname::of_part(&context, "cert");
    let text = config::render(&context, &host);
    let issuer = object(
        &context,
        &kinds::ISSUER,
        context.target_namespace,
        &issuer(&context)?,
    )?;
    let certificate = certificate(&context, &component.name, &host);
    let certificate = object(&context, &kinds::CERTIFICATE, CERTIFICATE, &certificate)?;
    ctx.set.add(UNIT, &issuer)?;
    ctx.set.add(UNIT, &certificate)?;
    add_ingress(ctx, &component, &host)?;
    add_deployment(ctx, &component, &text)?;
    // Parity: no labels.
    let config_map = ConfigMap {
        metadata: component.metadata(Labels::new()),
        data: Some([(CONFIG_KEY.to_owned(), text)].into()),
        ..ConfigMap::default()
    };
    ctx.set.add(UNIT, &config_map)?;
    Ok(())
}

/// TLS goes through to the gateway; who stands in front of it is told in its own words.
fn add_ingress(
    ctx: &mut EnvironmentRender<'_>,
    component: &Component<'_>,
    host: &str,
) -> Result<(), ProviderError> {
    let context = ctx.shared;
    let is_nginx = ingress::class(&context) == ingress::DEFAULT_CLASS;
    let annotations: &[(&str, &str)] = if is_nginx {
        &[
            ("nginx.ingress.kubernetes.io/ssl-passthrough", "true"),
            ("nginx.ingress.kubernetes.io/backend-protocol", "HTTPS"),
        ]
    } else {
        &[("route.openshift.io/termination", "passthrough")]
    };
    let path = if is_nginx {
        ingress::below("/", &component.name, PORT_NAME)
    } else {
        ingress::everything(&component.name, PORT_NAME)
    };
    let mut metadata = component.metadata(component.base_labels.clone());
    metadata.annotations = Some(names::overlaid(Labels::new(), annotations));
    let ingress = ingress::build(&context, metadata, Some(host), vec![path]);
    ctx.set.add(UNIT, &ingress)?;
    Ok(())
}

fn add_deployment(
    ctx: &mut EnvironmentRender<'_>,
    component: &Component<'_>,
    config: &str,
) -> Result<(), ProviderError> {
    let context = ctx.shared;
    let labels = component.labels(&[("env-app", &component.name)]);
    let pod = pod_spec(&context, component);
    let mut deployment = component.deployment(context.lookup, labels.clone(), pod);
    let hash = confighash::hexadecimal_sha256(config.as_bytes());
    auth::annotate(
        &mut deployment,
        [(auth::CONFIG_HASH.to_owned(), hash)].into(),
    );
    ctx.set.add(UNIT, &deployment)?;
    // Parity: the only Service of this mode that is never of type `NodePort`.
    let service = component.service(context.lookup, labels, (PORT_NAME, PORT), false);
    ctx.set.add(UNIT, &service)?;
    Ok(())
}

fn pod_spec(context: &Context<'_>, component: &Component<'_>) -> PodSpec {
    let web = &context.environment.spec.providers.web;
    let configured = &context.settings.config.images.caddy_gateway;
    let image = images::first(&[&web.images.caddy_gateway, configured, images::CADDY]);
    let config_file = format!("{CONFIG_DIRECTORY}/{CONFIG_KEY}");
    let mut volumes = vec![
        from_config_map("config", &component.name),
        from_secret("certs", &component.name),
    ];
    let mut mounts = vec![
        mount("config", CONFIG_DIRECTORY),
        mount("certs", CERTIFICATE_DIRECTORY),
    ];
    let authorities = &web.gateway_certificate.local_ca_config_map;
    if !authorities.is_empty() {
        volumes.push(from_config_map("ca", authorities));
        mounts.push(mount("ca", AUTHORITY_DIRECTORY));
    }
    PodSpec {
        containers: vec![Container {
            command: Some(
                ["caddy", "run", "--config", &config_file]
                    .map(str::to_owned)
                    .into(),
            ),
            ports: Some(vec![pod::port(PORT_NAME, PORT)]),
            liveness_probe: Some(connect(10)),
            readiness_probe: Some(connect(20)),
            resources: Some(component::resources(("100m", "400Mi"), ("1", "750Mi"))),
            volume_mounts: Some(mounts),
            ..component.container(image)
        }],
        volumes: Some(volumes),
        ..PodSpec::default()
    }
}

fn from_config_map(name: &str, config_map: &str) -> Volume {
    Volume {
        name: name.to_owned(),
        config_map: Some(ConfigMapVolumeSource {
            name: config_map.to_owned(),
            ..ConfigMapVolumeSource::default()
        }),
        ..Volume::default()
    }
}

fn from_secret(name: &str, secret: &str) -> Volume {
    Volume {
        name: name.to_owned(),
        secret: Some(SecretVolumeSource {
            secret_name: Some(secret.to_owned()),
            ..SecretVolumeSource::default()
        }),
        ..Volume::default()
    }
}

fn mount(volume: &str, path: &str) -> VolumeMount {
    VolumeMount {
        name: volume.to_owned(),
        mount_path: path.to_owned(),
        ..VolumeMount::default()
    }
}

fn connect(delay: i32) -> Probe {
    let pace = Pace {
        delay,
        timeout: 2,
        period: 10,
    };
    component::probe(Check::Connect(PORT), pace)
}

fn settings<'render>(context: &Context<'render>) -> &'render GatewayCertificate {
    &context.environment.spec.providers.web.gateway_certificate
}

fn is_acme(context: &Context<'_>) -> bool {
    settings(context).mode == GatewayCertificateMode::Acme
}

/// Who signs. Parity: in every mode but `acme` the certificate signs itself, `none` included.
fn issuer(context: &Context<'_>) -> Result<Value, ProviderError> {
    if !is_acme(context) {
        return Ok(json!({"selfSigned": {}}));
    }
    let address = &settings(context).email_address;
    if address.is_empty() {
        let missing = "could not get env.Spec.EmailAddress for Cert";
        return Err(ProviderError::Failed(missing.to_owned()));
    }
    Ok(json!({"acme": {
        "email": address,
        "privateKeySecretRef": {"name": format!("{}-cluster-issuer", context.target_namespace)},
        "server": ACME_DIRECTORY,
        "solvers": [{"http01": {"ingress": {}}}],
    }}))
}

fn certificate(context: &Context<'_>, secret: &str, host: &str) -> Value {
    let mut certificate = json!({
        "dnsNames": [host],
        "issuerRef": {"group": ISSUER_GROUP, "kind": "Issuer", "name": context.target_namespace},
        "secretName": secret,
    });
    if !is_acme(context) {
        certificate["commonName"] = json!(host);
        certificate["privateKey"] = json!({"algorithm": "ECDSA", "size": 256});
    }
    certificate
}

fn object(
    context: &Context<'_>,
    kind: &Kind,
    name: &str,
    spec: &Value,
) -> Result<Value, ProviderError> {
    let labels = names::environment_labels(context.environment_name());
    let place = (context.target_namespace, name);
    monitor::foreign_object(*context, kind, place, labels, spec)
}
