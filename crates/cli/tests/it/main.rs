//! Tests of the real program against a real control plane. One binary, so that it links once.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod bad_input;
mod cli;
mod clowder;
mod crashes;
mod faults;
mod kaoto_acceptance;
mod kaoto_openshift;
mod kaoto_ownership;
mod leadership;
mod packaging;
mod permissions;
mod quiet;
mod random;

use std::{
    fs,
    path::{Path, PathBuf},
};

use mainstay_testkit::{Namespace, Operator, Plane, Program};
use serde_json::Value;
use tempfile::TempDir;

/// The program under test.
fn mainstay() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_mainstay"))
}

/// The program with arguments.
fn run(arguments: &[&str]) -> Program {
    Program::new(mainstay(), arguments)
}

/// The program under another file name; it goes with the directory.
fn under_the_name(name: &str) -> (TempDir, PathBuf) {
    // Links do not reach across file systems.
    let directory = TempDir::new_in(mainstay().parent().unwrap()).unwrap();
    let path = directory.path().join(name);
    fs::hard_link(mainstay(), &path).unwrap();
    (directory, path)
}

/// A plane, a namespace, and an operator that looks only at it.
async fn operated(prefix: &str) -> (Plane, Namespace, Operator) {
    operated_on(Plane::vanilla().await, prefix).await
}

/// The same on a given plane.
async fn operated_on(plane: Plane, prefix: &str) -> (Plane, Namespace, Operator) {
    let namespace = Namespace::create(&plane.client().await, prefix).await;
    let mut operator = Operator::start(
        mainstay(),
        &plane.kubeconfig(),
        &["--watch-namespace", &namespace.name],
    );
    operator.ready().await;
    (plane, namespace, operator)
}

/// Type, status and reason of a condition, as one text.
fn condition(kaoto: &Value, r#type: &str) -> String {
    let conditions = kaoto["status"]["conditions"].as_array();
    let found = conditions.into_iter().flatten();
    let found = found.filter(|condition| condition["type"] == r#type);
    let texts = found.map(|condition| {
        let text = |field: &str| condition[field].as_str().unwrap_or_default();
        format!("{} {}", text("status"), text("reason"))
    });
    texts.collect::<Vec<_>>().join(", ")
}

/// Message of a condition.
fn message(kaoto: &Value, r#type: &str) -> String {
    let conditions = kaoto["status"]["conditions"].as_array();
    let mut found = conditions.into_iter().flatten();
    let found = found.find(|condition| condition["type"] == r#type);
    found.unwrap()["message"].as_str().unwrap().to_owned()
}
