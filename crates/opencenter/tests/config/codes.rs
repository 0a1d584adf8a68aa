//! One negative case at least for every code that the config can bring up.

use std::collections::BTreeSet;

use mainstay_opencenter::{config::Purpose, finding::Code};

use crate::{config, load_for, text_at};

/// What is wrong, where, and how the text at that place begins.
struct Case {
    code: Code,
    path: &'static str,
    token: &'static str,
    text: String,
    purpose: Purpose,
}

fn case(code: Code, path: &'static str, token: &'static str, parts: &[(&str, &str)]) -> Case {
    Case {
        code,
        path,
        token,
        text: config(parts),
        purpose: Purpose::Render,
    }
}

fn replaced(code: Code, path: &'static str, token: &'static str, from: &str, to: &str) -> Case {
    let text = config(&[]);
    assert!(text.contains(from), "{from}");
    Case {
        code,
        path,
        token,
        text: text.replace(from, to),
        purpose: Purpose::Render,
    }
}

fn shape() -> Vec<Case> {
    use Code::*;
    let bomb = "  a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned()
        + &(1..8)
            .map(|level| {
                let before = format!("*a{}", level - 1);
                format!(
                    "  a{level}: &a{level} [{}]\n",
                    [before.as_str(); 10].join(", ")
                )
            })
            .collect::<String>();
    vec![
        replaced(Oc1101, "", "", "  services:", "  services: ["),
        replaced(Oc1101, "", "", "  meta:\n", "\tmeta:\n"),
        case(Oc1102, "surprise", "surprise", &[("@root", "surprise: 1")]),
        case(
            Oc1102,
            "opencenter.services.loki.volume_sice",
            "volume_sice",
            &[("@services", "    loki: {volume_sice: 1}")],
        ),
        case(
            Oc1102,
            "opencenter.services.own.hostname",
            "hostname",
            &[("@services", "    own: {hostname: a.b}")],
        ),
        case(
            Oc1103,
            "opencenter.gitops.base_repo.release",
            "2026.01",
            &[("@gitops", "    base_repo: {release: 2026.01}")],
        ),
        case(
            Oc1103,
            "opencenter.services.loki.enabled",
            "yes",
            &[("@services", "    loki: {enabled: yes}")],
        ),
        case(
            Oc1103,
            "opencenter.services.loki",
            "true",
            &[("@services", "    loki: true")],
        ),
        case(
            Oc1103,
            "secrets.keycloak.admin_password",
            "12345",
            &[("@secrets", "  keycloak: {admin_password: 12345}")],
        ),
        case(
            Oc1104,
            "",
            "loki",
            &[("@services", "    loki: {}\n    loki: {}")],
        ),
        case(
            Oc1105,
            "",
            "",
            &[("@root", &format!("deployment:\n{bomb}"))],
        ),
        replaced(Oc1110, "schema_version", "2.0", "\"2.0\"", "2.0"),
        replaced(Oc1110, "schema_version", "\"3.0\"", "\"2.0\"", "\"3.0\""),
        replaced(
            Oc1110,
            "schema_version",
            "",
            "schema_version: \"2.0\"\n",
            "",
        ),
        case(
            Oc1120,
            "opencenter.gitops.git_url",
            "git_url",
            &[("@gitops", "    git_url: https://git.example.org/other.git")],
        ),
        case(
            Oc1121,
            "opencenter.talos",
            "talos",
            &[("@opencenter", "  talos: {}")],
        ),
        case(
            Oc1122,
            "opencenter.managed-service",
            "managed-service",
            &[("@opencenter", "  managed-service: {}")],
        ),
        case(
            Oc1122,
            "secrets.loki.swift_password",
            "swift_password",
            &[("@secrets", "  loki: {swift_password: x}")],
        ),
        case(
            Oc1130,
            "opencenter.cluster.base_domain",
            "${ref",
            &[(
                "@opencenter",
                "  cluster: {base_domain: \"${ref:opencenter.nothing}\"}",
            )],
        ),
        case(
            Oc1131,
            "opencenter.cluster.base_domain",
            "\"${ref",
            &[(
                "@opencenter",
                "  cluster:\n    base_domain: \"${ref:opencenter.cluster.cluster_fqdn}\"\n    cluster_fqdn: \"x.${ref:opencenter.cluster.base_domain}\"",
            )],
        ),
        case(
            Oc1132,
            "secrets.keycloak.admin_password",
            "${env",
            &[(
                "@secrets",
                "  keycloak:\n    admin_password: ${env:NO_SUCH_VARIABLE}",
            )],
        ),
        case(
            Oc1133,
            "secrets.keycloak.admin_password",
            "${file",
            &[(
                "@secrets",
                "  keycloak:\n    admin_password: ${file:/no/such/file}",
            )],
        ),
        replaced(
            Oc2001,
            "opencenter.meta.name",
            "meta",
            "    name: demo\n",
            "",
        ),
        replaced(
            Oc2001,
            "opencenter.gitops.repository.url",
            "repository",
            "      url: https://git.example.org/clusters.git\n",
            "      branch: main\n",
        ),
        case(
            Oc2002,
            "opencenter.infrastructure.provider",
            "openstak",
            &[("@opencenter", "  infrastructure: {provider: openstak}")],
        ),
        replaced(
            Oc2002,
            "opencenter.meta.env",
            "moon",
            "    region: ord1",
            "    env: moon",
        ),
        case(
            Oc2003,
            "opencenter.cluster.admin_email",
            "nobody",
            &[("@opencenter", "  cluster: {admin_email: nobody}")],
        ),
        case(
            Oc2003,
            "opencenter.services[\"a.b\"]",
            "a.b",
            &[("@services", "    a.b: {enabled: true}")],
        ),
        replaced(
            Oc2003,
            "opencenter.meta.name",
            "\"de\\nmo\"",
            "name: demo",
            "name: \"de\\nmo\"",
        ),
        replaced(
            Oc2003,
            "opencenter.meta.name",
            "\"{{ name }}\"",
            "name: demo",
            "name: \"{{ name }}\"",
        ),
        case(
            Oc2003,
            "opencenter.services.own.custom_resources[0]",
            "../../etc",
            &[(
                "@services",
                "    own: {enabled: true, custom_resources: [../../etc]}",
            )],
        ),
        case(
            Oc2003,
            "opencenter.services.own.custom_resources[0]",
            "/etc/passwd",
            &[(
                "@services",
                "    own: {enabled: true, custom_resources: [/etc/passwd]}",
            )],
        ),
        case(
            Oc2004,
            "opencenter.cluster.kubernetes.api_port",
            "0",
            &[("@opencenter", "  cluster: {kubernetes: {api_port: 0}}")],
        ),
        case(
            Oc2005,
            "opencenter.services.openstack-ccm",
            "{enabled",
            &[
                ("@opencenter", "  infrastructure: {provider: kind}"),
                ("@services", "    openstack-ccm: {enabled: true}"),
            ],
        ),
    ]
}

