//! One namespace for everything, also where objects name it inside.

use mainstay_engine::kind::Scope;
use serde_json::Value;

use super::{Problem, Transform};
use crate::{conventions::PRESERVE_NAMESPACE_ANNOTATION, object::Object, scope::Scopes};

/// Annotations of cert-manager whose value starts with a namespace.
const INJECTED: [&str; 2] = [
    "cert-manager.io/inject-ca-from",
    "cert-manager.io/inject-ca-from-secret",
];

/// Moves objects into a namespace: their own, and the one in subjects, webhooks, API services, conversions and
/// certificates. Objects with the annotation `cpaas.io/preserve-namespace: "true"` stay as they are.
#[derive(Clone, Debug)]
pub struct Namespace {
    target: String,
    scopes: Scopes,
}

impl Namespace {
    /// Into this namespace.
    pub fn new(target: impl Into<String>, scopes: Scopes) -> Self {
        let target = target.into();
        Self { target, scopes }
    }

    /// Into this namespace; a value that starts with `$` is the name of a variable, which `variable` looks up.
    pub fn resolved(
        target: &str,
        scopes: Scopes,
        variable: impl FnOnce(&str) -> Option<String>,
    ) -> Result<Self, Problem> {
        let Some(name) = target.strip_prefix('$') else {
            return Ok(Self::new(target, scopes));
        };
        let name = name.trim_start_matches('{').trim_end_matches('}');
        let value = variable(name).filter(|value| !value.is_empty());
        let value = value.ok_or_else(|| {
            Problem::Other(format!(
                "the variable `{name}` for the namespace is not set"
            ))
        })?;
        Ok(Self::new(value, scopes))
    }

    /// The namespace.
    pub fn target(&self) -> &str {
        &self.target
    }

    fn set(&self, place: Option<&mut Value>) {
        if let Some(place) = place {
            *place = Value::from(self.target.as_str());
        }
    }

    /// Sets the namespace of whatever already names one there.
    fn set_present(&self, object: &mut Object, pointer: &str) {
        self.set(object.value_mut().pointer_mut(pointer));
    }

    fn own(&self, object: &mut Object) {
        if object.is("", "Namespace") {
            let name = Value::from(self.target.as_str());
            object.metadata_mut().insert("name".to_owned(), name);
            object.metadata_mut().remove("namespace");
            return;
        }
        match self.scopes.of_object(object) {
            Scope::Namespaced => {
                let namespace = Value::from(self.target.as_str());
                object
                    .metadata_mut()
                    .insert("namespace".to_owned(), namespace);
            }
            Scope::Cluster => {
                object.metadata_mut().remove("namespace");
            }
        }
    }

    fn inside(&self, object: &mut Object) {
        match (
            object.group().to_owned().as_str(),
            object.kind_name().to_owned().as_str(),
        ) {
            ("rbac.authorization.k8s.io", "RoleBinding" | "ClusterRoleBinding") => {
                self.each(object, "/subjects", "/namespace");
            }
            (
                "admissionregistration.k8s.io",
                "ValidatingWebhookConfiguration" | "MutatingWebhookConfiguration",
            ) => self.each(object, "/webhooks", "/clientConfig/service/namespace"),
            ("apiregistration.k8s.io", "APIService") => {
                self.set_present(object, "/spec/service/namespace");
            }
            ("apiextensions.k8s.io", "CustomResourceDefinition") => {
                self.set_present(
                    object,
                    "/spec/conversion/webhook/clientConfig/service/namespace",
                );
                self.set_present(
                    object,
                    "/spec/conversion/webhookClientConfig/service/namespace",
                );
            }
            ("cert-manager.io", "Certificate") => self.certificate(object),
            _ => {}
        }
    }

    fn each(&self, object: &mut Object, list: &str, pointer: &str) {
        let list = object.value_mut().pointer_mut(list);
        for item in list.and_then(Value::as_array_mut).into_iter().flatten() {
            self.set(item.pointer_mut(pointer));
        }
    }

    fn certificate(&self, object: &mut Object) {
        let names = object.value_mut().pointer_mut("/spec/dnsNames");
        for name in names.and_then(Value::as_array_mut).into_iter().flatten() {
            if let Some(moved) = name.as_str().and_then(|name| self.service_name(name)) {
                *name = Value::from(moved);
            }
        }
    }

    /// `<service>.<namespace>.svc` or anything below `svc`, in the other namespace.
    fn service_name(&self, name: &str) -> Option<String> {
        let mut parts: Vec<&str> = name.split('.').collect();
        let [_, namespace, "svc", ..] = parts.as_mut_slice() else {
            return None;
        };
        *namespace = &self.target;
        Some(parts.join("."))
    }

    fn injected(&self, object: &mut Object) {
        for key in INJECTED {
            let value = object
                .annotation(key)
                .and_then(|value| value.split_once('/'));
            if let Some((_, name)) = value {
                let value = format!("{}/{name}", self.target);
                object.set_annotation(key, &value);
            }
        }
    }
}

