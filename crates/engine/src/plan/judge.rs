//! What follows from a desired and what is there.

use std::sync::Arc;

use serde_json::Value;

use super::{Action, Check, DesiredState, Fixup, Root, Step, Stops};
use crate::{
    change_set::Verb,
    definition::Definition,
    field_change::FieldChange,
    live::LiveObject,
    object_set::{Desired, Entry},
    options::{Adopt, Options},
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
pub(super) fn entry_step(entry: &Entry, stage: u16, found: Found, root: &Root) -> Step {
    let Found {
        live,
        definition,
        is_of_others,
    } = found;
    let mut owner_uid = root.uid.as_str();
    let mut stops = Stops::Nothing;
    let mut check = Check {
        version: definition.as_ref().map(|known| known.version.clone()),
        ..Check::default()
    };
    let facts = live.as_ref().map_or(Value::Null, |live| live.facts.clone());
    let (desired, action, because, changes) = match (&entry.desired, live) {
        (Desired::Present { body, options }, live) => {
            owner_uid = rendered_owner(body).unwrap_or(owner_uid);
            let mut body = body.clone();
            if let Some(live) = live.as_ref().filter(|live| live.belongs_to(owner_uid)) {
                live.owned.keep(&mut body, options.keep);
            }
            if let Some(definition) = &definition {
                check.left_out = definition.leave_out(&mut body);
            }
            let options = *options;
            if options.essential {
                stops = Stops::LaterUnlessRefused;
            }
            let (action, because, changes) = judge_present(&body, options, live, owner_uid);
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
        (Desired::Absent { because }, Some(object))
            if object.belongs_to(owner_uid) && !object.deleting =>
        {
            (
                DesiredState::Absent,
                Action::delete(&object),
                (*because).to_owned(),
                Vec::new(),
            )
        }
        (Desired::Absent { because }, _) => (
            DesiredState::Absent,
            Action::Unchanged(None),
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
        owner_uid: owner_uid.to_owned(),
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
    owner_uid: &str,
) -> (Action, String, Vec<FieldChange>) {
    if let Some(message) = too_large(body) {
        let because = message.clone();
        return (Action::Refused { message }, because, Vec::new());
    }
    let Some(object) = live else {
        return (Action::Create, "does not exist".to_owned(), Vec::new());
    };
    if !is_for_us(&object, owner_uid, options) {
        let holder = object.holder();
        let because = format!("exists and {holder}");
        return (Action::Foreign { holder }, because, Vec::new());
    }
    if object.deleting {
        let because = "is being deleted; created anew when it is gone".to_owned();
        return (Action::Unchanged(Some(object)), because, Vec::new());
    }
    let changes = differences(body, options, &object);
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

/// Whether an object is ours, or may become it.
pub(crate) fn is_for_us(live: &LiveObject, owner_uid: &str, options: Options) -> bool {
    let is_free = || live.owners.iter().all(|owner| !owner.controller) && !live.deleting;
    live.belongs_to(owner_uid) || (options.adopt == Adopt::Unowned && is_free())
}

/// What an apply would change on an object of ours.
pub(crate) fn differences(body: &Value, options: Options, live: &LiveObject) -> Vec<FieldChange> {
    // Whoever was first has made the values; an object without any is waiting for them.
    let has_values = || live.owned.at("/data").is_some();
    if options.leaves_alone() || (options.generated_first && has_values()) {
        return Vec::new();
    }
    live.owned.differences(body)
}
