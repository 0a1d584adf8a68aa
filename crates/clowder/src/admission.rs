//! What the API server asks before it stores something: whether a `ClowdApp` may be, and what a pod lacks.
//!
//! Pure, and the same everywhere: the webhooks, the command line over files, and for installations without webhooks a
//! policy that the API server evaluates itself.
//!
//! | Module | Content |
//! |---|---|
//! | [`app`] | the rules for a `ClowdApp`, and the words of a refusal |
//! | [`pod`] | the container that a pod behind a login gets |
//! | [`registration`] | how the API server learns of the two webhooks |
//! | [`policy`] | the rules for a `ClowdApp` as a `ValidatingAdmissionPolicy` |

pub mod app;
pub mod pod;
pub mod policy;
pub mod registration;

/// Name of the webhook that judges apps.
pub const APP_WEBHOOK: &str = "vclowdapp.kb.io";
/// Where it is served.
pub const APP_PATH: &str = "/validate-cloud-redhat-com-v1alpha1-clowdapp";
/// Name of the webhook that completes pods.
pub const POD_WEBHOOK: &str = "vclowdmutatepod.kb.io";
/// Where it is served.
pub const POD_PATH: &str = "/mutate-pod";