fn services() -> Vec<Case> {
    use Code::*;
    let service = |code, path, token, block: &str| case(code, path, token, &[("@services", block)]);
    vec![
        service(
            Oc3010,
            "opencenter.services.loki.edition",
            "enterprise",
            "    loki: {enabled: true, edition: enterprise}",
        ),
        service(
            Oc3011,
            "opencenter.services.own.single_stage",
            "true",
            "    own: {enabled: true, base_only: true, single_stage: true}",
        ),
        service(
            Oc3012,
            "opencenter.services.fluxcd.enabled",
            "false",
            "    fluxcd: {enabled: false}",
        ),
        service(
            Oc3013,
            "opencenter.services.cilium",
            "{enabled",
            "    cilium: {enabled: true}",
        ),
        service(
            Oc3020,
            "opencenter.services.cert-manager.dns_provider",
            "clouddns",
            "    cert-manager: {enabled: true, dns_provider: clouddns}",
        ),
        service(
            Oc3021,
            "opencenter.services.loki.storage_type",
            "gcs",
            "    loki: {enabled: true, storage_type: gcs}",
        ),
        service(
            Oc3030,
            "secrets.grafana.admin_password",
            "secrets",
            "    kube-prometheus-stack: {enabled: true}",
        ),
        case(
            Oc3031,
            "secrets.grafana.admin_password",
            "changeme",
            &[
                ("@services", "    kube-prometheus-stack: {enabled: true}"),
                ("@secrets", "  grafana: {admin_password: changeme}"),
            ],
        ),
        service(
            Oc3101,
            "opencenter.services.cert-manager.letsencrypt_server",
            "http://",
            "    cert-manager: {enabled: true, letsencrypt_server: 'http://acme'}",
        ),
        service(
            Oc3102,
            "opencenter.services.cert-manager.email",
            "nobody",
            "    cert-manager: {enabled: true, email: nobody}",
        ),
        service(
            Oc3104,
            "opencenter.services.cert-manager.issuers[0].type",
            "{name",
            "    cert-manager:\n      enabled: true\n      issuers:\n        - {name: own}",
        ),
        case(
            Oc3105,
            "secrets.cert_manager.cloudflare.one",
            "{enabled",
            &[
                ("@services", "    cert-manager: {enabled: true}"),
                (
                    "@secrets",
                    "  cert_manager:\n    aws:\n      one: {enabled: true, aws_access_key: a, aws_secret_access_key: b, dns_zones: [a.b]}\n    cloudflare:\n      one: {enabled: true, api_token: c, dns_zones: [a.b]}",
                ),
            ],
        ),
        case(
            Oc3106,
            "secrets.cert_manager.cloudflare.one.dns_zones",
            "one",
            &[
                ("@services", "    cert-manager: {enabled: true}"),
                (
                    "@secrets",
                    "  cert_manager:\n    cloudflare:\n      one: {enabled: true, api_token: c}",
                ),
            ],
        ),
        service(
            Oc3107,
            "opencenter.services.cert-manager",
            "{enabled",
            "    cert-manager: {enabled: true}\n    gateway-api: {enabled: true}\n    gateway: {enabled: true}",
        ),
        service(
            Oc3111,
            "opencenter.services.keycloak.instances",
            "1",
            "    keycloak: {enabled: true, instances: 1}",
        ),
        service(
            Oc3112,
            "opencenter.services.keycloak.instances",
            "0",
            "    keycloak: {enabled: true, instances: 0}",
        ),
        service(
            Oc3113,
            "opencenter.services.keycloak.min_replicas",
            "5",
            "    keycloak: {enabled: true, min_replicas: 5, max_replicas: 3}",
        ),
        service(
            Oc3114,
            "opencenter.services.keycloak.min_replicas",
            "1",
            "    keycloak: {enabled: true, min_replicas: 1, max_replicas: 3}",
        ),
        service(
            Oc3115,
            "opencenter.services.keycloak.max_replicas",
            "3",
            "    keycloak: {enabled: true, max_replicas: 3}",
        ),
        service(
            Oc3116,
            "opencenter.services.keycloak.db_pool_min_size",
            "40",
            "    keycloak: {enabled: true, db_pool_min_size: 40}",
        ),
        service(
            Oc3116,
            "opencenter.services.keycloak.db_pool_initial_size",
            "5",
            "    keycloak: {enabled: true, db_pool_initial_size: 5}",
        ),
        service(
            Oc3117,
            "opencenter.services.keycloak.frontend_url",
            "ftp",
            "    keycloak: {enabled: true, frontend_url: 'ftp://a'}",
        ),
        service(
            Oc3118,
            "opencenter.services.keycloak.frontend_url",
            "http",
            "    keycloak: {enabled: true, frontend_url: 'http://a'}",
        ),
        service(
            Oc3119,
            "opencenter.services.keycloak.log_level",
            "loud",
            "    keycloak: {enabled: true, log_level: loud}",
        ),
        service(
            Oc3120,
            "opencenter.services.keycloak.backup_schedule",
            "daily",
            "    keycloak: {enabled: true, backup_enabled: true, backup_schedule: daily}",
        ),
        service(
            Oc3131,
            "opencenter.services.tempo.storage_type",
            "tape",
            "    tempo: {enabled: true, storage_type: tape}",
        ),
        service(
            Oc3132,
            "opencenter.services.loki.swift_auth_url",
            "https",
            "    loki: {enabled: true, storage_type: swift, swift_auth_url: 'https://a/v2'}",
        ),
        service(
            Oc3132,
            "opencenter.services.tempo.swift_auth_url",
            "tempo",
            "    tempo: {enabled: true, storage_type: swift}",
        ),
        service(
            Oc3133,
            "opencenter.services.loki.swift_application_credential_id",
            "loki",
            "    loki: {enabled: true, storage_type: swift}",
        ),
        case(
            Oc3135,
            "secrets.loki.s3_access_key_id",
            "a}",
            &[
                ("@services", "    loki: {enabled: true}"),
                ("@secrets", "  loki: {s3_access_key_id: a}"),
            ],
        ),
        service(
            Oc3137,
            "opencenter.services.loki.volume_size",
            "-1",
            "    loki: {enabled: true, volume_size: -1}",
        ),
        service(
            Oc3141,
            "opencenter.services.harbor.external_url",
            "ftp",
            "    harbor: {enabled: true, external_url: 'ftp://a'}",
        ),
        service(
            Oc3142,
            "opencenter.services.harbor.storage_type",
            "s3",
            "    harbor: {enabled: true, storage_type: s3}",
        ),
        service(
            Oc3143,
            "opencenter.services.harbor.database_type",
            "external",
            "    harbor: {enabled: true, database_type: external}",
        ),
        service(
            Oc3144,
            "opencenter.services.harbor.registry_volume_size",
            "-1",
            "    harbor: {registry_volume_size: -1}",
        ),
        service(
            Oc3152,
            "opencenter.services.kube-prometheus-stack.grafana_volume_size",
            "-1",
            "    kube-prometheus-stack: {grafana_volume_size: -1}",
        ),
        service(
            Oc3153,
            "opencenter.services.kube-prometheus-stack.hostname",
            "a.b",
            "    kube-prometheus-stack: {enabled: true, hostname: a.b, prometheus_hostname: a.b}",
        ),
        service(
            Oc3154,
            "opencenter.services.metallb.ip_address_pools[0].addresses[0]",
            "10.0.0.9-10",
            "    metallb:\n      enabled: true\n      ip_address_pools:\n        - name: a\n          addresses: [10.0.0.9-10.0.0.1]",
        ),
        service(
            Oc3154,
            "opencenter.services.metallb.ip_address_pools[1].addresses[0]",
            "10.0.0.0/8",
            "    metallb:\n      enabled: true\n      ip_address_pools:\n        - {name: a, addresses: [10.1.0.0/16]}\n        - {name: b, addresses: [10.0.0.0/8]}",
        ),
        service(
            Oc3154,
            "opencenter.services.metallb.ip_address_pools[0].addresses",
            "{name",
            "    metallb:\n      enabled: true\n      ip_address_pools:\n        - {name: a}",
        ),
        service(
            Oc3155,
            "opencenter.services.metallb.l2_advertisements[0].ip_address_pools[0]",
            "b]",
            "    metallb:\n      enabled: true\n      ip_address_pools:\n        - {name: a, addresses: [10.1.0.0/16]}\n      l2_advertisements:\n        - {name: x, ip_address_pools: [b]}",
        ),
        service(
            Oc3156,
            "opencenter.services.metallb.ip_address_pools",
            "metallb",
            "    metallb: {enabled: true}",
        ),
        service(
            Oc3157,
            "opencenter.services.gateway.listeners[0].name",
            "grafana-https",
            "    gateway:\n      enabled: true\n      listeners:\n        - {name: grafana-https, port: 443, protocol: HTTPS, tls_secret_name: a}",
        ),
        service(
            Oc3158,
            "opencenter.services.gateway.listeners[0].tls_secret_name",
            "{name",
            "    gateway:\n      enabled: true\n      listeners:\n        - {name: own, port: 443, protocol: HTTPS}",
        ),
        service(
            Oc3159,
            "opencenter.services.gateway.listeners[1]",
            "{name",
            "    gateway:\n      enabled: true\n      listeners:\n        - {name: one, port: 80, protocol: HTTP}\n        - {name: two, port: 80, protocol: HTTP}",
        ),
        service(
            Oc3160,
            "opencenter.services.vsphere-csi.storage_classes[0].datastore_url",
            "{name",
            "    vsphere-csi:\n      enabled: true\n      storage_classes:\n        - {name: a}",
        ),
        service(
            Oc3161,
            "opencenter.services.vsphere-csi.storage_classes[1].name",
            "a,",
            "    vsphere-csi:\n      enabled: true\n      storage_classes:\n        - {name: a, datastore_url: x}\n        - {name: a, datastore_url: y}",
        ),
        service(
            Oc3162,
            "opencenter.services.kube-ovn.default_subnet",
            "10.0.0.0",
            "    kube-ovn: {default_subnet: 10.0.0.0}",
        ),
        service(
            Oc3163,
            "opencenter.services.kube-ovn.version",
            "'1'",
            "    kube-ovn: {enabled: true, version: '1'}",
        ),
        service(
            Oc3164,
            "opencenter.services.headlamp.oidc_client_id",
            "me",
            "    headlamp: {enabled: true, oidc_client_id: me}",
        ),
        service(
            Oc3165,
            "opencenter.services.loki.namespace",
            "Not_A",
            "    loki: {enabled: true, namespace: Not_A}",
        ),
        service(
            Oc3166,
            "opencenter.services.loki.source.branch",
            "main",
            "    loki: {enabled: true, source: {branch: main, release: v1}}",
        ),
        service(
            Oc3201,
            "opencenter.services.gateway",
            "{enabled",
            "    gateway: {enabled: true}",
        ),
        service(
            Oc3202,
            "opencenter.services.loki",
            "{enabled",
            "    loki: {enabled: true}",
        ),
        service(
            Oc3202,
            "opencenter.services.own.conditional_dependencies[0].when_enabled",
            "lokki",
            "    own:\n      enabled: true\n      conditional_dependencies:\n        - {name: loki-base, when_enabled: lokki}",
        ),
    ]
}

