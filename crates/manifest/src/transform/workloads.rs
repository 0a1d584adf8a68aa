//! Overrides for Deployments and `StatefulSets`.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Problem, Transform};
use crate::{
    merge::{self, Shape},
    object::{Object, member},
    set::ManifestSet,
};

/// What to change in the workloads of a name.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WorkloadOverride {
    /// Name of a Deployment or `StatefulSet`.
    pub name: String,
    /// Number of replicas.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replicas: Option<i32>,
    /// Selector: `matchLabels` are added, `matchExpressions` replace those that are there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selector: Option<Value>,
    /// Pod template, merged strategically; `null` deletes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub template: Option<Value>,
}

/// Changes workloads by name, in order.
#[derive(Clone, Debug, Default)]
pub struct Workloads(pub Vec<WorkloadOverride>);

impl Workloads {
    /// Names for which a set has no workload: not an error, but worth a word.
    pub fn not_found(&self, set: &ManifestSet) -> Vec<String> {
        let is_there = |name: &str| {
            let mut objects = set.objects().iter();
            objects.any(|object| is_workload(object) && object.name() == Some(name))
        };
        let names = self.0.iter().map(|one| &one.name);
        names.filter(|name| !is_there(name)).cloned().collect()
    }
}

impl Transform for Workloads {
    fn name(&self) -> &'static str {
        "workloads"
    }

    fn apply(&self, object: &mut Object) -> Result<(), Problem> {
        if !is_workload(object) {
            return Ok(());
        }
        let name = object.name().unwrap_or_default().to_owned();
        let mut changed = false;
        for one in self.0.iter().filter(|one| one.name == name) {
            change(object, one)?;
            changed = true;
        }
        if changed {
            check_selector(object)?;
        }
        Ok(())
    }
}

fn is_workload(object: &Object) -> bool {
    object.is("apps", "Deployment") || object.is("apps", "StatefulSet")
}

fn change(object: &mut Object, wanted: &WorkloadOverride) -> Result<(), Problem> {
    let spec = member(object.value_mut(), "spec");
    if let Some(replicas) = wanted.replicas {
        if replicas < 0 {
            return Err(invalid(format!(
                "replicas must not be negative, not {replicas}"
            )));
        }
        spec.insert("replicas".to_owned(), Value::from(replicas));
    }
    if let Some(selector) = &wanted.selector {
        let labels = selector.get("matchLabels").and_then(Value::as_object);
        let target = crate::object::inner(spec, "selector");
        if let Some(labels) = labels {
            let target = crate::object::inner(target, "matchLabels");
            target.extend(
                labels
                    .iter()
                    .map(|(key, value)| (key.clone(), value.clone())),
            );
        }
        if let Some(expressions) = selector.get("matchExpressions") {
            target.insert("matchExpressions".to_owned(), expressions.clone());
        }
    }
    if let Some(template) = &wanted.template {
        let before = spec.get("template").cloned().unwrap_or_else(|| json!({}));
        check_containers(&before, template)?;
        let merged = merge::strategic(&before, template, Shape::PodTemplate)?;
        spec.insert("template".to_owned(), merged);
    }
    Ok(())
}

/// A container that is not there yet needs an image: otherwise its name is a mistake.
fn check_containers(before: &Value, template: &Value) -> Result<(), Problem> {
    for list in ["containers", "initContainers"] {
        let items = |value: &Value| {
            let found = value
                .pointer(&format!("/spec/{list}"))
                .and_then(Value::as_array);
            found.cloned().unwrap_or_default()
        };
        let name = |item: &Value| item.get("name").and_then(Value::as_str).map(str::to_owned);
        let known: Vec<String> = items(before).iter().filter_map(name).collect();
        for item in items(template)
            .iter()
            .filter(|item| item.get("$patch").is_none())
        {
            let has_image = item.get("image").and_then(Value::as_str).is_some();
            match name(item) {
                Some(name) if !known.contains(&name) && !has_image => {
                    let known = known.join(", ");
                    return Err(invalid(format!(
                        "template.spec.{list}: there is no container `{name}` (there are: {known}), and a new one needs an image"
                    )));
                }
                _ => {}
            }
        }
    }
    Ok(())
}

/// The server refuses a workload that does not select its own pods.
fn check_selector(object: &Object) -> Result<(), Problem> {
    let labels = object.value().pointer("/spec/template/metadata/labels");
    let label = |key: &str| {
        labels
            .and_then(|labels| labels.get(key))
            .and_then(Value::as_str)
    };
    let selector = object.value().pointer("/spec/selector");
    let pairs = selector.and_then(|selector| selector.get("matchLabels")?.as_object());
    for (key, value) in pairs.into_iter().flatten() {
        if label(key) != value.as_str() {
            return Err(invalid(format!(
                "spec.selector wants the label `{key}` to be {value}, which the pod template does not have"
            )));
        }
    }
    let expressions = selector.and_then(|selector| selector.get("matchExpressions")?.as_array());
    for expression in expressions.into_iter().flatten() {
        if !holds(expression, label) {
            return Err(invalid(format!(
                "spec.selector.matchExpressions: the labels of the pod template do not satisfy {expression}"
            )));
        }
    }
    Ok(())
}

fn holds<'labels>(expression: &Value, label: impl Fn(&str) -> Option<&'labels str>) -> bool {
    let text = |name: &str| {
        expression
            .get(name)
            .and_then(Value::as_str)
            .unwrap_or_default()
    };
    let found = label(text("key"));
    let values = expression.get("values").and_then(Value::as_array);
    let is_listed = found.is_some_and(|found| {
        let mut values = values.into_iter().flatten();
        values.any(|value| value.as_str() == Some(found))
    });
    match text("operator") {
        "In" => is_listed,
        "NotIn" => !is_listed,
        "Exists" => found.is_some(),
        "DoesNotExist" => found.is_none(),
        _ => false,
    }
}

