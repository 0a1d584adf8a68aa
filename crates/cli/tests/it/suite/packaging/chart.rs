//! Clowder's Helm chart, as Helm reads it.

use std::{collections::BTreeMap, sync::LazyLock};

use mainstay_control_plane::tools::{Tool, Tools};
use mainstay_testkit::{Program, program::Ended};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::clowder::{documents, package, parsed};

/// The namespace of the plain manifests.
const NAMESPACE: &str = "clowder-system";
/// Annotation by which pods follow their configuration; only Helm needs it.
const CHECKSUM: &str = "/spec/template/metadata/annotations/checksum~1config";

static TOOLS: LazyLock<Tools> =
    LazyLock::new(|| Tools::find_or_build(&|_| {}).expect("the tools can be built"));

/// Helm beside the chart, with a home of its own.
async fn helm(directory: &TempDir, arguments: &[&str]) -> Ended {
    let program = Program::new(TOOLS.path(Tool::Helm), arguments);
    let program = program.environment("HOME", directory.path());
    program.in_directory(directory.path()).run().await
}

/// What a release in a namespace consists of, definitions included.
async fn release(directory: &TempDir, namespace: &str, values: &[&str]) -> Objects {
    let template = ["template", "clowder", "chart", "--include-crds"];
    let arguments = [&template, ["--namespace", namespace].as_slice(), values].concat();
    let printed = helm(directory, &arguments).await.success();
    Objects::of(parsed("the release", &printed))
}

/// Objects by kind and name.
#[derive(Debug, PartialEq)]
struct Objects(BTreeMap<(String, String), Value>);

impl Objects {
    fn of(documents: Vec<Value>) -> Self {
        let count = documents.len();
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let named = documents.into_iter().map(|document| {
            let key = (text(&document["kind"]), text(&document["metadata"]["name"]));
            (key, document)
        });
        let objects = Self(named.collect());
        assert_eq!(objects.0.len(), count, "each is there once");
        objects
    }

    fn take(&mut self, kind: &str, name: &str) -> Value {
        self.0.remove(&(kind.to_owned(), name.to_owned())).unwrap()
    }

    /// Takes the configuration out, which is a text, and the Deployment with its checksum.
    fn take_operator(&mut self) -> (Value, Value, String) {
        let config = self.take("ConfigMap", "clowder-config");
        let config = config["data"]["clowder_config.json"].as_str().unwrap();
        let config = serde_json::from_str(config).unwrap();
        let mut deployment = self.take("Deployment", "clowder-controller-manager");
        let checksum = deployment.pointer_mut(CHECKSUM).map(Value::take);
        let checksum = checksum.and_then(|value| Some(value.as_str()?.to_owned()));
        let annotations = deployment.pointer_mut("/spec/template/metadata/annotations");
        annotations
            .and_then(Value::as_object_mut)
            .unwrap()
            .remove("checksum/config");
        (config, deployment, checksum.unwrap_or_default())
    }
}

#[tokio::test]
async fn helm_finds_nothing_wrong_with_the_chart() {
    let directory = package().await;
    for values in [[].as_slice(), &["--set", "webhooks=false"]] {
        let arguments = [&["lint", "chart", "--strict"], values].concat();
        let said = helm(&directory, &arguments).await.success();
        assert!(
            said.contains("1 chart(s) linted, 0 chart(s) failed"),
            "{said}"
        );
        for word in ["[WARNING]", "[ERROR]"] {
            assert!(!said.contains(word), "{said}");
        }
    }
}

#[tokio::test]
async fn a_release_is_what_the_plain_manifests_install() {
    let directory = package().await;
    for (values, plain) in [
        ([].as_slice(), "clowder.yaml"),
        (
            &["--set", "webhooks=false"],
            "clowder-without-webhooks.yaml",
        ),
    ] {
        let mut release = release(&directory, NAMESPACE, values).await;
        let mut plain = Objects::of(documents(&directory, plain));
        // Who installs a release names a namespace.
        plain.take("Namespace", NAMESPACE);
        let (mut config, mut deployment, checksum) = release.take_operator();
        assert_eq!(checksum.len(), 64, "{checksum}");
        // A release with webhooks says twice what else goes without saying.
        if values.is_empty() {
            let secret = &mut deployment["spec"]["template"]["spec"]["volumes"][1]["secret"];
            for (parent, word) in [
                (&mut config["features"], "disableWebhooks"),
                (secret, "optional"),
            ] {
                let fields = parent.as_object_mut().unwrap();
                assert_eq!(fields.remove(word), Some(json!(false)), "{word}");
            }
        }
        let (plain_config, plain_deployment, _) = plain.take_operator();
        assert_eq!(config, plain_config, "{values:?}");
        assert_eq!(deployment, plain_deployment, "{values:?}");
        let names = |objects: &Objects| objects.0.keys().cloned().collect::<Vec<_>>();
        assert_eq!(names(&release), names(&plain), "{values:?}");
        for (key, object) in &release.0 {
            assert_eq!(Some(object), plain.0.get(key), "{key:?}");
        }
    }
}

#[tokio::test]
async fn values_reach_the_operator_and_nothing_else() {
    let directory = package().await;
    let mut usual = release(&directory, "elsewhere", &[]).await;
    let changes = [
        "--set",
        "replicas=3,image.repository=registry.test/clowder,image.tag=9,resources.limits.memory=1Gi",
        "--set",
        "config.features.enableKedaResources=true",
    ];
    let mut changed = release(&directory, "elsewhere", &changes).await;
    let (mut config, mut deployment, checksum) = usual.take_operator();
    let (new_config, new_deployment, new_checksum) = changed.take_operator();
    assert_eq!(usual, changed);
    config["features"]["enableKedaResources"] = json!(true);
    assert_eq!(new_config, config);
    assert_ne!(new_checksum, checksum, "pods follow their configuration");
    assert_eq!(deployment["metadata"]["namespace"], "elsewhere");
    deployment["spec"]["replicas"] = json!(3);
    let container = &mut deployment["spec"]["template"]["spec"]["containers"][0];
    container["image"] = json!("registry.test/clowder:9");
    container["resources"]["limits"]["memory"] = json!("1Gi");
    assert_eq!(new_deployment, deployment);
}

#[tokio::test]
async fn a_digest_wins_over_the_tag() {
    let directory = package().await;
    let digest = format!("sha256:{}", "0123456789abcdef".repeat(4));
    let values = format!("image.repository=registry.test/clowder,image.digest={digest}");
    let mut release = release(&directory, NAMESPACE, &["--set", &values]).await;
    let (_, deployment, _) = release.take_operator();
    assert_eq!(
        deployment["spec"]["template"]["spec"]["containers"][0]["image"],
        format!("registry.test/clowder@{digest}")
    );
}
