//! What the first render of a tree that somebody else wrote holds back, so that Flux deletes nothing.
//!
//! Flux deletes what a unit applied when the unit goes, or when the unit applies it no more. Neither may happen just
//! because another program writes the tree. So an adoption takes two renders: the first keeps units that go, asleep and
//! without pruning; lets no unit prune, and none recreate that did not before; and reads sources from where they were.
//! Once Flux has seen that, every unit knows what it applies now, and the second render lets go. What is held back is
//! written down in the tree, because renders in between must hold it back too.

use std::collections::{BTreeMap, BTreeSet};

use mainstay_yaml::{Limits, Node, SourceName, from_value_strict, parse_bytes, print_manifests};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::flux::{FluxUnit, GitRepository};

use super::{
    Contents,
    tree_document::{FLUX, SOURCE, TreeDocument, by_name, read_documents},
};

/// Where it is written down, in the overlay.
pub const ADOPTION_RECORD: &str = ".adoption.yaml";

/// The file with the units that go, below `services/fluxcd`.
pub(crate) const RETIRED_UNITS: &str = "adopted-units.yaml";

const PREAMBLE: &str = "\
# What is held back since this tree was taken over, so that Flux deletes nothing.
# `cluster render --finish-adoption` lets go; the page about adoption says when.
";

/// Fields of a unit that mean nothing while it sleeps, may name what is gone, or would delete at its end after all.
const MEANINGLESS_ASLEEP: [&str; 6] = [
    "deletionPolicy",
    "dependsOn",
    "healthCheckExprs",
    "healthChecks",
    "timeout",
    "wait",
];

/// What is held back.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Adoption {
    /// Units that must not prune before they know what they apply now.
    unpruned: BTreeSet<String>,
    /// Units that did not recreate before.
    unforced: BTreeSet<String>,
    /// Sources that were read from elsewhere.
    sources: BTreeMap<String, HeldSource>,
    /// Units that go, as manifests by name.
    retired: BTreeMap<String, Value>,
}

/// Where a source was read from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct HeldSource {
    url: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    secret: Option<String>,
}

impl Adoption {
    /// What to hold back when the second tree takes the place of the first.
    pub fn begin(before: &Contents, after: &Contents) -> Self {
        // What is no YAML is told by the check of the tree.
        let old = read_documents(before, &mut Vec::new());
        let new = read_documents(after, &mut Vec::new());
        let mut adoption = Self::default();
        let successors = by_name(&new, "Kustomization", FLUX);
        for (name, unit) in by_name(&old, "Kustomization", FLUX) {
            match successors.get(name) {
                None if unit.deletes_at_its_end() => {
                    adoption.retired.insert(name.to_owned(), asleep(unit));
                }
                None => {}
                Some(successor) => {
                    // Whether it pruned before makes no difference: it will, by what it applied before.
                    if successor.is_set("/spec/prune") {
                        adoption.unpruned.insert(name.to_owned());
                    }
                    if !unit.is_set("/spec/force") && successor.is_set("/spec/force") {
                        adoption.unforced.insert(name.to_owned());
                    }
                }
            }
        }
        let successors = by_name(&new, "GitRepository", SOURCE);
        for (name, source) in by_name(&old, "GitRepository", SOURCE) {
            let held = HeldSource::of(source);
            let moves = successors
                .get(name)
                .is_some_and(|successor| HeldSource::of(successor) != held);
            if moves && !held.url.is_empty() {
                adoption.sources.insert(name.to_owned(), held);
            }
        }
        adoption
    }

    /// Reads the record of a tree.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, mainstay_yaml::Error> {
        let source = SourceName::new(ADOPTION_RECORD);
        let documents = parse_bytes(bytes, &source, &Limits::default())?;
        documents
            .first()
            .map_or_else(|| Ok(Self::default()), from_value_strict)
    }

    /// The record.
    pub(crate) fn to_text(&self) -> String {
        let value = serde_json::to_value(self).unwrap_or_default();
        format!("{PREAMBLE}{}", mainstay_yaml::print(&value))
    }

    /// Whether nothing is held back.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// How many units and sources are held back.
    pub fn count(&self) -> usize {
        let units: BTreeSet<&String> = self.unpruned.union(&self.unforced).collect();
        units.len() + self.sources.len() + self.retired.len()
    }

    /// A unit as it may be for now.
    pub(crate) fn hold_unit(&self, mut unit: FluxUnit) -> FluxUnit {
        unit.prune &= !self.unpruned.contains(&unit.name);
        if self.unforced.contains(&unit.name) {
            unit.force = unit.force.filter(|force| !force);
        }
        unit
    }

    /// A source as it may be for now.
    pub(crate) fn hold_source(&self, mut source: GitRepository) -> GitRepository {
        if let Some(held) = self.sources.get(&source.name) {
            source.url.clone_from(&held.url);
            source.secret_name.clone_from(&held.secret);
            source.alternative = None;
        }
        source
    }

    /// Whether there are units that go.
    pub(crate) fn retires(&self) -> bool {
        !self.retired.is_empty()
    }

    /// Whether a unit of this name goes.
    pub(crate) fn retires_unit(&self, name: &str) -> bool {
        self.retired.contains_key(name)
    }

    /// Wakes units that are in the tree again. What they applied before may belong to others now, so they do not prune.
    pub(crate) fn awake<'n>(&self, names: impl IntoIterator<Item = &'n str>) -> Self {
        let mut rest = self.clone();
        for name in names {
            if rest.retired.remove(name).is_some() {
                rest.unpruned.insert(name.to_owned());
            }
        }
        rest
    }

    /// The manifests of the units that go.
    pub(crate) fn retired_units(&self) -> String {
        let nodes: Vec<Node> = self.retired.values().map(Node::from).collect();
        print_manifests(&nodes)
    }
}

