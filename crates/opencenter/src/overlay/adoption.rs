//! What Flux does when one tree takes the place of another: what it deletes, makes anew and reads from elsewhere.

use std::{collections::BTreeSet, fmt};

use serde::Serialize;

use super::{
    Contents,
    tree_document::{FLUX, SOURCE, TreeDocument, by_name, read_documents},
};

/// What Flux does to something that runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FluxAction {
    /// It deletes everything that the unit applied, with whatever belongs to it.
    Delete,
    /// It deletes and makes anew what cannot be changed in place.
    Recreate,
    /// It reads from another place, and deletes what is not there.
    Repoint,
}

/// One thing that Flux does.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct FluxEffect {
    /// What it does.
    pub action: FluxAction,
    /// The unit or source it does it to.
    pub object: String,
    /// Why.
    pub reason: String,
    /// Whether the first render of an adoption can keep Flux from it.
    #[serde(skip)]
    pub can_be_held: bool,
}

impl fmt::Display for FluxEffect {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verb = match self.action {
            FluxAction::Delete => "delete",
            FluxAction::Recreate => "recreate",
            FluxAction::Repoint => "re-point",
        };
        write!(formatter, "{verb:8}  {}: {}", self.object, self.reason)
    }
}

/// What Flux does when the second tree takes the place of the first.
pub fn flux_effects(before: &Contents, after: &Contents) -> Vec<FluxEffect> {
    // What is no YAML is told by the check of the tree.
    let old = read_documents(before, &mut Vec::new());
    let new = read_documents(after, &mut Vec::new());
    let mut effects = Vec::new();
    units(&old, &new, &mut effects);
    sources(&old, &new, &mut effects);
    effects.sort();
    effects
}

fn units(old: &[TreeDocument], new: &[TreeDocument], effects: &mut Vec<FluxEffect>) {
    let new_documents = new;
    let new = by_name(new, "Kustomization", FLUX);
    for (name, unit) in by_name(old, "Kustomization", FLUX) {
        let mut push = |action, reason: String, can_be_held| {
            effects.push(FluxEffect {
                action,
                object: format!("Kustomization {name}"),
                reason,
                can_be_held,
            });
        };
        let Some(successor) = new.get(name) else {
            if unit.deletes_at_its_end() {
                let reason = "the unit goes, and prunes: Flux deletes everything that it applied";
                push(FluxAction::Delete, reason.to_owned(), true);
            }
            continue;
        };
        // By what it applied before, whether it pruned then or not.
        let prunes = successor.is_set("/spec/prune");
        if !unit.is_set("/spec/force") && successor.is_set("/spec/force") {
            let reason = "`force` is new: what cannot be changed in place is deleted and made anew";
            push(FluxAction::Recreate, reason.to_owned(), true);
        }
        let place = |unit: &TreeDocument| {
            let path = unit
                .text("/spec/path")
                .trim_start_matches("./")
                .trim_matches('/');
            format!("{} of {}", path, unit.text("/spec/sourceRef/name"))
        };
        let (before, after) = (place(unit), place(successor));
        if before != after && prunes {
            let reason = format!("reads {after} instead of {before}, and prunes what is not there");
            push(FluxAction::Repoint, reason, true);
        }
        let namespace = "/spec/targetNamespace";
        if unit.text(namespace) != successor.text(namespace) {
            let (before, after) = (unit.text(namespace), successor.text(namespace));
            let reason = format!("applies to namespace `{after}` instead of `{before}`");
            push(FluxAction::Recreate, reason, false);
        }
        if prunes {
            effects.extend(objects(name, (old, unit), (new_documents, successor)));
        }
    }
}

/// The objects that a unit applied from the overlay, and applies no more.
fn objects(
    name: &str,
    before: (&[TreeDocument], &TreeDocument),
    after: (&[TreeDocument], &TreeDocument),
) -> Vec<FluxEffect> {
    let applied = |(documents, unit): (&[TreeDocument], &TreeDocument)| -> BTreeSet<String> {
        let Some(directory) = overlay_directory(unit) else {
            return BTreeSet::new();
        };
        let inside = documents.iter().filter(|document| {
            let rest = document.path.strip_prefix(&directory);
            rest.is_some_and(|rest| rest.starts_with('/'))
        });
        inside.filter_map(TreeDocument::identity).collect()
    };
    let gone = &applied(before) - &applied(after);
    let effect = |object| FluxEffect {
        action: FluxAction::Delete,
        object,
        reason: format!("the unit {name} applies it no more, and prunes"),
        can_be_held: true,
    };
    gone.into_iter().map(effect).collect()
}

