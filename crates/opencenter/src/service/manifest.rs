//! Manifests that several services write.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use mainstay_yaml::Node;

use crate::{
    config::Secret,
    flux::{list, map},
    overlay::Decision,
    render::{Context, literal_values},
    service::{BuildResult, Built},
};

/// A `Secret` with plain texts.
pub(super) fn secret(name: &str, namespace: Option<&str>, entries: Node) -> Node {
    map! {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": map! { "name": name, "namespace": namespace },
        "type": "Opaque",
        "stringData": entries,
    }
}

/// A `Secret` with one encoded text.
pub(crate) fn encoded_secret<'t>(
    name: &str,
    namespace: Option<&str>,
    entries: impl IntoIterator<Item = (&'static str, &'t str)>,
) -> Node {
    let data = entries
        .into_iter()
        .map(|(key, text)| (key, Node::from(STANDARD.encode(text))));
    map! {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": map! { "name": name, "namespace": namespace },
        "type": "Opaque",
        "data": Node::map(data),
    }
}

/// A `Namespace`.
pub(super) fn namespace(name: &str, labels: Node, annotations: Node) -> Node {
    map! {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": map! { "name": name, "labels": labels, "annotations": annotations },
    }
}

/// What a route leads to.
pub(super) struct Backend<'b> {
    pub(super) service: &'b str,
    pub(super) port: u16,
}

/// A route through the shared gateway to one service.
pub(super) struct Route<'r> {
    pub(super) name: &'r str,
    pub(super) namespace: Option<&'r str>,
    pub(super) section: &'r str,
    pub(super) host: &'r str,
}

impl Route<'_> {
    /// A route that sends every path to one service.
    pub(super) fn to(&self, ctx: &Context<'_>, backend: &Backend<'_>) -> Node {
        self.with_rules(ctx, list![rule(backend, "/")])
    }

    /// A route that sends browsers to https.
    pub(super) fn redirect(&self, ctx: &Context<'_>) -> Node {
        self.with_rules(
            ctx,
            list![map! {
                "filters": list![map! {
                    "type": "RequestRedirect",
                    "requestRedirect": map! { "scheme": "https", "statusCode": 301 },
                }],
            }],
        )
    }

    pub(super) fn with_rules(&self, ctx: &Context<'_>, rules: Node) -> Node {
        let (name, namespace) = ctx.gateway_reference();
        let parent = map! { "name": name, "namespace": namespace, "sectionName": self.section };
        self.with_parent(parent, rules)
    }

    /// A route with a parent that is written out.
    pub(super) fn with_parent(&self, parent: Node, rules: Node) -> Node {
        map! {
            "apiVersion": "gateway.networking.k8s.io/v1",
            "kind": "HTTPRoute",
            "metadata": map! { "name": self.name, "namespace": self.namespace },
            "spec": map! {
                "parentRefs": list![parent],
                "hostnames": list![self.host],
                "rules": rules,
            },
        }
    }
}

/// One rule: a path prefix and where it leads.
pub(super) fn rule(backend: &Backend<'_>, prefix: &str) -> Node {
    map! {
        "matches": list![map! { "path": map! { "type": "PathPrefix", "value": prefix } }],
        "backendRefs": list![map! { "name": backend.service, "port": backend.port }],
    }
}

/// Writes a file only while a service is active.
pub(super) fn with_service(
    ctx: &Context<'_>,
    service: &str,
    build: impl FnOnce() -> Vec<Node>,
) -> Built {
    when(ctx.service_gate(service), build)
}

/// Writes a file only if a question was answered with yes.
pub(super) fn when(decision: Decision, build: impl FnOnce() -> Vec<Node>) -> Built {
    if decision.result {
        Built::Documents(build())
    } else {
        Built::Skipped(decision)
    }
}

/// The text of a secret; nothing if it is not set.
pub(super) fn text(secret: Option<&Secret>) -> Option<&str> {
    secret.map(Secret::expose).filter(|text| !text.is_empty())
}

/// A text that is not empty.
pub(super) fn filled(text: Option<&String>) -> Option<&str> {
    text.map(String::as_str).filter(|text| !text.is_empty())
}

/// The values text of the user, which replaces the generated one.
pub(super) fn or_literal(
    ctx: &Context<'_>,
    service: &str,
    generated: impl FnOnce() -> Built,
) -> BuildResult {
    Ok(match literal_values(ctx.config.services().get(service)) {
        Some(text) => Built::Text(text.to_owned()),
        None => generated(),
    })
}
