//! Every fixed name of the system. They are shared with installations of the original operator, so
//! none of them may change.

use std::collections::BTreeMap;

/// API group of the custom resource.
pub const GROUP: &str = "designer.kaoto.io";
/// API version of the custom resource.
pub const VERSION: &str = "v1alpha1";
/// Kind of the custom resource.
pub const KIND: &str = "Kaoto";
/// Plural of the custom resource. Parity: `kaotos`, seen in old documents, never worked.
pub const PLURAL: &str = "kaotoes";
/// Name of the custom resource definition.
pub const CRD: &str = "kaotoes.designer.kaoto.io";

/// Finalizer of every `Kaoto`.
pub const FINALIZER: &str = "kaoto.io/finalizer";
/// Field manager of every write.
pub const FIELD_MANAGER: &str = "kaoto-operator";
/// Name of the controller in logs and metrics.
pub const CONTROLLER: &str = "kaoto";

/// Name of the application: container name and label value.
pub const APPLICATION: &str = "kaoto";
/// Value of the component label.
pub const COMPONENT: &str = "designer";
/// Value of the managed-by label.
pub const MANAGED_BY: &str = "kaoto-operator";
/// Port of the application.
pub const PORT: i32 = 8080;
/// Name of that port.
pub const PORT_NAME: &str = "http";
/// Image of the application if nobody says otherwise.
pub const DEFAULT_IMAGE: &str = "quay.io/kaotoio/kaoto-app:stable";
/// Environment variable that overrides the default image, at run time and at build time.
pub const IMAGE_VARIABLE: &str = "KAOTO_APP_IMAGE";

/// Name of the leader election lease.
pub const LEASE: &str = "9aa9f118.kaoto.io";
/// Namespace of the operator.
pub const OPERATOR_NAMESPACE: &str = "kaoto-system";
/// Name of the operator: Deployment, `ServiceAccount`, `ClusterRole`, OLM package.
pub const OPERATOR: &str = "kaoto-operator";
/// Path of the operator binary in its image.
pub const OPERATOR_BINARY: &str = "/kaoto";

/// The label by which watches select our objects.
pub const NAME_LABEL: &str = "app.kubernetes.io/name";
/// The label that holds the name of the custom resource.
pub const INSTANCE_LABEL: &str = "app.kubernetes.io/instance";

/// Label selector of the watches on child kinds.
pub const CHILD_SELECTOR: &str = "app.kubernetes.io/name=kaoto";

/// All labels of an object that belongs to the instance `name`.
pub fn labels(name: &str) -> BTreeMap<String, String> {
    let mut labels = selector(name);
    labels.extend(pairs([
        ("app.kubernetes.io/component", COMPONENT),
        ("app.kubernetes.io/part-of", APPLICATION),
        ("app.kubernetes.io/managed-by", MANAGED_BY),
    ]));
    labels
}

/// The labels that single out the pods of the instance `name`.
pub fn selector(name: &str) -> BTreeMap<String, String> {
    pairs([(NAME_LABEL, APPLICATION), (INSTANCE_LABEL, name)])
}

fn pairs<const COUNT: usize>(pairs: [(&str, &str); COUNT]) -> BTreeMap<String, String> {
    pairs
        .into_iter()
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .collect()
}

/// Condition types.
pub mod conditions {
    /// The Service was accepted.
    pub const SERVICE: &str = "Service";
    /// The Ingress or Route was accepted, or none is asked for.
    pub const INGRESS: &str = "Ingress";
    /// The Deployment was accepted.
    pub const DEPLOYMENT: &str = "Deployment";
    /// The reconcile as a whole.
    pub const RECONCILE: &str = "Reconcile";
}

/// Condition reasons; those of success are their own message.
pub mod reasons {
    /// The object was accepted by the API server.
    pub const DEPLOYED: &str = "Deployed";
    /// No exposure is asked for. Parity: the spelling is the original's.
    pub const NOT_REQUIRED: &str = "NotRequires";
    /// Everything was accepted.
    pub const RECONCILED: &str = "Reconciled";
    /// Something was not achieved; the message says what.
    pub const FAILURE: &str = "Failure";
}

/// Phases.
pub mod phases {
    /// Every object was accepted.
    pub const READY: &str = "Ready";
    /// At least one was not.
    pub const ERROR: &str = "Error";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_running_installations_depend_on_do_not_change() {
        assert_eq!(
            (FIELD_MANAGER, FINALIZER),
            ("kaoto-operator", "kaoto.io/finalizer")
        );
        assert_eq!(CRD, format!("{PLURAL}.{GROUP}"));
        assert_eq!(LEASE, "9aa9f118.kaoto.io");
        assert_eq!(CHILD_SELECTOR, format!("{NAME_LABEL}={APPLICATION}"));
    }

    #[test]
    fn five_labels_mark_an_object_and_two_of_them_select_its_pods() {
        let labels = labels("canvas");
        let text: Vec<_> = labels
            .iter()
            .map(|(key, value)| format!("{key}={value}"))
            .collect();
        assert_eq!(
            text,
            [
                "app.kubernetes.io/component=designer",
                "app.kubernetes.io/instance=canvas",
                "app.kubernetes.io/managed-by=kaoto-operator",
                "app.kubernetes.io/name=kaoto",
                "app.kubernetes.io/part-of=kaoto",
            ]
        );
        let selector = selector("canvas");
        assert_eq!(selector.len(), 2);
        assert!(
            selector
                .iter()
                .all(|(key, value)| labels.get(key) == Some(value))
        );
    }
}
