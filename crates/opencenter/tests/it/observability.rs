//! What settings of metrics, logs and traces change in their files.

use serde_json::json;

use crate::world::Config;

#[test]
fn logs_and_traces_go_to_swift() {
    let swift = "storage_type: swift, swift_auth_url: 'https://identity.example.org/v3', swift_application_credential_id: example-id, swift_user_domain_name: people, swift_domain_name: projects";
    let tree = Config::new()
        .service("loki", swift)
        .service(
            "tempo",
            &format!(
                "{swift}, swift_container_name: spans, swift_region: far, swift_auth_version: 2"
            ),
        )
        .secrets("loki: {swift_application_credential_secret: example-loki-swift}")
        .secrets("tempo: {swift_application_credential_secret: example-tempo-swift}")
        .render();
    let loki = tree.one("services/loki/helm-values/override-values.yaml");
    assert_eq!(
        loki["loki"]["storage"],
        json!({
            "bucketNames": {"chunks": "sample-loki", "ruler": "sample-loki", "admin": "sample-loki"},
            "type": "swift",
            "swift": {
                "auth_version": 3, "auth_url": "https://identity.example.org/v3", "region_name": "reg1",
                "application_credential_id": "example-id", "application_credential_secret": "example-loki-swift",
                "user_domain_name": "people", "domain_name": "projects", "container_name": "sample-loki",
            },
        })
    );
    let tempo = tree.one("services/tempo/helm-values/override-values.yaml");
    assert_eq!(
        tempo["storage"]["trace"],
        json!({
            "backend": "swift",
            "swift": {
                "auth_version": 2, "auth_url": "https://identity.example.org/v3", "region": "far",
                "application_credential_id": "example-id", "application_credential_secret": "example-tempo-swift",
                "user_domain_name": "people", "domain_name": "projects", "container_name": "spans",
            },
        })
    );
}

#[test]
fn logs_and_traces_go_to_s3_with_their_own_keys_or_the_common_ones() {
    let tree = Config::new()
        .service("loki", "bucket_name: logs, s3_endpoint: 's3.example.org', s3_region: far, s3_force_path_style: true, s3_insecure: true, volume_size: 7, storage_class: fast")
        .service("tempo", "")
        .secrets("loki: {s3_access_key_id: example-loki-key, s3_secret_access_key: example-loki-secret}")
        .secrets("global: {aws: {application: {access_key: example-common-key, secret_access_key: example-common-secret}}}")
        .render();
    let loki = tree.one("services/loki/helm-values/override-values.yaml");
    assert_eq!(
        loki["loki"]["storage"]["s3"],
        json!({
            "s3": null, "endpoint": "s3.example.org", "region": "far",
            "secretAccessKey": "example-loki-secret", "accessKeyId": "example-loki-key", "signatureVersion": null,
            "s3ForcePathStyle": true, "insecure": true, "http_config": {}, "backoff_config": {}, "disable_dualstack": false,
        })
    );
    assert_eq!(
        loki["write"]["persistence"],
        json!({"size": "7Gi", "storageClass": "fast"})
    );
    let tempo = tree.one("services/tempo/helm-values/override-values.yaml");
    assert_eq!(
        tempo["storage"]["trace"]["s3"],
        json!({
            "bucket": "sample-tempo", "endpoint": "swift.api.reg1.rackspacecloud.com", "region": "reg1",
            "access_key": "example-common-key", "secret_key": "example-common-secret",
            "forcepathstyle": false, "insecure": false,
        })
    );
}

