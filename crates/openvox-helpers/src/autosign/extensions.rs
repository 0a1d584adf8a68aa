//! Names that Puppet has for extensions of certificates.

use der::asn1::ObjectIdentifier;

/// Names with their object identifiers.
pub const KNOWN: &[(&str, ObjectIdentifier)] = &[
    ("pp_uuid", oid("1.3.6.1.4.1.34380.1.1.1")),
    ("pp_instance_id", oid("1.3.6.1.4.1.34380.1.1.2")),
    ("pp_image_name", oid("1.3.6.1.4.1.34380.1.1.3")),
    ("pp_preshared_key", oid("1.3.6.1.4.1.34380.1.1.4")),
    ("pp_cost_center", oid("1.3.6.1.4.1.34380.1.1.5")),
    ("pp_product", oid("1.3.6.1.4.1.34380.1.1.6")),
    ("pp_project", oid("1.3.6.1.4.1.34380.1.1.7")),
    ("pp_application", oid("1.3.6.1.4.1.34380.1.1.8")),
    ("pp_service", oid("1.3.6.1.4.1.34380.1.1.9")),
    ("pp_employee", oid("1.3.6.1.4.1.34380.1.1.10")),
    ("pp_created_by", oid("1.3.6.1.4.1.34380.1.1.11")),
    ("pp_environment", oid("1.3.6.1.4.1.34380.1.1.12")),
    ("pp_role", oid("1.3.6.1.4.1.34380.1.1.13")),
    ("pp_software_version", oid("1.3.6.1.4.1.34380.1.1.14")),
    ("pp_department", oid("1.3.6.1.4.1.34380.1.1.15")),
    ("pp_cluster", oid("1.3.6.1.4.1.34380.1.1.16")),
    ("pp_provisioner", oid("1.3.6.1.4.1.34380.1.1.17")),
    ("pp_region", oid("1.3.6.1.4.1.34380.1.1.18")),
    ("pp_datacenter", oid("1.3.6.1.4.1.34380.1.1.19")),
    ("pp_zone", oid("1.3.6.1.4.1.34380.1.1.20")),
    ("pp_network", oid("1.3.6.1.4.1.34380.1.1.21")),
    ("pp_securitypolicy", oid("1.3.6.1.4.1.34380.1.1.22")),
    ("pp_cloudplatform", oid("1.3.6.1.4.1.34380.1.1.23")),
    ("pp_apptier", oid("1.3.6.1.4.1.34380.1.1.24")),
    ("pp_hostname", oid("1.3.6.1.4.1.34380.1.1.25")),
    ("pp_owner", oid("1.3.6.1.4.1.34380.1.1.26")),
    ("pp_authorization", oid("1.3.6.1.4.1.34380.1.3.1")),
    ("pp_auth_token", oid("1.3.6.1.4.1.34380.1.3.2")),
    ("pp_cli_auth", oid("1.3.6.1.4.1.34380.1.3.39")),
    // Parity: this is an attribute of a request and never an extension, so a policy that asks for it matches nothing.
    ("challengePassword", oid("1.2.840.113549.1.9.7")),
];

const fn oid(dotted: &str) -> ObjectIdentifier {
    ObjectIdentifier::new_unwrap(dotted)
}

/// The object identifier of a name.
pub fn identifier(name: &str) -> Option<ObjectIdentifier> {
    let mut known = KNOWN.iter();
    known
        .find(|(other, _)| *other == name)
        .map(|(_, identifier)| *identifier)
}
