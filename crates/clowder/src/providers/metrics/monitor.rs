//! What a Prometheus is told to scrape.

use serde_json::{Value, json};

use super::{PORT, UNIT};
use crate::{
    kinds,
    names::{self, Labels},
    providers::provider::{AppRender, Context, ProviderError},
};

/// One `ServiceMonitor` for each deployment, for the Prometheus that looks for this label in this namespace.
///
/// Parity: it belongs to the environment, so it stays when the deployment goes.
pub(super) fn render(
    ctx: &mut AppRender<'_>,
    namespace: &str,
    label: &str,
) -> Result<(), ProviderError> {
    for deployment in &ctx.app.spec.deployments {
        let name = ctx.part(&deployment.name);
        let path = &ctx.shared.environment.spec.providers.metrics.path;
        let mut endpoint = json!({"interval": "15s", "port": PORT});
        if !path.is_empty() {
            endpoint["path"] = json!(path);
        }
        let spec = json!({
            "endpoints": [endpoint],
            "namespaceSelector": {"matchNames": [ctx.namespace()]},
            "selector": {"matchLabels": {"pod": name}},
        });
        let object = build(ctx.shared, (namespace, &name), label, &spec)?;
        ctx.set.add(UNIT, &object)?;
    }
    Ok(())
}

/// A `ServiceMonitor` of the environment.
pub(super) fn build(
    context: Context<'_>,
    place: (&str, &str),
    label: &str,
    spec: &Value,
) -> Result<Value, ProviderError> {
    let labels = names::environment_labels(context.environment_name());
    let labels = names::overlaid(labels, &[("prometheus", label)]);
    foreign_object(context, &kinds::SERVICE_MONITOR, place, labels, spec)
}

/// An object of a kind that another operator defines, owned by the environment.
pub(crate) fn foreign_object(
    context: Context<'_>,
    kind: &mainstay_engine::Kind,
    place: (&str, &str),
    labels: Labels,
    spec: &Value,
) -> Result<Value, ProviderError> {
    let metadata = names::metadata(
        place,
        labels,
        &names::environment_owner(context.environment),
    );
    let metadata = serde_json::to_value(metadata)
        .map_err(|error| ProviderError::caused("could not convert metadata", error))?;
    Ok(json!({
        "apiVersion": kind.api_version(),
        "kind": kind.kind,
        "metadata": metadata,
        "spec": spec,
    }))
}
