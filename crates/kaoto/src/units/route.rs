//! Exposure on OpenShift: a Route with TLS at the edge.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use mainstay_engine::{
    ObjectSet,
    unit::{RenderError, Unit},
};
use serde::Serialize;

use super::{NOT_EXPOSED, ROUTE, key, metadata};
use crate::{exposure::Exposure, kinds, names, validate::KaotoInput};

const REWRITE_ANNOTATION: &str = "haproxy.router.openshift.io/rewrite-target";

/// Renders the Route, or states that there is none.
#[derive(Clone, Copy, Debug)]
pub struct RouteUnit;

impl Unit<KaotoInput> for RouteUnit {
    fn name(&self) -> &'static str {
        ROUTE
    }

    fn render(&self, input: &KaotoInput, set: &mut ObjectSet) -> Result<(), RenderError> {
        match &input.exposure {
            Some(exposure) => set.add(ROUTE, &build_route(input, exposure))?,
            None => set.absent(ROUTE, key(kinds::ROUTE, input), NOT_EXPOSED)?,
        }
        Ok(())
    }
}

/// The fields of a Route that we claim.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Route {
    api_version: String,
    kind: &'static str,
    metadata: ObjectMeta,
    spec: RouteSpec,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RouteSpec {
    #[serde(skip_serializing_if = "Option::is_none")]
    host: Option<String>,
    path: String,
    to: RouteTarget,
    port: RoutePort,
    tls: RouteTls,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RouteTarget {
    kind: &'static str,
    name: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RoutePort {
    target_port: i32,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RouteTls {
    termination: &'static str,
    insecure_edge_termination_policy: &'static str,
}

fn build_route(input: &KaotoInput, exposure: &Exposure) -> Route {
    // The editor serves its pages at the root, whatever path the user chose.
    let rewrite = exposure
        .path
        .as_ref()
        .map(|_| [(REWRITE_ANNOTATION.to_owned(), "/".to_owned())].into());
    Route {
        api_version: kinds::ROUTE.api_version(),
        kind: "Route",
        metadata: ObjectMeta {
            annotations: rewrite,
            ..metadata(input)
        },
        spec: RouteSpec {
            host: exposure.host.clone(),
            path: exposure.route_path(),
            to: RouteTarget {
                kind: "Service",
                name: input.name.clone(),
            },
            port: RoutePort {
                target_port: names::PORT,
            },
            tls: RouteTls {
                termination: "edge",
                insecure_edge_termination_policy: "Redirect",
            },
        },
    }
}
