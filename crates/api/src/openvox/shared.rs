//! Structures that several kinds have.

use std::collections::BTreeMap;

use k8s_openapi::{
    api::networking::v1::NetworkPolicyIngressRule, apimachinery::pkg::util::intstr::IntOrString,
};
use schemars::{Schema, SchemaGenerator, json_schema};

use crate::{embedded, object::object, word::word};

object! {
    /// A container image.
    pub struct ImageSpec {
        optional {
            /// Repository of the image.
            #[schemars(extend("default" = "ghcr.io/slauger/openvox-server"))]
            repository: String,

            /// Tag of the image.
            #[schemars(extend("default" = "latest"))]
            tag: String,

            /// When the image is pulled.
            #[schemars(extend("default" = "IfNotPresent"))]
            pull_policy: String,

            /// Secrets to pull the image with. Not used.
            #[schemars(schema_with = "local_references")]
            pull_secrets: Vec<LocalReference>,
        }
    }
}

object! {
    /// An object of the same namespace.
    pub struct LocalReference {
        optional {
            /// Its name.
            name: String,
        }
    }
}

fn local_references(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "array",
        "description": "Secrets to pull the image with. Not used.",
        "items": {
            "type": "object",
            "x-kubernetes-map-type": "atomic",
            "properties": {"name": {"type": "string", "default": "", "description": "Its name."}}
        }
    })
}

object! {
    /// Where Puppet environments come from: an image, or a claim that exists. Exactly one of the two.
    #[schemars(extend("x-kubernetes-validations" = [
        {
            "rule": "!(has(self.image) && size(self.image) > 0 && has(self.claimName) && size(self.claimName) > 0)",
            "message": "image and claimName are mutually exclusive"
        },
        {
            "rule": "(has(self.image) && size(self.image) > 0) || (has(self.claimName) && size(self.claimName) > 0)",
            "message": "either image or claimName must be set"
        }
    ]))]
    pub struct CodeSpec {
        optional {
            /// An existing PersistentVolumeClaim.
            claim_name: String,

            /// An image whose files are mounted as a volume.
            image: String,

            /// When that image is pulled.
            #[schemars(extend("default" = "IfNotPresent"))]
            image_pull_policy: String,

            /// Secret to pull that image with.
            image_pull_secret: String,
        }
    }
}

object! {
    /// A key of a Secret.
    pub struct SecretKeyRef {
        required {
            /// Name of the Secret.
            name: String,

            /// The key.
            key: String,
        }
    }
}

object! {
    /// A key of a ConfigMap.
    pub struct ConfigMapKeyRef {
        required {
            /// Name of the ConfigMap.
            name: String,

            /// The key.
            key: String,
        }
    }
}

object! {
    /// A value that a Secret holds.
    pub struct SecretKeySelector {
        required {
            /// Where the value is.
            secret_key_ref: SecretKeyRef,
        }
    }
}

object! {
    /// How to identify to an endpoint. At most one way.
    #[schemars(extend("x-kubernetes-validations" = [{
        "rule": "(has(self.mtls) && self.mtls ? 1 : 0) + (has(self.token) ? 1 : 0) + (has(self.bearer) ? 1 : 0) + (has(self.basic) ? 1 : 0) <= 1",
        "message": "at most one auth method may be set"
    }]))]
    pub struct Authentication {
        optional {
            /// By the certificate of the server.
            mtls: bool,

            /// By a token in a header of its own.
            token: Option<TokenAuthentication>,

            /// By a token in the header `Authorization`.
            bearer: Option<SecretKeySelector>,

            /// By user name and password.
            basic: Option<BasicAuthentication>,
        }
    }
}

object! {
    /// A token in a header of its own.
    pub struct TokenAuthentication {
        required {
            /// Name of the header.
            header: String,

            /// Where the token is.
            secret_key_ref: SecretKeyRef,
        }
    }
}

object! {
    /// User name and password.
    pub struct BasicAuthentication {
        required {
            /// Where they are.
            secret_ref: BasicSecretRef,
        }
    }
}

object! {
    /// A Secret with a user name and a password.
    pub struct BasicSecretRef {
        required {
            /// Name of the Secret.
            name: String,

            /// Key of the user name.
            #[schemars(extend("default" = "username"))]
            username_key: String,

            /// Key of the password.
            #[schemars(extend("default" = "password"))]
            password_key: String,
        }
    }
}

object! {
    /// A PodDisruptionBudget. Without a number at least one pod stays.
    pub struct DisruptionBudgetSpec {
        required {
            /// Whether there is one.
            #[schemars(extend("default" = false))]
            enabled: bool,
        }
        optional {
            /// How many pods stay, at least.
            min_available: Option<IntOrString>,

            /// How many pods may go; counts only without `minAvailable`.
            max_unavailable: Option<IntOrString>,
        }
    }
}

object! {
    /// A NetworkPolicy for incoming connections.
    pub struct NetworkPolicySpec {
        required {
            /// Whether there is one.
            #[schemars(extend("default" = false))]
            enabled: bool,
        }
        optional {
            /// Rules beside the one for the port of the service.
            #[schemars(schema_with = "embedded::list::<NetworkPolicyIngressRule>")]
            additional_ingress: Vec<NetworkPolicyIngressRule>,
        }
    }
}

word! {
    /// What became of an object that others use.
    pub enum UsedPhase {
        /// It is in use.
        Active = "Active",
        /// It cannot be used; the condition says why.
        Error = "Error",
    }
}

word! {
    /// How far a workload is.
    pub enum WorkloadPhase {
        /// No pod is ready.
        Pending = "Pending",
        /// Its certificate is not there yet.
        WaitingForCert = "WaitingForCert",
        /// A pod is ready.
        Running = "Running",
        /// Never written.
        Error = "Error",
    }
}

/// Texts by name.
pub type Texts = BTreeMap<String, String>;
