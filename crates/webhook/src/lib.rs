//! Admission webhooks: HTTPS around the pure rules of a system, which says what it answers as a list of [`Webhook`]s.
//!
//! They are served on every replica, leader or not, by a thread of their own: whoever applies an object must not wait for
//! a reconcile over another one. Without a certificate nothing is listened on, with a new one nothing is interrupted.
//!
//! | Module | Content |
//! |---|---|
//! | [`review`] | an `AdmissionReview` in, an answer out: no I/O |
//! | [`certificate`] | the serving certificate, read again when its files change |
//! | [`server`] | connections, limits, timeouts, and a wall around panics |
//! | [`metrics`] | what is counted |
//! | [`webhooks`] | all of it as a thread, and whether it works |
#![deny(missing_docs)]

pub mod certificate;
pub mod metrics;
pub mod review;
pub mod server;
pub mod webhooks;

pub use metrics::WebhookMetrics;
pub use review::{Request, Webhook};
pub use webhooks::{WebhookSettings, Webhooks};
