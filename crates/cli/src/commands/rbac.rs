//! `mainstay rbac`: the permissions that the operators need, from their tables of kinds.

use clap::ValueEnum as _;
use mainstay_engine::rbac::{PolicyRule, rules};
use serde_json::{Value, json};

use crate::{
    args::{RbacArgs, System},
    commands::sessions::kinds,
    exit::ExitStatus,
    printer,
};

/// Name of the original's role.
const CLOWDER_ROLE: &str = "clowder-manager-role";

pub(crate) fn run(arguments: &RbacArgs) -> anyhow::Result<ExitStatus> {
    let all = System::value_variants().iter();
    let asked =
        all.filter(|&system| arguments.systems.is_empty() || arguments.systems.contains(system));
    let roles: Vec<Value> = asked.map(|&system| role(system)).collect();
    printer::to_stdout(&mainstay_yaml::print_documents(&roles))?;
    Ok(ExitStatus::Success)
}

fn role(system: System) -> Value {
    let (name, further) = match system {
        System::Kaoto => (mainstay_kaoto::names::OPERATOR, Vec::new()),
        System::Clowder => (CLOWDER_ROLE, clowder_rules()),
    };
    let rules = rules(kinds(system)).into_iter().map(|rule| json!(rule));
    json!({
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": name},
        "rules": rules.chain(further).collect::<Vec<_>>(),
    })
}

/// What the operator does besides following and writing its kinds. The original is bound to the role `admin` instead.
fn clowder_rules() -> Vec<Value> {
    vec![
        json!(PolicyRule::new("", "events", &["create", "patch"])),
        // Accounts of tests may be given these two roles, and only who may bind a role can give it.
        json!({
            "apiGroups": ["rbac.authorization.k8s.io"],
            "resources": ["clusterroles"],
            "resourceNames": ["edit", "view"],
            "verbs": ["bind"],
        }),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clowder_may_bind_two_roles_and_no_other() {
        let role = role(System::Clowder);
        let rules = role["rules"].as_array().unwrap();
        let roles = rules
            .iter()
            .filter(|rule| rule["resources"][0] == "clusterroles");
        let roles: Vec<&Value> = roles.collect();
        assert_eq!(roles.len(), 1);
        assert_eq!(roles[0]["verbs"], json!(["bind"]));
        assert_eq!(roles[0]["resourceNames"], json!(["edit", "view"]));
        let all = |rule: &Value| rule.to_string().contains('*');
        assert!(!rules.iter().any(all), "{role}");
    }
}
