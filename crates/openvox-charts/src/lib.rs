//! Helm charts for OpenVox: [`operator`] installs the operator, [`stack`] the objects of a Puppet estate, and [`postgres`] a
//! database for its OpenVox DB.
//!
//! The templates are texts beside this file: they are made of loops and conditions, which objects with actions in them
//! cannot say. What is known elsewhere (definitions, permissions, image, version) is put in here. Nothing is written.
#![deny(missing_docs)]

use mainstay_package::{File, Image, chart};
use serde_json::Value;

/// What the chart of the operator takes from elsewhere.
#[derive(Clone, Debug)]
pub struct Operator<'a> {
    /// The definitions, with the names of their files.
    pub definitions: Vec<(String, Value)>,
    /// Rules of its role, in all namespaces or in one.
    pub rules: &'a [Value],
    /// Kinds that have a webhook: the plural and the kind in small letters.
    pub validated: &'a [(&'a str, &'a str)],
    /// The image, which nobody publishes for everybody.
    pub image: &'a Image,
    /// Version of the chart and of the operator.
    pub version: &'a str,
}

macro_rules! texts {
    ($chart:literal: $($file:literal),+ $(,)?) => {
        [$(($file, include_str!(concat!("../charts/", $chart, "/", $file)))),+]
    };
}

/// All charts, each in a directory of its own under `charts/`.
pub fn all(operator: &Operator<'_>) -> Vec<File> {
    let version = operator.version;
    let charts = [self::operator(operator), stack(version), postgres(version)];
    let files = charts.into_iter().flatten();
    let below = |file: File| File {
        path: format!("charts/{}", file.path),
        ..file
    };
    files.map(below).collect()
}

/// The chart of the operator, under `openvox-operator/`.
pub fn operator(operator: &Operator<'_>) -> Vec<File> {
    let values = operator.image.values();
    let quoted = |name: &str| values[name].to_string();
    let kinds = operator.validated.iter();
    let kinds: Vec<String> = kinds
        .map(|(plural, kind)| format!("\"{plural}\" \"{kind}\""))
        .collect();
    let rules: Value = operator.rules.iter().cloned().collect();
    let rules = mainstay_yaml::print(&rules);
    let known = [
        ("__REPOSITORY__", quoted("repository")),
        ("__TAG__", quoted("tag")),
        ("__DIGEST__", quoted("digest")),
        ("__RULES__", rules.trim_end().to_owned()),
        ("__KINDS__", kinds.join(" ")),
    ];
    let texts = texts!("openvox-operator":
        "values.yaml",
        "templates/_helpers.tpl",
        "templates/certificates.yaml",
        "templates/deployment.yaml",
        "templates/rbac.yaml",
        "templates/webhook.yaml",
    );
    let texts = texts.map(|(path, text)| {
        let text = known.iter().fold(text.to_owned(), |text, (place, known)| {
            text.replace(place, known)
        });
        (path, text)
    });
    let about = "The operator for OpenVox: certificate authorities, servers, pools and databases.";
    let mut files = files("openvox-operator", about, operator.version, texts);
    files.extend(operator.definitions.iter().map(|(name, definition)| {
        let path = format!("openvox-operator/crds/{name}");
        File::yaml(path, [definition.clone()])
    }));
    files
}

/// The chart of a Puppet estate, under `openvox-stack/`.
pub fn stack(version: &str) -> Vec<File> {
    let texts = texts!("openvox-stack":
        "values.yaml",
        "templates/_helpers.tpl",
        "templates/certificateauthority.yaml",
        "templates/config.yaml",
        "templates/database.yaml",
        "templates/policies.yaml",
        "templates/pools.yaml",
        "templates/servers.yaml",
    );
    let about = "A Puppet estate: authority, servers, pools, policies and a database.";
    files("openvox-stack", about, version, owned(texts))
}

/// The chart of a PostgreSQL cluster of `CloudNativePG`, under `openvox-db-postgres/`.
pub fn postgres(version: &str) -> Vec<File> {
    let texts = texts!("openvox-db-postgres":
        "values.yaml",
        "templates/cluster.yaml",
    );
    let about = "PostgreSQL for an OpenVox DB, by CloudNativePG.";
    files("openvox-db-postgres", about, version, owned(texts))
}

fn owned<const N: usize>(texts: [(&'static str, &'static str); N]) -> [(&'static str, String); N] {
    texts.map(|(path, text)| (path, text.to_owned()))
}

fn files(
    name: &str,
    description: &str,
    version: &str,
    texts: impl IntoIterator<Item = (&'static str, String)>,
) -> Vec<File> {
    let about = chart::about(name, description, version);
    let mut files = vec![File::yaml(format!("{name}/Chart.yaml"), [about])];
    let texts = texts.into_iter();
    files.extend(texts.map(|(path, text)| File::text(format!("{name}/{path}"), text)));
    files
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn nothing_that_is_put_in_stays_open() {
        let image = Image::tagged("registry.test/openvox", "1.2.3");
        let files = operator(&Operator {
            definitions: vec![(
                "a.yaml".to_owned(),
                json!({"kind": "CustomResourceDefinition"}),
            )],
            rules: &[json!({"apiGroups": [""], "resources": ["secrets"], "verbs": ["get"]})],
            validated: &[("pools", "pool")],
            image: &image,
            version: "1.2.3",
        });
        let text = |path: &str| {
            let file = files.iter().find(|file| file.path == path).unwrap();
            file.print(|documents| mainstay_yaml::print_documents(documents))
        };
        for file in &files {
            let text = file.print(|documents| mainstay_yaml::print_documents(documents));
            assert!(!text.contains("__"), "{}", file.path);
        }
        assert!(
            text("openvox-operator/values.yaml").contains("repository: \"registry.test/openvox\"")
        );
        assert!(
            text("openvox-operator/templates/webhook.yaml").contains("dict \"pools\" \"pool\" }}")
        );
        assert!(text("openvox-operator/templates/rbac.yaml").contains("  - secrets\n"));
        assert!(text("openvox-operator/crds/a.yaml").contains("CustomResourceDefinition"));
    }
}
