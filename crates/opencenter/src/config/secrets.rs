//! The `secrets` section: secret values by the service that consumes them.

use std::collections::BTreeMap;

use super::{field::section, format::Format, secret::Secret};

section! {
    /// Secret values, by the service that consumes them.
    struct Secrets {
        /// Path of the age key file; older spelling of `sops.age_key_file`.
        sops_age_key_file: Option<String> [not_rendered];
        /// How files are encrypted.
        sops: SopsSettings;
        /// References to the outside whose values are no secrets, such as `env:REGION` or `file:ca.pem`. Every other value
        /// from the environment or a file is secret, whichever field it stands in.
        public_references: Vec<String>;
        /// Key pair for the machines.
        ssh_key: Option<SshKey> [not_rendered];
        /// Credentials that several services fall back to.
        global: GlobalSecrets;
        /// DNS credentials of cert-manager.
        cert_manager: CertManagerSecrets;
        /// Storage credentials of Loki.
        loki: LokiSecrets;
        /// Storage credentials of Tempo.
        tempo: TempoSecrets;
        /// Passwords of Keycloak.
        keycloak: KeycloakSecrets;
        /// Sign-in of Headlamp.
        headlamp: HeadlampSecrets;
        /// Sign-in of Weave GitOps.
        weave_gitops: WeaveGitopsSecrets;
        /// Administrator of Grafana.
        grafana: GrafanaSecrets;
        /// Account of the alert proxy.
        alert_proxy: AlertProxySecrets;
        /// Access to vCenter.
        vsphere_csi: VSphereCsiSecrets;
        /// Passwords of Harbor.
        harbor: HarborSecrets;
        /// Credentials of Velero.
        velero: VeleroSecrets;
        /// Secrets of other services, by service; `_` and `-` in names are the same.
        service_secrets: BTreeMap<String, BTreeMap<String, Secret>>;
        /// Secrets of overlay units.
        overlay_units: OverlayUnitSecrets;
        /// Keys of customer repositories, by name.
        customer_managed: BTreeMap<String, RepositoryKeys>;
    }

    /// How files are encrypted.
    struct SopsSettings {
        /// Whether sensitive files are encrypted.
        enabled: bool [flag(true)];
        /// Path of the age key file.
        age_key_file: Option<String> [required_when("`enabled`")];
        /// Regular expression over the keys of Secrets whose values are encrypted.
        encrypted_regex: String [word("^(data|stringData|secret)$")];
    }

    /// Key pair for the machines.
    struct SshKey {
        /// Path of the private key.
        private: Option<String> [not_rendered];
        /// Path of the public key.
        public: Option<String> [not_rendered];
        /// Kind of key.
        cypher: String [word("ed25519"), not_rendered];
    }

    /// Credentials that several services fall back to.
    struct GlobalSecrets {
        /// AWS credentials.
        aws: GlobalAws;
        /// Older spelling of an AWS access key.
        aws_access_key: Option<Secret> [deprecated, not_rendered];
        /// Older spelling of an AWS secret key.
        aws_secret_key: Option<Secret> [deprecated, not_rendered];
        /// Older spelling of the OpenStack identity address.
        openstack_auth_url: Option<Secret> [deprecated, not_rendered];
        /// Older spelling of the OpenStack user.
        openstack_username: Option<Secret> [deprecated, not_rendered];
        /// Older spelling of the OpenStack password.
        openstack_password: Option<Secret> [deprecated, not_rendered];
        /// Older spelling of the OpenStack project.
        openstack_project_id: Option<Secret> [deprecated, not_rendered];
    }

    /// AWS credentials.
    struct GlobalAws {
        /// Credentials for infrastructure; the last resort of services.
        infrastructure: AwsKeys;
        /// Credentials for applications.
        application: AwsKeys;
    }

    /// One pair of AWS keys.
    struct AwsKeys {
        /// Access key.
        access_key: Option<Secret>;
        /// Secret key.
        secret_access_key: Option<Secret>;
        /// Region.
        region: Option<String>;
    }

    /// DNS credentials of cert-manager.
    struct CertManagerSecrets {
        /// Route 53 credentials by name; each gives an issuer `letsencrypt-<name>`.
        aws: BTreeMap<String, AwsDnsCredential>;
        /// Cloudflare credentials by name; each gives an issuer `letsencrypt-<name>`.
        cloudflare: BTreeMap<String, CloudflareCredential>;
        /// Access key of the single credential of older files.
        aws_access_key: Option<Secret> [deprecated];
        /// Secret key of the single credential of older files.
        aws_secret_access_key: Option<Secret> [deprecated];
        /// Token of the single credential of older files.
        cloudflare_api_token: Option<Secret> [deprecated];
    }

    /// A Route 53 credential.
    struct AwsDnsCredential {
        /// Whether the credential is rendered.
        enabled: bool [flag(false)];
        /// Access key.
        aws_access_key: Option<Secret> [required_when("`enabled`")];
        /// Secret key.
        aws_secret_access_key: Option<Secret> [required_when("`enabled`")];
        /// Region of the zones.
        region: Option<String> [rule("the service's region, else us-east-1"), format(Format::Line)];
        /// Zones that the credential answers for.
        dns_zones: Vec<String> [format(Format::DnsName)];
    }

    /// A Cloudflare credential.
    struct CloudflareCredential {
        /// Whether the credential is rendered.
        enabled: bool [flag(false)];
        /// API token.
        api_token: Option<Secret> [required_when("`enabled`")];
        /// Zones that the credential answers for.
        dns_zones: Vec<String> [format(Format::DnsName)];
    }

    /// Storage credentials of Loki.
    struct LokiSecrets {
        /// Secret of the Swift application credential.
        swift_application_credential_secret: Option<Secret> [required_when("storage is swift")];
        /// Older spelling of the Swift secret.
        swift_password: Option<Secret> [deprecated];
        /// Access key of the S3 store.
        s3_access_key_id: Option<Secret>;
        /// Secret key of the S3 store.
        s3_secret_access_key: Option<Secret>;
    }

    /// Storage credentials of Tempo.
    struct TempoSecrets {
        /// Access key of the S3 store.
        access_key: Option<Secret>;
        /// Secret key of the S3 store.
        secret_key: Option<Secret>;
        /// Secret of the Swift application credential.
        swift_application_credential_secret: Option<Secret> [required_when("storage is swift")];
        /// Older spelling of the Swift secret.
        swift_password: Option<Secret> [deprecated];
    }

    /// Passwords of Keycloak.
    struct KeycloakSecrets {
        /// Secret of the OIDC client.
        client_secret: Option<Secret> [required_when("Keycloak of this cluster does not provide it")];
        /// Password of the first administrator.
        admin_password: Option<Secret> [required_when("keycloak is enabled")];
    }

    /// Sign-in of Headlamp.
    struct HeadlampSecrets {
        /// Secret of the OIDC client.
        oidc_client_secret: Option<Secret> [required_when("OIDC is used and not internal")];
    }

    /// Sign-in of Weave GitOps.
    struct WeaveGitopsSecrets {
        /// Password of the administrator.
        password: Option<Secret> [required_when("`password_hash` is empty")];
        /// The password as a bcrypt hash.
        password_hash: Option<Secret> [required_when("`password` is empty")];
    }

    /// Administrator of Grafana.
    struct GrafanaSecrets {
        /// Name of the administrator.
        admin_user: Secret [word("admin")];
        /// Password of the administrator.
        admin_password: Option<Secret> [required_when("kube-prometheus-stack is enabled")];
    }

    /// Account of the alert proxy.
    struct AlertProxySecrets {
        /// Device that alerts are filed under.
        core_device_id: Option<Secret> [required_when("alert-proxy is enabled")];
        /// Token of the account service.
        account_service_token: Option<Secret> [required_when("alert-proxy is enabled")];
        /// Account that alerts are filed under.
        core_account_number: Option<Secret> [required_when("alert-proxy is enabled")];
    }

    /// Access to vCenter.
    struct VSphereCsiSecrets {
        /// Host of vCenter.
        vcenter_host: Option<Secret> [required_when("vsphere-csi is enabled")];
        /// User at vCenter.
        username: Option<Secret> [required_when("vsphere-csi is enabled")];
        /// Password at vCenter.
        password: Option<Secret> [required_when("vsphere-csi is enabled")];
        /// Datacenters, separated by commas.
        datacenters: Option<String>;
        /// Whether certificates are not checked; the text `true` or `false`.
        insecure_flag: String [word("true")];
        /// Port of vCenter, as text.
        port: String [word("443")];
        /// Datastore of the default storage classes.
        datastoreurl: Option<Secret>;
    }

    /// Passwords of Harbor.
    struct HarborSecrets {
        /// Password of the administrator.
        admin_password: Option<Secret>;
        /// Password between core and registry.
        registry_password: Option<Secret>;
        /// The same as an htpasswd line.
        registry_htpasswd: Option<Secret>;
        /// Password of the database.
        database_password: Option<Secret>;
    }

    /// Credentials of Velero.
    struct VeleroSecrets {
        /// Key for temporary Swift addresses.
        swift_temp_url_key: Option<Secret>;
    }

    /// Secrets of overlay units.
    struct OverlayUnitSecrets {
        /// Keys of the customer's repository.
        customer_managed: Option<RepositoryKeys>;
    }

    /// Keys of a repository.
    struct RepositoryKeys {
        /// Private key.
        identity: Option<Secret>;
        /// Public key.
        identity_pub: Option<Secret>;
        /// Known hosts, one per line.
        known_hosts: Option<Secret>;
    }
}

impl Secrets {
    /// A free secret of a service; `_` and `-` in names are the same.
    pub fn service_secret(&self, service: &str, key: &str) -> Option<&Secret> {
        let same = |left: &str, right: &str| left.replace('_', "-") == right.replace('_', "-");
        let block = self
            .service_secrets
            .iter()
            .find(|(name, _)| same(name, service))
            .map(|(_, block)| block)?;
        block
            .iter()
            .find(|(name, _)| same(name, key))
            .map(|(_, secret)| secret)
    }
}
