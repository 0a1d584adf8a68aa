//! A real Kubernetes API on loopback, without containers: etcd, kube-apiserver, kube-controller-manager,
//! kube-scheduler, and KWOK in the place of kubelets.
//!
//! [`Assets`] finds the programs or builds them once; [`launch`] starts a *plane*, which lives in one directory
//! ([`Layout`]) and has one supervisor process as the parent of all its components. Nothing here speaks TLS or knows a
//! Kubernetes type: what has to be said to the API goes through `kubectl`, so that this crate stays quick to compile.
//!
//! Linux only: that no component outlives its supervisor rests on the parent-death signal.

pub mod assets;
pub mod command;
pub mod components;
pub mod debian;
pub mod definitions;
mod file_error;
pub mod halt;
pub mod layout;
pub mod plane;
pub mod ports;
pub mod process;
pub mod sources;
pub mod state;
mod supervisor;
pub mod tools;

pub use assets::Assets;
pub use file_error::FileError;
pub use layout::Layout;
pub use plane::{
    BoundPlane, DetachedPlane, PlaneOptions, Status, launch, launch_bound, status, stop,
};
pub use process::Launcher;

/// Where progress goes: called with one line, without the newline. Long steps call it from time to time.
pub type Report<'a> = &'a dyn Fn(&str);
