//! What a body refers to by name: an object whose configuration or account was refused must not run with somebody else's.

use serde_json::Value;

use crate::key::{Kind, ObjectKey};

const SECRET: Kind = Kind::new("", "v1", "Secret");
const CONFIG_MAP: Kind = Kind::new("", "v1", "ConfigMap");
const SERVICE_ACCOUNT: Kind = Kind::new("", "v1", "ServiceAccount");
const CLAIM: Kind = Kind::new("", "v1", "PersistentVolumeClaim");

/// Where pods are described in a workload.
const POD_SPECS: [&str; 2] = [
    "/spec/template/spec",
    "/spec/jobTemplate/spec/template/spec",
];

/// The kinds that pods refer to, by the last steps of the path to their name.
static REFERENCES: [(&str, &str, Kind); 9] = [
    ("secret", "secretName", SECRET),
    ("secret", "name", SECRET),
    ("secretRef", "name", SECRET),
    ("secretKeyRef", "name", SECRET),
    ("configMap", "name", CONFIG_MAP),
    ("configMapRef", "name", CONFIG_MAP),
    ("configMapKeyRef", "name", CONFIG_MAP),
    ("persistentVolumeClaim", "claimName", CLAIM),
    ("spec", "serviceAccountName", SERVICE_ACCOUNT),
];

/// The Secrets, `ConfigMaps`, claims and accounts that the pods of a workload need.
pub(crate) fn of(body: &Value) -> Vec<ObjectKey> {
    let namespace = body.pointer("/metadata/namespace").and_then(Value::as_str);
    let mut found = Vec::new();
    let pods = POD_SPECS.iter().filter_map(|path| body.pointer(path));
    for pod in pods {
        collect("spec", pod, namespace.unwrap_or_default(), &mut found);
    }
    found
}

fn collect(parent: &str, value: &Value, namespace: &str, found: &mut Vec<ObjectKey>) {
    match value {
        Value::Array(items) => {
            for item in items {
                collect(parent, item, namespace, found);
            }
        }
        Value::Object(fields) => {
            for (name, field) in fields {
                let reference = REFERENCES
                    .iter()
                    .find(|(holder, last, _)| *holder == parent && *last == name);
                if let (Some((_, _, kind)), Some(object)) = (reference, field.as_str()) {
                    found.push(ObjectKey::new(kind.clone(), namespace, object));
                }
                collect(name, field, namespace, found);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_what_the_pods_of_a_workload_need() {
        let pod = json!({
            "serviceAccountName": "account",
            "volumes": [
                {"name": "config", "secret": {"secretName": "config"}},
                {"name": "files", "configMap": {"name": "files"}},
                {"name": "data", "persistentVolumeClaim": {"claimName": "data"}},
                {"name": "all", "projected": {"sources": [{"secret": {"name": "token"}}]}},
            ],
            "containers": [{
                "env": [{"name": "PASSWORD", "valueFrom": {"secretKeyRef": {"name": "db", "key": "password"}}}],
                "envFrom": [{"configMapRef": {"name": "settings"}}],
            }],
        });
        let names = |body: Value| {
            let mut names: Vec<String> = of(&body).iter().map(ToString::to_string).collect();
            names.sort();
            names
        };
        let expected = [
            "ConfigMap shop/files",
            "ConfigMap shop/settings",
            "PersistentVolumeClaim shop/data",
            "Secret shop/config",
            "Secret shop/db",
            "Secret shop/token",
            "ServiceAccount shop/account",
        ];
        let metadata = json!({"namespace": "shop"});
        let deployment = json!({"metadata": metadata, "spec": {"template": {"spec": pod}}});
        assert_eq!(names(deployment), expected);
        let job = json!({"spec": {"template": {"spec": pod}}});
        let cron_job = json!({"metadata": metadata, "spec": {"jobTemplate": job}});
        assert_eq!(names(cron_job), expected);
        let secret = json!({"metadata": metadata, "data": {"secretName": "x"}});
        assert_eq!(names(secret), Vec::<String>::new());
    }
}
