//! Provider `servicemesh`: pods of deployments join the mesh.

use k8s_openapi::api::apps::v1::Deployment;
use mainstay_api::clowder::environment::service_mesh::ServiceMeshMode;

use crate::providers::provider::{AppRender, Provider, ProviderError};

const UNIT: &str = "servicemesh";
/// They win over what an app says of itself.
const ANNOTATIONS: [(&str, &str); 2] = [
    ("sidecar.istio.io/inject", "true"),
    (
        "traffic.sidecar.istio.io/excludeOutboundPorts",
        "443,9093,5432,10000",
    ),
];

/// The provider.
#[derive(Debug)]
pub struct ServiceMesh;

impl Provider for ServiceMesh {
    fn name(&self) -> &'static str {
        UNIT
    }

    fn app(&self, ctx: &mut AppRender<'_>) -> Result<(), ProviderError> {
        if ctx.shared.environment.spec.providers.service_mesh.mode != ServiceMeshMode::Enabled {
            return Ok(());
        }
        for deployment in &ctx.app.spec.deployments {
            let key = ctx.deployment_key(&deployment.name);
            ctx.set.amend::<Deployment>(UNIT, &key, |object| {
                let template = &mut object.spec.get_or_insert_default().template;
                let metadata = template.metadata.get_or_insert_default();
                let annotations =
                    ANNOTATIONS.map(|(name, value)| (name.to_owned(), value.to_owned()));
                metadata
                    .annotations
                    .get_or_insert_default()
                    .extend(annotations);
            })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
