//! What has to be so before jobs of an app are started.

use std::sync::Arc;

use mainstay_api::clowder::{ClowdApp, ClowdEnvironment, ClowdJobInvocation};
use mainstay_engine::reconciler::ValidateError;

use crate::{
    gates::{self, waiting},
    kinds, names,
    status::conditions,
    views::lookup::Lookup,
};

/// Annotation of an invocation with the tag that the images of its jobs must have.
const EXPECTED_TAG: &str = "clowder.redhat.com/expected-image-tag";

/// The app and its environment, if the app is as the invocation needs it.
pub(super) fn check(
    invocation: &ClowdJobInvocation,
    lookup: Lookup<'_>,
) -> Result<(Arc<ClowdApp>, Arc<ClowdEnvironment>), ValidateError> {
    let app = find(invocation, lookup)?;
    let name = &invocation.spec.app_name;
    let (wanted, reached) = generations(&app);
    if reached > 0 && reached != wanted {
        let message = format!(
            "ClowdApp [{name}] has not been reconciled with the current generation (spec: {wanted}, status: {reached}): "
        );
        return Err(waiting(gates::APP_NOT_RECONCILED, message));
    }
    if let Some(tag) = expected_tag(invocation)
        && !has_tag(&app, &invocation.spec.jobs, tag)
    {
        let message = format!("ClowdApp [{name}] job images do not contain expected tag [{tag}]: ");
        return Err(waiting(gates::IMAGE_TAG_MISMATCH, message));
    }
    if !is_ready(&app) && !invocation.spec.run_on_not_ready {
        let message = format!("The {name} app must be ready for CJI to start: ");
        return Err(waiting(gates::APP_NOT_READY, message));
    }
    let environment = &app.spec.environment_name;
    let Some(environment) = lookup.environment(environment)? else {
        let missing = format!("ClowdEnvironment.cloud.redhat.com \"{environment}\" not found");
        return Err(waiting(gates::ENVIRONMENT_MISSING, missing));
    };
    Ok((app, environment))
}

fn find(
    invocation: &ClowdJobInvocation,
    lookup: Lookup<'_>,
) -> Result<Arc<ClowdApp>, ValidateError> {
    let name = &invocation.spec.app_name;
    let namespace = names::namespace(&invocation.metadata);
    if let Some(app) = lookup.app(namespace, name)? {
        return Ok(app);
    }
    let missing = format!("clowdapps.cloud.redhat.com \"{name}\" not found");
    // An app that was created just now may not have come by yet. Once absence was made sure of, the watch tells.
    if !name.is_empty() && !says(invocation, &missing) {
        lookup.fresh(&kinds::app_key(namespace, name))?;
    }
    Err(waiting(gates::APP_MISSING, missing))
}

/// Whether the status of an invocation says that it failed with these words.
fn says(invocation: &ClowdJobInvocation, words: &str) -> bool {
    let status = invocation.status.iter();
    let mut conditions = status.flat_map(|status| &status.conditions);
    conditions.any(|condition| condition.type_ == conditions::FAILED && condition.message == words)
}

/// The generation of an app, and the one that was brought to the cluster.
fn generations(app: &ClowdApp) -> (i64, i64) {
    let reached = app.status.as_ref().map(|status| status.generation);
    (
        app.metadata.generation.unwrap_or_default(),
        reached.unwrap_or_default(),
    )
}

/// Parity: that the app has been reconciled once is enough, how that ended does not matter.
fn is_ready(app: &ClowdApp) -> bool {
    app.status.as_ref().is_some_and(|status| {
        let mut conditions = status.conditions.iter();
        status.ready && conditions.any(|condition| condition.type_ == conditions::SUCCESSFUL)
    })
}

/// The tag that the images of the jobs must have, if the invocation names one.
pub(super) fn expected_tag(invocation: &ClowdJobInvocation) -> Option<&str> {
    let annotations = invocation.metadata.annotations.as_ref()?;
    let tag = annotations.get(EXPECTED_TAG)?;
    Some(tag.as_str()).filter(|tag| !tag.is_empty())
}

/// Whether all of these jobs have images with a tag. Jobs that do not exist are found out later.
fn has_tag(app: &ClowdApp, jobs: &[String], tag: &str) -> bool {
    let ending = format!(":{tag}");
    let mut asked = app.spec.jobs.iter().filter(|job| jobs.contains(&job.name));
    asked.all(|job| job.pod_spec.image.ends_with(&ending))
}
