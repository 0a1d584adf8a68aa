//! Names that running installations depend on.

use std::collections::BTreeMap;

/// API group.
pub const GROUP: &str = "openvox.voxpupuli.org";
/// API version.
pub const VERSION: &str = "v1alpha1";
/// Field manager of every write.
pub const FIELD_MANAGER: &str = "openvox-operator";
/// The finalizer of a Certificate, the only one of the system.
pub const CERTIFICATE_FINALIZER: &str = "openvox.voxpupuli.org/certificate-cleanup";

/// Labels.
pub mod labels {
    /// What an object belongs to, always `openvox`.
    pub const NAME: &str = "app.kubernetes.io/name";
    /// Who looks after it, always `openvox-operator`.
    pub const MANAGED_BY: &str = "app.kubernetes.io/managed-by";
    /// Its Config.
    pub const CONFIG: &str = "openvox.voxpupuli.org/config";
    /// Its CertificateAuthority.
    pub const AUTHORITY: &str = "openvox.voxpupuli.org/certificateauthority";
    /// Its Certificate.
    pub const CERTIFICATE: &str = "openvox.voxpupuli.org/certificate";
    /// On pods of an authority.
    pub const CA: &str = "openvox.voxpupuli.org/ca";
}

/// Annotations.
pub mod annotations {
    /// On the Secret of a key that waits for its certificate: how often the authority was asked.
    pub const POLL_ATTEMPTS: &str = "openvox.voxpupuli.org/csr-poll-attempts";
    /// On a Certificate: when it was last renewed.
    pub const LAST_RENEWAL: &str = "openvox.voxpupuli.org/last-renewal-time";
    /// On a Certificate: which warnings were given.
    pub const EXPIRY_WARNED: &str = "openvox.voxpupuli.org/expiry-warned";
    /// On a Certificate that is being deleted: how often the authority refused to clean up.
    pub const CLEANUP_ATTEMPTS: &str = "openvox.voxpupuli.org/cleanup-attempts";
}

/// Keys of Secrets.
pub mod keys {
    /// Certificate of an authority.
    pub const CA_CERTIFICATE: &str = "ca_crt.pem";
    /// Revocation list of an authority.
    pub const CA_REVOCATIONS: &str = "ca_crl.pem";
    /// A certificate.
    pub const CERTIFICATE: &str = "cert.pem";
    /// Its key.
    pub const KEY: &str = "key.pem";
    /// The certificate to show to an outside authority.
    pub const TLS_CERTIFICATE: &str = "tls.crt";
    /// Its key.
    pub const TLS_KEY: &str = "tls.key";
    /// Policies for requests that are signed at once.
    pub const AUTOSIGN: &str = "autosign-policy.yaml";
    /// The classifier.
    pub const ENC: &str = "enc.yaml";
    /// Endpoints of reports.
    pub const REPORTS: &str = "report-webhook.yaml";
}

/// Port of servers and authorities.
pub const SERVER_PORT: i32 = 8140;
/// Common name where none is given.
pub const DEFAULT_CERTNAME: &str = "puppet";

/// ConfigMap of a Config or Database.
pub fn config_map(owner: &str) -> String {
    format!("{owner}-config")
}

/// Secret with the signing policies of an authority.
pub fn autosign_secret(authority: &str) -> String {
    format!("{authority}-autosign-policy")
}

/// Secret with the classifier of a Config.
pub fn enc_secret(config: &str) -> String {
    format!("{config}-enc")
}

/// Secret with the report endpoints of a Config.
pub fn report_secret(config: &str) -> String {
    format!("{config}-report-webhook")
}

/// ServiceAccount of the servers of a Config.
pub fn server_account(config: &str) -> String {
    format!("{config}-server")
}

/// PersistentVolumeClaim of an authority.
pub fn authority_claim(authority: &str) -> String {
    format!("{authority}-data")
}

/// Service in front of an authority.
pub fn authority_service(authority: &str) -> String {
    format!("{authority}-internal")
}

/// Job that sets an authority up, and its ServiceAccount, Role and RoleBinding.
pub fn authority_setup(authority: &str) -> String {
    format!("{authority}-ca-setup")
}

/// Secret with the certificate of an authority.
pub fn authority_secret(authority: &str) -> String {
    format!("{authority}-ca")
}

