//! What settings of services change in their files.

use serde_json::json;

use crate::world::Config;

fn cert_manager() -> Config {
    Config::new().service("cert-manager", "email: ops@example.org")
}

#[test]
fn every_credential_has_a_secret_and_an_issuer() {
    let tree = Config::new()
        .service("cert-manager", "email: ops@example.org, region: eu-west-1")
        .secrets("cert_manager:")
        .secrets("  aws:")
        .secrets("    two: {enabled: true, aws_access_key: example-key-2, aws_secret_access_key: example-secret-2, region: us-west-2, dns_zones: [a.example.org, b.example.org]}")
        .secrets("    one: {enabled: true, aws_access_key: example-key-1, aws_secret_access_key: example-secret-1}")
        .secrets("    off: {enabled: false}")
        .secrets("  cloudflare:")
        .secrets("    edge: {enabled: true, api_token: example-token, dns_zones: [edge.example.org]}")
        .render();
    assert_eq!(
        tree.one("services/cert-manager/kustomization.yaml")["resources"],
        json!([
            "./rackspace-selfsigned-issuer.yaml",
            "./rackspace-selfsigned-ca.yaml",
            "./rackspace-ca-issuer.yaml",
            "./opencenter-aws-credentials-secret-one.yaml",
            "./letsencrypt-one-issuer.yaml",
            "./opencenter-aws-credentials-secret-two.yaml",
            "./letsencrypt-two-issuer.yaml",
            "./opencenter-cloudflare-credentials-secret-edge.yaml",
            "./letsencrypt-edge-issuer.yaml",
        ])
    );
    let issuer = |name: &str| {
        let path = format!("services/cert-manager/letsencrypt-{name}-issuer.yaml");
        tree.one(&path)["spec"]["acme"].clone()
    };
    assert_eq!(
        issuer("two"),
        json!({
            "server": "https://acme-v02.api.letsencrypt.org/directory",
            "email": "ops@example.org",
            "privateKeySecretRef": {"name": "letsencrypt-dns01-two"},
            "solvers": [{
                "dns01": {"route53": {
                    "region": "us-west-2",
                    "accessKeyIDSecretRef": {"name": "opencenter-aws-credentials-secret-two", "key": "access-key-id"},
                    "secretAccessKeySecretRef": {"name": "opencenter-aws-credentials-secret-two", "key": "secret-access-key"},
                }},
                "selector": {"dnsZones": ["a.example.org", "b.example.org"]},
            }],
        })
    );
    let bare = &issuer("one")["solvers"][0];
    assert_eq!(bare["dns01"]["route53"]["region"], "eu-west-1");
    assert_eq!(
        bare["selector"]["dnsZones"],
        json!(["sample.example.org"]),
        "without zones the issuer would answer for every certificate"
    );
    assert_eq!(
        issuer("edge")["solvers"],
        json!([{
            "dns01": {"cloudflare": {"apiTokenSecretRef": {"name": "opencenter-cloudflare-credentials-secret-edge", "key": "api-token"}}},
            "selector": {"dnsZones": ["edge.example.org"]},
        }])
    );
    let secret =
        tree.one("services/cert-manager/opencenter-cloudflare-credentials-secret-edge.yaml");
    assert_eq!(secret["stringData"], json!({"api-token": "example-token"}));
    assert_eq!(secret["metadata"].get("namespace"), None);
}

#[test]
fn zones_of_the_service_stand_for_those_of_credentials_without_any() {
    let tree = Config::new()
        .service(
            "cert-manager",
            "email: ops@example.org, dns_zones: [zone.example.org]",
        )
        .secrets("cert_manager: {cloudflare: {edge: {enabled: true, api_token: example-token}}}")
        .render();
    let issuer = tree.one("services/cert-manager/letsencrypt-edge-issuer.yaml");
    assert_eq!(
        issuer["spec"]["acme"]["solvers"][0]["selector"]["dnsZones"],
        json!(["zone.example.org"])
    );
    assert!(!tree.warnings().contains(&"OC3106".to_owned()));
    let tree = cert_manager()
        .secrets("cert_manager: {cloudflare: {edge: {enabled: true, api_token: example-token}}}")
        .render();
    assert!(tree.warnings().contains(&"OC3106".to_owned()));
}

