//! Why an app, an environment or an invocation has to wait, in words that events, conditions and metrics share.

pub mod grants;

use mainstay_engine::reconciler::{ValidateError, Waiting};

use crate::views::lookup::Lookup;

/// The app's environment does not exist.
pub const ENVIRONMENT_MISSING: &str = "ClowdEnvMissing";
/// The environment has changed and has not been brought to the cluster yet.
pub const ENVIRONMENT_NOT_RECONCILED: &str = "ClowdEnvNotReconciled";
/// Components of the environment are not ready.
pub const ENVIRONMENT_NOT_READY: &str = "ClowdEnvNotReady";
/// The environment has no target namespace yet, or it does not exist.
pub const NO_TARGET_NAMESPACE: &str = "NoTargetNamespace";
/// The namespace that an environment asks for does not exist.
pub const NAMESPACE_MISSING: &str = "NamespaceMissing";
/// The object says so itself.
pub const DISABLED: &str = "Disabled";
/// The namespace is on its way out.
pub const NAMESPACE_TERMINATING: &str = "NamespaceTerminating";
/// A name for the target namespace was chosen and has to be stored before the namespace is made.
pub const NAMESPACE_CHOSEN: &str = "NamespaceChosen";
/// A host name for the environment was chosen and has to be stored before anything is published under it.
pub const HOSTNAME_CHOSEN: &str = "HostnameChosen";

/// The field of an environment's status that keeps what was chosen, if that is why it waits.
pub fn chosen_field(hold: &Waiting) -> Option<&'static str> {
    match hold.reason {
        NAMESPACE_CHOSEN => Some("targetNamespace"),
        HOSTNAME_CHOSEN => Some("hostname"),
        _ => None,
    }
}

/// The app of an invocation does not exist.
pub const APP_MISSING: &str = "ClowdAppMissing";
/// The app has changed and has not been brought to the cluster yet.
pub const APP_NOT_RECONCILED: &str = "ClowdAppNotReconciled";
/// The app does not have the image yet that an invocation expects.
pub const IMAGE_TAG_MISMATCH: &str = "ImageTagMismatch";
/// Deployments of the app are not ready.
pub const APP_NOT_READY: &str = "ClowdAppNotReady";

/// Waits for a reason.
pub fn waiting(reason: &'static str, message: impl Into<String>) -> ValidateError {
    ValidateError::Waiting(Waiting {
        reason,
        message: message.into(),
    })
}

/// Goes on only if a namespace is there to stay.
pub fn check_namespace(
    lookup: Lookup<'_>,
    namespace: &str,
    missing: &'static str,
) -> Result<(), ValidateError> {
    let facts = match namespace {
        "" => None,
        name => lookup.namespace(name)?,
    };
    match facts {
        None => Err(waiting(
            missing,
            format!("Namespace \"{namespace}\" not found"),
        )),
        Some(facts) if facts.terminating => Err(waiting(
            NAMESPACE_TERMINATING,
            format!("namespace {namespace} is being deleted"),
        )),
        Some(_) => Ok(()),
    }
}
