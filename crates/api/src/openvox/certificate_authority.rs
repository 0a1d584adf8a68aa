//! `CertificateAuthority`: who signs certificates, in this cluster or outside of it.

use k8s_openapi::{
    api::core::v1::ResourceRequirements,
    apimachinery::pkg::apis::meta::v1::{Condition, Time},
};
use kube::CustomResource;

use crate::{absence::absent_spec_is_empty, condition, embedded, object::object, word::word};

object! {
    /// How the authority is set up and what it signs.
    #[derive(CustomResource)]
    #[kube(
        group = "openvox.voxpupuli.org",
        version = "v1alpha1",
        kind = "CertificateAuthority",
        plural = "certificateauthorities",
        singular = "certificateauthority",
        shortname = "ca",
        namespaced,
        status = "CertificateAuthorityStatus",
        derive = "Default",
        derive = "PartialEq",
        doc = "An authority that signs certificates: one that is set up in this cluster, or one outside of it.",
        annotation("controller-gen.kubebuilder.io/version", "v0.20.1"),
        printcolumn = r#"{"name": "Phase", "type": "string", "jsonPath": ".status.phase"}"#,
        printcolumn = r#"{"name": "NotAfter", "type": "string", "jsonPath": ".status.notAfter"}"#,
        printcolumn = r#"{"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"}"#
    )]
    #[serde(remote = "Self")]
    #[schemars(extend("x-kubernetes-validations" = [{
        "rule": "!(has(self.external) && has(self.storage) && size(self.storage.size) > 0 && self.storage.size != '1Gi')",
        "message": "external and custom storage are mutually exclusive"
    }]))]
    pub struct CertificateAuthoritySpec {
        optional {
            /// How long its own certificate is valid.
            #[schemars(extend("default" = "5y"))]
            ttl: String,

            /// Whether requests may ask for further names.
            #[schemars(extend("default" = true))]
            allow_subject_alt_names: bool,

            /// Whether requests may ask for extensions that authorize.
            #[schemars(extend("default" = true))]
            allow_authorization_extensions: bool,

            /// Whether there is a revocation list of infrastructure nodes alone.
            #[serde(rename = "enableInfraCRL")]
            #[schemars(extend("default" = true))]
            enable_infra_crl: bool,

            /// Whether certificates can be renewed.
            #[schemars(extend("default" = true))]
            allow_auto_renewal: bool,

            /// How long a renewed certificate is valid.
            #[serde(rename = "autoRenewalCertTTL")]
            #[schemars(extend("default" = "90d"))]
            auto_renewal_cert_ttl: String,

            /// Volume of the authority's files.
            storage: StorageSpec,

            /// Memory and processor time of the Job that sets it up.
            #[schemars(schema_with = "embedded::value::<ResourceRequirements>")]
            resources: ResourceRequirements,

            /// How often the revocation list is fetched. Zero: once.
            #[schemars(extend("default" = "5m"))]
            crl_refresh_interval: String,

            /// An authority below another one. Not implemented.
            #[serde(rename = "intermediateCA")]
            intermediate_ca: Option<IntermediateAuthority>,

            /// An authority outside this cluster.
            external: Option<ExternalAuthority>,
        }
    }
}

absent_spec_is_empty!(CertificateAuthoritySpec);

object! {
    /// A volume.
    pub struct StorageSpec {
        optional {
            /// Its size.
            #[schemars(extend("default" = "1Gi"))]
            size: String,

            /// Its class. Empty: that of the cluster.
            storage_class: String,
        }
    }
}

object! {
    /// An authority below another one. Not implemented.
    pub struct IntermediateAuthority {
        required {
            /// Whether it is one.
            #[schemars(extend("default" = false))]
            enabled: bool,
        }
        optional {
            /// Secret with its certificate, key and revocation list.
            secret_name: String,
        }
    }
}

object! {
    /// An authority outside this cluster.
    pub struct ExternalAuthority {
        required {
            /// Its address.
            #[schemars(regex(pattern = r"^https?://"))]
            url: String,
        }
        optional {
            /// Secret with the certificate to trust, under `ca_crt.pem`.
            ca_secret_ref: String,

            /// Secret with the certificate to show, under `tls.crt` and `tls.key`.
            tls_secret_ref: String,

            /// Whether the authority is trusted whoever it is.
            insecure_skip_verify: bool,
        }
    }
}

object! {
    /// What became of it.
    pub struct CertificateAuthorityStatus {
        optional {
            /// How far it is.
            phase: CertificateAuthorityPhase,

            /// Secret with its certificate.
            ca_secret_name: String,

            /// Service in front of it.
            service_name: String,

            /// Secret with the certificate that the operator signs and revokes with.
            signing_secret_name: String,

            /// When its certificate ends.
            not_after: Option<Time>,

            /// What the operator has to say about each aspect of the object.
            #[schemars(schema_with = "condition::list")]
            conditions: Vec<Condition>,
        }
    }
}

word! {
    /// How far a CertificateAuthority is.
    pub enum CertificateAuthorityPhase {
        /// It waits for a Config, or for the Secret of an outside authority.
        Pending = "Pending",
        /// It is being set up.
        Initializing = "Initializing",
        /// Its certificate is there.
        Ready = "Ready",
        /// It is outside this cluster.
        External = "External",
        /// Never written.
        Error = "Error",
    }
}
