//! Images from another registry.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::{Problem, Transform, pod};
use crate::object::Object;

const NAME: &str = "${NAME}";

/// Changes the images of containers, images in environment variables, and adds pull secrets.
#[derive(Clone, Debug, Default)]
pub struct Images {
    registry: Option<String>,
    overrides: BTreeMap<String, String>,
    pull_secrets: Vec<String>,
}

impl Images {
    /// Nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Images of this registry: a host, a host with a prefix, or a template with `${NAME}`.
    #[must_use]
    pub fn with_registry(mut self, registry: impl Into<String>) -> Self {
        let registry = registry.into();
        self.registry = Some(registry).filter(|registry| !registry.is_empty());
        self
    }

    /// Exact images for `workload/container`, `container` or a variable of this name, which win over the registry.
    #[must_use]
    pub fn with_overrides(mut self, overrides: BTreeMap<String, String>) -> Self {
        self.overrides = overrides;
        self
    }

    /// Names of Secrets with which images are pulled.
    #[must_use]
    pub fn with_pull_secrets(mut self, names: Vec<String>) -> Self {
        self.pull_secrets = names;
        self
    }

    /// Whether nothing would be changed.
    pub fn is_empty(&self) -> bool {
        self.registry.is_none() && self.overrides.is_empty() && self.pull_secrets.is_empty()
    }

    fn container(&self, workload: &str, container: &mut Map<String, Value>) {
        let name = text(container, "name").to_owned();
        let image = text(container, "image");
        let exact = self.overrides.get(&format!("{workload}/{name}"));
        let image = match (exact.or_else(|| self.overrides.get(&name)), &self.registry) {
            (Some(image), _) => Some(image.clone()),
            (None, Some(registry)) => rewrite(registry, image, &name),
            (None, None) => None,
        };
        if let Some(image) = image {
            container.insert("image".to_owned(), Value::from(image));
        }
        let variables = container.get_mut("env").and_then(Value::as_array_mut);
        let variables = variables.into_iter().flatten();
        for variable in variables.filter_map(Value::as_object_mut) {
            self.variable(&name, variable);
        }
    }

    fn variable(&self, container: &str, variable: &mut Map<String, Value>) {
        let name = text(variable, "name").to_owned();
        if let Some(value) = self.overrides.get(&name) {
            variable.insert("value".to_owned(), Value::from(value.as_str()));
            variable.remove("valueFrom");
            return;
        }
        let plain = self
            .registry
            .as_ref()
            .filter(|registry| !registry.contains(NAME));
        let value = text(variable, "value");
        if let Some(registry) = plain
            && (name == "IMAGE" || name.ends_with("_IMAGE"))
            && host_and_rest(value).0.is_some()
            && let Some(image) = rewrite(registry, value, container)
        {
            variable.insert("value".to_owned(), Value::from(image));
        }
    }

    fn secrets(&self, spec: &mut Map<String, Value>) {
        if self.pull_secrets.is_empty() {
            return;
        }
        let list = spec.entry("imagePullSecrets").or_insert_with(|| json!([]));
        let Some(list) = list.as_array_mut() else {
            return;
        };
        for name in &self.pull_secrets {
            let has = |item: &Value| item.get("name").and_then(Value::as_str) == Some(name);
            if !list.iter().any(has) {
                list.push(json!({"name": name}));
            }
        }
    }
}

impl Transform for Images {
    fn name(&self) -> &'static str {
        "images"
    }

    fn apply(&self, object: &mut Object) -> Result<(), Problem> {
        let workload = object.generate_name().or_else(|| object.name());
        let workload = workload.unwrap_or_default().to_owned();
        if let Some(spec) = pod::spec_mut(object) {
            for container in pod::containers_mut(spec) {
                self.container(&workload, container);
            }
            self.secrets(spec);
        }
        Ok(())
    }
}