#[test]
fn designate_solves_with_the_credential_of_the_cloud() {
    let tree = Config::new()
        .service("cert-manager", "email: ops@example.org, dns_provider: designate")
        .infrastructure("cloud: {openstack: {auth_url: 'https://identity.example.org/v3/', region: cloud1, domain: home, project_id: p1, tenant_name: tenants, application_credential_id: example-id, application_credential_secret: example-credential}}")
        .render();
    let secret =
        tree.one("services/cert-manager/opencenter-openstack-designate-credentials-secret.yaml");
    assert_eq!(
        secret["stringData"],
        json!({
            "OS_AUTH_URL": "https://identity.example.org/v3/",
            "OS_REGION_NAME": "cloud1",
            "OS_DOMAIN_NAME": "home",
            "OS_PROJECT_ID": "p1",
            "OS_PROJECT_NAME": "tenants",
            "OS_APPLICATION_CREDENTIAL_ID": "example-id",
            "OS_APPLICATION_CREDENTIAL_SECRET": "example-credential",
        })
    );
    let issuer = tree.one("services/cert-manager/letsencrypt-designate-issuer.yaml");
    assert_eq!(
        issuer["spec"]["acme"]["solvers"],
        json!([{"dns01": {"webhook": {"groupName": "acme.syseleven.de", "solverName": "designatedns"}}}])
    );
    assert_eq!(
        issuer["spec"]["acme"]["privateKeySecretRef"]["name"],
        "letsencrypt-dns01-designate"
    );
    // Only the explicit word counts.
    let tree = cert_manager()
        .infrastructure("networking: {use_designate: true}")
        .render();
    assert!(!tree.has("services/cert-manager/letsencrypt-designate-issuer.yaml"));
}

#[test]
fn further_issuers_solve_over_the_gateway_or_an_ingress() {
    let issuers = "email: ops@example.org, create_cluster_issuer: false, issuers: [{name: public, type: letsencrypt, server: 'https://acme.example.org/directory'}, {name: own, type: ca}, {name: quick, type: selfsigned}]";
    let config = Config::new()
        .service("cert-manager", issuers)
        .secrets("cert_manager: {cloudflare: {edge: {enabled: true, api_token: example-token}}}");
    let tree = config
        .clone()
        .service("gateway-api", "adoption_mode: external")
        .service("gateway", "gateway_name: front, gateway_namespace: edge, listeners: [{name: web, port: 80, protocol: HTTP}]")
        .render();
    let issuer = |name: &str| tree.one(&format!("services/cert-manager/issuer-{name}.yaml"));
    let acme = &issuer("public")["spec"]["acme"];
    assert_eq!(acme["server"], "https://acme.example.org/directory");
    assert_eq!(
        acme["solvers"],
        json!([{"http01": {"gatewayHTTPRoute": {"parentRefs": [{"kind": "Gateway", "name": "front", "namespace": "edge"}]}}}])
    );
    assert_eq!(
        issuer("own")["spec"],
        json!({"ca": {"secretName": "rackspace-root-secret"}})
    );
    assert_eq!(issuer("quick")["spec"], json!({"selfSigned": {}}));
    assert!(!tree.has("services/cert-manager/letsencrypt-edge-issuer.yaml"));
    let alone = config.render();
    assert_eq!(
        alone.one("services/cert-manager/issuer-public.yaml")["spec"]["acme"]["solvers"],
        json!([{"http01": {"ingress": {}}}])
    );
}

#[test]
fn a_gateway_without_a_listener_is_not_written() {
    let config = Config::new().external(&["gateway-api"]);
    let tree = config.clone().service("gateway", "").render();
    assert!(!tree.has("services/gateway/gateway.yaml"));
    assert_eq!(
        tree.one("services/gateway/kustomization.yaml")["resources"],
        json!([
            "namespace.yaml",
            "gateway-class.yaml",
            "envoy-proxy-config.yaml"
        ])
    );
    let skipped = &tree.rendered.report.skipped;
    assert!(
        skipped
            .iter()
            .any(|file| file.output == "services/gateway/gateway.yaml")
    );
    let tree = config
        .service("gateway", "gateway_class: fast, default_issuer: mine, listeners: [{name: shop, port: 8443, protocol: HTTPS, hostname: shop.example.org, tls_secret_name: shop-tls}]")
        .render();
    let gateway = tree.one("services/gateway/gateway.yaml");
    assert_eq!(
        gateway["metadata"]["annotations"]["cert-manager.io/cluster-issuer"],
        "mine"
    );
    assert_eq!(gateway["spec"]["gatewayClassName"], "fast");
    assert_eq!(
        gateway["spec"]["listeners"],
        json!([{
            "name": "shop", "port": 8443, "protocol": "HTTPS", "hostname": "shop.example.org",
            "allowedRoutes": {"namespaces": {"from": "All"}},
            "tls": {"mode": "Terminate", "certificateRefs": [{"group": "", "kind": "Secret", "name": "shop-tls"}]},
        }])
    );
}

