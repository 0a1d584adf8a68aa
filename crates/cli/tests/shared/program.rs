//! The program under test, alone and as an operator of Kaoto.

use std::{
    fs,
    path::{Path, PathBuf},
};

use mainstay_testkit::{Namespace, Operator, Plane, Program};
use serde_json::Value;
use tempfile::TempDir;

/// The program under test.
pub(crate) fn mainstay() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_mainstay"))
}

/// The program with arguments.
pub(crate) fn run(arguments: &[&str]) -> Program {
    Program::new(mainstay(), arguments)
}

/// The program under another file name; it goes with the directory.
pub(crate) fn under_the_name(name: &str) -> (TempDir, PathBuf) {
    // Links do not reach across file systems.
    let directory = TempDir::new_in(mainstay().parent().unwrap()).unwrap();
    let path = directory.path().join(name);
    fs::hard_link(mainstay(), &path).unwrap();
    (directory, path)
}

/// A plane, a namespace, and an operator that looks only at it.
pub(crate) async fn operated(prefix: &str) -> (Plane, Namespace, Operator) {
    operated_on(Plane::vanilla().await, prefix).await
}

/// The same on a given plane.
pub(crate) async fn operated_on(plane: Plane, prefix: &str) -> (Plane, Namespace, Operator) {
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
pub(crate) fn condition(kaoto: &Value, r#type: &str) -> String {
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
pub(crate) fn message(kaoto: &Value, r#type: &str) -> String {
    let conditions = kaoto["status"]["conditions"].as_array();
    let mut found = conditions.into_iter().flatten();
    let found = found.find(|condition| condition["type"] == r#type);
    found.unwrap()["message"].as_str().unwrap().to_owned()
}
