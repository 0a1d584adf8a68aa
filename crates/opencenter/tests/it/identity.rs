//! Keycloak: sizes, database, autoscaling, backup, realm.

use serde_json::{Value, json};

use crate::world::{Config, Tree};

const STAGE: &str = "services/keycloak/20-keycloak";

fn server(tree: &Tree) -> Value {
    tree.one(&format!("{STAGE}/keycloak-cr-patch.yaml"))["spec"].clone()
}

fn postgres(tree: &Tree) -> Value {
    tree.one("services/keycloak/00-postgres/postgres-cluster.yaml")["spec"].clone()
}

/// The value of an option that the custom resource has no field for.
fn option(tree: &Tree, name: &str) -> Option<String> {
    let server = server(tree);
    let options = server["additionalOptions"].as_array().expect("a list");
    let found = options.iter().find(|option| option["name"] == name)?;
    found["value"].as_str().map(str::to_owned)
}

#[test]
fn a_laptop_gets_a_small_database_and_no_spread() {
    let local = Config::new()
        .provider("kind")
        .infrastructure("kind: {}")
        .keycloak("")
        .render();
    assert_eq!(
        postgres(&local),
        json!({
            "teamId": "acid",
            "numberOfInstances": 1,
            "postgresql": {"version": "17", "parameters": {"shared_buffers": "256MB", "max_connections": "100", "log_statement": "all"}},
            "volume": {"size": "5Gi", "storageClass": "Performance"},
            "databases": {"keycloak": "keycloak"},
            "users": {"keycloak": ["superuser", "createdb"]},
            "resources": {"limits": {"cpu": "500m", "memory": "512Mi"}, "requests": {"cpu": "100m", "memory": "256Mi"}},
        })
    );
    assert!(server(&local).get("unsupported").is_none());
    let elsewhere = Config::new().provider("baremetal").keycloak("").render();
    let postgres = postgres(&elsewhere);
    assert_eq!(
        (&postgres["numberOfInstances"], &postgres["volume"]["size"]),
        (&json!(3), &json!("20Gi"))
    );
    let spread =
        &server(&elsewhere)["unsupported"]["podTemplate"]["spec"]["topologySpreadConstraints"];
    assert_eq!(spread.as_array().map(Vec::len), Some(2));
}

#[test]
fn autoscaling_needs_both_bounds() {
    let hpa = format!("{STAGE}/keycloak-hpa.yaml");
    let tree = Config::new()
        .keycloak("min_replicas: 2, max_replicas: 7")
        .render();
    let spec = tree.one(&hpa)["spec"].clone();
    assert_eq!(
        (&spec["minReplicas"], &spec["maxReplicas"]),
        (&json!(2), &json!(7))
    );
    assert_eq!(
        spec["metrics"][1],
        json!({"type": "Resource", "resource": {"name": "memory", "target": {"type": "Utilization", "averageUtilization": 85}}})
    );
    let listed = tree.one(&format!("{STAGE}/kustomization.yaml"))["resources"].to_string();
    assert!(listed.contains("keycloak-hpa.yaml"), "{listed}");
    for bound in ["min_replicas: 2", "max_replicas: 7"] {
        let tree = Config::new().keycloak(bound).render();
        assert!(!tree.has(&hpa), "{bound}");
    }
}

#[test]
fn a_backup_runs_when_the_config_says() {
    let path = format!("{STAGE}/keycloak-backup-cronjob.yaml");
    let tree = Config::new()
        .keycloak("backup_enabled: true, backup_schedule: '30 4 * * 1'")
        .render();
    let documents = tree.documents(&path);
    let kinds: Vec<&str> = documents
        .iter()
        .filter_map(|document| document["kind"].as_str())
        .collect();
    assert_eq!(kinds, ["ServiceAccount", "Role", "RoleBinding", "CronJob"]);
    let job = &documents[3];
    assert_eq!(job["metadata"]["name"], "keycloak-realm-backup");
    assert_eq!(job["spec"]["schedule"], "30 4 * * 1");
    assert_eq!(job["spec"]["concurrencyPolicy"], "Forbid");
    assert_eq!(
        documents[1]["rules"]
            .as_array()
            .expect("rules")
            .iter()
            .map(|rule| &rule["verbs"])
            .collect::<Vec<_>>(),
        [&json!(["get", "list"]), &json!(["get", "list"])]
    );
    assert!(!Config::new().keycloak("").render().has(&path));
}

#[test]
fn the_server_connects_to_the_database_of_the_config() {
    let secret =
        |user: &str| format!("{user}.postgres-cluster.credentials.postgresql.acid.zalan.do");
    let tree = Config::new().keycloak("").render();
    let database = &server(&tree)["db"];
    assert_eq!(
        database["url"],
        "jdbc:postgresql://postgres-cluster.keycloak.svc.cluster.local:5432/keycloak"
    );
    assert_eq!(
        database["usernameSecret"],
        json!({"name": secret("keycloak"), "key": "username"})
    );

    let tree = Config::new()
        .keycloak("database_name: realms, database_user: realm_owner, db_pool_max_size: 40")
        .render();
    let database = &server(&tree)["db"];
    assert_eq!(
        database["url"],
        "jdbc:postgresql://postgres-cluster.keycloak.svc.cluster.local:5432/realms"
    );
    assert_eq!(
        database["passwordSecret"],
        json!({"name": secret("realm-owner"), "key": "password"})
    );
    assert_eq!(database["poolMaxSize"], 40);
    let postgres = postgres(&tree);
    assert_eq!(postgres["databases"], json!({"realms": "realm_owner"}));
    assert_eq!(
        postgres["users"],
        json!({"realm_owner": ["superuser", "createdb"]})
    );
}

