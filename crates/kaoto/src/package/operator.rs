//! The objects that run the operator in a cluster.

use mainstay_engine::rbac;
use mainstay_package::identity::{Identity, Reach, locked_down, probe};
use serde_json::{Value, json};

use crate::{kinds, names};

/// Under which names the operator runs.
pub(super) const IDENTITY: Identity = Identity {
    namespace: names::OPERATOR_NAMESPACE,
    account: names::OPERATOR,
    cluster_role: names::OPERATOR,
    cluster_role_binding: names::OPERATOR,
    election_role: "kaoto-operator-leader-election",
    election_role_binding: "kaoto-operator-leader-election",
};

/// Everything but the custom resource definition: namespace, identity, permissions, Deployment.
pub fn operator_objects(image: &str) -> Vec<Value> {
    let reach = Reach::Cluster;
    let [role, election_role] = roles(reach);
    vec![
        namespace(),
        IDENTITY.service_account(),
        role,
        IDENTITY.role_binding(reach),
        election_role,
        IDENTITY.election_role_binding(),
        deployment(image, reach),
    ]
}

/// What the operator may do: its kinds where it works, and the lease at home.
pub fn roles(reach: Reach<'_>) -> [Value; 2] {
    [role(reach), IDENTITY.election_role()]
}

pub(super) fn namespace() -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": names::OPERATOR_NAMESPACE, "labels": labels("namespace", "system")},
    })
}

pub(super) fn role(reach: Reach<'_>) -> Value {
    let rules = rbac::rules(&kinds::KINDS).into_iter();
    let rules: Vec<Value> = rules.map(|rule| json!(rule)).collect();
    IDENTITY.role(reach, &rules)
}

pub(super) fn deployment(image: &str, reach: Reach<'_>) -> Value {
    // Parity: the pods carry another value of this label than the Deployment; a selector cannot be changed later.
    let selector = json!({"control-plane": names::OPERATOR});
    json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {
            "name": names::OPERATOR,
            "namespace": names::OPERATOR_NAMESPACE,
            "labels": labels("deployment", "controller-manager"),
        },
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": selector},
            "template": {
                "metadata": {
                    "labels": selector,
                    "annotations": {"kubectl.kubernetes.io/default-container": "manager"},
                },
                "spec": {
                    "serviceAccountName": names::OPERATOR,
                    "terminationGracePeriodSeconds": 10,
                    // The user comes from the image: OpenShift allocates its own and refuses a fixed one.
                    "securityContext": {"runAsNonRoot": true, "seccompProfile": {"type": "RuntimeDefault"}},
                    "containers": [container(image, reach)],
                },
            },
        },
    })
}

fn container(image: &str, reach: Reach<'_>) -> Value {
    let mut arguments = vec!["run", "--leader-election"];
    if let Reach::Namespace(namespace) = reach {
        arguments.extend(["--watch-namespace", namespace]);
    }
    json!({
        "name": "manager",
        "image": image,
        "imagePullPolicy": "Always",
        "command": [names::OPERATOR_BINARY],
        "args": arguments,
        "livenessProbe": probe("/livez", 15, 20),
        "readinessProbe": probe("/readyz", 5, 10),
        "resources": {
            "limits": {"cpu": "500m", "memory": "128Mi"},
            "requests": {"cpu": "10m", "memory": "64Mi"},
        },
        "securityContext": locked_down(),
    })
}

