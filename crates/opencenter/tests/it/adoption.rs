//! A tree of somebody else is taken over, and Flux follows: nothing that runs is ever deleted.

use std::collections::{BTreeMap, BTreeSet};

use mainstay_opencenter::{
    finding,
    overlay::{Adoption, Contents},
    render::{RenderOptions, render},
};
use mainstay_yaml::{Limits, SourceName, parse_bytes};
use serde_json::{Value, json};

use crate::fixture::{REGISTRY, cases, config_text, options, try_load};

/// Trees of somebody else that are taken over.
const TREES: u64 = 12;

/// What Flux knows of a unit.
#[derive(Clone, Default)]
struct Unit {
    spec: Value,
    inventory: BTreeSet<String>,
}

/// Flux, as its kustomize-controller decides: a unit applies what is at its path, deletes what it applied before and
/// applies no more if it prunes, and at its end deletes by its policy; a suspended unit does nothing at all.
///
/// The order is the worst that can happen: everything is deleted before another unit could claim it.
#[derive(Default)]
struct Flux {
    units: BTreeMap<String, Unit>,
    deleted: BTreeSet<String>,
}

impl Flux {
    fn sync(&mut self, tree: &Contents) {
        let documents = documents(tree);
        let declared: BTreeMap<String, Value> = documents
            .iter()
            .filter(|(_, value)| is_unit(value))
            .map(|(_, value)| (text(value, "/metadata/name"), value["spec"].clone()))
            .collect();
        for (name, unit) in std::mem::take(&mut self.units) {
            if declared.contains_key(&name) {
                self.units.insert(name, unit);
            } else {
                let deletes = match text(&unit.spec, "/deletionPolicy").as_str() {
                    "" | "MirrorPrune" => unit.spec["prune"] == true,
                    "Orphan" => false,
                    _ => true,
                };
                if deletes && unit.spec["suspend"] != true {
                    self.deleted.extend(unit.inventory);
                }
            }
        }
        for (name, spec) in declared {
            let unit = self.units.entry(name).or_default();
            if spec["suspend"] != true {
                let applied = applied(&spec, &documents);
                if spec["prune"] == true {
                    let stale = unit.inventory.difference(&applied);
                    self.deleted.extend(stale.cloned());
                }
                unit.inventory = applied;
            }
            unit.spec = spec;
        }
    }
}

/// What a unit applies: the objects of its directory, or something that stands for a path of another repository.
fn applied(spec: &Value, documents: &[(String, Value)]) -> BTreeSet<String> {
    let path = text(spec, "/path");
    let path = path.trim_start_matches("./").trim_end_matches('/');
    let inside = path
        .strip_prefix("applications/overlays/")
        .and_then(|rest| rest.split_once('/'));
    let Some((_, directory)) = inside else {
        return BTreeSet::from([format!("{path} of {}", text(spec, "/sourceRef/name"))]);
    };
    let prefix = format!("{directory}/");
    let below = documents
        .iter()
        .filter(|(file, _)| file.starts_with(&prefix));
    below
        .filter(|(_, value)| !text(value, "/metadata/name").is_empty())
        .map(|(_, value)| format!("{} {}", value["kind"], text(value, "/metadata/name")))
        .collect()
}

fn documents(tree: &Contents) -> Vec<(String, Value)> {
    let mut found = Vec::new();
    for (path, bytes) in tree {
        let parsed = parse_bytes(bytes, &SourceName::new(path), &Limits::default());
        let parsed = parsed.expect("the tree is YAML").into_iter();
        found.extend(parsed.map(|document| (path.clone(), document.value)));
    }
    found
}

fn text(value: &Value, pointer: &str) -> String {
    let found = value.pointer(pointer).and_then(Value::as_str);
    found.unwrap_or_default().to_owned()
}

fn is_unit(value: &Value) -> bool {
    value["kind"] == "Kustomization" && text(value, "/apiVersion").contains("kustomize.toolkit")
}

/// Numbers that look random and are the same in every run.
struct Dice(u64);

impl Dice {
    /// Whether one of so many sides is up.
    fn one_in(&mut self, sides: u64) -> bool {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33).is_multiple_of(sides)
    }
}

/// The tree as another program could have written it: other names, other flags, other places, more objects.
fn of_somebody_else(tree: &Contents, dice: &mut Dice) -> Contents {
    let mut other = Contents::new();
    for (path, bytes) in tree {
        let is_flux = path.contains("/fluxcd/") || path.contains("/sources/");
        if !is_flux || path.ends_with("kustomization.yaml") {
            other.insert(path.clone(), bytes.clone());
            continue;
        }
        let one = Contents::from([(path.clone(), bytes.clone())]);
        let mut text_of_file = String::new();
        for (_, mut value) in documents(&one) {
            if is_unit(&value) {
                change_unit(&mut value, dice);
            } else if value["kind"] == "GitRepository" && dice.one_in(2) {
                value["spec"]["url"] = json!("https://elsewhere.example.net/base.git");
            }
            text_of_file.push_str("---\n");
            text_of_file.push_str(&mainstay_yaml::print(&value));
        }
        other.insert(path.clone(), text_of_file.into_bytes());
    }
    for service in ["loki", "keycloak", "olm", "kyverno"] {
        let object =
            format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: extra-{service}\n");
        if dice.one_in(2) {
            other.insert(format!("services/{service}/extra.yaml"), object.into());
        }
    }
    other
}

fn change_unit(unit: &mut Value, dice: &mut Dice) {
    if dice.one_in(3) {
        let name = format!("{}-old", text(unit, "/metadata/name"));
        unit["metadata"]["name"] = json!(name);
    }
    let spec = &mut unit["spec"];
    if dice.one_in(3) {
        spec.as_object_mut().expect("a mapping").remove("force");
    }
    if dice.one_in(4) {
        spec["path"] = json!("./another/place");
    }
    if dice.one_in(5) {
        spec["prune"] = json!(false);
    }
    if dice.one_in(5) {
        spec["deletionPolicy"] = json!("Delete");
    }
    if dice.one_in(8) {
        spec["suspend"] = json!(true);
    }
}

#[test]
fn no_adoption_makes_flux_delete_anything() {
    // The second has a layer of the customer.
    for name in ["all-on", "relaypoint/k8s-dev"] {
        let mut cases = cases().into_iter();
        let (_, case) = cases.find(|(known, _)| known == name).expect(name);
        let config = try_load(&config_text(&case));
        let config = config.unwrap_or_else(|found| panic!("{}", finding::to_text(&found)));
        let plain = options(&config);
        let rendered = |options: &RenderOptions| {
            let rendered = render(&config, &REGISTRY, options);
            let rendered = rendered.unwrap_or_else(|found| panic!("{}", finding::to_text(&found)));
            rendered.tree.contents()
        };
        let own = rendered(&plain);
        let mut dice = Dice(7);
        for number in 0..TREES {
            let old = of_somebody_else(&own, &mut dice);
            let adoption = Adoption::begin(&old, &own);
            let adopting = RenderOptions {
                adoption,
                ..plain.clone()
            };
            let held = rendered(&adopting);

            // Without an adoption, Flux deletes: the test can fail.
            let mut careless = Flux::default();
            careless.sync(&old);
            careless.sync(&own);
            assert!(!careless.deleted.is_empty(), "{name}, tree {number}");

            let mut flux = Flux::default();
            for tree in [&old, &held, &held, &own, &own] {
                flux.sync(tree);
                assert!(
                    flux.deleted.is_empty(),
                    "{name}, tree {number}: {:?}",
                    flux.deleted
                );
            }
        }
    }
}
