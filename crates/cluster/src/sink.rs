//! Carries a commit out: sends what the step function asks for and feeds the answers back.

mod wire;

use std::{fmt, sync::Arc, time::Duration};

use futures::{StreamExt, stream::FuturesUnordered};
use kube::{
    Api, Client, ResourceExt,
    api::{DeleteParams, DynamicObject, Patch, PatchParams, Preconditions, PropagationPolicy},
};
use mainstay_engine::{
    change_set::{ChangeSet, Contest},
    commit::{Answer, Commit, Input, Limits, Operation, Request},
    field_manager::FieldManager,
    key::ObjectKey,
    kind::{DeclaredKind, KindTable},
    live::LiveObject,
    options::Propagation,
    plan::{DesiredState, Plan, Step},
};
use serde_json::{Value, json};
use tokio::time::Instant;

use self::wire::{failure, fixup_patch, guarded, merge_patch};
use crate::{
    cache::{Cache, Known},
    contests::Contests,
    fence::Fence,
    resource::{api, live_object, rival, to_value},
    root::{RootObject, RootStore, version_number},
    watch::Facts,
    write_locks::WriteLocks,
};

/// An apply that names a resource version which no live object has creates the object if it is absent and
/// conflicts if it exists in any form: creation without the risk of merging into somebody else's object, and with
/// the field ownership of an apply. Resource version 1 is the empty store itself. See
/// `docs/decisions/0002-apply-strategy.md`.
const VERSION_OF_NOTHING: &str = "1";

const FENCED: &str = "leadership was lost";

/// The way of one system's writes into the cluster.
#[derive(Clone)]
pub struct Sink {
    /// API client.
    pub client: Client,
    /// The system's kinds.
    pub declared: KindTable,
    /// Its field manager.
    pub manager: FieldManager,
    /// What it keeps of live objects.
    pub facts: Facts,
    /// Cache that learns from the answers.
    pub cache: Arc<Cache>,
    /// Roots that learn from the answers.
    pub roots: Arc<RootStore>,
    /// Leadership.
    pub fence: Fence,
    /// Who is at writing what.
    pub write_locks: Arc<WriteLocks>,
    /// What others change back.
    pub contests: Arc<Contests>,
    /// Longest duration of one commit.
    pub deadline: Duration,
}

impl fmt::Debug for Sink {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Sink")
            .field("manager", &self.manager)
            .finish_non_exhaustive()
    }
}

/// Why a status was not written.
#[derive(Debug, thiserror::Error)]
pub enum StatusError {
    /// The root changed meanwhile; the next reconcile sees the new version.
    #[error("{0} was changed meanwhile")]
    Conflict(Box<ObjectKey>),
    /// The root no longer exists.
    #[error("{0} no longer exists")]
    Gone(Box<ObjectKey>),
    /// This process is no longer the leader.
    #[error("leadership was lost")]
    Fenced,
    /// Anything else.
    #[error("could not write the status of {key}")]
    Api {
        /// The root.
        key: Box<ObjectKey>,
        /// Cause.
        #[source]
        source: Box<kube::Error>,
    },
}

impl Sink {
    /// Carries a plan out and says what became of it. A plan without work sends nothing.
    pub async fn commit(&self, plan: Arc<Plan>, limits: Limits) -> ChangeSet {
        let (mut commit, mut requests) = Commit::new(plan, limits).step(Input::Start);
        let deadline = tokio::time::sleep(self.deadline);
        tokio::pin!(deadline);
        let mut in_flight = FuturesUnordered::new();
        loop {
            if !requests.is_empty() && !self.fence.is_open() {
                let message = FENCED.to_owned();
                (commit, _) = commit.step(Input::Stop { message });
                return commit.changes();
            }
            for request in std::mem::take(&mut requests) {
                let step = commit.plan().steps.get(request.step).cloned();
                in_flight.push(self.send(request, step));
            }
            if in_flight.is_empty() {
                return commit.changes();
            }
            let input = tokio::select! {
                biased;
                Some((step, answer)) = in_flight.next() => Input::Answered { step, answer },
                () = &mut deadline => Input::Stop { message: "took too long".to_owned() },
            };
            let stopped = matches!(input, Input::Stop { .. });
            (commit, requests) = commit.step(input);
            if stopped {
                return commit.changes();
            }
        }
    }