#[test]
fn grafana_prometheus_and_alertmanager_follow_their_settings() {
    let tree = Config::new()
        .keycloak("realm: staff, client_id: shop, hostname: login.example.org")
        .service("kube-prometheus-stack", "grafana_volume_size: 3, grafana_storage_class: fast, prometheus_volume_size: 40, alertmanager_volume_size: 2, webhook_url: 'https://hooks.example.org/x', grafana_oauth_enabled: true, flux_dashboards_enabled: true")
        .managed("alert-proxy", "http_route_fqdn: alerts.example.org")
        .secrets("grafana: {admin_user: example-chief, admin_password: example-grafana}")
        .secrets("alert_proxy: {core_device_id: example-device, account_service_token: example-token, core_account_number: example-account}")
        .render();
    let values = tree.one("services/kube-prometheus-stack/helm-values/override-values.yaml");
    let claim = |value: &serde_json::Value| value["volumeClaimTemplate"]["spec"].clone();
    assert_eq!(
        claim(&values["prometheus"]["prometheusSpec"]["storageSpec"])["resources"],
        json!({"requests": {"storage": "40Gi"}})
    );
    assert_eq!(
        claim(&values["alertmanager"]["alertmanagerSpec"]["storage"])["accessModes"],
        json!(["ReadWriteOnce"])
    );
    assert_eq!(
        values["grafana"]["persistence"],
        json!({"enabled": true, "size": "3Gi", "storageClassName": "fast"})
    );
    let receivers = &values["alertmanager"]["config"]["receivers"];
    let names: Vec<_> = receivers
        .as_array()
        .expect("there are receivers")
        .iter()
        .map(|receiver| receiver["name"].clone())
        .collect();
    assert_eq!(
        names,
        ["null", "warning_alerts_receiver", "alert_proxy_receiver"]
    );
    let directory = "services/kube-prometheus-stack";
    assert_eq!(
        tree.one(&format!("{directory}/grafana-admin-password.yaml"))["stringData"],
        json!({"admin-user": "example-chief", "admin-password": "example-grafana"})
    );
    assert_eq!(
        tree.one(&format!("{directory}/grafana-oauth-secret.yaml"))["stringData"],
        json!({"client_id": "grafana-oauth", "client_secret": "example-client"})
    );
    let dashboards = tree.one(&format!(
        "{directory}/grafana-dashboards/fluxcd-cluster.yaml"
    ));
    assert_eq!(
        dashboards["metadata"]["labels"],
        json!({"grafana_dashboard": "1"})
    );
    assert_eq!(
        dashboards["metadata"]["annotations"],
        json!({"grafana_folder": "FluxCD"})
    );
    let listed = tree.one(&format!("{directory}/kustomization.yaml"))["resources"].to_string();
    assert!(listed.contains("grafana-dashboards/"), "{listed}");
    // Routes and policies need a gateway of this cluster.
    assert!(!tree.has(&format!("{directory}/prometheus-security-policy.yaml")));
}

#[test]
fn sign_in_guards_prometheus_and_alertmanager() {
    let config = || {
        Config::new()
            .external(&[
                "cert-manager",
                "gateway-api",
                "olm",
                "postgres-operator",
                "rbac-manager",
            ])
            .service("gateway", "")
            .service("keycloak", "realm: staff, client_id: shop")
            .secrets("keycloak: {client_secret: example-client, admin_password: example-admin}")
            .secrets("grafana: {admin_password: example-grafana}")
    };
    let tree = config().service("kube-prometheus-stack", "").render();
    let policy = tree.one("services/kube-prometheus-stack/alertmanager-security-policy.yaml");
    assert_eq!(policy["metadata"]["name"], "alertmanager-oidc");
    assert_eq!(
        policy["spec"],
        json!({
            "targetRef": {"group": "gateway.networking.k8s.io", "kind": "HTTPRoute", "name": "alertmanager-gateway-route"},
            "oidc": {
                "provider": {"issuer": "https://auth.sample.example.org/realms/staff"},
                "clientID": "shop",
                "clientSecret": {"name": "gateway-oidc-secret"},
                "redirectURL": "https://alertmanager.sample.example.org/oauth2/callback",
                "scopes": ["openid", "profile", "email", "roles"],
                "logoutPath": "/logout",
            },
        })
    );
    let tree = config()
        .service(
            "kube-prometheus-stack",
            "alertmanager_policy_enabled: false, prometheus_policy_enabled: false",
        )
        .render();
    for file in [
        "alertmanager-security-policy.yaml",
        "prometheus-security-policy.yaml",
        "gateway-oidc-secret.yaml",
    ] {
        assert!(!tree.has(&format!("services/kube-prometheus-stack/{file}")));
    }
}

#[test]
fn kafka_feeds_mimir_only_while_it_is_there() {
    let mimir = |config: Config| {
        let tree = config
            .service("mimir", "")
            .secrets("global: {aws: {application: {access_key: example-key, secret_access_key: example-secret}}}")
            .render();
        let values = tree.one("services/mimir/helm-values/override-values.yaml");
        values["mimir"]["structuredConfig"]["ingest_storage"].clone()
    };
    assert!(mimir(Config::new()).is_null());
    assert_eq!(
        mimir(Config::new().service("kafka-cluster", ""))["kafka"]["address"],
        "kafka-cluster-kafka-brokers.kafka-system.svc.cluster.local:9092"
    );
}
