//! The rules for a `ClowdApp` in the API server's own language, for installations without webhooks.
//!
//! They cannot stand in the definition of the kind, which is the original's field by field.

use serde_json::{Value, json};

use super::app::{RECREATE, detail, path};
use crate::{
    names::{GROUP, VERSION},
    providers::sidecar::{OTEL_COLLECTOR, TOKEN_REFRESHER},
};

/// Name of the policy and of its binding.
pub const NAME: &str = "clowder-clowdapp-rules";

/// The policy, and the binding that makes it count everywhere.
pub fn objects() -> [Value; 2] {
    let rule = json!({
        "apiGroups": [GROUP], "apiVersions": [VERSION], "resources": ["clowdapps"],
        "operations": ["CREATE", "UPDATE"],
    });
    let policy = json!({
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": NAME},
        "spec": {
            "failurePolicy": "Fail",
            "matchConstraints": {"resourceRules": [rule]},
            // Whoever takes the finalizer off must not be refused.
            "matchConditions": [
                {"name": "stays", "expression": "!has(object.metadata.deletionTimestamp)"},
            ],
            "variables": variables(),
            "validations": validations(),
        },
    });
    let binding = json!({
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": NAME},
        "spec": {"policyName": NAME, "validationActions": ["Deny"]},
    });
    [policy, binding]
}

fn variables() -> Value {
    let variable = |name: &str, field: &str, absent: &str| json!({"name": name, "expression": format!("object.?spec.{field}.orValue({absent})")});
    json!([
        variable("database", "?database.?name", "''"),
        variable("shared", "?database.?sharedDbAppName", "''"),
        variable("cyndi", "?cyndi.?enabled", "false"),
        variable("deployments", "?deployments", "[]"),
        variable("jobs", "?jobs", "[]"),
    ])
}

fn validations() -> Vec<Value> {
    let known = format!("sidecar.?name.orValue('') in ['{TOKEN_REFRESHER}', '{OTEL_COLLECTOR}']");
    let sidecars = "?podSpec.?sidecars.orValue([])";
    let unnamed = "container.?name.orValue('') == ''";
    let several = "part.?podSpec.?initContainers.orValue([]).size() > 1";
    let recreated = format!(
        "part.?deploymentStrategy.?privateStrategy.orValue('') == '{RECREATE}' && \
         part.?webServices.?public.?enabled.orValue(false)"
    );
    vec![
        validation(
            "variables.database == '' || variables.shared == ''".to_owned(),
            &format!("'{}'", path::TWO_DATABASES),
            detail::TWO_DATABASES,
        ),
        validation(
            "variables.shared == '' || !variables.cyndi".to_owned(),
            &format!("'{}'", path::SHARED_CYNDI),
            detail::SHARED_CYNDI,
        ),
        validation(
            format!("variables.deployments.all(part, part.{sidecars}.all(sidecar, {known}))"),
            &first(
                "variables.deployments",
                &format!("part.{sidecars}.exists(sidecar, !({known}))"),
                &position(
                    "variables.deployments",
                    "spec.Deployment",
                    &within(
                        "Sidecars",
                        "part.podSpec.sidecars",
                        "sidecar",
                        &format!("!({known})"),
                    ),
                ),
            ),
            detail::UNKNOWN_SIDECAR,
        ),
        validation(
            format!(
                "variables.jobs.all(part, part.?schedule.orValue('') == '' || \
                 part.{sidecars}.all(sidecar, {known}))"
            ),
            &first(
                "variables.jobs",
                &format!(
                    "part.?schedule.orValue('') != '' && part.{sidecars}.exists(sidecar, !({known}))"
                ),
                &position(
                    "variables.jobs",
                    "spec.Deployment",
                    &within(
                        "Sidecars",
                        "part.podSpec.sidecars",
                        "sidecar",
                        &format!("!({known})"),
                    ),
                ),
            ),
            detail::UNKNOWN_SIDECAR,
        ),
        validation(
            format!(
                "variables.deployments.all(part, !({several}) || \
                 part.podSpec.initContainers.all(container, !({unnamed})))"
            ),
            &first(
                "variables.deployments",
                &format!("{several} && part.podSpec.initContainers.exists(container, {unnamed})"),
                &position(
                    "variables.deployments",
                    "spec.Deployments",
                    &within(
                        "PodSpec.InitContainers",
                        "part.podSpec.initContainers",
                        "container",
                        unnamed,
                    ),
                ),
            ),
            detail::UNNAMED,
        ),
        validation(
            format!("variables.deployments.all(part, !({recreated}))"),
            &first(
                "variables.deployments",
                &recreated,
                &position("variables.deployments", "spec.Deployment", "''"),
            ),
            detail::PUBLIC_RECREATE,
        ),
    ]
}

/// One rule. The path is an expression; should it fail, the API server falls back to the bare words.
fn validation(expression: String, path: &str, detail: &str) -> Value {
    json!({
        "expression": expression,
        "messageExpression": format!("{path} + ': Forbidden: {detail}'"),
        "message": detail,
        "reason": "Invalid",
    })
}

/// A text about the first element of a list that a condition holds for. An expression cannot count, but it can ask
/// where an element is, and names one violation of a rule where the webhook names all.
fn first(list: &str, condition: &str, text: &str) -> String {
    format!("{list}.filter(part, {condition}).map(part, {text})[0]")
}

/// The place of an element, and what comes behind it.
fn position(list: &str, name: &str, rest: &str) -> String {
    format!("'{name}[' + string({list}.indexOf(part)) + ']' + {rest}")
}

/// The place of the first element of a list inside that a condition holds for.
fn within(name: &str, list: &str, element: &str, condition: &str) -> String {
    format!("'.{name}[' + string({list}.indexOf({list}.filter({element}, {condition})[0])) + ']'")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_a_validation_for_each_rule_in_the_webhook_s_order_and_words() {
        let [policy, binding] = objects();
        let validations = policy["spec"]["validations"].as_array().unwrap();
        let messages: Vec<&str> = validations
            .iter()
            .map(|validation| validation["message"].as_str().unwrap())
            .collect();
        assert_eq!(
            messages,
            [
                detail::TWO_DATABASES,
                detail::SHARED_CYNDI,
                detail::UNKNOWN_SIDECAR,
                detail::UNKNOWN_SIDECAR,
                detail::UNNAMED,
                detail::PUBLIC_RECREATE,
            ]
        );
        assert_eq!(
            validations[0]["messageExpression"],
            "'spec.Database.Name.spec.Database.SharedDBAppName' + \
             ': Forbidden: cannot set db name and sharedDbApp Name together'"
        );
        assert_eq!(binding["spec"]["policyName"], policy["metadata"]["name"]);
    }
}