const CUSTOMER: &str = "opencenter.gitops.overlay_units.customer_managed";

fn overlay_units() -> Vec<Case> {
    use Code::*;
    let customer = |code, path, token, fields: &str| {
        let block =
            format!("    overlay_units:\n      customer_managed:\n        enabled: true\n{fields}");
        case(code, path, token, &[("@gitops", &block)])
    };
    let usual = "        repository_name: apps\n        kustomizations: [{name: a, path: /a}]\n";
    let address = |url: &str| format!("{usual}        repository_url: {url}\n");
    let items = |items: &str| {
        format!(
            "        repository_name: apps\n        repository_url: ssh://git@h/p.git\n        kustomizations:\n{items}"
        )
    };
    let sops = |code, path, token, rules: &str| {
        let block = format!("    overlay_units:\n      sops:\n        enabled: true\n{rules}");
        case(code, path, token, &[("@gitops", &block)])
    };
    let recipient = "age15n3dugqfej2hk8cqz2kcx78v6lxwllk5gruu4ermz2hu539xrgwq0w7dyn";
    vec![
        customer(
            Oc4001,
            "opencenter.gitops.overlay_units.customer_managed.repository_name",
            "customer_managed",
            "        repository_url: ssh://git@h/p.git\n",
        ),
        customer(
            Oc4002,
            "opencenter.gitops.overlay_units.customer_managed.repository_name",
            "Not_A",
            "        repository_name: Not_A\n",
        ),
        customer(
            Oc4003,
            "opencenter.gitops.overlay_units.customer_managed.repository_url",
            "customer_managed",
            usual,
        ),
        customer(
            Oc4004,
            "opencenter.gitops.overlay_units.customer_managed.repository_url",
            "nothing",
            &address("nothing"),
        ),
        customer(
            Oc4005,
            "opencenter.gitops.overlay_units.customer_managed.repository_url",
            "ftp",
            &address("ftp://h/p"),
        ),
        customer(
            Oc4006,
            "opencenter.gitops.overlay_units.customer_managed.repository_url",
            "ssh",
            &address("ssh://git@/p"),
        ),
        customer(
            Oc4007,
            "opencenter.gitops.overlay_units.customer_managed.kustomizations",
            "[]",
            "        kustomizations: []\n",
        ),
        customer(
            Oc4008,
            "opencenter.gitops.overlay_units.customer_managed.kustomizations[0].name",
            "{path",
            &items("          - {path: /a}"),
        ),
        customer(
            Oc4009,
            "opencenter.gitops.overlay_units.customer_managed.kustomizations[0].path",
            "{name",
            &items("          - {name: a}"),
        ),
        customer(
            Oc4010,
            "opencenter.gitops.overlay_units.customer_managed.kustomizations[0].path",
            "infra/qa",
            &items("          - {name: a, path: infra/qa}"),
        ),
        customer(
            Oc4011,
            "opencenter.gitops.overlay_units.customer_managed.kustomizations[1].name",
            "a,",
            &items("          - {name: a, path: /a}\n          - {name: a, path: /b}"),
        ),
        customer(
            Oc4012,
            "opencenter.gitops.overlay_units.customer_managed.kustomizations",
            "- {name",
            &items(
                "          - {name: a, path: /a, depends_on: [b]}\n          - {name: b, path: /b, depends_on: [a]}",
            ),
        ),
        customer(
            Oc4013,
            "opencenter.gitops.overlay_units.customer_managed.repository_url",
            "https",
            &(address("https://h/p") + "        emit_secret: true\n"),
        ),
        customer(
            Oc4014,
            "secrets.overlay_units.customer_managed.identity",
            "secrets",
            &(address("ssh://git@h/p") + "        emit_secret: true\n"),
        ),
        customer(
            Oc4015,
            "secrets.overlay_units.customer_managed.identity_pub",
            "secrets",
            &(address("ssh://git@h/p") + "        emit_secret: true\n"),
        ),
        customer(
            Oc4016,
            "secrets.overlay_units.customer_managed.known_hosts",
            "secrets",
            &(address("ssh://git@h/p") + "        emit_secret: true\n"),
        ),
        customer(
            Oc4017,
            "opencenter.gitops.overlay_units.customer_managed.secret_ref",
            "customer_managed.x",
            &(address("ssh://git@h/p") + "        secret_ref: customer_managed.x\n"),
        ),
        sops(
            Oc4021,
            "opencenter.gitops.overlay_units.sops.rules",
            "sops",
            "",
        ),
        sops(
            Oc4021,
            "opencenter.gitops.overlay_units.sops.rules",
            "[]",
            "        rules: []\n",
        ),
        sops(
            Oc4022,
            "opencenter.gitops.overlay_units.sops.rules[0].path_regex",
            "{age",
            &format!("        rules:\n          - {{age_recipients: [{recipient}]}}"),
        ),
        sops(
            Oc4023,
            "opencenter.gitops.overlay_units.sops.rules[0].age_recipients",
            "{path",
            "        rules:\n          - {path_regex: a}",
        ),
        sops(
            Oc4024,
            "opencenter.gitops.overlay_units.sops.rules[0].age_recipients[0]",
            "''",
            "        rules:\n          - {path_regex: a, age_recipients: ['']}",
        ),
        sops(
            Oc4025,
            "opencenter.gitops.overlay_units.sops.rules[0].path_regex",
            "'('",
            &format!(
                "        rules:\n          - {{path_regex: '(', age_recipients: [{recipient}]}}"
            ),
        ),
        sops(
            Oc4026,
            "opencenter.gitops.overlay_units.sops.rules[0].age_recipients[0]",
            "age1x",
            "        rules:\n          - {path_regex: a, age_recipients: [age1x]}",
        ),
        case(
            Oc4028,
            "opencenter.gitops.base_repo.url",
            "https",
            &[("@gitops", "    base_repo: {url: 'https://me:pass@h/p'}")],
        ),
        case(
            Oc4028,
            "opencenter.services.loki.source.repo",
            "https",
            &[(
                "@services",
                "    loki: {source: {repo: 'https://token@h/p'}}",
            )],
        ),
    ]
}

