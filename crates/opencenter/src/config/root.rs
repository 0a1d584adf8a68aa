//! The top of the config: identity, cluster, infrastructure.

use serde_json::{Map, Value};

use super::{
    field::{choice, section},
    format::Format,
    gitops::Gitops,
    secret::Secret,
    secrets::Secrets,
    services::{ManagedServices, Services},
};

section! {
    /// One cluster: everything that its overlay tree is rendered from.
    struct Root {
        /// Version of this file format; always the text `2.0`.
        schema_version: String [required, not_rendered];
        /// Bookkeeping of the tool about this file.
        metadata: Metadata [not_rendered];
        /// The cluster itself: identity, infrastructure, Git repositories and services.
        opencenter: Opencenter [required];
        /// How the cluster is deployed; kept, not read here.
        deployment: Map<String, Value> [not_rendered];
        /// Settings for OpenTofu; kept, not read here.
        opentofu: Map<String, Value> [not_rendered];
        /// Secret values, by the service that consumes them.
        secrets: Secrets;
    }

    /// Bookkeeping of the tool about the file.
    struct Metadata {
        /// When the file was created (RFC 3339).
        created_at: String [not_rendered];
        /// When the file was last changed by a command (RFC 3339).
        updated_at: String [not_rendered];
        /// Who created the file.
        created_by: String [not_rendered];
        /// Version of the tool that wrote the file.
        version: String [not_rendered];
        /// Labels for your own use.
        labels: std::collections::BTreeMap<String, String> [not_rendered];
        /// Annotations for your own use.
        annotations: std::collections::BTreeMap<String, String> [not_rendered];
    }

    /// The cluster itself.
    struct Opencenter {
        /// Name, organization, environment and region.
        meta: Meta [required];
        /// Domain names and Kubernetes settings.
        cluster: Cluster;
        /// Where the cluster runs.
        infrastructure: Infrastructure;
        /// Who signs users in.
        identity: Identity;
        /// Where secrets are kept.
        secrets: SecretsBackend [not_rendered];
        /// Git repositories, Flux settings and overlay units.
        gitops: Gitops [required];
        /// Platform services by name.
        services: Services;
        /// Services that are managed by the provider of the platform, by name.
        managed_services: ManagedServices;
    }

    /// Name, organization, environment and region.
    struct Meta {
        /// Name of the cluster.
        name: String [required, format(Format::DnsName)];
        /// Organization that owns the cluster; the `customer` label of its metrics.
        organization: String [word("opencenter"), required, format(Format::Line)];
        /// Environment, such as dev, qa or production.
        env: String [word("dev"), required, format(Format::DnsLabel)];
        /// Region of the infrastructure.
        region: String [word("dfw3"), required, format(Format::Line)];
        /// Stage of the cluster's life.
        stage: String [word("init"), not_rendered];
        /// Outcome of the last stage.
        status: String [word("success"), not_rendered];
        /// Whether commands must not change this file.
        locked: bool [flag(false), not_rendered];
        /// Why the file is locked.
        lock_reason: String [not_rendered];
    }

    /// Domain names and Kubernetes settings.
    struct Cluster {
        /// Name of the cluster in paths: the overlay directory and every Flux path.
        cluster_name: String [rule("`opencenter.meta.name`"), required, format(Format::DnsName)];
        /// Domain that all clusters share; the common name of the internal CA.
        base_domain: String [word("k8s.opencenter.cloud"), required, format(Format::DnsName)];
        /// Domain of this cluster; host names of services are made from it.
        cluster_fqdn: String [rule("`<cluster_name>.<region>.<base_domain>`"), required, format(Format::DnsName)];
        /// Address of the administrators.
        admin_email: String [word("admin@example.com"), required, format(Format::Email), not_rendered];
        /// Kubernetes settings.
        kubernetes: Kubernetes;
    }

    /// Kubernetes settings.
    struct Kubernetes {
        /// Version of Kubernetes.
        version: String [word("1.35.4"), required, format(Format::Version), not_rendered];
        /// Port of the API server.
        api_port: i64 [number(443), required, minimum(1), maximum(65535), not_rendered];
        /// Whether kube-vip holds the address of the API server.
        kube_vip_enabled: bool [flag(true), not_rendered];
        /// Whether kubelets rotate their serving certificates.
        kubelet_rotate_server_certs: bool [flag(false), not_rendered];
        /// Network of the pods.
        subnet_pods: String [word("10.42.0.0/16"), required, format(Format::CidrV4)];
        /// Network of the services.
        subnet_services: String [word("10.43.0.0/16"), required, format(Format::CidrV4)];
        /// The network plugin; exactly one may be enabled.
        network_plugin: NetworkPlugin;
        /// Storage plugins that come with the cluster.
        storage_plugin: StoragePlugin [not_rendered];
        /// Hardening of the cluster.
        security: Option<KubernetesSecurity> [not_rendered];
        /// Sign-in to the API server.
        oidc: Option<KubernetesOidc> [not_rendered];
    }

    /// The network plugin; exactly one may be enabled.
    struct NetworkPlugin {
        /// Calico as the network plugin.
        calico: Option<CalicoPlugin>;
        /// Cilium as the network plugin.
        cilium: Option<CiliumPlugin> [not_rendered];
        /// Kube-OVN as the network plugin.
        kube_ovn as "kube-ovn": Option<KubeOvnPlugin> [not_rendered];
    }

    /// Calico as the network plugin.
    struct CalicoPlugin {
        /// Whether Calico is the network plugin.
        enabled: bool [flag(false)];
        /// Version of Calico.
        version: String [word("3.31.6"), format(Format::Line)];
        /// When packets are wrapped in IP-in-IP.
        ipip_mode: Option<Encapsulation>;
        /// When packets are wrapped in VXLAN.
        vxlan_mode: Option<Encapsulation>;
        /// Who installs Calico.
        install_method: InstallMethod [word("helm")];
        /// Whether network policies are enforced.
        network_policy: Option<bool> [not_rendered];
        /// Whether traffic that leaves the cluster is translated.
        nat_outgoing: Option<bool> [not_rendered];
        /// Network interface of the nodes.
        cni_iface: Option<String> [not_rendered];
        /// How the node address is found.
        calico_interface_autodetect: Option<String> [not_rendered];
        /// Network in which the node address is looked for.
        autodetect_cidr: Option<String> [not_rendered];
        /// Kind of encapsulation for the installer.
        encapsulation_type: Option<String> [not_rendered];
        /// Settings of provisioning modules.
        modules: Option<Value> [not_rendered];
    }

    /// Cilium as the network plugin.
    struct CiliumPlugin {
        /// Whether Cilium is the network plugin.
        enabled: bool [flag(false), not_rendered];
        /// Version of Cilium.
        version: Option<String> [not_rendered];
        /// How packets travel between nodes.
        tunnel_mode: Option<TunnelMode> [not_rendered];
        /// Whether Hubble watches the traffic.
        hubble: Option<bool> [not_rendered];
        /// Whether network policies are enforced.
        network_policy: Option<bool> [not_rendered];
        /// Whether the operator runs.
        operator_enabled: Option<bool> [not_rendered];
        /// Whether Cilium takes over from kube-proxy.
        kube_proxy_replacement: Option<bool> [not_rendered];
        /// Who installs Cilium.
        install_method: Option<InstallMethod> [not_rendered];
        /// Settings of provisioning modules.
        modules: Option<Value> [not_rendered];
    }

    /// Kube-OVN as the network plugin.
    struct KubeOvnPlugin {
        /// Whether Kube-OVN is the network plugin.
        enabled: bool [flag(false), not_rendered];
        /// Version of Kube-OVN.
        version: Option<String> [not_rendered];
        /// Whether network policies are enforced.
        network_policy: Option<bool> [not_rendered];
        /// Whether it runs together with Cilium.
        cilium_integration: Option<bool> [not_rendered];
        /// Who installs Kube-OVN.
        install_method: Option<InstallMethod> [not_rendered];
        /// Settings of provisioning modules.
        modules: Option<Value> [not_rendered];
    }

    /// Storage plugins that come with the cluster.
    struct StoragePlugin {
        /// Volumes on vSphere.
        vsphere_csi: Option<Plugin> [not_rendered];
        /// Volumes on OpenStack.
        cinder_csi: Option<Plugin> [not_rendered];
        /// Volumes on AWS.
        aws_ebs_csi: Option<Plugin> [not_rendered];
        /// Volumes on Google Cloud.
        gcp_compute_csi: Option<Plugin> [not_rendered];
        /// Volumes on Azure.
        azure_disk_csi: Option<Plugin> [not_rendered];
        /// Volumes on Ceph.
        ceph: Option<Plugin> [not_rendered];
        /// Volumes on NetApp storage.
        trident: Option<Plugin> [not_rendered];
    }

    /// One storage plugin.
    struct Plugin {
        /// Whether the plugin is installed.
        enabled: bool [flag(false), not_rendered];
        /// Version of the plugin.
        version: Option<String> [not_rendered];
    }

    /// Hardening of the cluster.
    struct KubernetesSecurity {
        /// Whether pod security policies are on.
        pod_security_policy: Option<bool> [not_rendered];
        /// The pod security standard of all namespaces.
        pod_security_standards: Option<PodSecurityStandard> [not_rendered];
        /// Namespaces that the standard does not bind.
        pod_security_exemptions: Vec<String> [not_rendered];
        /// Whether the API server keeps an audit log.
        audit_logging: Option<bool> [not_rendered];
        /// Whether Secrets are encrypted in etcd.
        encryption_at_rest: Option<bool> [not_rendered];
        /// Additional admission controllers.
        admission_controllers: Vec<String> [not_rendered];
        /// Whether the hardening profile is applied.
        k8s_hardening: Option<bool> [not_rendered];
    }

    /// Sign-in to the API server.
    struct KubernetesOidc {
        /// Whether users may sign in with OIDC.
        enabled: bool [flag(false), not_rendered];
        /// Address of the issuer.
        issuer_url: Option<String> [format(Format::Url), not_rendered];
        /// Client of the API server at the issuer.
        client_id: Option<String> [not_rendered];
        /// Secret of that client.
        client_secret: Option<Secret> [not_rendered];
        /// Claim with the user name.
        username_claim: String [word("sub"), not_rendered];
        /// Claim with the groups.
        groups_claim: String [word("groups"), not_rendered];
        /// Issuer address for kubespray.
        kube_oidc_url: Option<String> [not_rendered];
        /// Client for kubespray.
        kube_oidc_client_id: Option<String> [not_rendered];
        /// CA file for kubespray.
        kube_oidc_ca_file: Option<String> [not_rendered];
        /// User name claim for kubespray.
        kube_oidc_username_claim: Option<String> [not_rendered];
        /// User name prefix for kubespray.
        kube_oidc_username_prefix: Option<String> [not_rendered];
        /// Groups claim for kubespray.
        kube_oidc_groups_claim: Option<String> [not_rendered];
        /// Groups prefix for kubespray.
        kube_oidc_groups_prefix: Option<String> [not_rendered];
    }

    /// Where the cluster runs. Settings that only provisioning reads are kept as they are.
    struct Infrastructure(open) {
        /// The infrastructure provider.
        provider: Provider [word("openstack"), required];
        /// Machines.
        compute: Compute;
        /// Volumes and storage classes.
        storage: Storage;
        /// Networks of the machines.
        networking: Networking;
        /// Access to the provider.
        cloud: Cloud;
        /// Settings for local clusters in containers.
        kind: Option<Map<String, Value>> [not_rendered];
    }

    /// Machines. Only the number of Windows workers matters here.
    struct Compute(open) {
        /// Number of Windows workers.
        worker_count_windows: i64 [number(0), minimum(0)];
    }

    /// Volumes and storage classes.
    struct Storage(open) {
        /// Storage class for services that do not name one.
        default_storage_class: String [rule("by provider"), required, format(Format::Line)];
    }

    /// Networks of the machines.
    struct Networking(open) {
        /// Whether OpenStack Designate serves the DNS zones.
        use_designate: bool [flag(false)];
    }

    /// Access to the provider. Settings of other providers than OpenStack are kept as they are.
    struct Cloud(open) {
        /// Access to OpenStack.
        openstack: Option<OpenStack>;
    }

    /// Access to OpenStack.
    struct OpenStack(open) {
        /// Address of the identity service.
        auth_url: String [rule("`https://keystone.api.<region>.rackspacecloud.com/v3/`"), required, format(Format::Url)];
        /// Region within OpenStack.
        region: String [rule("`opencenter.meta.region`"), required, format(Format::Line)];
        /// Project id.
        project_id: Option<String>;
        /// Project name.
        project_name: Option<String>;
        /// Domain.
        domain: Option<String>;
        /// Domain name, where `domain` is not set.
        domain_name: Option<String>;
        /// Tenant name, where `project_name` is not set.
        tenant_name: Option<String>;
        /// Whether certificates are not checked.
        insecure: Option<bool>;
        /// Id of the application credential.
        application_credential_id: Option<Secret>;
        /// Secret of the application credential.
        application_credential_secret: Option<Secret>;
        /// Networks for load balancers.
        networking: OpenStackNetworking;
    }

    /// Networks for load balancers on OpenStack.
    struct OpenStackNetworking(open) {
        /// Network of floating addresses.
        floating_network_id: Option<String>;
        /// Subnet of the nodes.
        subnet_id: Option<String>;
    }

    /// Who signs users in.
    struct Identity {
        /// Sign-in with OpenID Connect.
        oidc: IdentityOidc;
    }

    /// Sign-in with OpenID Connect.
    struct IdentityOidc {
        /// Whether services use OIDC.
        enabled: bool [flag(true)];
        /// Whether the provider runs in this cluster.
        source: OidcSource [word("internal")];
        /// The kind of provider.
        provider: OidcProvider [word("keycloak")];
    }

    /// Where secrets are kept.
    struct SecretsBackend {
        /// The backend: sops, file or barbican.
        backend: String [word("sops"), not_rendered];
        /// Access to OpenStack Barbican.
        barbican: Option<Barbican> [not_rendered];
    }

    /// Access to OpenStack Barbican.
    struct Barbican {
        /// Address of the identity service.
        auth_url: Option<String> [not_rendered];
        /// Project id.
        project_id: Option<String> [not_rendered];
        /// Region.
        region: Option<String> [not_rendered];
        /// Domain of the user.
        user_domain_name: Option<String> [not_rendered];
        /// Domain of the project.
        project_domain_name: Option<String> [not_rendered];
        /// File with the CA certificate.
        ca_cert: Option<String> [not_rendered];
    }
}