impl HeldSource {
    fn of(source: &TreeDocument) -> Self {
        let secret = source.text("/spec/secretRef/name");
        Self {
            url: source.text("/spec/url").to_owned(),
            secret: (!secret.is_empty()).then(|| secret.to_owned()),
        }
    }
}

/// A unit that Flux leaves alone, and whose end changes nothing: `suspend` and the lack of `prune` each suffice.
fn asleep(unit: &TreeDocument) -> Value {
    let mut spec = unit.value.get("spec").cloned().unwrap_or_else(|| json!({}));
    if let Some(fields) = spec.as_object_mut() {
        fields.retain(|name, _| !MEANINGLESS_ASLEEP.contains(&name.as_str()));
        fields.insert("prune".to_owned(), false.into());
        fields.insert("suspend".to_owned(), true.into());
    }
    json!({
        "apiVersion": unit.text("/apiVersion"),
        "kind": "Kustomization",
        "metadata": {
            "name": unit.text("/metadata/name"),
            "namespace": unit.text("/metadata/namespace"),
        },
        "spec": spec,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(text: &str) -> Contents {
        Contents::from([(
            "services/fluxcd/x.yaml".to_owned(),
            text.as_bytes().to_vec(),
        )])
    }

    const BEFORE: &str = "\
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: olm-base, namespace: flux-system}
spec: {interval: 5m, path: ./olm, prune: true, deletionPolicy: Delete, wait: true, dependsOn: [{name: gone}], sourceRef: {kind: GitRepository, name: s}}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: kept, namespace: flux-system}
spec: {path: ./a, prune: true}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: harmless, namespace: flux-system}
spec: {path: ./b, prune: false}
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: s, namespace: flux-system}
spec: {url: 'https://h/x.git', secretRef: {name: token}}
";

    const AFTER: &str = "\
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: kept, namespace: flux-system}
spec: {path: ./a, prune: true, force: true}
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: s, namespace: flux-system}
spec: {url: 'ssh://git@h/x.git', secretRef: {name: key}}
";

    #[test]
    fn whatever_flux_would_delete_recreate_or_move_is_held_back() {
        let adoption = Adoption::begin(&tree(BEFORE), &tree(AFTER));
        assert!(adoption.unpruned.contains("kept") && adoption.unforced.contains("kept"));
        let source = adoption.sources.get("s").unwrap();
        assert_eq!(
            (source.url.as_str(), source.secret.as_deref()),
            ("https://h/x.git", Some("token"))
        );
        let names: Vec<&String> = adoption.retired.keys().collect();
        assert_eq!(names, ["olm-base"]);
        assert_eq!(adoption.count(), 3);
        assert!(
            Adoption::begin(&tree(AFTER), &tree(AFTER))
                .sources
                .is_empty()
        );
    }

    #[test]
    fn a_unit_that_goes_sleeps_and_waits_for_nothing() {
        let adoption = Adoption::begin(&tree(BEFORE), &tree(AFTER));
        let text = adoption.retired_units();
        for line in ["  prune: false\n", "  suspend: true\n", "  path: ./olm\n"] {
            assert!(text.contains(line), "{text}");
        }
        assert!(
            !text.contains("dependsOn")
                && !text.contains("wait")
                && !text.contains("deletionPolicy"),
            "{text}"
        );
        let back = adoption.awake(["olm-base", "kept"]);
        assert!(!back.retires() && back.unpruned.contains("olm-base"));
    }

    #[test]
    fn the_record_comes_back_as_it_was() {
        let adoption = Adoption::begin(&tree(BEFORE), &tree(AFTER));
        let read = Adoption::from_bytes(adoption.to_text().as_bytes()).unwrap();
        assert_eq!(read, adoption);
        for broken in ["retired: 1\n", "unknown: {}\n", "- x\n", "{"] {
            assert!(Adoption::from_bytes(broken.as_bytes()).is_err(), "{broken}");
        }
    }
}