/// The directory of the overlay that a unit reads, if it reads the overlay.
fn overlay_directory(unit: &TreeDocument) -> Option<String> {
    let path = unit.text("/spec/path").trim_start_matches("./");
    let (_, inside) = path
        .strip_prefix("applications/overlays/")?
        .split_once('/')?;
    Some(inside.trim_end_matches('/').to_owned())
}

fn sources(old: &[TreeDocument], new: &[TreeDocument], effects: &mut Vec<FluxEffect>) {
    let new = by_name(new, "GitRepository", SOURCE);
    for (name, source) in by_name(old, "GitRepository", SOURCE) {
        let Some(successor) = new.get(name) else {
            continue;
        };
        for (pointer, what) in [("/spec/url", "address"), ("/spec/secretRef/name", "Secret")] {
            let (before, after) = (source.text(pointer), successor.text(pointer));
            if before != after {
                let reason = format!("the {what} is `{after}` instead of `{before}`");
                effects.push(FluxEffect {
                    action: FluxAction::Repoint,
                    object: format!("GitRepository {name}"),
                    reason,
                    can_be_held: true,
                });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit(name: &str, spec: &str) -> String {
        format!(
            "---\napiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {{name: {name}}}\nspec: {{{spec}}}\n"
        )
    }

    fn tree(text: &str) -> Contents {
        Contents::from([(
            "services/fluxcd/x.yaml".to_owned(),
            text.as_bytes().to_vec(),
        )])
    }

    fn effects(before: &str, after: &str) -> Vec<String> {
        let effects = flux_effects(&tree(before), &tree(after));
        effects
            .iter()
            .map(|effect| format!("{:?} {}", effect.action, effect.object))
            .collect()
    }

    #[test]
    fn a_unit_that_goes_takes_its_objects_along_if_it_prunes() {
        let kept = unit("kept", "prune: true, path: ./a");
        let going = unit("olm-base", "prune: true, path: ./olm");
        let harmless = unit("harmless", "prune: false, path: ./b");
        let orphaned = unit("orphaned", "prune: true, deletionPolicy: Orphan, path: ./b");
        let asleep = unit("asleep", "prune: true, suspend: true, path: ./b");
        let thorough = unit(
            "thorough",
            "prune: false, deletionPolicy: Delete, path: ./b",
        );
        let before = format!("{kept}{going}{harmless}{orphaned}{asleep}{thorough}");
        assert_eq!(
            effects(&before, &kept),
            [
                "Delete Kustomization olm-base",
                "Delete Kustomization thorough"
            ]
        );
        assert!(effects(&before, &before).is_empty());
    }

    #[test]
    fn an_object_that_a_unit_applies_no_more_goes_if_the_unit_prunes() {
        let tree = |prune: bool, with_object: bool| {
            let spec = format!("prune: {prune}, path: ./applications/overlays/demo/services/olm");
            let mut tree = tree(&unit("olm-override", &spec));
            if with_object {
                let object =
                    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: extra, namespace: olm}\n";
                tree.insert("services/olm/extra.yaml".to_owned(), object.into());
            }
            tree
        };
        let found = flux_effects(&tree(true, true), &tree(true, false));
        let [effect] = found.as_slice() else {
            panic!("{found:?}")
        };
        assert_eq!(effect.object, "ConfigMap olm/extra");
        assert_eq!(flux_effects(&tree(false, true), &tree(true, false)), found);
        assert!(flux_effects(&tree(true, true), &tree(false, false)).is_empty());
        assert!(flux_effects(&tree(true, true), &tree(true, true)).is_empty());
    }

    #[test]
    fn what_is_read_from_elsewhere_or_forced_is_named() {
        let before = unit("a", "prune: true, path: ./x, sourceRef: {name: s}");
        for (after, expected) in [
            ("prune: true, path: x/, sourceRef: {name: s}", None),
            (
                "prune: true, path: ./y, sourceRef: {name: s}",
                Some("Repoint"),
            ),
            (
                "prune: true, path: ./x, sourceRef: {name: t}",
                Some("Repoint"),
            ),
            (
                "prune: true, path: ./x, force: true, sourceRef: {name: s}",
                Some("Recreate"),
            ),
            (
                "prune: true, path: ./x, targetNamespace: other, sourceRef: {name: s}",
                Some("Recreate"),
            ),
        ] {
            let found = effects(&before, &unit("a", after));
            let expected: Vec<String> = expected
                .iter()
                .map(|action| format!("{action} Kustomization a"))
                .collect();
            assert_eq!(found, expected, "{after}");
        }
        let source = |url: &str| {
            format!(
                "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {{name: s}}\nspec: {{url: '{url}'}}\n"
            )
        };
        let found = effects(&source("https://h/x.git"), &source("ssh://git@h/x.git"));
        assert_eq!(found, ["Repoint GitRepository s"]);
    }
}