/// An image in another registry; none if it stays as it is.
///
/// ```
/// use mainstay_manifest::transform::rewrite;
///
/// let rewritten = rewrite("registry.example.com", "quay.io/org/app:v1", "app");
/// assert_eq!(rewritten.as_deref(), Some("registry.example.com/org/app:v1"));
/// let rewritten = rewrite("r.io/x/${NAME}:9", "quay.io/org/app:v1", "app");
/// assert_eq!(rewritten.as_deref(), Some("r.io/x/app:9"));
/// ```
pub fn rewrite(registry: &str, image: &str, container: &str) -> Option<String> {
    // What a shell or the kubelet fills in is not known yet.
    if image.is_empty() || image.contains("$(") || image.contains("${") {
        return None;
    }
    if registry.contains(NAME) {
        return Some(registry.replace(NAME, bare_name(image, container)));
    }
    let registry = registry.trim_end_matches('/');
    if registry.is_empty() || image.starts_with(&format!("{registry}/")) {
        return None;
    }
    let (_, rest) = host_and_rest(image);
    Some(format!("{registry}/{rest}"))
}

/// The last segment without tag and digest.
fn bare_name<'text>(image: &'text str, container: &'text str) -> &'text str {
    let image = image.split('@').next().unwrap_or_default();
    match image.rsplit_once('/') {
        Some((_, last)) => last.split(':').next().unwrap_or_default(),
        None => container,
    }
}

/// The registry of an image, if it names one, and what follows.
fn host_and_rest(image: &str) -> (Option<&str>, &str) {
    match image.split_once('/') {
        Some((first, rest)) if first.contains(['.', ':']) || first == "localhost" => {
            (Some(first), rest)
        }
        _ => (None, image),
    }
}