#[test]
fn velero_takes_its_snapshot_classes_rights_and_store_from_the_cluster() {
    let tree = Config::new()
        .provider("baremetal")
        .service("velero", "backup_bucket: keep, region: far, emit_snapshot_rbac: true")
        .service("longhorn", "")
        .secrets("service_secrets: {velero: {s3_access_key: example-key, s3_secret_key: example-secret}}")
        .render();
    let values = tree.one("services/velero/helm-values/override-values.yaml");
    assert_eq!(
        values["configuration"]["backupStorageLocation"],
        json!([{"name": "far", "provider": "aws", "default": true, "bucket": "keep", "config": {"region": "far"}}])
    );
    assert_eq!(values["extraObjects"][0]["driver"], "driver.longhorn.io");
    assert_eq!(
        values["extraObjects"][0]["metadata"]["name"],
        "velero-longhorn-snapshot-class"
    );
    let secret = tree.one("services/velero/velero-credentials.yaml");
    assert_eq!(
        secret["stringData"]["cloud"],
        "[default]\naws_access_key_id=example-key\naws_secret_access_key=example-secret\n"
    );
    let kinds = |file: &str| -> Vec<String> {
        tree.documents(&format!("services/velero/{file}"))
            .iter()
            .map(|document| document["kind"].as_str().unwrap_or_default().to_owned())
            .collect()
    };
    for file in ["rbac.yaml", "rbac2.yaml"] {
        let kinds = kinds(file);
        for kind in [
            "ServiceAccount",
            "ClusterRole",
            "ClusterRoleBinding",
            "Role",
            "RoleBinding",
        ] {
            assert!(kinds.contains(&kind.to_owned()), "{file}: {kinds:?}");
        }
    }
    assert_eq!(
        tree.one("services/velero/kustomization.yaml")["resources"],
        json!(["velero-credentials.yaml", "rbac.yaml", "rbac2.yaml"])
    );
    assert_eq!(
        tree.unit("velero-namespace")["spec"]["prune"],
        false,
        "the namespace must outlive the unit"
    );
}

#[test]
fn storage_classes_of_vsphere_are_those_of_the_config_or_the_old_pair() {
    let config = || {
        Config::new()
            .provider("vmware")
            .infrastructure("storage: {default_storage_class: disks}")
            .secrets("vsphere_csi: {vcenter_host: vcenter.example.org, username: example-user, password: example-password, datacenters: 'dc-a, dc-b', datastoreurl: 'ds:///vmfs/volumes/x/'}")
    };
    let tree = config()
        .service("vsphere-csi", "storage_classes: [{name: gold, datastore_url: 'ds:///vmfs/volumes/gold/', reclaim_policy: Delete, volume_binding_mode: WaitForFirstConsumer, allow_expansion: false}]")
        .render();
    let class = tree.one("services/vsphere-csi/storageclass-gold.yaml");
    assert_eq!(
        (
            &class["provisioner"],
            &class["parameters"],
            &class["reclaimPolicy"],
            &class["volumeBindingMode"],
            &class["allowVolumeExpansion"],
        ),
        (
            &json!("csi.vsphere.vmware.com"),
            &json!({"datastoreurl": "ds:///vmfs/volumes/gold/"}),
            &json!("Delete"),
            &json!("WaitForFirstConsumer"),
            &json!(false),
        )
    );
    assert!(!tree.has("services/vsphere-csi/storageclass-retain.yaml"));
    let tree = config()
        .service(
            "vsphere-csi",
            "reclaim_policy: Both, image: {repository: mirror.example.org, tag: v9}",
        )
        .render();
    let retain = tree.one("services/vsphere-csi/storageclass-retain.yaml");
    let delete = tree.one("services/vsphere-csi/storageclass-delete.yaml");
    assert_eq!(retain["metadata"]["name"], "disks-retain");
    assert_eq!(
        delete["metadata"],
        json!({"name": "disks-delete", "annotations": {"storageclass.kubernetes.io/is-default-class": "true"}})
    );
    let values = tree.one("services/vsphere-csi/helm-values/override-values.yaml");
    assert_eq!(
        values["controller"]["snapshotter"]["image"]["registry"],
        "mirror.example.org"
    );
    let driver = tree.one("services/vsphere-csi/vsphere-config-secret.yaml");
    let text = driver["stringData"]["csi-vsphere.conf"]
        .as_str()
        .expect("there is a config");
    assert!(
        text.contains("[VirtualCenter \"vcenter.example.org\"]"),
        "{text}"
    );
}

