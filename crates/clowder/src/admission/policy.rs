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
    let unknown =
        format!("!(sidecar.?name.orValue('') in ['{TOKEN_REFRESHER}', '{OTEL_COLLECTOR}'])");
    let sidecars = format!("part.?podSpec.?sidecars.orValue([]).exists(sidecar, {unknown})");
    let sidecar = within("Sidecars", "part.podSpec.sidecars", "sidecar", &unknown);
    let scheduled = format!("part.?schedule.orValue('') != '' && {sidecars}");
    let unnamed = "container.?name.orValue('') == ''";
    let containers = "part.?podSpec.?initContainers.orValue([])";
    let several = format!("{containers}.size() > 1 && {containers}.exists(container, {unnamed})");
    let container = within(
        "PodSpec.InitContainers",
        "part.podSpec.initContainers",
        "container",
        unnamed,
    );
    let recreated = format!(
        "part.?deploymentStrategy.?privateStrategy.orValue('') == '{RECREATE}' && \
         part.?webServices.?public.?enabled.orValue(false)"
    );
    let (unknown, public) = (detail::UNKNOWN_SIDECAR, detail::PUBLIC_RECREATE);
    vec![
        validation(
            "variables.database == '' || variables.shared == ''",
            &format!("'{}'", path::TWO_DATABASES),
            detail::TWO_DATABASES,
        ),
        validation(
            "variables.shared == '' || !variables.cyndi",
            &format!("'{}'", path::SHARED_CYNDI),
            detail::SHARED_CYNDI,
        ),
        no_part(
            ["deployments", "spec.Deployment"],
            &sidecars,
            &sidecar,
            unknown,
        ),
        no_part(["jobs", "spec.Deployment"], &scheduled, &sidecar, unknown),
        no_part(
            ["deployments", "spec.Deployments"],
            &several,
            &container,
            detail::UNNAMED,
        ),
        no_part(["deployments", "spec.Deployment"], &recreated, "''", public),
    ]
}

/// One rule. The path is an expression; should it fail, the API server falls back to the bare words.
fn validation(expression: &str, path: &str, detail: &str) -> Value {
    json!({
        "expression": expression,
        "messageExpression": format!("{path} + ': Forbidden: {detail}'"),
        "message": detail,
        "reason": "Invalid",
    })
}

/// No part of a list may be like this. The list is given with the name that refusals know it by, and the rest of the
/// path as an expression. An expression cannot count, but it can ask where a part is, and so it names the first one
/// where the webhook names all.
fn no_part([list, name]: [&str; 2], condition: &str, rest: &str, detail: &str) -> Value {
    let list = format!("variables.{list}");
    let place = format!("'{name}[' + string({list}.indexOf(part)) + ']' + {rest}");
    validation(
        &format!("!{list}.exists(part, {condition})"),
        &format!("{list}.filter(part, {condition}).map(part, {place})[0]"),
        detail,
    )
}

/// The place of the first element of a list inside a part that a condition holds for.
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