fn deployment() -> Vec<Case> {
    use Code::*;
    let deploy = |code, path, token, parts: &[(&str, &str)]| Case {
        purpose: Purpose::Deploy,
        ..case(code, path, token, parts)
    };
    vec![
        deploy(
            Oc4501,
            "opencenter.cluster.kubernetes.network_plugin",
            "opencenter",
            &[],
        ),
        deploy(
            Oc4501,
            "opencenter.cluster.kubernetes.network_plugin",
            "{calico",
            &[(
                "@opencenter",
                "  cluster: {kubernetes: {network_plugin: {calico: {enabled: true}, cilium: {enabled: true}}}}",
            )],
        ),
        deploy(
            Oc4502,
            "opencenter.cluster.kubernetes.network_plugin.calico.install_method",
            "kubespray",
            &[(
                "@opencenter",
                "  cluster: {kubernetes: {network_plugin: {calico: {enabled: true, install_method: kubespray}}}}",
            )],
        ),
        deploy(
            Oc4503,
            "opencenter.gitops.auth.ssh",
            "{private_key",
            &[("@gitops", "    auth: {ssh: {private_key: k}}")],
        ),
        deploy(
            Oc4504,
            "opencenter.gitops.auth.token.provider",
            "github",
            &[("@gitops", "    auth: {token: {provider: github}}")],
        ),
        deploy(Oc4505, "opencenter.gitops.auth", "gitops", &[]),
    ]
}

