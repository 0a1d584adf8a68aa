//! Rights that are granted are rights that are used: the roles against the audit logs of a whole run of the tests.
//!
//! `cargo xtask test` ends with it. `cargo xtask test --rights` repeats it with the logs of the last run.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use std::{
    collections::BTreeSet,
    env,
    fs::File,
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
};

use mainstay_package::identity::Reach;
use serde_json::Value;

/// How the API server knows the operator of Clowder, whose tests run with its rights.
const CLOWDER: &str = "system:serviceaccount:clowder-system:clowder-controller-manager";

/// Group, resource and verb.
type Right = (String, String, String);

/// The log of a plane: of `cargo xtask test`, or else of tests that were started by hand.
fn log(variable: &str, name: &str) -> PathBuf {
    let by_hand = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/control-plane");
    let directory = env::var_os(variable).map_or_else(|| by_hand.join(name), PathBuf::from);
    directory.join("audit.log")
}

/// What roles grant and a request can show.
fn granted(roles: &[Value]) -> BTreeSet<Right> {
    let words = |rule: &Value, field: &str| -> Vec<String> {
        let words = rule[field].as_array().unwrap().iter();
        words
            .map(|word| word.as_str().unwrap().to_owned())
            .collect()
    };
    let mut rights = BTreeSet::new();
    for rule in roles
        .iter()
        .flat_map(|role| role["rules"].as_array().unwrap())
    {
        let verbs = words(rule, "verbs");
        for group in words(rule, "apiGroups") {
            for resource in words(rule, "resources") {
                let shown = verbs
                    .iter()
                    .filter(|verb| is_shown(&resource, verb, &verbs));
                rights.extend(shown.map(|verb| (group.clone(), resource.clone(), verb.clone())));
            }
        }
    }
    rights
}

/// Whether the use of a right is a request of its own.
fn is_shown(resource: &str, verb: &str, verbs: &[String]) -> bool {
    // Asked for by the API server while it carries out other requests: who makes an owner, a host or a binding.
    let by_the_server =
        resource.ends_with("/finalizers") || resource == "routes/custom-host" || verb == "bind";
    // Who changes the owner of an object must be able to delete it, too, where the API server checks owners: the
    // original misspells those of autoscalers. A copy of a Secret whose type cannot be changed is replaced.
    let replaced = ["horizontalpodautoscalers", "secrets"].contains(&resource) && verb == "delete";
    // Read again after an answer that got lost, of any kind and at any time; who may list a kind learns nothing by it.
    let again = verb == "get" && verbs.iter().any(|other| other == "list");
    !by_the_server && !replaced && !again
}

/// What the requests of somebody used, by the logs.
fn used(logs: &[PathBuf], is_theirs: impl Fn(&Value) -> bool) -> BTreeSet<Right> {
    let mut rights = BTreeSet::new();
    for path in logs {
        let file = File::open(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        for line in BufReader::new(file).lines() {
            // The last line may be half-written.
            let Ok(event) = serde_json::from_str::<Value>(&line.unwrap()) else {
                continue;
            };
            let code = event["responseStatus"]["code"].as_i64().unwrap_or_default();
            if code != 403 && is_theirs(&event) {
                rights.extend(of_request(&event, code));
            }
        }
    }
    rights
}

fn of_request(event: &Value, code: i64) -> Vec<Right> {
    let text = |field: &Value| field.as_str().unwrap_or_default().to_owned();
    let object = &event["objectRef"];
    let resource = match object["subresource"].as_str() {
        None => text(&object["resource"]),
        Some(part) => format!("{}/{part}", text(&object["resource"])),
    };
    let right = |verb: &str| (text(&object["apiGroup"]), resource.clone(), verb.to_owned());
    let verb = text(&event["verb"]);
    // A patch that makes an object needs both rights.
    let creates = verb == "patch" && code == 201;
    let mut rights = vec![right(&verb)];
    rights.extend(creates.then(|| right("create")));
    rights
}

fn is_program(event: &Value) -> bool {
    let agent = event["userAgent"].as_str().unwrap_or_default();
    agent.starts_with("mainstay")
}

fn assert_used(granted: &BTreeSet<Right>, used: &BTreeSet<Right>) {
    assert!(!granted.is_empty());
    let unused: Vec<String> = granted
        .difference(used)
        .map(|(group, resource, verb)| format!("{verb} {resource} in `{group}`"))
        .collect();
    assert!(
        unused.is_empty(),
        "granted and never used:\n{}",
        unused.join("\n")
    );
}

/// What Kaoto's operator used.
fn by_kaoto() -> BTreeSet<Right> {
    let logs = [
        log("MAINSTAY_TEST_PLANE", "tests"),
        log("MAINSTAY_TEST_PLANE_OPENSHIFT", "tests-openshift"),
    ];
    used(&logs, |event| {
        is_program(event) && event["impersonatedUser"].is_null()
    })
}

/// What Clowder's operator used.
fn by_clowder() -> BTreeSet<Right> {
    let logs = [log("MAINSTAY_TEST_PLANE_CLOWDER", "tests-clowder")];
    used(&logs, |event| {
        is_program(event) && event["impersonatedUser"]["username"] == CLOWDER
    })
}

#[test]
fn kaoto_uses_every_right_that_it_is_given() {
    let [role, _] = mainstay_kaoto::package::roles(Reach::Cluster);
    assert_used(&granted(&[role]), &by_kaoto());
}

#[test]
fn clowder_uses_every_right_that_it_is_given() {
    let [role, _] = mainstay_clowder::package::roles();
    assert_used(&granted(&[role]), &by_clowder());
}

/// The election is the same code for all systems, so that what one of them plays counts for all.
#[test]
fn every_right_at_home_is_used_by_the_election() {
    let [_, kaoto] = mainstay_kaoto::package::roles(Reach::Cluster);
    let [_, clowder] = mainstay_clowder::package::roles();
    assert_eq!(kaoto["rules"], clowder["rules"]);
    let mut used = by_kaoto();
    used.extend(by_clowder());
    assert_used(&granted(&[kaoto]), &used);
}
