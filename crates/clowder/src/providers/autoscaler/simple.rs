//! Scaling by memory and processor time.

use k8s_openapi::{
    api::autoscaling::v2::{
        CrossVersionObjectReference, HorizontalPodAutoscaler, HorizontalPodAutoscalerSpec,
        MetricSpec, MetricTarget, ResourceMetricSource,
    },
    apimachinery::pkg::{api::resource::Quantity, apis::meta::v1::OwnerReference},
};
use mainstay_api::clowder::app::autoscaler::{AutoScalerSimple, ScaleAt};
use mainstay_engine::quantity;

use crate::{
    kinds,
    names::{self, Labels},
    providers::provider::{AppRender, ProviderError},
};

/// The `HorizontalPodAutoscaler` of a deployment.
///
/// Parity: it has no labels, and its owner is not its controller.
pub(super) fn build(
    ctx: &AppRender<'_>,
    deployment: &str,
    scaler: &AutoScalerSimple,
) -> Result<HorizontalPodAutoscaler, ProviderError> {
    let target = ctx.part(deployment);
    let name = names::part(&target, "hpa");
    let owner = OwnerReference {
        controller: None,
        ..names::app_owner(ctx.app)
    };
    let mut metrics = Vec::new();
    for (resource, scale_at) in [("memory", &scaler.ram), ("cpu", &scaler.cpu)] {
        add_metrics(&mut metrics, resource, scale_at)?;
    }
    Ok(HorizontalPodAutoscaler {
        metadata: names::metadata((ctx.namespace(), &name), Labels::new(), &owner),
        spec: Some(HorizontalPodAutoscalerSpec {
            scale_target_ref: CrossVersionObjectReference {
                api_version: Some(kinds::DEPLOYMENT.api_version()),
                kind: kinds::DEPLOYMENT.kind.into_owned(),
                name: target,
            },
            min_replicas: Some(scaler.replicas.min),
            max_replicas: scaler.replicas.max,
            metrics: Some(metrics).filter(|metrics| !metrics.is_empty()),
            ..HorizontalPodAutoscalerSpec::default()
        }),
        ..HorizontalPodAutoscaler::default()
    })
}

fn add_metrics(
    metrics: &mut Vec<MetricSpec>,
    resource: &str,
    scale_at: &ScaleAt,
) -> Result<(), ProviderError> {
    if scale_at.scale_at_utilization != 0 {
        metrics.push(metric(
            resource,
            MetricTarget {
                type_: "Utilization".to_owned(),
                average_utilization: Some(scale_at.scale_at_utilization),
                ..MetricTarget::default()
            },
        ));
    }
    let value = &scale_at.scale_at_value;
    if !value.is_empty() {
        if quantity::parse(value).is_none() {
            return Err(ProviderError::bare(format!(
                "{value} is not a valid quantity of {resource}"
            )));
        }
        metrics.push(metric(
            resource,
            MetricTarget {
                type_: "AverageValue".to_owned(),
                average_value: Some(Quantity(value.clone())),
                ..MetricTarget::default()
            },
        ));
    }
    Ok(())
}

fn metric(resource: &str, target: MetricTarget) -> MetricSpec {
    MetricSpec {
        type_: "Resource".to_owned(),
        resource: Some(ResourceMetricSource {
            name: resource.to_owned(),
            target,
        }),
        ..MetricSpec::default()
    }
}
