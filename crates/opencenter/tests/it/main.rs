//! Renders whole configs and looks at whole trees.

#![expect(
    clippy::disallowed_methods,
    clippy::panic,
    reason = "tests read fixtures and may end; only the library is pure"
)]

mod acceptance;
mod adoption;
mod automatic;
mod canary;
mod delivery;
mod descriptors;
mod fixture;
mod golden;
mod identity;
mod observability;
mod properties;
mod services;
mod world;