    /// Writes the difference between the root's status and the wanted one, guarded by the root's version.
    pub async fn write_status(&self, root: &RootObject, status: &Value) -> Result<(), StatusError> {
        let key = &root.root.key;
        let failed = |source: kube::Error| match &source {
            kube::Error::Api(answer) if answer.is_conflict() => {
                StatusError::Conflict(Box::new(key.clone()))
            }
            kube::Error::Api(answer) if answer.is_not_found() => {
                StatusError::Gone(Box::new(key.clone()))
            }
            _ => StatusError::Api {
                key: Box::new(key.clone()),
                source: Box::new(source),
            },
        };
        if !self.fence.is_open() {
            return Err(StatusError::Fenced);
        }
        let Some((row, api)) = self.api(key) else {
            return Err(StatusError::Gone(Box::new(key.clone())));
        };
        let patch = json!({
            "metadata": {"resourceVersion": root.root.resource_version},
            "status": merge_patch(root.value.get("status"), status),
        });
        let written = api
            .patch_status(&key.name, &self.patch_params(false), &Patch::Merge(&patch))
            .await
            .map_err(failed)?;
        self.roots
            .learn(&RootObject::of(key.clone(), to_value(row, written)));
        Ok(())
    }

    async fn send(&self, request: Request, step: Option<Step>) -> (usize, Answer) {
        tokio::time::sleep(request.after).await;
        let answer = match step {
            // The pause may have been long; what follows asks again and ends the commit.
            Some(_) if !self.fence.is_open() => Answer::Transient {
                message: FENCED.to_owned(),
            },
            Some(step) => self.answer(&step, &request.operation).await,
            None => Answer::NotFound,
        };
        (request.step, answer)
    }

    async fn answer(&self, step: &Step, operation: &Operation) -> Answer {
        let Some((row, api)) = self.api(&step.key) else {
            return Answer::Refused {
                message: format!(
                    "{} is of a kind that this system does not declare",
                    step.key
                ),
            };
        };
        let name = step.key.name.as_str();
        let result = match (operation, &step.desired) {
            (Operation::Create | Operation::Update { .. }, DesiredState::Present { body, .. }) => {
                return self.apply(&api, row, step, operation, body).await;
            }
            (
                Operation::Delete {
                    uid,
                    resource_version,
                },
                _,
            ) => {
                let version = (uid.as_str(), resource_version.as_str());
                return self.delete(&api, row, step, version).await;
            }
            (
                Operation::Fixup {
                    uid,
                    resource_version,
                    fixup,
                },
                _,
            ) => {
                let Ok(patch) = serde_json::from_value(fixup_patch(uid, resource_version, fixup))
                else {
                    return Answer::NotFound;
                };
                let params = self.patch_params(false);
                api.patch(name, &params, &Patch::<()>::Json(patch)).await
            }
            (
                Operation::PatchFinalizers { resource_version },
                DesiredState::Finalizers(finalizers),
            ) => {
                let patch = json!({"metadata": {"resourceVersion": resource_version, "finalizers": finalizers}});
                let params = self.patch_params(false);
                let written = api.patch(name, &params, &Patch::Merge(&patch)).await;
                return self.learn_root(row, &step.key, written, finalizers.is_empty());
            }
            (Operation::PatchStatus { resource_version }, DesiredState::Status(status)) => {
                let patch =
                    json!({"metadata": {"resourceVersion": resource_version}, "status": status});
                let params = self.patch_params(false);
                let written = api.patch_status(name, &params, &Patch::Merge(&patch)).await;
                return self.learn_root(row, &step.key, written, false);
            }
            _ => return self.read(&api, row, step).await,
        };
        self.learn(row, result)
    }

    fn learn(&self, row: &DeclaredKind, written: Result<DynamicObject, kube::Error>) -> Answer {
        match written {
            Ok(object) => {
                let live = self.live(row, object);
                self.cache.learn(&live);
                Answer::Applied(Arc::new(live))
            }
            Err(error) => failure(&error),
        }
    }

    /// Of the reconciles that share an object the first writes it, and the others see what it wrote.
    async fn apply(
        &self,
        api: &Api<DynamicObject>,
        row: &DeclaredKind,
        step: &Step,
        operation: &Operation,
        body: &Value,
    ) -> Answer {
        let _turn = self.write_locks.take(&step.key).await;
        if let Some(live) = self.written_meanwhile(step, operation) {
            return Answer::Seen(Some(live));
        }
        let definitions = self.cache.definitions();
        let made_by = step.check.version.as_deref();
        if !definitions.still_holds(&row.kind, body, made_by) {
            return Answer::Outdated;
        }
        let is_update = matches!(operation, Operation::Update { .. });
        if is_update
            && let Some(pause) = self.contests.pause(&step.key, body, Instant::now())
            && let Some(contest) = self.contest(api, row, step, pause).await
        {
            return Answer::Contested(contest);
        }
        let unguarded = body;
        let body = match operation {
            Operation::Update {
                uid,
                resource_version,
            } => guarded(body, &[("uid", uid), ("resourceVersion", resource_version)]),
            _ => guarded(body, &[("resourceVersion", VERSION_OF_NOTHING)]),
        };
        let params = self.patch_params(true);
        let written = api
            .patch(&step.key.name, &params, &Patch::Apply(&body))
            .await;
        let answer = self.learn(row, written);
        if is_update && matches!(answer, Answer::Applied(_)) {
            let now = Instant::now();
            self.contests.written(&step.key, unguarded, now);
        }
        if matches!(answer, Answer::ServerError { .. })
            && definitions
                .look_again(&self.client, &row.kind, unguarded, made_by)
                .await
        {
            return Answer::Outdated;
        }
        answer
    }

