//! One example of each system: applied, waited for, shown.

use std::{
    path::Path,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, bail, ensure};
use serde_json::Value;

use super::Cluster;
use crate::{
    printer::{print, say},
    workspace,
};

/// How long an example may take to become ready.
const LIMIT: Duration = Duration::from_mins(2);

/// One row of the table: the objects of `kinds` in `directory`.
struct Example {
    system: &'static str,
    directory: &'static str,
    kinds: &'static [&'static str],
}

/// Every system's example, in the order of showing.
const EXAMPLES: &[Example] = &[
    Example {
        system: "kaoto",
        directory: "examples/kaoto",
        kinds: &["Kaoto"],
    },
    Example {
        system: "clowder",
        directory: "examples/clowder",
        kinds: &["ClowdEnvironment", "ClowdApp", "ClowdJobInvocation"],
    },
];

/// Installs the CRDs, as a user would: `mainstay crds | kubectl apply --server-side -f -`.
pub(super) fn define_kinds(cluster: &Cluster, binary: &Path) -> anyhow::Result<()> {
    let mut printing = Command::new(binary)
        .arg("crds")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .context("could not run mainstay")?;
    let definitions = printing.stdout.take().context("mainstay has no output")?;
    let applied = kubectl(cluster)
        .args(["apply", "--server-side", "-f", "-"])
        .stdin(definitions)
        .stdout(Stdio::null())
        .status()
        .context("could not run kubectl")?;
    ensure!(printing.wait()?.success(), "`mainstay crds` failed");
    ensure!(applied.success(), "kubectl could not apply the CRDs");
    let wait = ["wait", "--for=condition=Established", "crds", "--all"];
    run_kubectl(cluster, &wait)?;
    Ok(())
}

/// Applies every example, then waits for each and prints its tree.
pub(super) fn show_all(cluster: &Cluster, binary: &Path) -> anyhow::Result<()> {
    let mut roots = Vec::new();
    for example in EXAMPLES {
        let directory = workspace::path(example.directory);
        let arguments = ["apply", "--server-side", "-o", "json", "-f"];
        say(&format!("applying {}", example.directory));
        let applied = run_kubectl(
            cluster,
            &[&arguments[..], &[&directory.to_string_lossy()]].concat(),
        )?;
        for kind in example.kinds {
            let found = names(&applied, kind)?;
            ensure!(
                !found.is_empty(),
                "{} has no object of kind {kind}",
                example.directory
            );
            roots.extend(found.into_iter().map(|root| (example, root)));
        }
    }
    for (example, root) in roots {
        say(&format!("waiting for {} {root}", example.system));
        wait(cluster, binary, example, &root)?;
        print(&format!("\n# {}: {root}\n", example.system))?;
        let status = mainstay(cluster, binary, "tree", &root)
            .status()
            .context("could not run mainstay")?;
        ensure!(status.success(), "`mainstay tree` failed");
    }
    Ok(())
}

/// An object. One without a namespace belongs to the whole cluster.
#[derive(Debug, PartialEq, Eq)]
struct Root {
    kind: String,
    namespace: Option<String>,
    name: String,
}

impl std::fmt::Display for Root {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.namespace {
            Some(namespace) => write!(formatter, "{} {namespace}/{}", self.kind, self.name),
            None => write!(formatter, "{} {}", self.kind, self.name),
        }
    }
}

/// Waits until `mainstay why` finds nothing to complain about, down to the pods.
fn wait(cluster: &Cluster, binary: &Path, example: &Example, root: &Root) -> anyhow::Result<()> {
    let started = Instant::now();
    loop {
        let why = mainstay(cluster, binary, "why", root).output();
        let why = why.context("could not run mainstay")?;
        if why.status.success() {
            return Ok(());
        }
        let words = [why.stdout, why.stderr].concat();
        ensure!(
            started.elapsed() < LIMIT,
            "{} {root} did not become ready:\n{}",
            example.system,
            String::from_utf8_lossy(&words)
        );
        thread::sleep(Duration::from_millis(250));
    }
}

/// A command of the product about one object.
fn mainstay(cluster: &Cluster, binary: &Path, command: &str, root: &Root) -> Command {
    let mut mainstay = Command::new(binary);
    mainstay
        .arg(command)
        .arg(format!("{}/{}", root.kind.to_lowercase(), root.name))
        .env("KUBECONFIG", &cluster.kubeconfig);
    if let Some(namespace) = &root.namespace {
        mainstay.args(["-n", namespace]);
    }
    mainstay
}

/// The objects of `kind` in what `kubectl apply -o json` prints: one object, or a list.
fn names(applied: &str, kind: &str) -> anyhow::Result<Vec<Root>> {
    let value: Value = serde_json::from_str(applied).context("kubectl did not print JSON")?;
    let items = match value.get("items").and_then(Value::as_array) {
        Some(items) => items.clone(),
        None => vec![value],
    };
    let text = |item: &Value, pointer: &str| item.pointer(pointer)?.as_str().map(str::to_owned);
    Ok(items
        .iter()
        .filter(|item| text(item, "/kind").as_deref() == Some(kind))
        .filter_map(|item| {
            Some(Root {
                kind: kind.to_owned(),
                namespace: text(item, "/metadata/namespace"),
                name: text(item, "/metadata/name")?,
            })
        })
        .collect())
}

fn kubectl(cluster: &Cluster) -> Command {
    let mut command = Command::new(&cluster.kubectl);
    command.env("KUBECONFIG", &cluster.kubeconfig);
    command
}

/// Runs kubectl and returns what it prints.
fn run_kubectl(cluster: &Cluster, arguments: &[&str]) -> anyhow::Result<String> {
    let output = kubectl(cluster)
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .context("could not run kubectl")?;
    if !output.status.success() {
        bail!(
            "`kubectl {}` failed: {}",
            arguments.join(" "),
            String::from_utf8_lossy(&output.stderr).trim()
        );
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_objects_of_a_kind_in_a_list_and_alone() {
        let one = r#"{"kind":"Kaoto","metadata":{"namespace":"demo","name":"editor"}}"#;
        let list = format!(
            r#"{{"kind":"List","items":[{{"kind":"Namespace","metadata":{{"name":"demo"}}}},{one}]}}"#
        );
        let expected = [Root {
            kind: "Kaoto".into(),
            namespace: Some("demo".into()),
            name: "editor".into(),
        }];
        assert_eq!(names(one, "Kaoto").unwrap(), expected);
        assert_eq!(names(&list, "Kaoto").unwrap(), expected);
        assert!(names(&list, "Connector").unwrap().is_empty());
        let everywhere = &names(&list, "Namespace").unwrap()[0];
        assert_eq!(everywhere.to_string(), "Namespace demo");
    }
}