impl Transform for Namespace {
    fn name(&self) -> &'static str {
        "namespace"
    }

    fn apply(&self, object: &mut Object) -> Result<(), Problem> {
        if object.annotation(PRESERVE_NAMESPACE_ANNOTATION) == Some("true") {
            return Ok(());
        }
        self.own(object);
        self.inside(object);
        self.injected(object);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::testing::object;

    fn moved(value: &Value) -> Value {
        let mut object = object(value);
        let transformer = Namespace::new("team", Scopes::default());
        transformer.apply(&mut object).unwrap();
        let once = object.clone();
        transformer.apply(&mut object).unwrap();
        assert_eq!(object, once, "twice is once");
        object.into_value()
    }

    fn at(value: &Value, pointer: &str) -> Value {
        moved(value).pointer(pointer).cloned().unwrap_or_default()
    }

    #[test]
    fn an_object_gets_the_namespace_if_its_kind_has_one() {
        let service = json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "a", "namespace": "old"}});
        assert_eq!(at(&service, "/metadata/namespace"), "team");
        let role = json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "a", "namespace": "old"}});
        assert_eq!(at(&role, "/metadata"), json!({"name": "a"}));
        let namespace =
            json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "old"}});
        assert_eq!(at(&namespace, "/metadata"), json!({"name": "team"}));
        let kept = json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "a", "annotations": {"cpaas.io/preserve-namespace": "true"}}});
        assert_eq!(moved(&kept), kept);
    }

    #[test]
    fn subjects_that_name_a_namespace_move_and_others_do_not() {
        let binding = json!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": "a"},
            "subjects": [{"kind": "ServiceAccount", "name": "x", "namespace": "old"}, {"kind": "Group", "name": "y"}],
        });
        assert_eq!(at(&binding, "/subjects/0/namespace"), "team");
        assert_eq!(
            at(&binding, "/subjects/1"),
            json!({"kind": "Group", "name": "y"})
        );
        let bare = json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding", "metadata": {"name": "a"}});
        assert_eq!(at(&bare, "/metadata/namespace"), "team");
    }

    #[test]
    fn services_behind_webhooks_api_services_and_conversions_move() {
        let service = json!({"service": {"namespace": "old", "name": "hook"}});
        for kind in [
            "ValidatingWebhookConfiguration",
            "MutatingWebhookConfiguration",
        ] {
            let hook = json!({
                "apiVersion": "admissionregistration.k8s.io/v1", "kind": kind, "metadata": {"name": "a"},
                "webhooks": [{"clientConfig": service}, {"clientConfig": {"url": "https://x"}}],
            });
            assert_eq!(
                at(&hook, "/webhooks/0/clientConfig/service/namespace"),
                "team"
            );
            assert_eq!(
                at(&hook, "/webhooks/1/clientConfig"),
                json!({"url": "https://x"})
            );
        }
        let api = json!({"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": {"name": "a"}, "spec": service});
        assert_eq!(at(&api, "/spec/service/namespace"), "team");
        let definition = |conversion: Value| {
            json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "a"},
                   "spec": {"conversion": conversion}})
        };
        let v1 = definition(json!({"webhook": {"clientConfig": service}}));
        assert_eq!(
            at(
                &v1,
                "/spec/conversion/webhook/clientConfig/service/namespace"
            ),
            "team"
        );
        let old = definition(json!({"webhookClientConfig": service}));
        assert_eq!(
            at(
                &old,
                "/spec/conversion/webhookClientConfig/service/namespace"
            ),
            "team"
        );
        let none = definition(json!({"strategy": "None"}));
        assert_eq!(moved(&none), none);
    }

    #[test]
    fn certificates_are_for_the_services_of_the_new_namespace() {
        let certificate = json!({
            "apiVersion": "cert-manager.io/v1", "kind": "Certificate", "metadata": {"name": "a"},
            "spec": {"dnsNames": ["hook.old.svc", "hook.old.svc.cluster.local", "hook.example.com", "svc", "a.b.c.svc"]},
        });
        assert_eq!(
            at(&certificate, "/spec/dnsNames"),
            json!([
                "hook.team.svc",
                "hook.team.svc.cluster.local",
                "hook.example.com",
                "svc",
                "a.b.c.svc"
            ])
        );
        let hook = json!({
            "apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingWebhookConfiguration",
            "metadata": {"name": "a", "annotations": {
                "cert-manager.io/inject-ca-from": "old/cert", "cert-manager.io/inject-ca-from-secret": "old/secret", "other": "old/x"}},
        });
        assert_eq!(
            at(&hook, "/metadata/annotations"),
            json!({"cert-manager.io/inject-ca-from": "team/cert", "cert-manager.io/inject-ca-from-secret": "team/secret", "other": "old/x"})
        );
    }

    #[test]
    fn a_variable_can_name_the_namespace() {
        let find = |name: &str| (name == "POD_NAMESPACE").then(|| "team".to_owned());
        let target =
            |text: &str| Namespace::resolved(text, Scopes::default(), find).map(|one| one.target);
        assert_eq!(target("$POD_NAMESPACE").unwrap(), "team");
        assert_eq!(target("${POD_NAMESPACE}").unwrap(), "team");
        assert_eq!(target("plain").unwrap(), "plain");
        assert!(
            target("$OTHER")
                .unwrap_err()
                .to_string()
                .contains("`OTHER`")
        );
    }
}