    /// Who changes an object back each time.
    async fn contest(
        &self,
        api: &Api<DynamicObject>,
        row: &DeclaredKind,
        step: &Step,
        pause: Duration,
    ) -> Option<Contest> {
        let object = api.get_opt(&step.key.name).await.ok().flatten()?;
        let rival = rival(&object.metadata, self.manager);
        let live = Arc::new(self.live(row, object));
        Some(Contest { live, rival, pause })
    }

    /// What is known of an object beyond what the plan knew: this write would be refused, and the object read.
    fn written_meanwhile(&self, step: &Step, operation: &Operation) -> Option<Arc<LiveObject>> {
        let Known::Whole(live) = self.cache.known(&step.key) else {
            return None;
        };
        let is_news = match operation {
            Operation::Update {
                resource_version, ..
            } => version_number(&live.resource_version) > version_number(resource_version),
            _ => true,
        };
        let is_usable = step.claim.holds(&live) && !live.deleting;
        (is_news && is_usable).then_some(live)
    }

    /// Roots have a store of their own. A deleted root ends with its last finalizer: the answer shows it as it was, with
    /// its old version, so the store would keep it until the watch says more, and a reconcile meanwhile would write to nobody.
    fn learn_root(
        &self,
        row: &DeclaredKind,
        key: &ObjectKey,
        written: Result<DynamicObject, kube::Error>,
        is_released: bool,
    ) -> Answer {
        let object = match written {
            Ok(object) => object,
            Err(error) => return failure(&error),
        };
        let root = RootObject::of(key.clone(), to_value(row, object.clone()));
        if root.deleting && is_released {
            self.roots.bury(key, &root.root.uid);
        } else {
            self.roots.learn(&root);
        }
        Answer::Applied(Arc::new(self.live(row, object)))
    }

    async fn read(&self, api: &Api<DynamicObject>, row: &DeclaredKind, step: &Step) -> Answer {
        let found = match api.get_opt(&step.key.name).await {
            Ok(found) => found.map(|object| Arc::new(self.live(row, object))),
            Err(error) => return failure(&error),
        };
        // Should the fields have to be rendered anew, the next round has to know why.
        if let Some(live) = &found
            && step.claim.holds(live)
        {
            self.cache.learn(live);
        }
        Answer::Seen(found)
    }

    async fn delete(
        &self,
        api: &Api<DynamicObject>,
        row: &DeclaredKind,
        step: &Step,
        (uid, resource_version): (&str, &str),
    ) -> Answer {
        let key = &step.key;
        let params = DeleteParams {
            preconditions: Some(Preconditions {
                uid: Some(uid.to_owned()),
                resource_version: Some(resource_version.to_owned()),
            }),
            propagation_policy: Some(match step.propagation {
                Propagation::Background => PropagationPolicy::Background,
                Propagation::Foreground => PropagationPolicy::Foreground,
                Propagation::Orphan => PropagationPolicy::Orphan,
            }),
            ..DeleteParams::default()
        };
        let answer = match api.delete(&key.name, &params).await {
            Ok(answer) => answer,
            Err(error) => return failure(&error),
        };
        match answer.left() {
            // Somebody has to do something first.
            Some(object) if !object.finalizers().is_empty() => {
                self.cache.learn(&self.live(row, object));
                Answer::Deleting
            }
            _ => {
                self.cache.bury(key, uid);
                Answer::Deleted
            }
        }
    }

    fn live(&self, row: &DeclaredKind, object: DynamicObject) -> LiveObject {
        live_object(row, object, self.manager, |value| {
            (self.facts)(&row.kind, value)
        })
    }

    fn api(&self, key: &ObjectKey) -> Option<(&DeclaredKind, Api<DynamicObject>)> {
        let row = self.declared.find(&key.kind)?;
        Some((row, api(self.client.clone(), row, &key.namespace)))
    }

    fn patch_params(&self, force: bool) -> PatchParams {
        PatchParams {
            force,
            field_manager: Some(self.manager.name.to_owned()),
            ..PatchParams::default()
        }
    }
}
