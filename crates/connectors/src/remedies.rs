//! What follows if an object must change in a way that the API server does not allow.

use mainstay_engine::{
    Kind,
    live::LiveObject,
    options::{ImmutableChange, Options, Propagation},
};
use serde_json::Value;

/// The options with which an object is deleted and created anew, where that is a remedy. Of the rest the API server's
/// refusal is reported.
pub fn remedy(kind: &Kind, body: &Value, live: Option<&LiveObject>, options: Options) -> Options {
    let recreated = |propagation| Options {
        immutable: ImmutableChange::Recreate,
        propagation,
        ..options
    };
    match (&*kind.group, &*kind.kind) {
        ("apps", "Deployment" | "DaemonSet") => recreated(Propagation::Foreground),
        // Pods and claims are adopted by the new one, unless it selects others.
        ("apps", "StatefulSet") if selects_others(body, live) => recreated(Propagation::Foreground),
        ("apps", "StatefulSet") => recreated(Propagation::Orphan),
        ("batch", "Job")
        | ("rbac.authorization.k8s.io", "RoleBinding" | "ClusterRoleBinding")
        | ("scheduling.k8s.io", "PriorityClass")
        | ("storage.k8s.io", "StorageClass")
        | ("", "ConfigMap" | "Secret") => recreated(Propagation::Background),
        _ => options,
    }
}

fn selects_others(body: &Value, live: Option<&LiveObject>) -> bool {
    let wanted = body.pointer("/spec/selector");
    let found = live.and_then(|live| live.facts.get("selector"));
    found.is_some() && found != wanted
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::fixture;

    fn of(api_version: &str, kind: &str) -> (ImmutableChange, Propagation) {
        let kind = Kind::from_parts(api_version, kind);
        let options = remedy(&kind, &json!({}), None, Options::DEFAULT);
        (options.immutable, options.propagation)
    }

    #[test]
    fn what_can_be_made_anew_is() {
        use ImmutableChange::{Fail, Recreate};
        use Propagation::{Background, Foreground, Orphan};
        assert_eq!(of("apps/v1", "Deployment"), (Recreate, Foreground));
        assert_eq!(of("apps/v1", "StatefulSet"), (Recreate, Orphan));
        assert_eq!(of("batch/v1", "Job"), (Recreate, Background));
        let rbac = "rbac.authorization.k8s.io/v1";
        assert_eq!(of(rbac, "ClusterRoleBinding"), (Recreate, Background));
        assert_eq!(of(rbac, "ClusterRole"), (Fail, Background));
        assert_eq!(of("v1", "PersistentVolumeClaim"), (Fail, Background));
        let definition = of("apiextensions.k8s.io/v1", "CustomResourceDefinition");
        assert_eq!(definition, (Fail, Background));
    }

    #[test]
    fn pods_that_are_no_longer_selected_go_with_their_stateful_set() {
        let kind = Kind::from_parts("apps/v1", "StatefulSet");
        let body = json!({"spec": {"selector": {"matchLabels": {"app": "new"}}}});
        let mut live = fixture::live(&kind, "n", "a");
        live.facts = json!({"selector": {"matchLabels": {"app": "old"}}});
        let options = remedy(&kind, &body, Some(&live), Options::DEFAULT);
        assert_eq!(options.propagation, Propagation::Foreground);
        live.facts = json!({"selector": {"matchLabels": {"app": "new"}}});
        let options = remedy(&kind, &body, Some(&live), Options::DEFAULT);
        assert_eq!(options.propagation, Propagation::Orphan);
    }
}
