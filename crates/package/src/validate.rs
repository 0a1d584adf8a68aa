//! Rules that every bundle has to keep. A catalog would refuse what breaks them, only later.

use std::fmt;

use semver::Version;
use serde_json::Value;

use crate::{File, Product, csv};

/// Annotation that lists the channels.
pub const CHANNELS: &str = "operators.operatorframework.io.bundle.channels.v1";

const INSTALL_MODES: [&str; 4] = [
    "OwnNamespace",
    "SingleNamespace",
    "MultiNamespace",
    "AllNamespaces",
];

const CAPABILITIES: [&str; 5] = [
    "Basic Install",
    "Seamless Upgrades",
    "Full Lifecycle",
    "Deep Insights",
    "Auto Pilot",
];

/// A rule that is broken, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation(String);

impl fmt::Display for Violation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// Checks the files of a bundle against the permissions that the operator needs; empty if all is well.
pub fn validate(product: &Product, files: &[File]) -> Vec<Violation> {
    let documents: Vec<&Value> = files.iter().flat_map(File::documents).collect();
    let csvs: Vec<&Value> = of_kind(&documents, "ClusterServiceVersion").collect();
    let mut found = Findings::default();
    let [csv] = csvs.as_slice() else {
        found.say(format!(
            "there must be one ClusterServiceVersion, not {}",
            csvs.len()
        ));
        return found.violations;
    };
    check_identity(csv, product.name, &mut found);
    check_owned(csv, &documents, &mut found);
    check_channels(&documents, &mut found);
    check_examples(csv, &mut found);
    check_install_modes(csv, &mut found);
    check_people(csv, &mut found);
    let roles = product.objects.iter();
    for cluster_role in roles.filter(|object| object["kind"] == "ClusterRole") {
        check_permissions(csv, cluster_role, &mut found);
    }
    found.violations
}

#[derive(Default)]
struct Findings {
    violations: Vec<Violation>,
}

impl Findings {
    fn say(&mut self, text: String) {
        self.violations.push(Violation(text));
    }

    fn demand(&mut self, kept: bool, text: impl FnOnce() -> String) {
        if !kept {
            self.say(text());
        }
    }
}

fn check_identity(csv: &Value, operator: &str, found: &mut Findings) {
    let version = text(csv, "/spec/version");
    for (field, value) in [
        ("version", version),
        ("minKubeVersion", text(csv, "/spec/minKubeVersion")),
    ] {
        found.demand(Version::parse(value).is_ok(), || {
            format!("spec.{field} `{value}` is not a semantic version")
        });
    }
    let (name, expected) = (text(csv, "/metadata/name"), csv::name(operator, version));
    found.demand(name == expected, || {
        format!("the name `{name}` is not `{expected}`")
    });
    found.demand(text(csv, "/spec/replaces") != name, || {
        format!("`{name}` replaces itself")
    });
}

fn check_owned(csv: &Value, documents: &[&Value], found: &mut Findings) {
    for owned in owned(csv) {
        let (name, version) = (text(owned, "/name"), text(owned, "/version"));
        let definition = of_kind(documents, "CustomResourceDefinition")
            .find(|crd| crd["metadata"]["name"] == name);
        match definition {
            None => found.say(format!("the owned definition {name} is not in the bundle")),
            Some(crd) => {
                let mut versions = list(crd, "/spec/versions");
                let served =
                    versions.any(|entry| entry["name"] == version && entry["served"] == true);
                found.demand(served, || {
                    format!("the owned definition {name} does not serve {version}")
                });
            }
        }
    }
    found.demand(owned(csv).next().is_some(), || {
        "no definition is owned".to_owned()
    });
}

fn check_channels(documents: &[&Value], found: &mut Findings) {
    let annotations = documents
        .iter()
        .find_map(|document| document.get("annotations"));
    let channels = annotations
        .and_then(|annotations| annotations[CHANNELS].as_str())
        .unwrap_or_default();
    found.demand(
        channels.split(',').any(|channel| !channel.is_empty()),
        || "there is no channel".to_owned(),
    );
}

fn check_examples(csv: &Value, found: &mut Findings) {
    let examples = serde_json::from_str(text(csv, "/metadata/annotations/alm-examples"));
    let Ok(Value::Array(examples)) = examples else {
        found.say("alm-examples is not a JSON list".to_owned());
        return;
    };
    for example in &examples {
        let is_owned = owned(csv).any(|owned| {
            let api_version = csv::owned_api_version(text(owned, "/name"), text(owned, "/version"));
            example["kind"] == owned["kind"]
                && example["apiVersion"].as_str() == api_version.as_deref()
        });
        found.demand(is_owned, || {
            format!(
                "the example {} {} is of no owned kind",
                example["apiVersion"], example["kind"]
            )
        });
    }
}

fn check_install_modes(csv: &Value, found: &mut Findings) {
    for mode in INSTALL_MODES {
        let stated = list(csv, "/spec/installModes")
            .any(|entry| entry["type"] == mode && entry["supported"].is_boolean());
        found.demand(stated, || format!("install mode {mode} is not stated"));
    }
}

fn check_people(csv: &Value, found: &mut Findings) {
    let capabilities = text(csv, "/metadata/annotations/capabilities");
    found.demand(CAPABILITIES.contains(&capabilities), || {
        format!("`{capabilities}` is not a capability level")
    });
    found.demand(list(csv, "/spec/maintainers").next().is_some(), || {
        "there is no maintainer".to_owned()
    });
    for maintainer in list(csv, "/spec/maintainers") {
        let address = text(maintainer, "/email");
        found.demand(is_address(address), || {
            format!("`{address}` is not an e-mail address")
        });
    }
}

fn check_permissions(csv: &Value, cluster_role: &Value, found: &mut Findings) {
    let granted: Vec<&Value> = list(csv, "/spec/install/spec/clusterPermissions")
        .flat_map(|entry| list(entry, "/rules"))
        .collect();
    for rule in list(cluster_role, "/rules") {
        found.demand(granted.contains(&rule), || {
            format!("the rule for {} is missing", rule["resources"])
        });
    }
}

/// One `@` between a name and a host with a dot, without blanks.
fn is_address(address: &str) -> bool {
    let plain =
        !address.contains(|character: char| character.is_whitespace() || character.is_control());
    let parts = address.split_once('@').filter(|(name, _)| !name.is_empty());
    plain
        && parts.is_some_and(|(_, host)| {
            !host.contains('@')
                && host.contains('.')
                && host.split('.').all(|label| !label.is_empty())
        })
}

fn owned(csv: &Value) -> impl Iterator<Item = &Value> {
    list(csv, "/spec/customresourcedefinitions/owned")
}

fn of_kind<'bundle>(
    documents: &[&'bundle Value],
    kind: &str,
) -> impl Iterator<Item = &'bundle Value> {
    documents
        .iter()
        .copied()
        .filter(move |document| document["kind"] == kind)
}

fn list<'value>(value: &'value Value, pointer: &str) -> impl Iterator<Item = &'value Value> {
    value
        .pointer(pointer)
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
}

fn text<'value>(value: &'value Value, pointer: &str) -> &'value str {
    value
        .pointer(pointer)
        .and_then(Value::as_str)
        .unwrap_or_default()
}