fn text<'map>(map: &'map Map<String, Value>, name: &str) -> &'map str {
    map.get(name).and_then(Value::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::object;

    #[test]
    fn the_table_of_registries() {
        for (registry, image, expected) in [
            (
                "registry.example.com",
                "quay.io/org/app:v1",
                "registry.example.com/org/app:v1",
            ),
            (
                "registry.example.com",
                "quay.io/org/app:v1@sha256:ab",
                "registry.example.com/org/app:v1@sha256:ab",
            ),
            (
                "registry.example.com",
                "localhost:5000/app",
                "registry.example.com/app",
            ),
            (
                "registry.example.com",
                "localhost/app",
                "registry.example.com/app",
            ),
            (
                "registry.example.com",
                "nginx:1.27",
                "registry.example.com/nginx:1.27",
            ),
            (
                "registry.example.com",
                "org/app",
                "registry.example.com/org/app",
            ),
            (
                "registry.example.com/mirror",
                "quay.io/org/app",
                "registry.example.com/mirror/org/app",
            ),
            (
                "registry.example.com/mirror/",
                "quay.io/org/app",
                "registry.example.com/mirror/org/app",
            ),
            (
                "r.io/x/${NAME}:9",
                "quay.io/org/app@sha256:ab",
                "r.io/x/app:9",
            ),
            (
                "r.io/x/${NAME}:9",
                "quay.io:443/org/app:1@sha256:ab",
                "r.io/x/app:9",
            ),
            ("r.io/x/${NAME}:9", "app", "r.io/x/web:9"),
        ] {
            assert_eq!(
                rewrite(registry, image, "web").as_deref(),
                Some(expected),
                "{registry} {image}"
            );
        }
        for (registry, image) in [
            ("registry.example.com", "registry.example.com/org/app"),
            ("registry.example.com", ""),
            ("registry.example.com", "$(REGISTRY)/app"),
            ("r.io/${NAME}", "${REGISTRY}/app"),
        ] {
            assert_eq!(rewrite(registry, image, "web"), None, "{registry} {image}");
        }
    }

    fn workload(kind: (&str, &str), spec: &Value) -> Object {
        let mut spec = spec.clone();
        for step in pod::spec_path(
            kind.0
                .split('/')
                .next()
                .filter(|_| kind.0 != "v1")
                .unwrap_or(""),
            kind.1,
        )
        .unwrap()
        .iter()
        .rev()
        {
            spec = json!({*step: spec});
        }
        spec["apiVersion"] = json!(kind.0);
        spec["kind"] = json!(kind.1);
        spec["metadata"] = json!({"name": "shop"});
        object(&spec)
    }

    #[test]
    fn every_kind_with_pods_is_changed_in_all_its_containers() {
        let images = Images::new()
            .with_registry("r.io")
            .with_pull_secrets(vec!["a".to_owned(), "b".to_owned()]);
        for kind in [
            ("apps/v1", "Deployment"),
            ("apps/v1", "StatefulSet"),
            ("apps/v1", "DaemonSet"),
            ("apps/v1", "ReplicaSet"),
            ("batch/v1", "Job"),
            ("batch/v1", "CronJob"),
            ("v1", "Pod"),
        ] {
            let spec = json!({
                "initContainers": [{"name": "i", "image": "a"}], "containers": [{"name": "c", "image": "b"}],
                "ephemeralContainers": [{"name": "e", "image": "c"}], "imagePullSecrets": [{"name": "b"}],
            });
            let mut changed = workload(kind, &spec);
            images.apply(&mut changed).unwrap();
            let expected = json!({
                "initContainers": [{"name": "i", "image": "r.io/a"}], "containers": [{"name": "c", "image": "r.io/b"}],
                "ephemeralContainers": [{"name": "e", "image": "r.io/c"}],
                "imagePullSecrets": [{"name": "b"}, {"name": "a"}],
            });
            assert_eq!(changed, workload(kind, &expected), "{kind:?}");
        }
        let custom = json!({"apiVersion": "example.com/v1", "kind": "Deployment", "metadata": {"name": "x"},
            "spec": {"template": {"spec": {"containers": [{"image": "a"}]}}}});
        let mut untouched = object(&custom);
        images.apply(&mut untouched).unwrap();
        assert_eq!(untouched.value(), &custom, "a kind of somebody else");
    }

    #[test]
    fn an_override_wins_and_the_closest_one_first() {
        let overrides = [
            ("shop/web", "one"),
            ("web", "two"),
            ("cart", "three"),
            ("CART_IMAGE", "four"),
            ("URL", "five"),
        ];
        let overrides = overrides.map(|(key, value)| (key.to_owned(), value.to_owned()));
        let images = Images::new()
            .with_registry("r.io")
            .with_overrides(overrides.into());
        let mut changed = workload(
            ("apps/v1", "Deployment"),
            &json!({"containers": [
                {"name": "web", "image": "q.io/a"}, {"name": "cart", "image": "q.io/a"},
                {"name": "other", "image": "q.io/a", "env": [
                    {"name": "CART_IMAGE", "value": "q.io/b"}, {"name": "WEB_IMAGE", "value": "q.io/b:1"},
                    {"name": "IMAGE", "value": "q.io/b"}, {"name": "PLAIN_IMAGE", "value": "b"},
                    {"name": "MYIMAGE", "value": "q.io/b"}, {"name": "URL", "valueFrom": {"x": {}}},
                ]},
            ]}),
        );
        images.apply(&mut changed).unwrap();
        let expected = json!({"containers": [
            {"name": "web", "image": "one"}, {"name": "cart", "image": "three"},
            {"name": "other", "image": "r.io/a", "env": [
                {"name": "CART_IMAGE", "value": "four"}, {"name": "WEB_IMAGE", "value": "r.io/b:1"},
                {"name": "IMAGE", "value": "r.io/b"}, {"name": "PLAIN_IMAGE", "value": "b"},
                {"name": "MYIMAGE", "value": "q.io/b"}, {"name": "URL", "value": "five"},
            ]},
        ]});
        assert_eq!(changed, workload(("apps/v1", "Deployment"), &expected));
    }
}
