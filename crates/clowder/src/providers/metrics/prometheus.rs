//! A Prometheus of the environment's own, made through the Prometheus operator, and its push gateway.

use k8s_openapi::{
    api::{
        apps::v1::{Deployment, DeploymentSpec},
        core::v1::{
            Container, ContainerPort, PodSpec, PodTemplateSpec, ResourceRequirements, Service,
            ServiceAccount, ServicePort, ServiceSpec,
        },
        rbac::v1::{RoleBinding, RoleRef, Subject},
    },
    apimachinery::pkg::{
        apis::meta::v1::{LabelSelector, ObjectMeta},
        util::intstr::IntOrString,
    },
};
use mainstay_api::clowder::{ClowdEnvironment, environment::observability::MetricsMode};
use serde_json::json;

use super::{UNIT, monitor};
use crate::{
    kinds,
    names::{self, Labels},
    providers::{
        app_config::PrometheusGatewayConfig,
        images, pod,
        provider::{AppRender, Context, EnvironmentRender, ProviderError},
    },
};

/// Name of the account and of the subscription.
const NAME: &str = "prometheus";
const RBAC_GROUP: &str = "rbac.authorization.k8s.io";
/// What a Prometheus may read; part of the installation.
pub(crate) const CLUSTER_ROLE: &str = "clowder-prometheus";
const GATEWAY: &str = "prometheus-gateway";
const GATEWAY_PORT: i32 = 9091;
const GATEWAY_PORT_NAME: &str = "http";

/// Where the Prometheus of an environment is reached, deployed or not.
pub fn server_address(environment: &ClowdEnvironment, target_namespace: &str) -> String {
    let metrics = &environment.spec.providers.metrics;
    if metrics.mode == MetricsMode::AppInterface {
        metrics.prometheus.app_interface_internal_url.clone()
    } else {
        format!("http://prometheus-operated.{target_namespace}.svc.cluster.local:9090")
    }
}

/// Objects of the environment.
///
/// Parity: without a Prometheus there is no push gateway, although apps are told of one.
pub(super) fn render(ctx: &mut EnvironmentRender<'_>) -> Result<(), ProviderError> {
    let context = ctx.shared;
    let metrics = &context.environment.spec.providers.metrics;
    if !metrics.prometheus.deploy {
        return Ok(());
    }
    let namespace = context.target_namespace;
    let name = context.environment_name();
    let base = names::environment_labels(name);
    let owner = names::environment_owner(context.environment);
    let account = ServiceAccount {
        metadata: names::metadata((namespace, NAME), base.clone(), &owner),
        ..ServiceAccount::default()
    };
    ctx.set.add(UNIT, &account)?;
    let labels = names::overlaid(base, &[("env", name)]);
    let server = json!({
        "serviceMonitorSelector": {"matchLabels": {"prometheus": name}},
        "serviceAccountName": NAME,
        "resources": {
            "requests": {"cpu": "50m", "memory": "200Mi"},
            "limits": {"cpu": "400m", "memory": "400Mi"},
        },
        // Empty members that the original's client writes as well.
        "arbitraryFSAccessThroughSMs": {},
        "rules": {"alert": {}},
    });
    let place = (namespace, name);
    let server =
        monitor::foreign_object(context, &kinds::PROMETHEUS, place, labels.clone(), &server)?;
    ctx.set.add(UNIT, &server)?;
    let subscription = json!({
        "channel": "beta",
        "installPlanApproval": "Automatic",
        "name": NAME,
        "source": "community-operators",
        "sourceNamespace": "openshift-marketplace",
        "startingCSV": "prometheusoperator.0.56.3",
    });
    let place = (namespace, NAME);
    let subscription =
        monitor::foreign_object(context, &kinds::SUBSCRIPTION, place, labels, &subscription)?;
    ctx.set.add(UNIT, &subscription)?;
    if metrics.prometheus_gateway.deploy {
        render_gateway(ctx)?;
    }
    Ok(())
}

/// What apps are told of the push gateway.
pub(super) fn configure(ctx: &mut AppRender<'_>) -> Result<(), ProviderError> {
    let context = ctx.shared;
    if context
        .environment
        .spec
        .providers
        .metrics
        .prometheus_gateway
        .deploy
    {
        let service = gateway_name(context)?;
        ctx.config.prometheus_gateway = Some(PrometheusGatewayConfig {
            hostname: names::host(&service, context.target_namespace),
            port: GATEWAY_PORT,
        });
    }
    Ok(())
}

