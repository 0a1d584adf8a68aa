//! The Keycloak server and its autoscaler.

use mainstay_yaml::Node;

use crate::{
    flux::{list, map},
    overlay::Decision,
    render::Context,
};

use super::{
    BuildResult, Built, Emitted, Keycloak, database::Database, is_local, namespace, settings, when,
};

const API: &str = "k8s.keycloak.org/v2alpha1";

/// Changes the server that the base declares.
pub(super) fn patch(ctx: &Context<'_>, _: &Emitted<'_>) -> BuildResult {
    let settings = settings(ctx)?;
    let spread = (!is_local(ctx)).then(|| {
        let constraints = list![
            spread_constraint("topology.kubernetes.io/zone", "ScheduleAnyway"),
            spread_constraint("kubernetes.io/hostname", "DoNotSchedule"),
        ];
        map! {
            "podTemplate": map! { "spec": map! { "topologySpreadConstraints": constraints } },
        }
    });
    Ok(Built::one(map! {
        "apiVersion": API,
        "kind": "Keycloak",
        "metadata": map! { "name": "keycloak", "namespace": namespace(ctx) },
        "spec": map! {
            "startOptimized": settings.start_optimized,
            "instances": settings.instances,
            "resources": resources(settings),
            "db": connection(ctx, settings),
            "http": map! {
                "httpEnabled": true,
                "tlsSecret": settings.tls_enabled.then_some(&settings.tls_secret_name),
            },
            "hostname": map! {
                "hostname": &settings.hostname,
                "strict": false,
                "backchannelDynamic": false,
            },
            "proxy": map! { "headers": "xforwarded" },
            "additionalOptions": options(settings),
            "unsupported": spread,
        },
    }))
}

fn resources(settings: &Keycloak) -> Node {
    map! {
        "requests": map! {
            "memory": &settings.resource_requests_memory,
            "cpu": &settings.resource_requests_cpu,
        },
        "limits": map! {
            "memory": &settings.resource_limits_memory,
            "cpu": &settings.resource_limits_cpu,
        },
    }
}

fn connection(ctx: &Context<'_>, settings: &Keycloak) -> Node {
    let database = Database::of(settings);
    let internal = format!("postgres-cluster.{}.svc.cluster.local", namespace(ctx));
    let host = database.external_host.unwrap_or(&internal);
    let credentials = database.credentials();
    let names_user = database.username_option().is_none();
    map! {
        "vendor": "postgres",
        "usernameSecret":
            names_user.then(|| map! { "name": credentials.as_str(), "key": "username" }),
        "passwordSecret": map! { "name": credentials.as_str(), "key": "password" },
        "url": format!("jdbc:postgresql://{host}:{}/{}", settings.database_port, database.name),
        "poolMinSize": settings.db_pool_min_size,
        "poolInitialSize": settings.db_pool_initial_size,
        "poolMaxSize": settings.db_pool_max_size,
    }
}

/// Options that the custom resource has no field for; their values are texts.
fn options(settings: &Keycloak) -> Node {
    let on = |flag: bool| flag.then(|| "true".to_owned());
    let entries = [
        ("proxy", Some("edge".to_owned())),
        (
            "hostname-url",
            Some(format!("https://{}", settings.hostname)),
        ),
        ("metrics-enabled", on(settings.metrics_enabled)),
        (
            "event-metrics-user-enabled",
            on(settings.event_metrics_enabled),
        ),
        ("health-enabled", on(settings.health_enabled)),
        ("log-level", Some(settings.log_level.to_string())),
        ("log-console-output", Some(settings.log_format.to_string())),
        (
            "cache",
            settings
                .cache_enabled
                .then(|| settings.cache_stack.to_string()),
        ),
        (
            "spi-connections-http-client-default-connection-timeout-millis",
            Some("60000".to_owned()),
        ),
        (
            "db-username",
            Database::of(settings).username_option().map(str::to_owned),
        ),
    ];
    Node::list(
        entries
            .into_iter()
            .filter_map(|(name, value)| Some(map! { "name": name, "value": value? })),
    )
}

fn spread_constraint(topology: &str, unsatisfiable: &str) -> Node {
    map! {
        "maxSkew": 1,
        "topologyKey": topology,
        "whenUnsatisfiable": unsatisfiable,
        "labelSelector": map! {
            "matchLabels": map! {
                "app": "keycloak",
                "app.kubernetes.io/managed-by": "keycloak-operator",
                "app.kubernetes.io/instance": "keycloak",
                "app.kubernetes.io/component": "server",
            },
        },
    }
}

/// Only with both bounds.
pub(super) fn autoscaler(ctx: &Context<'_>, _: &Emitted<'_>) -> BuildResult {
    let settings = settings(ctx)?;
    let missing = if settings.min_replicas.is_none() {
        "min_replicas"
    } else {
        "max_replicas"
    };
    let gate = Decision {
        field: format!("opencenter.services.keycloak.{missing}"),
        operator: "exists",
        value: None,
        result: settings.min_replicas.is_some() && settings.max_replicas.is_some(),
    };
    let metric = |name: &str, percent: i32| {
        map! {
            "type": "Resource",
            "resource": map! {
                "name": name,
                "target": map! { "type": "Utilization", "averageUtilization": percent },
            },
        }
    };
    let policy =
        |kind: &str, value: i32| map! { "type": kind, "value": value, "periodSeconds": 60 };
    Ok(when(gate, || {
        vec![map! {
            "apiVersion": "autoscaling/v2",
            "kind": "HorizontalPodAutoscaler",
            "metadata": map! { "name": "keycloak-hpa", "namespace": namespace(ctx) },
            "spec": map! {
                "scaleTargetRef": map! { "apiVersion": API, "kind": "Keycloak", "name": "keycloak" },
                "minReplicas": settings.min_replicas,
                "maxReplicas": settings.max_replicas,
                "metrics": list![metric("cpu", 80), metric("memory", 85)],
                "behavior": map! {
                    "scaleDown": map! {
                        "stabilizationWindowSeconds": 300,
                        "policies": list![policy("Percent", 50)],
                    },
                    "scaleUp": map! {
                        "stabilizationWindowSeconds": 60,
                        "policies": list![policy("Percent", 100), policy("Pods", 2)],
                        "selectPolicy": "Max",
                    },
                },
            },
        }]
    }))
}
