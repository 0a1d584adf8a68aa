//! What a tree presumes about its base, checked against a copy of the base repository.
//!
//! The renderer never reads the base: names of releases, values Secrets and namespaces are agreements. A snapshot
//! shows whether they hold. The base itself is not judged; what our small kustomize does not understand there is
//! left out.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::finding::{Code, Finding, sort};

use super::{
    Contents, kustomize,
    tree_document::{FLUX, SOURCE, TreeDocument, read_documents},
};

/// Where bases lie in their repository.
pub const BASE_ROOT: &str = "applications/base/";

/// Checks a tree against a base; paths of the base are relative to the root of its repository.
pub fn check_base(cluster: &str, tree: &Contents, base: &Contents) -> Vec<Finding> {
    let documents = read_documents(tree, &mut Vec::new());
    let mut findings = included_bases(cluster, tree, base, &documents);
    for unit in documents
        .iter()
        .filter(|document| document.is("Kustomization", FLUX))
    {
        base_unit(unit, &documents, base, &mut findings);
    }
    sort(&mut findings);
    findings.dedup();
    findings
}

/// Overlays that build upon an included base, with that base in its place.
fn included_bases(
    cluster: &str,
    tree: &Contents,
    base: &Contents,
    documents: &[TreeDocument],
) -> Vec<Finding> {
    let root = format!("applications/overlays/{cluster}/");
    let mut whole = tree.clone();
    for include in documents
        .iter()
        .filter(|document| document.is("GitRepository", SOURCE))
        .filter_map(|source| source.value.pointer("/spec/include")?.as_array())
        .flatten()
    {
        let text = |key: &str| include.get(key).and_then(Value::as_str).unwrap_or_default();
        let from = format!("{}/", text("fromPath").trim_end_matches('/'));
        let Some(to) = text("toPath").strip_prefix(&root) else {
            continue;
        };
        let to = to.trim_end_matches('/');
        for (path, bytes) in base.range(from.clone()..) {
            let Some(rest) = path.strip_prefix(&from) else {
                break;
            };
            whole.insert(format!("{to}/{rest}"), bytes.clone());
        }
    }
    let builds_on_base =
        |directory: &String| !kustomize::build(tree, directory).unknown_bases.is_empty();
    tree.keys()
        .filter_map(|path| path.strip_suffix("/kustomization.yaml"))
        .map(str::to_owned)
        .filter(builds_on_base)
        .flat_map(|directory| missing_parts(&whole, tree, &directory))
        .collect()
}

/// What is wrong with an overlay now that its base is there; defects inside the base are not ours.
fn missing_parts(whole: &Contents, tree: &Contents, directory: &str) -> Vec<Finding> {
    let build = kustomize::build(whole, directory);
    let mut findings = build.findings;
    findings.retain(|finding| tree.contains_key(&finding.path));
    let listing = format!("{directory}/kustomization.yaml");
    let absent = build.unknown_bases.iter().map(|base| {
        let message = format!("the base has nothing for `{base}`");
        Finding::new(Code::Oc7006, listing.as_str(), message)
    });
    findings.extend(absent);
    findings
}

/// A unit that applies a base: the base is there, and has the releases and reads the Secret that the tree names.
fn base_unit(
    unit: &TreeDocument,
    documents: &[TreeDocument],
    base: &Contents,
    findings: &mut Vec<Finding>,
) {
    let path = unit.text("/spec/path").trim_start_matches("./");
    if !path.starts_with(BASE_ROOT) {
        return;
    }
    let path = path.trim_end_matches('/');
    let name = unit.text("/metadata/name");
    let mut report = |code, file: &str, message| findings.push(Finding::new(code, file, message));
    if !base.contains_key(&format!("{path}/kustomization.yaml")) {
        let message = format!("the base has no `{path}`, which `{name}` applies");
        return report(Code::Oc7005, &unit.path, message);
    }
    let releases = releases(base, path, unit.text("/spec/targetNamespace"));
    for check in unit.items("/spec/healthChecks") {
        let text = |key: &str| check.get(key).and_then(Value::as_str).unwrap_or_default();
        if text("kind") != "HelmRelease" {
            continue;
        }
        let wanted = (text("name"), text("namespace"));
        let is_there = releases
            .iter()
            .any(|release| (release.name.as_str(), release.namespace.as_str()) == wanted);
        if !is_there {
            let known: Vec<String> = releases.iter().map(Release::to_string).collect();
            let message = format!(
                "`{name}` waits for the HelmRelease {}/{}, the base has {}",
                wanted.1,
                wanted.0,
                if known.is_empty() {
                    "none".to_owned()
                } else {
                    known.join(", ")
                }
            );
            report(Code::Oc7003, &unit.path, message);
        }
    }
    for (file, secret) in values_secrets(unit, documents) {
        let is_read = releases
            .iter()
            .any(|release| release.values_secrets.contains(&secret));
        if !releases.is_empty() && !is_read {
            let message = format!("no HelmRelease of the base reads the values Secret {secret}");
            report(Code::Oc7007, &file, message);
        }
    }
}

/// A `HelmRelease` of a base, as Flux applies it.
struct Release {
    name: String,
    namespace: String,
    /// The Secrets that it takes values from, as `namespace/name`.
    values_secrets: BTreeSet<String>,
}

impl std::fmt::Display for Release {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}/{}", self.namespace, self.name)
    }
}