#[test]
fn a_database_elsewhere_has_its_own_user() {
    let tree = Config::new()
        .keycloak("database_host: db.example.org, database_port: 6432, database_name: realms, database_user: realm_owner")
        .render();
    let database = &server(&tree)["db"];
    assert_eq!(
        database["url"],
        "jdbc:postgresql://db.example.org:6432/realms"
    );
    assert!(database.get("usernameSecret").is_none());
    assert_eq!(
        database["passwordSecret"]["name"],
        "keycloak.postgres-cluster.credentials.postgresql.acid.zalan.do"
    );
    assert_eq!(option(&tree, "db-username").as_deref(), Some("realm_owner"));
    assert_eq!(
        postgres(&tree)["databases"],
        json!({"keycloak": "keycloak"})
    );
    let anonymous = Config::new()
        .keycloak("database_host: db.example.org")
        .render();
    assert_eq!(option(&anonymous, "db-username"), None);
    assert_eq!(
        server(&anonymous)["db"]["usernameSecret"]["key"],
        "username"
    );
}

#[test]
fn switches_that_are_on_can_be_switched_off() {
    let tree = Config::new()
        .keycloak("start_optimized: false, cache_enabled: false, metrics_enabled: false, event_metrics_enabled: false, health_enabled: false, tls_enabled: false, realm_import_enabled: false, instances: 1, log_level: debug, log_format: default")
        .render();
    let server = server(&tree);
    assert_eq!(server["startOptimized"], false);
    assert!(server["http"].get("tlsSecret").is_none());
    for name in [
        "cache",
        "metrics-enabled",
        "event-metrics-user-enabled",
        "health-enabled",
    ] {
        assert_eq!(option(&tree, name), None, "{name}");
    }
    assert_eq!(option(&tree, "log-level").as_deref(), Some("DEBUG"));
    assert_eq!(
        option(&tree, "log-console-output").as_deref(),
        Some("default")
    );
    assert!(!tree.has(&format!("{STAGE}/opencenter-realm.yaml")));
}

#[test]
fn the_realm_follows_its_settings() {
    let tree = Config::new()
        .keycloak("realm: staff, client_id: shop, frontend_url: 'https://login.example.org', realm_groups: [night-shift], realm_admin_email: chief@example.org, smtp_host: mail.example.org, smtp_from: noreply@example.org, smtp_port: 2525, smtp_starttls: false")
        .render();
    let realm = tree.one(&format!("{STAGE}/opencenter-realm.yaml"))["spec"]["realm"].clone();
    assert_eq!(realm["id"], "staff");
    assert_eq!(
        realm["attributes"],
        json!({"frontendUrl": "https://login.example.org"})
    );
    assert_eq!(
        realm["smtpServer"],
        json!({"host": "mail.example.org", "port": "2525", "from": "noreply@example.org", "starttls": "false"})
    );
    assert_eq!(realm["clients"][0]["clientId"], "shop");
    let groups = realm["groups"].as_array().expect("groups");
    assert_eq!(
        groups.last(),
        Some(&json!({"name": "night-shift", "path": "/night-shift"}))
    );
    assert_eq!(realm["users"][0]["email"], "chief@example.org");
    assert_eq!(
        realm["users"][0]["credentials"][0]["value"],
        "example-admin"
    );
}

#[test]
fn the_operator_is_pinned_in_one_region_or_on_demand() {
    let path = "services/keycloak/10-operator/patch-subscription.yaml";
    assert!(!Config::new().keycloak("").render().has(path));
    let tree = Config::new()
        .keycloak("pin_operator_version: true, operator_csv: keycloak-operator.v27.0.0")
        .render();
    assert_eq!(
        tree.one(path)["spec"],
        json!({"startingCSV": "keycloak-operator.v27.0.0"})
    );
    assert_eq!(
        tree.one("services/keycloak/10-operator/kustomization.yaml")["patches"],
        json!([{"path": "patch-subscription.yaml", "target": {"kind": "Subscription", "name": "keycloak-subscription", "namespace": "keycloak"}}])
    );
}

#[test]
fn groups_get_roles_everywhere_or_in_a_namespace() {
    let tree = Config::new()
        .keycloak("emit_rbac_users: true, rbac_bindings: [{name: admins, group: k8s-admins, cluster_role: cluster-admin}, {name: viewers, group: k8s-viewers, cluster_role: view, namespace: shop}]")
        .render();
    assert_eq!(
        tree.one(&format!("{STAGE}/rbac-manager-users.yaml"))["rbacBindings"],
        json!([
            {"name": "admins", "subjects": [{"kind": "Group", "name": "oidc:k8s-admins"}], "clusterRoleBindings": [{"clusterRole": "cluster-admin"}]},
            {"name": "viewers", "subjects": [{"kind": "Group", "name": "oidc:k8s-viewers"}], "roleBindings": [{"clusterRole": "view", "namespace": "shop"}]},
        ])
    );
}