#[test]
fn calico_takes_its_network_from_the_cluster() {
    let calico = |plugin: &str| {
        Config::new()
            .cluster(&format!("kubernetes: {{subnet_pods: 198.51.100.0/24, subnet_services: 203.0.113.0/24, network_plugin: {{calico: {{enabled: true, version: '3.31.6', {plugin}}}}}}}"))
            .infrastructure("compute: {worker_count_windows: 1}")
            .service("calico", "kube_api_server: api.example.org")
            .render()
    };
    for (plugin, encapsulation) in [
        ("vxlan_mode: Always", "VXLAN"),
        ("vxlan_mode: CrossSubnet", "VXLANCrossSubnet"),
        ("vxlan_mode: Never, ipip_mode: Always", "IPIP"),
        (
            "vxlan_mode: Never, ipip_mode: CrossSubnet",
            "IPIPCrossSubnet",
        ),
        ("vxlan_mode: Never", "VXLAN"),
    ] {
        let tree = calico(plugin);
        let values = tree.one("services/calico/helm-values/override_values.yaml");
        let installation = &values["installation"];
        let pool = &installation["calicoNetwork"]["ipPools"][0];
        assert_eq!(pool["encapsulation"], encapsulation, "{plugin}");
        assert_eq!(pool["cidr"], "198.51.100.0/24");
        assert_eq!(installation["serviceCIDRs"], json!(["203.0.113.0/24"]));
        assert_eq!(installation["windowsDataplane"], "HNS");
        assert_eq!(
            values["kubernetesServiceEndpoint"],
            json!({"host": "api.example.org", "port": "443"})
        );
        let release = tree.one("services/calico/helmrelease.yaml");
        assert_eq!(release["spec"]["values"], values);
    }
    let tree = calico("install_method: kubespray");
    assert!(tree.has("services/calico/helm-values/override_values.yaml"));
    assert!(
        !tree.has("services/calico/helmrelease.yaml") && !tree.has("services/fluxcd/calico.yaml")
    );
}

#[test]
fn the_release_of_calico_finds_its_repository_after_kustomize_moved_it() {
    let tree = Config::new()
        .cluster("kubernetes: {network_plugin: {calico: {enabled: true, version: '3.31.6'}}}")
        .service("calico", "")
        .render();
    let built =
        mainstay_opencenter::overlay::kustomize::build(&tree.tree().contents(), "services/calico");
    let namespace = |kind: &str| {
        let object = built
            .objects
            .iter()
            .find(|object| object.manifest["kind"] == kind)
            .expect("it is built");
        object.manifest.clone()
    };
    assert_eq!(
        namespace("HelmRelease")["spec"]["chart"]["spec"]["sourceRef"]["namespace"],
        namespace("HelmRepository")["metadata"]["namespace"]
    );
}

#[test]
fn networks_that_are_not_rendered_say_so() {
    let tree = Config::new()
        .service("cilium", "kube_proxy_replacement: true")
        .service(
            "kube-ovn",
            "default_subnet: 198.51.100.0/24, version: '1.14'",
        )
        .render();
    let paths = tree.tree().files.keys();
    let theirs = paths.filter(|path| path.contains("cilium") || path.contains("ovn"));
    assert_eq!(theirs.count(), 0);
    assert_eq!(tree.warnings(), ["OC3013", "OC3013", "OC6009"]);
}

#[test]
fn pools_and_settings_that_charts_read_are_written() {
    let tree = Config::new()
        .service("metallb", "ip_address_pools: [{name: front, addresses: [192.0.2.10-192.0.2.20], auto_assign: false}, {name: back, addresses: [198.51.100.0/28]}]")
        .service("longhorn", "default_replica_count: 2, backup_target: 's3://keep@far/'")
        .service("opentelemetry-kube-stack", "collector_mode: deployment, collector_replicas: 4, exporters: [{name: away, type: otlp, endpoint: 'otlp.example.org:4317', headers: {x: y}}]")
        .gitops("flux: {interval: 9m}")
        .render();
    let pools = tree.documents("services/metallb/ipaddresspool.yaml");
    assert_eq!(
        pools[0]["spec"],
        json!({"addresses": ["192.0.2.10-192.0.2.20"], "autoAssign": false})
    );
    assert_eq!(pools[1]["spec"], json!({"addresses": ["198.51.100.0/28"]}));
    assert_eq!(
        tree.one("services/metallb/l2advertisement.yaml")["spec"]["ipAddressPools"],
        json!(["front", "back"])
    );
    assert_eq!(
        tree.one("services/longhorn/helm-values/override-values.yaml"),
        json!({"defaultSettings": {"defaultReplicaCount": 2}, "defaultBackupStore": {"backupTarget": "s3://keep@far/"}})
    );
    let exporters = &tree.one("services/opentelemetry-kube-stack/helm-values/override-values.yaml")
        ["collectors"]["daemon"]["config"]["exporters"];
    assert_eq!(exporters["otlp/away"]["endpoint"], "otlp.example.org:4317");
    assert!(exporters.get("otlphttp/loki").is_none() && exporters.get("otlp/tempo").is_none());
    assert_eq!(tree.unit("metallb-base")["spec"]["interval"], "9m");
}
