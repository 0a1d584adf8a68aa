//! `SigningPolicy`: which requests are signed at once.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::CustomResource;

use super::shared::{SecretKeySelector, UsedPhase};
use crate::{absence::absent_spec_is_empty, condition, object::object};

object! {
    /// What a request has to fulfil. Everything that is said here has to hold.
    #[derive(CustomResource)]
    #[kube(
        group = "openvox.voxpupuli.org",
        version = "v1alpha1",
        kind = "SigningPolicy",
        plural = "signingpolicies",
        singular = "signingpolicy",
        shortname = "sp",
        namespaced,
        status = "SigningPolicyStatus",
        derive = "Default",
        derive = "PartialEq",
        doc = "Which certificate requests an authority signs at once. A request that fulfils one policy is signed.",
        annotation("controller-gen.kubebuilder.io/version", "v0.20.1"),
        printcolumn = r#"{"name": "CA", "type": "string", "jsonPath": ".spec.certificateAuthorityRef"}"#,
        printcolumn = r#"{"name": "Phase", "type": "string", "jsonPath": ".status.phase"}"#,
        printcolumn = r#"{"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"}"#
    )]
    #[serde(remote = "Self")]
    pub struct SigningPolicySpec {
        required {
            /// The CertificateAuthority.
            certificate_authority_ref: String,
        }
        optional {
            /// Whether every request is signed.
            any: bool,

            /// Which names may be asked for.
            pattern: Option<AllowedPatterns>,

            /// Which further names may be asked for.
            dns_alt_names: Option<AllowedPatterns>,

            /// Which extensions a request must have.
            csr_attributes: Vec<CsrAttribute>,
        }
    }
}

absent_spec_is_empty!(SigningPolicySpec);

object! {
    /// Patterns with `*`, `?` and `[…]`.
    pub struct AllowedPatterns {
        required {
            /// One of them has to match.
            allow: Vec<String>,
        }
    }
}

object! {
    /// An extension that a request must have.
    pub struct CsrAttribute {
        required {
            /// Name of the extension.
            name: String,
        }
        optional {
            /// Its value.
            value: String,

            /// Where its value is. Wins over `value`.
            value_from: Option<SecretKeySelector>,
        }
    }
}

object! {
    /// What became of it.
    pub struct SigningPolicyStatus {
        optional {
            /// Whether it is in use.
            phase: UsedPhase,

            /// What the operator has to say about each aspect of the object.
            #[schemars(schema_with = "condition::list")]
            conditions: Vec<Condition>,
        }
    }
}
