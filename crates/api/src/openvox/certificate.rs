//! `Certificate`: a key and a certificate that an authority signs.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use kube::CustomResource;

use super::shared::Texts;
use crate::{absence::absent_spec_is_empty, condition, object::object, word::word};

object! {
    /// What the certificate says, and when it is renewed.
    #[derive(CustomResource)]
    #[kube(
        group = "openvox.voxpupuli.org",
        version = "v1alpha1",
        kind = "Certificate",
        plural = "certificates",
        singular = "certificate",
        shortname = "cert",
        namespaced,
        status = "CertificateStatus",
        derive = "Default",
        derive = "PartialEq",
        doc = "A key and a certificate: requested from an authority, kept in a Secret, renewed before it ends.",
        annotation("controller-gen.kubebuilder.io/version", "v0.20.1"),
        printcolumn = r#"{"name": "Authority", "type": "string", "jsonPath": ".spec.authorityRef"}"#,
        printcolumn = r#"{"name": "Certname", "type": "string", "jsonPath": ".spec.certname"}"#,
        printcolumn = r#"{"name": "Phase", "type": "string", "jsonPath": ".status.phase"}"#,
        printcolumn = r#"{"name": "NotAfter", "type": "string", "jsonPath": ".status.notAfter"}"#,
        printcolumn = r#"{"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"}"#
    )]
    #[serde(remote = "Self")]
    pub struct CertificateSpec {
        required {
            /// The CertificateAuthority.
            authority_ref: String,
        }
        optional {
            /// Common name.
            #[schemars(extend("default" = "puppet"))]
            certname: String,

            /// Further names.
            dns_alt_names: Vec<String>,

            /// Puppet's extensions.
            csr_extensions: CsrExtensions,

            /// How long before its end it is renewed.
            #[schemars(extend("default" = "60d"), regex(pattern = r"^\d+[smhdy]$"))]
            renew_before: String,
        }
    }
}

absent_spec_is_empty!(CertificateSpec);

object! {
    /// Puppet's extensions of a request.
    pub struct CsrExtensions {
        optional {
            /// Whether the holder may administer the authority.
            pp_cli_auth: bool,

            /// Role of the node.
            pp_role: String,

            /// Environment of the node.
            pp_environment: String,

            /// Further extensions, by their names.
            custom_extensions: Texts,
        }
    }
}

object! {
    /// What became of it.
    pub struct CertificateStatus {
        optional {
            /// How far it is.
            phase: CertificatePhase,

            /// Secret with key and certificate.
            secret_name: String,

            /// When the certificate ends.
            not_after: Option<Time>,

            /// What the operator has to say about each aspect of the object.
            #[schemars(schema_with = "condition::list")]
            conditions: Vec<Condition>,
        }
    }
}

word! {
    /// How far a Certificate is.
    pub enum CertificatePhase {
        /// Its authority is not ready.
        Pending = "Pending",
        /// It is being asked for.
        Requesting = "Requesting",
        /// Somebody has to sign it.
        WaitingForSigning = "WaitingForSigning",
        /// It is there.
        Signed = "Signed",
        /// It is being renewed.
        Renewing = "Renewing",
        /// The request failed; it is made again.
        Error = "Error",
    }
}
