//! Asks the server whether it would accept what a plan wants to write, without writing it.

use std::collections::BTreeSet;

use anyhow::Context;
use futures::{StreamExt, TryStreamExt, stream};
use k8s_openapi::api::authorization::v1::{
    ResourceAttributes, SelfSubjectAccessReview, SelfSubjectAccessReviewSpec,
};
use kube::{
    Api, Client,
    api::{Patch, PatchParams, PostParams},
};
use mainstay_cluster::{error::is_missing, resource::api};
use mainstay_engine::{
    kind::DeclaredKind,
    options::ImmutableChange,
    plan::{Action, DesiredState, Step},
};
use mainstay_system::System;
use serde_json::Value;

use super::{
    Outline,
    line::{Line, PlannedChange},
};

/// Requests at the same time.
const IN_FLIGHT: usize = 8;

/// What the server says about an object.
#[derive(Debug, PartialEq, Eq)]
enum Verdict {
    /// It would take it, or there is nothing to ask.
    Accepted,
    /// It would not, in its own words.
    Refused(String),
    /// It cannot be asked yet: the namespace is only planned.
    TooEarly,
    /// Whoever plans may not write it.
    NotAllowed,
}

/// What could not be tried.
#[derive(Debug, Default)]
pub(crate) struct Untried {
    /// Objects whose namespace does not exist yet.
    pub(crate) too_early: usize,
    /// Resources that whoever plans may not write.
    pub(crate) not_allowed: BTreeSet<String>,
}

/// Tries everything that a plan would create or change; what the server refuses is marked.
pub(super) async fn try_out(client: &Client, outline: &mut Outline) -> anyhow::Result<()> {
    let namespaces: BTreeSet<String> = planned_namespaces(outline);
    let lines = outline.lines.iter_mut().chain(&mut outline.followers);
    let trials = lines.filter_map(|line| {
        let (system, step) = line.step.clone()?;
        let row = system.row(&step.key.kind)?.clone();
        let is_written = matches!(line.change, PlannedChange::Create | PlannedChange::Update);
        is_written.then_some((line, row, system, step))
    });
    let namespaces = &namespaces;
    let verdicts: Vec<(&mut Line, DeclaredKind, Verdict)> = stream::iter(trials)
        .map(async |(line, row, system, step)| {
            let verdict = ask(client, &row, system, &step, namespaces).await;
            let could_not = || format!("could not ask the server about {}", step.key);
            anyhow::Ok((line, row, verdict.with_context(could_not)?))
        })
        .buffered(IN_FLIGHT)
        .try_collect()
        .await?;
    for (line, row, verdict) in verdicts {
        match verdict {
            Verdict::Accepted => {}
            Verdict::Refused(message) => {
                line.because = format!("{}: {message}", line.because);
                line.change = PlannedChange::Refused;
            }
            Verdict::TooEarly => outline.untried.too_early += 1,
            Verdict::NotAllowed => {
                outline.untried.not_allowed.insert(row.plural.into_owned());
            }
        }
    }
    Ok(())
}

/// Namespaces that the plan itself makes.
fn planned_namespaces(outline: &Outline) -> BTreeSet<String> {
    let lines = outline.lines.iter().chain(&outline.followers);
    let made = lines
        .filter(|line| line.key.kind.kind == "Namespace" && line.change == PlannedChange::Create);
    made.map(|line| line.key.name.clone()).collect()
}

async fn ask(
    client: &Client,
    row: &DeclaredKind,
    system: &System,
    step: &Step,
    namespaces: &BTreeSet<String>,
) -> Result<Verdict, kube::Error> {
    let (Action::Create | Action::Update { .. }, DesiredState::Present { body, options }) =
        (&step.action, &step.desired)
    else {
        return Ok(Verdict::Accepted);
    };
    if namespaces.contains(&step.key.namespace) {
        return Ok(Verdict::TooEarly);
    }
    let params = PatchParams {
        dry_run: true,
        force: true,
        field_manager: Some(system.field_manager.name.to_owned()),
        ..PatchParams::default()
    };
    let objects = api(client.clone(), row, &step.key.namespace);
    let patch = Patch::Apply(with_owner_uids(body));
    match objects.patch(&step.key.name, &params, &patch).await {
        // Who changed it meanwhile says nothing about what is in it.
        Ok(_) => Ok(Verdict::Accepted),
        Err(kube::Error::Api(answer)) if answer.is_conflict() => Ok(Verdict::Accepted),
        // Such objects are deleted and made anew.
        Err(kube::Error::Api(answer))
            if answer.is_invalid() && options.immutable == ImmutableChange::Recreate =>
        {
            Ok(Verdict::Accepted)
        }
        Err(error @ kube::Error::Api(_)) if is_missing(&error) => Ok(refused(error)),
        Err(kube::Error::Api(answer)) if answer.is_forbidden() => {
            // Quotas and webhooks forbid too; only a missing right says nothing about the object.
            if may_write(client, row, &step.key.namespace).await? {
                Ok(Verdict::Refused(answer.message.clone()))
            } else {
                Ok(Verdict::NotAllowed)
            }
        }
        Err(error @ kube::Error::Api(_)) => Ok(refused(error)),
        Err(error) => Err(error),
    }
}

fn refused(error: kube::Error) -> Verdict {
    match error {
        kube::Error::Api(answer) => Verdict::Refused(answer.message.clone()),
        error => Verdict::Refused(error.to_string()),
    }
}

/// An owner that does not exist yet has no uid, and the server wants one; which one does not matter here.
fn with_owner_uids(body: &Value) -> Value {
    const NOBODY: &str = "00000000-0000-0000-0000-000000000000";
    let mut body = body.clone();
    let owners = body
        .pointer_mut("/metadata/ownerReferences")
        .and_then(Value::as_array_mut);
    for owner in owners.into_iter().flatten() {
        if owner["uid"] == "" {
            owner["uid"] = Value::from(NOBODY);
        }
    }
    body
}

/// Whether whoever plans has the right to write objects of a kind.
async fn may_write(
    client: &Client,
    row: &DeclaredKind,
    namespace: &str,
) -> Result<bool, kube::Error> {
    let reviews: Api<SelfSubjectAccessReview> = Api::all(client.clone());
    for verb in ["patch", "create"] {
        let review = SelfSubjectAccessReview {
            spec: SelfSubjectAccessReviewSpec {
                resource_attributes: Some(ResourceAttributes {
                    group: Some(row.kind.group.to_string()),
                    resource: Some(row.plural.to_string()),
                    namespace: Some(namespace.to_owned()),
                    verb: Some(verb.to_owned()),
                    ..ResourceAttributes::default()
                }),
                ..SelfSubjectAccessReviewSpec::default()
            },
            ..SelfSubjectAccessReview::default()
        };
        let answer = reviews.create(&PostParams::default(), &review).await?;
        if !answer.status.is_some_and(|status| status.allowed) {
            return Ok(false);
        }
    }
    Ok(true)
}
