//! Every field that the definitions admit survives decoding and encoding.

use serde::de::DeserializeOwned;

use super::definition;
use crate::{
    clowder::{ClowdApp, ClowdAppRef, ClowdEnvironment, ClowdJobInvocation},
    survival::{hollow_error, losses},
};

#[test]
fn environments_references_and_their_status_lose_nothing() {
    assert_eq!(
        losses::<ClowdEnvironment>(definition("ClowdEnvironment")),
        [""; 0]
    );
    assert_eq!(losses::<ClowdAppRef>(definition("ClowdAppRef")), [""; 0]);
}

#[test]
fn apps_and_invocations_lose_nothing() {
    assert_eq!(losses::<ClowdApp>(definition("ClowdApp")), [""; 0]);
    assert_eq!(
        losses::<ClowdJobInvocation>(definition("ClowdJobInvocation")),
        [""; 0]
    );
}

#[test]
fn optional_fields_may_be_there_and_empty() {
    fn check<T: DeserializeOwned>(kind: &str) {
        assert_eq!(hollow_error::<T>(definition(kind)), None, "{kind}");
    }
    check::<ClowdApp>("ClowdApp");
    check::<ClowdAppRef>("ClowdAppRef");
    check::<ClowdEnvironment>("ClowdEnvironment");
    check::<ClowdJobInvocation>("ClowdJobInvocation");
}