/// Secret with the key of an authority.
pub fn authority_key_secret(authority: &str) -> String {
    format!("{authority}-ca-key")
}

/// Secret with the revocation list of an authority.
pub fn revocation_secret(authority: &str) -> String {
    format!("{authority}-ca-crl")
}

/// Certificate that the operator signs and revokes with.
pub fn signing_certificate(authority: &str) -> String {
    format!("{authority}-operator-signing")
}

/// Common name of that certificate.
pub fn operator_certname(authority: &str) -> String {
    format!("{authority}-operator")
}

/// Secret with the key and certificate of a Certificate.
pub fn tls_secret(certificate: &str) -> String {
    format!("{certificate}-tls")
}

/// Secret with a key whose certificate is not there yet.
pub fn pending_secret(certificate: &str) -> String {
    format!("{certificate}-tls-pending")
}

/// DNS name of an authority inside the cluster.
pub fn authority_host(authority: &str, namespace: &str) -> String {
    format!("{}.{namespace}.svc", authority_service(authority))
}

/// The two labels of everything, and one more.
pub fn labelled(label: &str, value: &str) -> BTreeMap<String, String> {
    [
        (labels::NAME, "openvox"),
        (labels::MANAGED_BY, FIELD_MANAGER),
        (label, value),
    ]
    .map(|(key, value)| (key.to_owned(), value.to_owned()))
    .into()
}

/// Puppet's extensions by name. The order is that of their object identifiers.
pub const EXTENSIONS: [(&str, &str); 30] = [
    ("pp_uuid", "1.3.6.1.4.1.34380.1.1.1"),
    ("pp_instance_id", "1.3.6.1.4.1.34380.1.1.2"),
    ("pp_image_name", "1.3.6.1.4.1.34380.1.1.3"),
    ("pp_preshared_key", "1.3.6.1.4.1.34380.1.1.4"),
    ("pp_cost_center", "1.3.6.1.4.1.34380.1.1.5"),
    ("pp_product", "1.3.6.1.4.1.34380.1.1.6"),
    ("pp_project", "1.3.6.1.4.1.34380.1.1.7"),
    ("pp_application", "1.3.6.1.4.1.34380.1.1.8"),
    ("pp_service", "1.3.6.1.4.1.34380.1.1.9"),
    ("pp_employee", "1.3.6.1.4.1.34380.1.1.10"),
    ("pp_created_by", "1.3.6.1.4.1.34380.1.1.11"),
    ("pp_environment", "1.3.6.1.4.1.34380.1.1.12"),
    ("pp_role", "1.3.6.1.4.1.34380.1.1.13"),
    ("pp_software_version", "1.3.6.1.4.1.34380.1.1.14"),
    ("pp_department", "1.3.6.1.4.1.34380.1.1.15"),
    ("pp_cluster", "1.3.6.1.4.1.34380.1.1.16"),
    ("pp_provisioner", "1.3.6.1.4.1.34380.1.1.17"),
    ("pp_region", "1.3.6.1.4.1.34380.1.1.18"),
    ("pp_datacenter", "1.3.6.1.4.1.34380.1.1.19"),
    ("pp_zone", "1.3.6.1.4.1.34380.1.1.20"),
    ("pp_network", "1.3.6.1.4.1.34380.1.1.21"),
    ("pp_securitypolicy", "1.3.6.1.4.1.34380.1.1.22"),
    ("pp_cloudplatform", "1.3.6.1.4.1.34380.1.1.23"),
    ("pp_apptier", "1.3.6.1.4.1.34380.1.1.24"),
    ("pp_hostname", "1.3.6.1.4.1.34380.1.1.25"),
    ("pp_owner", "1.3.6.1.4.1.34380.1.1.26"),
    ("pp_authorization", "1.3.6.1.4.1.34380.1.3.1"),
    ("pp_auth_token", "1.3.6.1.4.1.34380.1.3.2"),
    ("pp_cli_auth", "1.3.6.1.4.1.34380.1.3.39"),
    ("challengePassword", "1.2.840.113549.1.9.7"),
];

/// The object identifier of one of Puppet's extensions.
pub fn extension_oid(name: &str) -> Option<&'static str> {
    let found = EXTENSIONS.iter().find(|(known, _)| *known == name);
    found.map(|(_, oid)| *oid)
}
