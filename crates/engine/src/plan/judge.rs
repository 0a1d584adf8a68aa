//! What follows from a desired and what is there.

use std::sync::Arc;

use serde_json::Value;

use super::{Action, Check, Claim, DesiredState, Fixup, Root, Step};
use crate::{
    change_set::Verb,
    definition::Definition,
    field_change::FieldChange,
    key::ObjectKey,
    live::LiveObject,
    mark::Mark,
    object_set::{Desired, Entry},
    options::{Options, Stops, Update},
};

/// The owner that an object is rendered with; objects of one root may belong to another.
fn rendered_owner(body: &Value) -> Option<&str> {
    let owners = body.pointer("/metadata/ownerReferences")?.as_array()?;
    owners.first()?.get("uid")?.as_str()
}

/// What is there where an object is wanted.
pub(super) struct Found {
    /// The object.
    pub(super) live: Option<Arc<LiveObject>>,
    /// The definition of its kind, if it was looked at.
    pub(super) definition: Option<Arc<Definition>>,
    /// The kind belongs to somebody else, who may have installed a definition that knows less than we write.
    pub(super) is_of_others: bool,
}

/// The step for one desired.
pub(super) fn entry_step(
    entry: &Entry,
    stage: u16,
    found: Found,
    root: &Root,
    relatives: &Arc<[ObjectKey]>,
) -> Step {
    let Found {
        live,
        definition,
        is_of_others,
    } = found;
    let (Desired::Present { options, .. } | Desired::Absent { options, .. }) = entry.desired;
    // Phases count from the first stage after those of the root itself.
    let stops = match options.stops {
        Stops::After(phase) => Stops::After(stage.saturating_sub(options.phase) + phase),
        stops => stops,
    };
    let mut claim = Claim::of_owner(&root.uid);
    claim.mark = options.mark.map(|_| root.key.path());
    claim.relatives = Arc::clone(relatives);
    let mut check = Check {
        version: definition.as_ref().map(|known| known.version.clone()),
        ..Check::default()
    };
    let facts = live.as_ref().map_or(Value::Null, |live| live.facts.clone());
    let (desired, action, because, changes) = match (&entry.desired, live) {
        (Desired::Present { body, .. }, live) => {
            if let Some(owner) = rendered_owner(body) {
                owner.clone_into(&mut claim.owner_uid);
            }
            let mut body = body.clone();
            if let Some(live) = live.as_ref().filter(|live| claim.holds(live)) {
                live.owned.keep(&mut body, options.keep);
            }
            if let Some(definition) = &definition {
                check.left_out = definition.leave_out(&mut body);
            }
            let (action, because, changes) = judge_present(&body, options, live, &claim);
            check.is_due = action.planned() != Verb::Nothing
                && match &definition {
                    Some(definition) => !definition.covers(&body),
                    None => is_of_others,
                };
            let changes = changes
                .into_iter()
                .map(|change| change.redacted(&entry.key.kind));
            let changes = changes.collect();
            (
                DesiredState::Present { body, options },
                action,
                because,
                changes,
            )
        }
        (Desired::Absent { because, .. }, live) => (
            DesiredState::Absent,
            match live.filter(|live| claim.holds(live)) {
                Some(live) if !live.deleting => Action::delete(&live),
                Some(_) if options.stops == Stops::UntilGone => Action::Deleting,
                _ => Action::Unchanged(None),
            },
            (*because).to_owned(),
            Vec::new(),
        ),
    };
    Step {
        key: entry.key.clone(),
        unit: entry.unit,
        stage,
        desired,
        action,
        because,
        changes,
        claim,
        propagation: options.propagation,
        check,
        facts,
        stops,
        needs: Vec::new(),
        cautious: false,
    }
}

/// Most items of one list, and most fields of one object. Beyond it a single object would cost every other one time, and
/// the API server refuses objects of a few times this size anyway.
pub const MOST_ITEMS: usize = 10_000;

/// Why a body is too large to be compared, if it is.
fn too_large(body: &Value) -> Option<String> {
    let mut path = Vec::new();
    let count = too_many(body, &mut path)?;
    path.reverse();
    Some(format!(
        "`{}` has {count} items, and at most {MOST_ITEMS} are supported; split the object, or move the values into a \
         ConfigMap or Secret",
        path.join(".")
    ))
}

