use super::super::tables::Rule;
use super::*;

/// The rule at a path; steps through keyed lists go into their items.
fn rule_at(group: &'static str, kind: &'static str, path: &str) -> Rule {
    let mut at = Rule::Map(shape(group, kind));
    for field in path.split('.') {
        let inside = match at {
            Rule::Map(shape) | Rule::Keyed { item: shape, .. } => shape,
            _ => Shape::Plain,
        };
        at = inside.rule(field);
    }
    at
}

fn key_at(group: &'static str, kind: &'static str, path: &str) -> Option<(&'static str, bool)> {
    match rule_at(group, kind, path) {
        Rule::Keyed {
            key, retain_keys, ..
        } => Some((key, retain_keys)),
        _ => None,
    }
}

#[test]
fn the_table_of_keyed_lists_in_pods() {
    let pods = [
        ("apps", "Deployment", "spec.template.spec"),
        ("apps", "StatefulSet", "spec.template.spec"),
        ("apps", "DaemonSet", "spec.template.spec"),
        ("apps", "ReplicaSet", "spec.template.spec"),
        ("batch", "Job", "spec.template.spec"),
        ("batch", "CronJob", "spec.jobTemplate.spec.template.spec"),
        ("", "Pod", "spec"),
        ("", "PodTemplate", "template.spec"),
        ("", "ReplicationController", "spec.template.spec"),
    ];
    let lists = [
        ("containers", "name", false),
        ("initContainers", "name", false),
        ("ephemeralContainers", "name", false),
        ("imagePullSecrets", "name", false),
        ("schedulingGates", "name", false),
        ("volumes", "name", true),
        ("resourceClaims", "name", true),
        ("hostAliases", "ip", false),
        ("topologySpreadConstraints", "topologyKey", false),
        ("containers.env", "name", false),
        ("containers.ports", "containerPort", false),
        ("containers.volumeMounts", "mountPath", false),
        ("initContainers.volumeDevices", "devicePath", false),
    ];
    for (group, kind, pod) in pods {
        for (list, key, retain) in lists {
            let path = format!("{pod}.{list}");
            assert_eq!(
                key_at(group, kind, &path),
                Some((key, retain)),
                "{kind} {path}"
            );
        }
        for list in [
            "tolerations",
            "containers.command",
            "containers.args",
            "containers.envFrom",
            "affinity",
        ] {
            assert_eq!(
                key_at(group, kind, &format!("{pod}.{list}")),
                None,
                "{kind} {list}"
            );
        }
        assert_eq!(
            key_at(group, kind, "metadata.ownerReferences"),
            Some(("uid", false))
        );
        assert_eq!(rule_at(group, kind, "metadata.finalizers"), Rule::Set);
        assert_eq!(
            key_at(group, kind, "status.conditions"),
            Some(("type", false))
        );
    }
}

#[test]
fn the_table_of_keyed_lists_outside_of_pods() {
    let admission = "admissionregistration.k8s.io";
    for (group, kind, path, key) in [
        ("", "Service", "spec.ports", Some("port")),
        ("", "ServiceAccount", "secrets", Some("name")),
        ("", "ServiceAccount", "imagePullSecrets", None),
        (
            admission,
            "ValidatingWebhookConfiguration",
            "webhooks",
            Some("name"),
        ),
        (
            admission,
            "MutatingWebhookConfiguration",
            "webhooks.matchConditions",
            Some("name"),
        ),
        (
            admission,
            "ValidatingAdmissionPolicy",
            "spec.variables",
            Some("name"),
        ),
        (
            admission,
            "ValidatingAdmissionPolicy",
            "spec.matchConditions",
            Some("name"),
        ),
        ("rbac.authorization.k8s.io", "ClusterRole", "rules", None),
        ("rbac.authorization.k8s.io", "RoleBinding", "subjects", None),
        ("networking.k8s.io", "Ingress", "spec.rules", None),
        ("networking.k8s.io", "Ingress", "spec.tls", None),
        ("apps", "StatefulSet", "spec.volumeClaimTemplates", None),
        (
            "autoscaling",
            "HorizontalPodAutoscaler",
            "spec.metrics",
            None,
        ),
        (
            "autoscaling",
            "HorizontalPodAutoscaler",
            "status.conditions",
            Some("type"),
        ),
        ("example.com", "Widget", "status.conditions", None),
        (
            "apiextensions.k8s.io",
            "CustomResourceDefinition",
            "metadata.ownerReferences",
            None,
        ),
    ] {
        assert_eq!(
            key_at(group, kind, path).map(|(key, _)| key),
            key,
            "{kind} {path}"
        );
    }
    assert_eq!(
        rule_at("apps", "Deployment", "spec.strategy"),
        Rule::MapRetainingKeys
    );
    assert_eq!(
        rule_at("policy", "PodDisruptionBudget", "spec.selector"),
        Rule::Replace
    );
}
