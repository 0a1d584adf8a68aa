//! The values of the chart.

use mainstay_yaml::Node;

use crate::{
    flux::{list, map},
    render::Context,
    service::manifest::filled,
};

use super::{ADMIN_SECRET, BuildResult, Built, Emitted, PrometheusStack, settings};

const WARNINGS: &str = "warning_alerts_receiver";
const ALERT_PROXY: &str = "alert_proxy_receiver";

pub(super) fn values(ctx: &Context<'_>, _: &Emitted<'_>) -> BuildResult {
    let settings = settings(ctx)?;
    let meta = &ctx.config.opencenter.meta;
    Ok(Built::one(map! {
        "alertmanager": map! {
            "alertmanagerSpec": map! {
                "externalUrl": format!("https://{}", settings.alertmanager_hostname),
                "storage": claim_template(
                    settings.alertmanager_volume_size,
                    settings.alertmanager_storage_class.as_ref(),
                ),
            },
            "config": alerting(ctx, settings),
        },
        "prometheus": map! {
            "prometheusSpec": map! {
                "externalUrl": format!("https://{}", settings.prometheus_hostname),
                "externalLabels": map! {
                    "cluster": &meta.name,
                    "region": &meta.region,
                    "customer": &meta.organization,
                },
                "storageSpec": claim_template(
                    settings.prometheus_volume_size,
                    settings.prometheus_storage_class.as_ref(),
                ),
            },
        },
        "grafana": map! {
            "admin": map! {
                "existingSecret": ADMIN_SECRET,
                "userKey": "admin-user",
                "passwordKey": "admin-password",
            },
            "persistence": persistence(settings),
            "datasources": datasources(ctx),
        },
    }))
}

fn quantity(size: Option<i64>) -> Option<String> {
    size.filter(|size| *size > 0)
        .map(|size| format!("{size}Gi"))
}

fn claim_template(size: Option<i64>, class: Option<&String>) -> Node {
    let Some(size) = quantity(size) else {
        return Node::Absent;
    };
    map! {
        "volumeClaimTemplate": map! {
            "spec": map! {
                "accessModes": list!["ReadWriteOnce"],
                "storageClassName": filled(class),
                "resources": map! { "requests": map! { "storage": size } },
            },
        },
    }
}

fn persistence(settings: &PrometheusStack) -> Node {
    let Some(size) = quantity(settings.grafana_volume_size) else {
        return Node::Absent;
    };
    map! {
        "enabled": true,
        "size": size,
        "storageClassName": filled(settings.grafana_storage_class.as_ref()),
    }
}

/// Routes and receivers; the chart supplies the receiver of the root.
fn alerting(ctx: &Context<'_>, settings: &PrometheusStack) -> Node {
    let webhook = filled(settings.webhook_url.as_ref());
    let has_proxy = ctx.config.managed_services().is_active("alert-proxy");
    let sub_route = |receiver: &str, matcher: &str| {
        map! { "receiver": receiver, "continue": false, "matchers": list![matcher] }
    };
    let routes = list![
        map! { "receiver": "null", "matchers": list!["alertname = \"Watchdog\""] },
        webhook.map(|_| sub_route(WARNINGS, "severity =~ \"warning\"")),
        has_proxy.then(|| sub_route(ALERT_PROXY, "severity =~ \"critical\"")),
    ];
    let receivers = list![
        map! { "name": "null" },
        webhook.map(|url| {
            map! {
                "name": WARNINGS,
                "msteamsv2_configs": list![map! { "send_resolved": true, "webhook_url": url }],
            }
        }),
        has_proxy.then(|| {
            let url = "http://rackspace-alert-proxy.rackspace.svc.cluster.local/alert/process";
            map! {
                "name": ALERT_PROXY,
                "webhook_configs": list![map! { "url": url, "send_resolved": true }],
            }
        }),
    ];
    map! {
        "global": map! { "resolve_timeout": "5m" },
        "inhibit_rules": inhibit_rules(),
        "route": map! {
            "group_by": list!["namespace", "alertname"],
            "group_wait": "30s",
            "group_interval": "60s",
            "repeat_interval": "12h",
            "routes": routes,
        },
        "receivers": receivers,
    }
}

fn inhibit_rules() -> Node {
    let rule = |source: &str, target: &str, equal: Node| {
        map! {
            "source_matchers": list![source],
            "target_matchers": list![target],
            "equal": equal,
        }
    };
    let same_alert = || list!["namespace", "alertname"];
    list![
        rule(
            "severity = critical",
            "severity =~ warning|info",
            same_alert()
        ),
        rule("severity = warning", "severity = info", same_alert()),
        rule(
            "alertname = InfoInhibitor",
            "severity = info",
            list!["namespace"]
        ),
        map! { "target_matchers": list!["alertname = InfoInhibitor"] },
    ]
}

fn datasources(ctx: &Context<'_>) -> Node {
    let sources = list![
        ctx.config.is_active("loki").then(loki),
        ctx.config.is_active("tempo").then(tempo),
    ];
    if sources.is_empty() {
        return Node::Absent;
    }
    map! { "datasources.yaml": map! { "apiVersion": 1, "datasources": sources } }
}

fn datasource(name: &str, kind: &str, url: &str, json_data: Node) -> Node {
    map! {
        "name": name,
        "uid": format!("{kind}-default"),
        "type": kind,
        "access": "proxy",
        "url": url,
        "isDefault": false,
        "jsonData": json_data,
        "secureJsonData": map! { "httpHeaderValue1": "default" },
        "editable": true,
    }
}

fn loki() -> Node {
    datasource(
        "Loki",
        "loki",
        "http://observability-loki-gateway.observability.svc.cluster.local",
        map! { "httpHeaderName1": "X-Scope-OrgID", "maxLines": 1000 },
    )
}

fn tempo() -> Node {
    datasource(
        "Tempo",
        "tempo",
        "http://observability-tempo-query-frontend.observability.svc.cluster.local:3200",
        map! {
            "httpHeaderName1": "x-scope-orgid",
            "maxLines": 1000,
            "pdcInjected": false,
            "tracesToLogsV2": map! {
                "customQuery": false,
                "datasourceUid": "loki-default",
                "filterBySpanID": true,
                "filterByTraceID": true,
            },
            "tracesToMetrics": map! { "datasourceUid": "prometheus" },
        },
    )
}
