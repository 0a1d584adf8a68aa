//! `Pool`: one address for several servers.

use kube::CustomResource;

use super::shared::Texts;
use crate::{absence::absent_spec_is_empty, object::object};

object! {
    /// How the servers are reached.
    #[derive(CustomResource)]
    #[kube(
        group = "openvox.voxpupuli.org",
        version = "v1alpha1",
        kind = "Pool",
        plural = "pools",
        singular = "pool",
        namespaced,
        status = "PoolStatus",
        derive = "Default",
        derive = "PartialEq",
        doc = "One address for all servers that name the pool: a Service and, if asked for, a route.",
        annotation("controller-gen.kubebuilder.io/version", "v0.20.1"),
        printcolumn = r#"{"name": "Type", "type": "string", "jsonPath": ".spec.service.type"}"#,
        printcolumn = r#"{"name": "Endpoints", "type": "integer", "jsonPath": ".status.endpoints"}"#,
        printcolumn = r#"{"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"}"#
    )]
    #[serde(remote = "Self")]
    pub struct PoolSpec {
        optional {
            /// The Service.
            service: PoolService,

            /// The route.
            route: PoolRoute,
        }
    }
}

absent_spec_is_empty!(PoolSpec);

object! {
    /// The Service of a pool.
    pub struct PoolService {
        optional {
            /// Its type.
            #[serde(rename = "type")]
            #[schemars(extend("default" = "ClusterIP"))]
            service_type: String,

            /// Its port.
            #[schemars(extend("default" = 8140))]
            port: i32,

            /// Its port on every node. Zero: one that is free.
            node_port: i32,

            /// Its annotations.
            annotations: Texts,

            /// Further labels of it.
            labels: Texts,

            /// Further addresses of it.
            #[serde(rename = "externalIPs")]
            external_ips: Vec<String>,
        }
    }
}

object! {
    /// A route by the name that clients ask for in TLS.
    #[schemars(extend("x-kubernetes-validations" = [
        {
            "rule": "!self.enabled || size(self.hostname) > 0",
            "message": "hostname is required when route is enabled"
        },
        {
            "rule": "!self.enabled || size(self.gatewayRef.name) > 0",
            "message": "gatewayRef.name is required when route is enabled"
        }
    ]))]
    pub struct PoolRoute {
        required {
            /// Whether there is one.
            #[schemars(extend("default" = false))]
            enabled: bool,
        }
        optional {
            /// The name.
            hostname: String,

            /// The Gateway that it goes through.
            gateway_ref: GatewayRef,

            /// Whether the certificates of the servers get the name.
            #[serde(rename = "injectDNSAltName")]
            #[schemars(extend("default" = false))]
            inject_dns_alt_name: bool,
        }
    }
}

object! {
    /// A Gateway.
    pub struct GatewayRef {
        required {
            /// Its name.
            name: String,
        }
        optional {
            /// One of its listeners.
            section_name: String,
        }
    }
}

object! {
    /// What became of it.
    pub struct PoolStatus {
        optional {
            /// The Service.
            service_name: String,

            /// Number of pods that are ready behind it.
            endpoints: i32,
        }
    }
}