/// Lets the Prometheus of the environment look into the namespace of an app, whether it is deployed or not.
pub(super) fn admit(ctx: &mut AppRender<'_>) -> Result<(), ProviderError> {
    let place = (ctx.namespace(), ctx.app_name());
    let binding = RoleBinding {
        metadata: names::metadata(
            place,
            names::app_labels(ctx.app),
            &names::app_owner(ctx.app),
        ),
        role_ref: RoleRef {
            api_group: RBAC_GROUP.to_owned(),
            kind: "ClusterRole".to_owned(),
            name: CLUSTER_ROLE.to_owned(),
        },
        subjects: Some(vec![Subject {
            kind: "ServiceAccount".to_owned(),
            name: NAME.to_owned(),
            namespace: Some(ctx.shared.target_namespace.to_owned()),
            api_group: None,
        }]),
    };
    ctx.set.add(UNIT, &binding)?;
    Ok(())
}

fn gateway_name(context: Context<'_>) -> Result<String, ProviderError> {
    let environment = context.environment_name();
    if context.target_namespace.is_empty() {
        return Err(ProviderError::Failed(format!(
            "ClowdEnvironment {environment} has empty TargetNamespace"
        )));
    }
    Ok(names::part(environment, GATEWAY))
}

fn render_gateway(ctx: &mut EnvironmentRender<'_>) -> Result<(), ProviderError> {
    let context = ctx.shared;
    let name = gateway_name(context)?;
    let place = (context.target_namespace, name.as_str());
    // Parity: the label `app` is not the name of the environment.
    let labels = names::overlaid(
        Labels::new(),
        &[("app", GATEWAY), ("env", context.environment_name())],
    );
    let metadata = names::metadata(
        place,
        labels.clone(),
        &names::environment_owner(context.environment),
    );
    ctx.set
        .add(UNIT, &build_gateway(context, metadata.clone(), &labels))?;
    let service = Service {
        metadata,
        spec: Some(ServiceSpec {
            selector: Some(labels.clone()),
            ports: Some(vec![ServicePort {
                name: Some(GATEWAY_PORT_NAME.to_owned()),
                port: GATEWAY_PORT,
                target_port: Some(IntOrString::Int(GATEWAY_PORT)),
                ..ServicePort::default()
            }]),
            ..ServiceSpec::default()
        }),
        ..Service::default()
    };
    ctx.set.add(UNIT, &service)?;
    if context.settings.config.features.create_service_monitor {
        let spec = json!({
            "selector": {"matchLabels": labels},
            "endpoints": [{"port": GATEWAY_PORT_NAME, "path": "/metrics"}],
            "namespaceSelector": {},
        });
        let object = monitor::build(context, place, context.environment_name(), &spec)?;
        ctx.set.add(UNIT, &object)?;
    }
    Ok(())
}

fn build_gateway(context: Context<'_>, metadata: ObjectMeta, labels: &Labels) -> Deployment {
    let gateway = &context
        .environment
        .spec
        .providers
        .metrics
        .prometheus_gateway;
    let configured = &context.settings.config.images.prometheus_gateway;
    let image = images::first(&[&gateway.image, configured, images::PUSH_GATEWAY]);
    let container = Container {
        name: GATEWAY.to_owned(),
        image: Some(image.to_owned()),
        ports: Some(vec![ContainerPort {
            name: Some(GATEWAY_PORT_NAME.to_owned()),
            container_port: GATEWAY_PORT,
            ..ContainerPort::default()
        }]),
        resources: Some(ResourceRequirements {
            requests: Some(pod::quantities([("cpu", "50m"), ("memory", "128Mi")])),
            limits: Some(pod::quantities([("cpu", "100m"), ("memory", "256Mi")])),
            claims: None,
        }),
        ..Container::default()
    };
    Deployment {
        metadata,
        spec: Some(DeploymentSpec {
            replicas: Some(1),
            selector: LabelSelector {
                match_labels: Some(labels.clone()),
                match_expressions: None,
            },
            template: PodTemplateSpec {
                metadata: Some(ObjectMeta {
                    labels: Some(labels.clone()),
                    ..ObjectMeta::default()
                }),
                spec: Some(PodSpec {
                    containers: vec![container],
                    ..PodSpec::default()
                }),
            },
            ..DeploymentSpec::default()
        }),
        ..Deployment::default()
    }
}