/// The number of items of the first list or object that has too many, and the way there from its end.
fn too_many<'body>(value: &'body Value, path: &mut Vec<&'body str>) -> Option<usize> {
    let (count, found) = match value {
        Value::Array(items) => {
            let found = items.iter().find_map(|item| too_many(item, path));
            (items.len(), found)
        }
        Value::Object(fields) => {
            let found = fields.iter().find_map(|(name, field)| {
                let count = too_many(field, path)?;
                path.push(name);
                Some(count)
            });
            (fields.len(), found)
        }
        _ => return None,
    };
    found.or((count > MOST_ITEMS).then_some(count))
}

/// What follows for a wanted object from what is there.
fn judge_present(
    body: &Value,
    options: Options,
    live: Option<Arc<LiveObject>>,
    claim: &Claim,
) -> (Action, String, Vec<FieldChange>) {
    if let Some(message) = too_large(body) {
        let because = message.clone();
        return (Action::Refused { message }, because, Vec::new());
    }
    let Some(object) = live else {
        return (Action::Create, "does not exist".to_owned(), Vec::new());
    };
    if !claim.may_take(&object, options.adopt) {
        let holder = object.holder();
        let because = format!("exists and {holder}");
        return (Action::Foreign { holder }, because, Vec::new());
    }
    if object.deleting {
        let because = "is being deleted; created anew when it is gone".to_owned();
        return (Action::Unchanged(Some(object)), because, Vec::new());
    }
    let changes = differences(body, options, &object, claim);
    let (uid, resource_version) = (object.uid.clone(), object.resource_version.clone());
    if let Some(fixup) = Fixup::of(&object, options) {
        let because = fixup.because();
        let action = Action::Fixup {
            uid,
            resource_version,
            fixup,
        };
        return (action, because, changes);
    }
    if changes.is_empty() {
        return (
            Action::Unchanged(Some(object)),
            "up to date".to_owned(),
            changes,
        );
    }
    let because = match changes.len() {
        1 => "1 field differs".to_owned(),
        count => format!("{count} fields differ"),
    };
    let action = Action::Update {
        uid,
        resource_version,
    };
    (action, because, changes)
}

/// What an apply would change on an object of ours.
pub(crate) fn differences(
    body: &Value,
    options: Options,
    live: &LiveObject,
    claim: &Claim,
) -> Vec<FieldChange> {
    // Whoever was first has made the values; an object without any is waiting for them.
    let has_values = || live.owned.at("/data").is_some();
    if options.leaves_alone() || (options.generated_first && has_values()) {
        return Vec::new();
    }
    match options.mark {
        Some(mark) if options.update == Update::IfHashDiffers => {
            marks_differ(body, mark, live, claim)
        }
        _ => live.owned.differences(body),
    }
}

/// What differs as far as metadata tell: who holds the object, and what it was written from.
fn marks_differ(body: &Value, mark: &Mark, live: &LiveObject, claim: &Claim) -> Vec<FieldChange> {
    let mut changes = Vec::new();
    let wanted = mark.read(body).unwrap_or_default();
    let found = live.marked.clone().unwrap_or_default();
    let texts = [
        (mark.name, &found.root, &wanted.root),
        (mark.hash, &found.hash, &wanted.hash),
    ];
    for (pointer, from, to) in texts.into_iter().filter(|(_, from, to)| from != to) {
        let text = |text: &String| Some(Value::from(text.as_str())).filter(|_| !text.is_empty());
        changes.push(FieldChange {
            path: path_of(pointer),
            from: text(from),
            to: text(to),
        });
    }
    let controller = live.controller();
    let is_owned = controller.is_some_and(|owner| owner.uid == claim.owner_uid);
    if rendered_owner(body).is_some() && !is_owned {
        changes.push(FieldChange {
            path: "metadata.ownerReferences".to_owned(),
            from: controller.map(|owner| Value::from(owner.name.as_str())),
            to: body.pointer("/metadata/ownerReferences/0/name").cloned(),
        });
    }
    changes
}

/// A JSON pointer as the path that people read.
fn path_of(pointer: &str) -> String {
    let steps = pointer.trim_start_matches('/').split('/');
    let steps: Vec<String> = steps
        .map(|step| step.replace("~1", "/").replace("~0", "~"))
        .collect();
    steps.join(".")
}