/// Codes that need more than a config text: a cluster to look for, a command, a settings file, a rendered tree, a list of hosts, or a
/// name so empty that another rule speaks first.
const ELSEWHERE: [Code; 11] = [
    Code::Oc1001,
    Code::Oc1002,
    Code::Oc1003,
    Code::Oc1004,
    Code::Oc1005,
    Code::Oc3103,
    Code::Oc3134,
    Code::Oc3136,
    Code::Oc3151,
    Code::Oc3203,
    Code::Oc4027,
];

#[test]
fn every_code_has_its_path_place_and_help() {
    for case in [shape(), services(), overlay_units(), deployment()].concat_all() {
        let found = load_for(&case.text, case.purpose).findings;
        let Some(finding) = found
            .iter()
            .find(|finding| finding.code == case.code && finding.path == case.path)
        else {
            panic!(
                "{} at {} not found in\n{}\n{found:#?}",
                case.code, case.path, case.text
            );
        };
        assert_eq!(finding.file.as_deref(), Some("demo.yaml"));
        assert!(finding.help.is_some(), "{}", case.code);
        if !case.token.is_empty() {
            let there = text_at(&case.text, finding);
            let there = there.trim_start_matches(['"', '\'']);
            let token = case.token.trim_start_matches(['"', '\'']);
            assert!(
                there.starts_with(token),
                "{} at {}: {there:?}",
                case.code,
                case.path
            );
        }
    }
}

