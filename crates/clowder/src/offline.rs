//! Environments, apps and invocations without a cluster: every object that they stand for, as the operator would leave
//! them.
//!
//! The operator comes to rest after a few reconciles: a password is stored and then used, an app finds the database of
//! another one, a Secret that a pod mounts is hashed once it exists. The walk here makes the same reconciles over the same
//! reconcilers until nothing changes any more.

mod strimzi;

use std::{collections::BTreeSet, sync::Arc};

use k8s_openapi::{apimachinery::pkg::apis::meta::v1::Time, jiff::Timestamp};
use mainstay_engine::{
    ObjectKey, ObjectSet,
    change_set::ChangeSet,
    live::{LiveObject, LiveView},
    object_set::Desired,
    reconciler::{ReconcileEnd, Reconciler, Rejection, ReportInput, ValidateError, Waiting},
    snapshot::{FileSnapshot, Snapshot},
    unit::UnitFailure,
};
use serde_json::{Value, json};

use crate::{
    app::AppReconciler, environment::EnvironmentReconciler, gates, job::JobReconciler, kinds,
    settings::Settings,
};

/// Rounds over all roots. Each dependency between two of them costs one; more are no progress.
const MOST_ROUNDS: usize = 16;

/// Why there is nothing to show for a root.
#[derive(Debug, thiserror::Error)]
pub enum Reason {
    /// The input cannot be accepted.
    #[error(transparent)]
    Rejected(#[from] Rejection),
    /// Its turn would not come.
    #[error(transparent)]
    Waiting(#[from] Waiting),
    /// A provider failed.
    #[error(transparent)]
    NotRendered(#[from] UnitFailure),
    /// Passes over files never come to rest.
    #[error("what it is rendered from keeps changing")]
    Restless,
}

/// A root that cannot be rendered.
#[derive(Debug, thiserror::Error)]
#[error("{key}: {reason}")]
pub struct Failure {
    /// The root.
    pub key: Box<ObjectKey>,
    /// Why.
    #[source]
    pub reason: Reason,
}

/// Renders environments, apps and invocations, in this order, over a lookup of files that holds them and what they refer to. Other
/// objects among the roots stand for nothing.
pub fn render(
    settings: &Arc<Settings>,
    snapshot: FileSnapshot,
    roots: &[Value],
) -> Result<Vec<Value>, Failure> {
    let of_kind = |kind| {
        let found = roots
            .iter()
            .filter_map(|root| Some((ObjectKey::of(root)?, root)));
        found.filter(move |(key, _)| key.kind == kind)
    };
    let roots = of_kind(kinds::CLOWD_ENVIRONMENT)
        .chain(of_kind(kinds::CLOWD_APP))
        .chain(of_kind(kinds::CLOWD_JOB_INVOCATION));
    let mut walk = Walk {
        environments: EnvironmentReconciler {
            settings: settings.clone(),
        },
        apps: AppReconciler {
            settings: settings.clone(),
        },
        jobs: JobReconciler {
            settings: settings.clone(),
        },
        snapshot,
    };
    let mut parts: Vec<Part> = roots.map(|(key, root)| Part::new(key, root)).collect();
    for _ in 0..MOST_ROUNDS {
        let mut changed = false;
        for part in &mut parts {
            changed |= walk.reconcile(part);
        }
        if !changed {
            break;
        }
    }
    let mut objects = Vec::new();
    for part in parts {
        if let Some(reason) = part.failure {
            let key = Box::new(part.key);
            return Err(Failure { key, reason });
        }
        objects.extend(part.objects);
    }
    Ok(without_repetitions(objects))
}

/// An environment or app as the operator leaves it when all of it is ready.
pub fn reconciled<R: Reconciler>(
    reconciler: &R,
    mut root: Value,
    snapshot: &dyn Snapshot,
) -> Value {
    let object = reconciler.decode(&root).ok();
    let report = reconciler.report(&ReportInput {
        root: &root,
        object: object.as_ref(),
        input: None,
        snapshot,
        live: &Nothing,
        end: ReconcileEnd::Committed(&ChangeSet::default()),
        now: &Time(Timestamp::UNIX_EPOCH),
    });
    root["status"] = report.status;
    root
}

/// Goes on as if the name that an environment waits for were stored. Says whether it waits for one.
pub fn keep_choice(environment: &mut Value, hold: &Waiting) -> bool {
    let field = gates::chosen_field(hold);
    if let Some(field) = field {
        environment["status"][field] = Value::from(hold.message.as_str());
    }
    field.is_some()
}

/// What environments and apps have in common is written once: both render the components that they share.
fn without_repetitions(objects: Vec<Value>) -> Vec<Value> {
    let mut seen = BTreeSet::new();
    let is_new = |object: &Value| seen.insert(ObjectKey::of(object));
    objects.into_iter().filter(is_new).collect()
}

/// No live object at all.
struct Nothing;

impl LiveView for Nothing {
    fn get(&self, _key: &ObjectKey) -> Option<Arc<LiveObject>> {
        None
    }

    fn owned_by(&self, _owner_uid: &str) -> Vec<Arc<LiveObject>> {
        Vec::new()
    }
}

/// A root and what is known of it so far.
struct Part {
    key: ObjectKey,
    root: Value,
    /// What was made up in some pass; later ones find it and do not render it again.
    generated: Vec<Value>,
    objects: Vec<Value>,
    failure: Option<Reason>,
}

impl Part {
    fn new(key: ObjectKey, root: &Value) -> Self {
        let mut root = root.clone();
        if let Some(fields) = root.as_object_mut() {
            // Whatever the file says about some cluster is no news about this walk.
            fields.remove("status");
        }
        Self {
            key,
            root,
            generated: Vec::new(),
            objects: Vec::new(),
            failure: None,
        }
    }
}

struct Walk {
    environments: EnvironmentReconciler,
    apps: AppReconciler,
    jobs: JobReconciler,
    snapshot: FileSnapshot,
}

impl Walk {
    /// One reconcile over a root. Says whether anything changed by it.
    fn reconcile(&mut self, part: &mut Part) -> bool {
        let rendered = match part.key.kind.kind.as_ref() {
            "ClowdEnvironment" => self.environment(part),
            "ClowdApp" => self.app(part),
            _ => render_one(&self.jobs, &part.root, &self.snapshot),
        };
        let set = match rendered {
            Ok(set) => set,
            // Who is switched off stands for nothing.
            Err(Reason::Waiting(hold)) if hold.reason == gates::DISABLED => return false,
            Err(reason) => {
                let asked = self.ask_others(&reason);
                let text = reason.to_string();
                let old = part.failure.replace(reason);
                return asked || old.is_none_or(|old| old.to_string() != text);
            }
        };
        let had_failed = part.failure.take().is_some();
        for entry in set.iter() {
            if let Desired::Present { body, options } = &entry.desired
                && options.generated_first
            {
                part.generated.push(body.clone());
            }
        }
        let rest = set.bodies().filter(|body| !part.generated.contains(body));
        let objects: Vec<Value> = part.generated.iter().chain(rest).cloned().collect();
        let changed = had_failed || objects != part.objects;
        for object in &objects {
            self.learn(object.clone());
        }
        part.objects = objects;
        changed
    }

    fn environment(&mut self, part: &mut Part) -> Result<ObjectSet, Reason> {
        let mut rendered = render_one(&self.environments, &part.root, &self.snapshot);
        while let Err(Reason::Waiting(hold)) = &rendered
            && keep_choice(&mut part.root, hold)
        {
            if hold.reason == gates::NAMESPACE_CHOSEN {
                part.generated.push(json!({
                    "apiVersion": "v1", "kind": "Namespace", "metadata": {"name": hold.message},
                }));
            }
            rendered = render_one(&self.environments, &part.root, &self.snapshot);
        }
        let set = rendered?;
        let ready = reconciled(&self.environments, part.root.clone(), &self.snapshot);
        self.learn(ready);
        Ok(set)
    }

    /// What a reconcile wrote before it could not go on, other operators answer. Says whether any of it is new.
    fn ask_others(&mut self, reason: &Reason) -> bool {
        let Reason::NotRendered(UnitFailure {
            early: Some(early), ..
        }) = reason
        else {
            return false;
        };
        let mut is_new = false;
        for body in early.bodies() {
            let known = ObjectKey::of(body).and_then(|key| self.snapshot.get(&key));
            is_new |= known.is_none();
            self.learn(body.clone());
        }
        is_new
    }

    fn app(&mut self, part: &Part) -> Result<ObjectSet, Reason> {
        let set = render_one(&self.apps, &part.root, &self.snapshot)?;
        let ready = reconciled(&self.apps, part.root.clone(), &self.snapshot);
        self.learn(ready);
        Ok(set)
    }

    fn learn(&mut self, object: Value) {
        strimzi::add(&mut self.snapshot, object);
    }
}

fn render_one<R: Reconciler>(
    reconciler: &R,
    root: &Value,
    snapshot: &dyn Snapshot,
) -> Result<ObjectSet, Reason> {
    let object = reconciler.decode(root)?;
    let input = reconciler
        .validate(&object, snapshot)
        .map_err(|error| match error {
            ValidateError::Rejected(rejection) => Reason::Rejected(rejection),
            ValidateError::Waiting(waiting) => Reason::Waiting(waiting),
            // Files know everything.
            ValidateError::Unknown => Reason::Restless,
        })?;
    Ok(reconciler.render(&object, &input, snapshot)?)
}

#[cfg(test)]
mod tests;
