//! Routes of a tree against the listeners of its gateways.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::{
    finding::{Code, Finding},
    overlay::tree_document::TreeDocument,
};

/// Routes must name listeners that answer for their hosts.
pub(super) fn check(documents: &[TreeDocument], findings: &mut Vec<Finding>) {
    let mut listeners: BTreeMap<(&str, &str, &str), &str> = BTreeMap::new();
    for gateway in documents
        .iter()
        .filter(|document| document.is("Gateway", "gateway.networking.k8s.io/"))
    {
        let name = (
            gateway.text("/metadata/name"),
            gateway.text("/metadata/namespace"),
        );
        for listener in gateway.items("/spec/listeners") {
            let text = |key: &str| {
                listener
                    .get(key)
                    .and_then(Value::as_str)
                    .unwrap_or_default()
            };
            listeners.insert((name.0, name.1, text("name")), text("hostname"));
        }
    }
    for route in documents
        .iter()
        .filter(|document| document.is("HTTPRoute", "gateway.networking.k8s.io/"))
    {
        for parent in route.items("/spec/parentRefs") {
            let text = |key: &str| parent.get(key).and_then(Value::as_str).unwrap_or_default();
            let section = text("sectionName");
            if section.is_empty() {
                continue;
            }
            let host = listeners.get(&(text("name"), text("namespace"), section));
            let fits = host.is_some_and(|host| {
                host.is_empty()
                    || route
                        .items("/spec/hostnames")
                        .all(|name| name.as_str() == Some(host))
            });
            if !fits {
                let name = route.text("/metadata/name");
                findings.push(Finding::new(
                    Code::Oc6031,
                    route.path.as_str(),
                    format!("the route `{name}` does not fit the listener `{section}`"),
                ));
            }
        }
    }
}