choice! {
    /// The infrastructure provider.
    enum Provider {
        /// OpenStack.
        Openstack = "openstack",
        /// Amazon Web Services.
        Aws = "aws",
        /// Google Cloud.
        Gcp = "gcp",
        /// Microsoft Azure.
        Azure = "azure",
        /// Machines without a cloud.
        Baremetal = "baremetal",
        /// VMware vSphere; `vsphere` means the same.
        Vmware = "vmware",
        /// Containers on one machine.
        Kind = "kind",
    }

    /// When packets between nodes are wrapped.
    enum Encapsulation {
        /// Between all nodes.
        Always = "Always",
        /// Only between nodes of different subnets.
        CrossSubnet = "CrossSubnet",
        /// Never.
        Never = "Never",
    }

    /// Who installs the network plugin.
    enum InstallMethod {
        /// Flux, with a HelmRelease.
        Helm = "helm",
        /// Flux, with a kustomization around a HelmRelease.
        KustomizeHelm = "kustomize-helm",
        /// Kubespray, before Flux is there.
        Kubespray = "kubespray",
    }

    /// How packets travel between nodes.
    enum TunnelMode {
        /// Wrapped in VXLAN.
        Vxlan = "vxlan",
        /// Wrapped in Geneve.
        Geneve = "geneve",
        /// Not wrapped.
        Disabled = "disabled",
    }

    /// A pod security standard.
    enum PodSecurityStandard {
        /// No restrictions.
        Privileged = "privileged",
        /// Known privilege escalations are prevented.
        Baseline = "baseline",
        /// Hardened.
        Restricted = "restricted",
    }

    /// Where the OIDC provider runs.
    enum OidcSource {
        /// In this cluster.
        Internal = "internal",
        /// Elsewhere.
        External = "external",
    }

    /// The kind of OIDC provider.
    enum OidcProvider {
        /// Keycloak.
        Keycloak = "keycloak",
        /// Microsoft Entra.
        Entra = "entra",
        /// Any other.
        Generic = "generic",
    }
}