const fn invalid(text: String) -> Problem {
    Problem::InvalidWorkload(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{object, parsed};

    fn deployment() -> Object {
        object(&json!({
            "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
            "spec": {
                "replicas": 2, "selector": {"matchLabels": {"app": "web"}},
                "template": {
                    "metadata": {"labels": {"app": "web"}},
                    "spec": {
                        "nodeSelector": {"disk": "ssd"},
                        "tolerations": [{"key": "a"}, {"key": "b"}],
                        "containers": [
                            {"name": "web", "image": "web:1", "args": ["-a", "-b"],
                             "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}],
                             "resources": {"limits": {"cpu": "1", "memory": "1Gi"}}},
                            {"name": "side", "image": "side:1"},
                        ],
                    },
                },
            },
        }))
    }

    fn overridden(entry: &Value) -> Result<Value, Problem> {
        let entry: WorkloadOverride = serde_json::from_value(entry.clone()).unwrap();
        let mut object = deployment();
        Workloads(vec![entry]).apply(&mut object)?;
        Ok(object.into_value())
    }

    #[test]
    fn a_template_is_merged_into_the_container_of_its_name_only() {
        let changed = overridden(&json!({"name": "web", "replicas": 0, "template": {"spec": {
            "tolerations": [{"key": "c"}], "nodeSelector": {"disk": null, "zone": "a"},
            "containers": [
                {"name": "web", "args": ["-c"], "env": [{"name": "B", "value": "3"}, {"name": "C", "value": "4"}],
                 "resources": {"limits": {"cpu": "2"}}},
                {"name": "new", "image": "new:1"},
            ],
        }}}))
        .unwrap();
        assert_eq!(changed["spec"]["replicas"], 0);
        let spec = &changed["spec"]["template"]["spec"];
        assert_eq!(spec["tolerations"], json!([{"key": "c"}]));
        assert_eq!(spec["nodeSelector"], json!({"zone": "a"}));
        assert_eq!(
            spec["containers"],
            json!([
                {"name": "web", "image": "web:1", "args": ["-c"],
                 "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "3"}, {"name": "C", "value": "4"}],
                 "resources": {"limits": {"cpu": "2", "memory": "1Gi"}}},
                {"name": "side", "image": "side:1"},
                {"name": "new", "image": "new:1"},
            ])
        );
    }

    #[test]
    fn directives_are_followed_and_do_not_stay() {
        let changed = overridden(&json!({"name": "web", "template": {"spec": {
            "nodeSelector": {"$patch": "replace", "zone": "a"},
            "containers": [{"name": "side", "$patch": "delete"}],
        }}}))
        .unwrap();
        let spec = &changed["spec"]["template"]["spec"];
        assert_eq!(spec["nodeSelector"], json!({"zone": "a"}));
        assert_eq!(spec["containers"].as_array().unwrap().len(), 1);
        assert!(!changed.to_string().contains('$'));
    }

    #[test]
    fn a_container_that_is_not_there_needs_an_image() {
        let entry = json!({"name": "web", "template": {"spec": {"containers": [{"name": "wbe", "args": []}]}}});
        let problem = overridden(&entry).unwrap_err();
        assert_eq!(problem.reason(), "InvalidWorkload");
        assert_eq!(
            problem.to_string(),
            "template.spec.containers: there is no container `wbe` (there are: web, side), and a new one needs an image"
        );
    }

    #[test]
    fn a_selector_has_to_select_the_pods_of_its_template() {
        let both = json!({"name": "web", "selector": {"matchLabels": {"tier": "front"}},
            "template": {"metadata": {"labels": {"tier": "front"}}}});
        let changed = overridden(&both).unwrap();
        assert_eq!(
            changed["spec"]["selector"]["matchLabels"],
            json!({"app": "web", "tier": "front"})
        );
        let one = json!({"name": "web", "selector": {"matchLabels": {"tier": "front"}}});
        assert!(matches!(overridden(&one), Err(Problem::InvalidWorkload(_))));
        for (expression, fits) in [
            (
                json!({"key": "app", "operator": "In", "values": ["web"]}),
                true,
            ),
            (
                json!({"key": "app", "operator": "NotIn", "values": ["web"]}),
                false,
            ),
            (json!({"key": "app", "operator": "Exists"}), true),
            (json!({"key": "x", "operator": "Exists"}), false),
            (json!({"key": "x", "operator": "DoesNotExist"}), true),
            (json!({"key": "app", "operator": "Like"}), false),
        ] {
            let entry = json!({"name": "web", "selector": {"matchExpressions": [expression]}});
            assert_eq!(overridden(&entry).is_ok(), fits, "{expression}");
        }
    }

    #[test]
    fn names_without_a_workload_are_told_and_other_kinds_are_left_alone() {
        let set = parsed("{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: web}}");
        let entry = |name: &str| WorkloadOverride {
            name: name.to_owned(),
            replicas: Some(3),
            ..WorkloadOverride::default()
        };
        let workloads = Workloads(vec![entry("web"), entry("cart")]);
        assert_eq!(workloads.not_found(&set), ["web", "cart"]);
        assert_eq!(
            set.transform(&[Some(&workloads)]).unwrap().hash(),
            set.hash()
        );
        let negative = Workloads(vec![WorkloadOverride {
            replicas: Some(-1),
            ..entry("web")
        }]);
        assert!(negative.apply(&mut deployment()).is_err());
    }
}