fn releases(base: &Contents, path: &str, target_namespace: &str) -> Vec<Release> {
    let objects = kustomize::build(base, path).objects;
    let releases = objects.into_iter().filter_map(|object| {
        let text = |pointer: &str| object.manifest.pointer(pointer)?.as_str();
        if text("/kind") != Some("HelmRelease") {
            return None;
        }
        let namespace = match target_namespace {
            "" => text("/metadata/namespace").unwrap_or_default(),
            everywhere => everywhere,
        };
        let sources = object.manifest.pointer("/spec/valuesFrom");
        let secrets = sources
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter(|source| source.get("kind").and_then(Value::as_str) == Some("Secret"))
            .filter_map(|source| source.get("name")?.as_str())
            .map(|name| format!("{namespace}/{name}"));
        Some(Release {
            name: text("/metadata/name")?.to_owned(),
            namespace: namespace.to_owned(),
            values_secrets: secrets.collect(),
        })
    });
    releases.collect()
}

/// The values Secrets of the overlays that stand in one file with a unit, as file and `namespace/name`.
fn values_secrets(unit: &TreeDocument, documents: &[TreeDocument]) -> Vec<(String, String)> {
    let beside = documents
        .iter()
        .filter(|document| document.path == unit.path && document.is("Kustomization", FLUX));
    let mut found = Vec::new();
    for sibling in beside {
        let path = sibling.text("/spec/path").trim_end_matches('/');
        for listing in documents.iter().filter(|document| {
            document
                .path
                .strip_suffix("/kustomization.yaml")
                .is_some_and(|directory| path.ends_with(&format!("/{directory}")))
        }) {
            let namespace = match sibling.text("/spec/targetNamespace") {
                "" => listing.text("/namespace"),
                everywhere => everywhere,
            };
            let names = listing
                .items("/secretGenerator")
                .filter_map(|item| item.get("name")?.as_str());
            found.extend(names.map(|name| (listing.path.clone(), format!("{namespace}/{name}"))));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNITS: &str = "\
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: cache-base}
spec:
  path: applications/base/services/cache
  targetNamespace: caching
  healthChecks:
    - {apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, name: cache, namespace: caching}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: cache-override}
spec:
  path: ./applications/overlays/alpha/services/cache
  targetNamespace: caching
";

    const OVERLAY: &str = "\
namespace: caching
secretGenerator:
  - {name: cache-values-override, files: [override.yaml=values.yaml], options: {disableNameSuffixHash: true}}
";

    const RELEASE: &str = "\
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: cache, namespace: elsewhere}
spec:
  valuesFrom:
    - {kind: Secret, name: cache-values-override, optional: true}
";

    fn contents(files: &[(&str, &str)]) -> Contents {
        files
            .iter()
            .map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec()))
            .collect()
    }

    fn tree() -> Contents {
        contents(&[
            ("services/fluxcd/cache.yaml", UNITS),
            ("services/cache/kustomization.yaml", OVERLAY),
            ("services/cache/values.yaml", "a: 1\n"),
        ])
    }

    fn base(release: &str) -> Contents {
        contents(&[
            (
                "applications/base/services/cache/kustomization.yaml",
                "resources: [release.yaml]\n",
            ),
            ("applications/base/services/cache/release.yaml", release),
        ])
    }

    fn messages(tree: &Contents, base: &Contents) -> Vec<String> {
        check_base("alpha", tree, base)
            .iter()
            .map(|finding| format!("{} {}", finding.code, finding.message))
            .collect()
    }

    #[test]
    fn what_the_tree_presumes_holds() {
        assert_eq!(messages(&tree(), &base(RELEASE)), Vec::<String>::new());
    }

    #[test]
    fn a_base_that_is_not_there_is_named() {
        assert_eq!(
            messages(&tree(), &Contents::new()),
            [
                "OC7005 the base has no `applications/base/services/cache`, which `cache-base` applies"
            ]
        );
    }

    #[test]
    fn another_release_or_secret_is_named() {
        let other = RELEASE.replace("name: cache,", "name: store,");
        assert_eq!(
            messages(&tree(), &base(&other)),
            [
                "OC7003 `cache-base` waits for the HelmRelease caching/cache, the base has caching/store"
            ]
        );
        let other = RELEASE.replace("cache-values-override", "cache-values");
        assert_eq!(
            messages(&tree(), &base(&other)),
            [
                "OC7007 no HelmRelease of the base reads the values Secret caching/cache-values-override"
            ]
        );
    }

    #[test]
    fn a_patch_of_an_included_base_needs_its_target() {
        let tree = contents(&[
            (
                "services/sources/cache.yaml",
                "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: cache}\nspec:\n  include:\n    - {repository: {name: base}, fromPath: applications/base/services/cache, toPath: applications/overlays/alpha/services/base/cache/}\n",
            ),
            (
                "services/cache/kustomization.yaml",
                "resources: [../base/cache]\npatches: [{path: patch.yaml}]\n",
            ),
            (
                "services/cache/patch.yaml",
                "kind: HelmRelease\nmetadata: {name: cache}\nspec: {interval: 1m}\n",
            ),
        ]);
        assert_eq!(messages(&tree, &base(RELEASE)), Vec::<String>::new());
        let other = RELEASE.replace("name: cache,", "name: store,");
        assert_eq!(
            messages(&tree, &base(&other)),
            ["OC7006 there is no HelmRelease /cache to patch"]
        );
        assert_eq!(
            messages(&tree, &Contents::new()),
            ["OC7006 the base has nothing for `services/base/cache`"]
        );
    }
}