fn labels(name: &str, instance: &str) -> Value {
    json!({
        "control-plane": "controller-manager",
        "app.kubernetes.io/name": name,
        "app.kubernetes.io/instance": instance,
        "app.kubernetes.io/component": "manager",
        "app.kubernetes.io/created-by": names::OPERATOR,
        "app.kubernetes.io/part-of": names::OPERATOR,
        "app.kubernetes.io/managed-by": "kustomize",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(kind: &str) -> Value {
        let objects = operator_objects("operator:1");
        objects
            .into_iter()
            .find(|object| object["kind"] == kind)
            .unwrap()
    }

    #[test]
    fn an_installation_has_these_objects_in_this_order() {
        let objects = operator_objects("operator:1");
        let names: Vec<_> = objects
            .iter()
            .map(|object| {
                format!(
                    "{} {}",
                    object["kind"].as_str().unwrap(),
                    object["metadata"]["name"].as_str().unwrap()
                )
            })
            .collect();
        assert_eq!(
            names,
            [
                "Namespace kaoto-system",
                "ServiceAccount kaoto-operator",
                "ClusterRole kaoto-operator",
                "ClusterRoleBinding kaoto-operator",
                "Role kaoto-operator-leader-election",
                "RoleBinding kaoto-operator-leader-election",
                "Deployment kaoto-operator",
            ]
        );
    }

    #[test]
    fn the_operator_may_touch_nothing_beyond_its_table() {
        let rules = find("ClusterRole")["rules"].as_array().unwrap().clone();
        assert_eq!(rules.len(), 8);
        let text = Value::from(rules).to_string();
        for word in ["secrets", "pods", "namespaces", "rbac", "*"] {
            assert!(!text.contains(word), "{word}");
        }
    }

    #[test]
    fn the_lease_is_guarded_in_the_namespace_of_the_operator() {
        let role = find("Role");
        assert_eq!(role["metadata"]["namespace"], "kaoto-system");
        assert_eq!(
            role["rules"],
            json!([
                {"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "verbs": ["create", "get", "list", "update", "watch"]},
                {"apiGroups": [""], "resources": ["events"], "verbs": ["create"]},
            ])
        );
        for kind in ["RoleBinding", "ClusterRoleBinding"] {
            assert_eq!(
                find(kind)["subjects"],
                json!([{"kind": "ServiceAccount", "name": "kaoto-operator", "namespace": "kaoto-system"}])
            );
        }
    }

    #[test]
    fn an_operator_for_one_namespace_has_no_right_in_the_whole_cluster() {
        let reach = Reach::Namespace("studio");
        for (object, name) in [
            (role(reach), "Role"),
            (IDENTITY.role_binding(reach), "RoleBinding"),
        ] {
            assert_eq!(object["kind"], name);
            assert_eq!(object["metadata"]["namespace"], "studio");
            assert!(!object.to_string().contains("ClusterRole"), "{object}");
        }
        assert_eq!(role(reach)["rules"], role(Reach::Cluster)["rules"]);
        let deployment = deployment("operator:1", reach);
        let container = &deployment["spec"]["template"]["spec"]["containers"][0];
        assert_eq!(
            container["args"],
            json!(["run", "--leader-election", "--watch-namespace", "studio"])
        );
    }

    #[test]
    fn the_deployment_is_locked_down_and_leaves_the_user_to_the_image() {
        let deployment = find("Deployment");
        let pod = &deployment["spec"]["template"]["spec"];
        assert_eq!(
            pod["securityContext"],
            json!({"runAsNonRoot": true, "seccompProfile": {"type": "RuntimeDefault"}})
        );
        let container = &pod["containers"][0];
        assert_eq!(
            (&container["name"], &container["image"]),
            (&json!("manager"), &json!("operator:1"))
        );
        assert_eq!(
            (&container["command"], &container["args"]),
            (&json!(["/kaoto"]), &json!(["run", "--leader-election"]))
        );
        assert_eq!(container["securityContext"]["readOnlyRootFilesystem"], true);
        assert_eq!(
            container["securityContext"]["capabilities"],
            json!({"drop": ["ALL"]})
        );
        assert!(!deployment.to_string().contains("runAsUser"));
    }

    #[test]
    fn the_selector_differs_from_the_labels_as_it_always_did() {
        let deployment = find("Deployment");
        assert_eq!(
            deployment["spec"]["selector"]["matchLabels"],
            json!({"control-plane": "kaoto-operator"})
        );
        assert_eq!(
            deployment["spec"]["template"]["metadata"]["labels"],
            json!({"control-plane": "kaoto-operator"})
        );
        assert_eq!(
            deployment["metadata"]["labels"]["control-plane"],
            "controller-manager"
        );
        assert_eq!(
            deployment["metadata"]["labels"]["app.kubernetes.io/name"],
            "deployment"
        );
        assert_eq!(
            find("Namespace")["metadata"]["labels"]["app.kubernetes.io/instance"],
            "system"
        );
    }
}