#[test]
fn no_code_of_the_config_is_without_a_case() {
    let tested: BTreeSet<Code> = [shape(), services(), overlay_units(), deployment()]
        .concat_all()
        .iter()
        .map(|case| case.code)
        .chain(ELSEWHERE)
        .chain([Code::Oc4030])
        .collect();
    let missing: Vec<_> = Code::ALL
        .iter()
        .filter(|code| code.number() < 5000 && !tested.contains(code))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn hosts_of_customers_can_be_limited() {
    use mainstay_opencenter::config::{LoadOptions, NoSurroundings, load};
    let block = "    overlay_units:\n      customer_managed:\n        enabled: true\n        repository_name: apps\n        \
                 repository_url: ssh://git@evil.example.org/p.git\n        kustomizations: [{name: a, path: /a}]\n";
    let text = config(&[("@gitops", block)]);
    let options = LoadOptions {
        allowed_hosts: vec!["git.example.org".into()],
        ..LoadOptions::default()
    };
    let source = mainstay_yaml::SourceName::new("demo.yaml");
    let found = load(text.as_bytes(), &source, &NoSurroundings, &options).findings;
    assert!(found.iter().any(|finding| {
        finding.code == Code::Oc4030 && finding.path == format!("{CUSTOMER}.repository_url")
    }));
}

trait ConcatAll {
    fn concat_all(self) -> Vec<Case>;
}

impl<const COUNT: usize> ConcatAll for [Vec<Case>; COUNT] {
    fn concat_all(self) -> Vec<Case> {
        self.into_iter().flatten().collect()
    }
}
