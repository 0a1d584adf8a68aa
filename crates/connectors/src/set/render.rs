//! From the objects of a set to what is written, and what goes.

use std::collections::BTreeSet;

use mainstay_api::connectors::install_manifest::InventoryEntry;
use mainstay_engine::{
    ObjectKey, ObjectSet,
    live::LiveObject,
    object_set::Desired,
    options::{Adopt, Options, Stops, Update},
    snapshot::{Answer, Snapshot, Unknown},
    unit::RenderError,
};
use mainstay_manifest::{
    Identity, Object,
    conventions::{INSTALL_MANIFEST_ANNOTATION, MANAGED_BY_LABEL, MANAGER, is_protected},
    hash::Stamp,
    transform::{Owner, Transform, ignore::is_ignored},
};
use serde_json::{Value, json};

use super::{Bodies, Set, SetReconciler};
use crate::{
    inventory, kinds, marks, names,
    phases::{self, Phase},
    remedies::remedy,
    views,
};

/// The unit that failed, and why.
type Failed = (&'static str, RenderError);

const INVENTORY: &str = "inventory";

pub(super) fn render(
    reconciler: &SetReconciler,
    set: &Set,
    bodies: &Bodies,
    snapshot: &dyn Snapshot,
) -> Result<ObjectSet, Failed> {
    let objects = prepared(set, bodies);
    let scopes = reconciler.catalog.scopes().with_definitions(&bodies.0);
    let table = kinds::with(objects.iter().map(Object::kind), &scopes);
    let mut rendered = ObjectSet::new(table);
    let mut has_unknown = false;
    for object in &objects {
        let (phase, _) = phases::installation(&object.kind());
        match add(&mut rendered, set, object, snapshot) {
            Ok(()) => {}
            // The others are asked for in the same round.
            Err(RenderError::Unknown) => has_unknown = true,
            Err(error) => return Err((phase.condition(), error)),
        }
    }
    if has_unknown {
        return Err((INVENTORY, RenderError::Unknown));
    }
    record(&mut rendered, set, snapshot);
    Ok(rendered)
}

/// The objects in the order in which they are written, with a name each.
fn prepared(set: &Set, bodies: &Bodies) -> Vec<Object> {
    let mut objects = bodies.0.clone();
    for (position, object) in objects.iter_mut().enumerate() {
        if object.name().is_none() {
            let beginning = object.generate_name().unwrap_or_default();
            let name = names::generated(beginning, &set.hash, position);
            let metadata = object.metadata_mut();
            metadata.remove("generateName");
            metadata.insert("name".to_owned(), Value::from(name));
        }
    }
    objects.sort_by_key(|object| phases::rank(&object.kind()));
    objects
}

fn add(
    rendered: &mut ObjectSet,
    set: &Set,
    object: &Object,
    snapshot: &dyn Snapshot,
) -> Result<(), RenderError> {
    let kind = object.kind();
    let (phase, step) = phases::installation(&kind);
    let Some(key) = object.key() else {
        return Ok(());
    };
    let options = Options {
        phase: step,
        stops: phase.stops(),
        mark: Some(&marks::INSTALLED),
        adopt: Adopt::Relatives,
        ..Options::DEFAULT
    };
    if is_ignored(object) {
        if !is_protected(&kind.group, &kind.kind) {
            let because = "it is marked not to be installed";
            rendered.absent_with(phase.condition(), key, because, |_| options)?;
        }
        return Ok(());
    }
    let mut body = owned(set, object)?;
    let live = snapshot.get(&key);
    let mut options = remedy(&kind, body.value(), live.as_deref(), options);
    if !matches!(phase, Phase::Deployments | Phase::StatefulSets) {
        options.update = Update::IfHashDiffers;
    } else if is_scaled(&key, live.as_deref(), snapshot).map_err(unknown)? {
        keep_replicas(&mut body, live.as_deref());
    }
    if phase == Phase::Definitions {
        let gated = definition(options, set, &key, live.as_deref(), snapshot);
        options = gated.map_err(unknown)?;
    }
    let body = body.into_value();
    rendered.add_with(phase.condition(), &body, |_| options)?;
    Ok(())
}

const fn unknown(_: Unknown) -> RenderError {
    RenderError::Unknown
}

/// With owner and marks, and the hash of all that.
fn owned(set: &Set, object: &Object) -> Result<Object, RenderError> {
    let mut object = object.clone();
    let api_version = kinds::INSTALL_MANIFEST.api_version();
    let owner = Owner::new(
        &api_version,
        &kinds::INSTALL_MANIFEST.kind,
        &set.name,
        &set.uid,
    );
    let failed =
        |problem: mainstay_manifest::transform::Problem| RenderError::Input(problem.to_string());
    if is_protected(object.group(), object.kind_name()) {
        object.metadata_mut().remove("ownerReferences");
    } else {
        owner.apply(&mut object).map_err(failed)?;
    }
    object.set_label(MANAGED_BY_LABEL, MANAGER);
    object.set_annotation(INSTALL_MANIFEST_ANNOTATION, &set.name);
    Stamp.apply(&mut object).map_err(failed)?;
    Ok(object)
}

/// Definitions are shared: one that another set keeps is left to it. Whatever comes after waits until it is established.
fn definition(
    options: Options,
    set: &Set,
    key: &ObjectKey,
    live: Option<&LiveObject>,
    snapshot: &dyn Snapshot,
) -> Answer<Options> {
    let is_established = snapshot.view(key, &views::ESTABLISHED)?;
    let mut options = options;
    if is_established.is_none_or(|is_established| !*is_established) {
        options.stops = Stops::Always;
    }
    let keeper = live.and_then(|live| live.marked.as_ref());
    if let Some(keeper) = keeper.filter(|keeper| keeper.root != set.name) {
        let keeper = ObjectKey::new(kinds::INSTALL_MANIFEST, "", keeper.root.as_str());
        if snapshot.view(&keeper, &views::SET)?.is_some() {
            options.update = Update::Once;
        }
    }
    Ok(options)
}

/// Whether an autoscaler scales a workload that is there.
fn is_scaled(
    key: &ObjectKey,
    live: Option<&LiveObject>,
    snapshot: &dyn Snapshot,
) -> Result<bool, Unknown> {
    if live.is_none() {
        return Ok(false);
    }
    let scaled = snapshot.list(&kinds::AUTOSCALER, &key.namespace, &views::SCALED)?;
    let is_it = |(kind, name): &(String, String)| *kind == key.kind.kind && *name == key.name;
    Ok(scaled.iter().any(|target| is_it(target)))
}

/// The hash was taken of what is rendered, so that scaling does not change it.
fn keep_replicas(body: &mut Object, live: Option<&LiveObject>) {
    let replicas = live.and_then(|live| live.facts.get("replicas"));
    if let Some(replicas) = replicas.filter(|replicas| replicas.is_number())
        && let Some(spec) = body
            .value_mut()
            .get_mut("spec")
            .and_then(Value::as_object_mut)
    {
        spec.insert("replicas".to_owned(), replicas.clone());
    }
}

/// Says where things will be before they are, and looks where they were.
fn record(rendered: &mut ObjectSet, set: &Set, snapshot: &dyn Snapshot) {
    let sets = snapshot.indexed(&views::BY_CONNECTOR, &set.connector());
    let siblings: Vec<_> = sets.iter().filter(|other| other.name != set.name).collect();
    let own = ObjectKey::new(kinds::INSTALL_MANIFEST, "", set.name.as_str());
    rendered.take_over_from(own.clone());
    for sibling in &siblings {
        let name = sibling.name.clone();
        rendered.take_over_from(ObjectKey {
            name,
            ..own.clone()
        });
    }
    let status = set.manifest.status.as_ref();
    let recorded: &[InventoryEntry] = status.map_or(&[], |status| &status.inventory);
    let present = rendered
        .iter()
        .filter(|entry| matches!(entry.desired, Desired::Present { .. }));
    let wanted: Vec<ObjectKey> = present.map(|entry| entry.key.clone()).collect();
    let all = inventory::union(recorded, wanted.iter());
    if all != recorded {
        rendered.record_first(json!({"inventory": all}));
    }
    // What arrived late, of a rendering that is no more, has an owner and no entry. What moved to the sibling stays.
    let owned = snapshot.owned_by(&set.uid).into_iter();
    let obsolete = recorded.iter().map(inventory::key);
    let obsolete = obsolete.chain(owned.map(|live| live.key.clone()));
    let mut kept: BTreeSet<Identity> = wanted.iter().map(inventory::identity).collect();
    kept.extend(siblings.iter().flat_map(|sibling| sibling.identities()));
    for key in obsolete {
        let is_new = kept.insert(inventory::identity(&key));
        if let Some(options) = inventory::removal(&key).filter(|_| is_new) {
            rendered.prune.place(key, options);
        }
    }
}
