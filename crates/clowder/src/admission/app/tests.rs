use proptest::prelude::*;

use super::*;

fn object(spec: Value) -> Value {
    let mut app = json!({
        "apiVersion": "cloud.redhat.com/v1alpha1", "kind": "ClowdApp",
        "metadata": {"name": "shop", "namespace": "market"},
    });
    app["spec"] = spec;
    app
}

fn app(spec: Value) -> JudgedApp {
    serde_json::from_value(object(spec)).unwrap()
}

fn judged(spec: Value) -> Vec<(String, String)> {
    let found = violations(&app(spec)).into_iter();
    found
        .map(|violation| (violation.to_string(), violation.pointer))
        .collect()
}

fn pair(text: &str, pointer: &str) -> (String, String) {
    (text.to_owned(), pointer.to_owned())
}

const UNKNOWN: &str =
    "Forbidden: Sidecar is of unknown type, must be one of [token-refresher] or [otel-collector]";

#[test]
fn a_database_is_named_or_shared_and_a_shared_one_has_no_inventory() {
    let pointer = "/spec/database/sharedDbAppName";
    let names = pair(
        "spec.Database.Name.spec.Database.SharedDBAppName: Forbidden: cannot set db name and sharedDbApp Name together",
        pointer,
    );
    let cyndi = pair(
        "spec.Database.SharedDBAppName.spec.Cyndi.Enabled: Forbidden: cannot use cyndi with a shared database",
        pointer,
    );
    let both = json!({"name": "goods", "sharedDbAppName": "stock"});
    let shared = json!({"sharedDbAppName": "stock"});
    assert_eq!(
        judged(json!({"database": both})),
        std::slice::from_ref(&names)
    );
    assert_eq!(
        judged(json!({"database": shared, "cyndi": {"enabled": true}})),
        std::slice::from_ref(&cyndi)
    );
    assert_eq!(
        judged(json!({"database": both, "cyndi": {"enabled": true}})),
        [names, cyndi]
    );
    for fine in [
        json!({"database": {"name": "goods"}, "cyndi": {"enabled": true}}),
        json!({"database": {"name": "", "sharedDbAppName": "stock"}, "cyndi": {"enabled": false}}),
        json!({"database": {"name": "goods", "sharedDbAppName": ""}}),
        json!({"database": null, "cyndi": null}),
    ] {
        assert_eq!(judged(fine), []);
    }
}

#[test]
fn sidecars_are_known_by_name_in_deployments_and_scheduled_jobs() {
    let pod = |names: &[&str]| {
        let sidecars: Vec<Value> = names
            .iter()
            .map(|name| json!({"name": name, "enabled": false}))
            .collect();
        json!({"sidecars": sidecars})
    };
    let spec = json!({
        "deployments": [
            {"name": "web", "podSpec": pod(&["token-refresher", "otel-collector"])},
            {"name": "worker", "podSpec": pod(&["token-refresher", "mystery"])},
        ],
        "jobs": [
            {"name": "once", "podSpec": pod(&["mystery"])},
            {"name": "nightly", "schedule": "0 1 * * *", "podSpec": pod(&["mystery", "otel-collector", ""])},
        ],
    });
    assert_eq!(
        judged(spec),
        [
            pair(
                &format!("spec.Deployment[1].Sidecars[1]: {UNKNOWN}"),
                "/spec/deployments/1/podSpec/sidecars/1/name"
            ),
            pair(
                &format!("spec.Deployment[1].Sidecars[0]: {UNKNOWN}"),
                "/spec/jobs/1/podSpec/sidecars/0/name"
            ),
            pair(
                &format!("spec.Deployment[1].Sidecars[2]: {UNKNOWN}"),
                "/spec/jobs/1/podSpec/sidecars/2/name"
            ),
        ]
    );
}

#[test]
fn several_init_containers_need_names_but_one_does_not_and_jobs_are_not_asked() {
    let containers = json!([{"command": ["a"]}, {"name": "n"}, {"name": ""}]);
    let text = |position: u8| {
        pair(
            &format!(
                "spec.Deployments[1].PodSpec.InitContainers[{position}]: Forbidden: multiple initcontainers must have a name"
            ),
            &format!("/spec/deployments/1/podSpec/initContainers/{position}"),
        )
    };
    let spec = json!({
        "deployments": [
            {"name": "web", "podSpec": {"initContainers": [{"command": ["a"]}]}},
            {"name": "worker", "podSpec": {"initContainers": containers}},
        ],
        "jobs": [{"name": "nightly", "schedule": "0 1 * * *", "podSpec": {"initContainers": containers}}],
    });
    assert_eq!(judged(spec), [text(0), text(2)]);
}

#[test]
fn a_public_service_cannot_be_recreated_unless_it_is_public_the_old_way() {
    let with = |more: Value| {
        let mut deployment =
            json!({"name": "web", "deploymentStrategy": {"privateStrategy": "Recreate"}});
        deployment
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        json!({"deployments": [deployment]})
    };
    assert_eq!(
        judged(with(json!({"webServices": {"public": {"enabled": true}}}))),
        [pair(
            "spec.Deployment[0]: Forbidden: privateStrategy cannot be set to recreate for public web enabled deployments",
            "/spec/deployments/0/deploymentStrategy/privateStrategy"
        )]
    );
    let rolling = json!({
        "webServices": {"public": {"enabled": true}},
        "deploymentStrategy": {"privateStrategy": "RollingUpdate"},
    });
    for fine in [
        json!({"web": true}),
        json!({"webServices": {"private": {"enabled": true}}}),
        rolling,
    ] {
        assert_eq!(judged(with(fine)), []);
    }
}

#[test]
fn rules_are_told_in_their_order_whatever_the_order_of_deployments() {
    let bad = json!({
        "name": "web",
        "webServices": {"public": {"enabled": true}},
        "deploymentStrategy": {"privateStrategy": "Recreate"},
        "podSpec": {"sidecars": [{"name": "x", "enabled": true}], "initContainers": [{}, {}]},
    });
    let found = judged(json!({
        "deployments": [bad, bad],
        "database": {"name": "goods", "sharedDbAppName": "stock"},
    }));
    let paths: Vec<&str> = found
        .iter()
        .map(|(text, _)| text.split(": ").next().unwrap())
        .collect();
    assert_eq!(
        paths,
        [
            "spec.Database.Name.spec.Database.SharedDBAppName",
            "spec.Deployment[0].Sidecars[0]",
            "spec.Deployment[1].Sidecars[0]",
            "spec.Deployments[0].PodSpec.InitContainers[0]",
            "spec.Deployments[0].PodSpec.InitContainers[1]",
            "spec.Deployments[1].PodSpec.InitContainers[0]",
            "spec.Deployments[1].PodSpec.InitContainers[1]",
            "spec.Deployment[0]",
            "spec.Deployment[1]",
        ]
    );
}

#[test]
fn a_refusal_names_no_object_and_tells_the_same_thing_once() {
    let pod = json!({"sidecars": [{"name": "x", "enabled": true}]});
    let twice = app(json!({
        "deployments": [{"name": "web", "podSpec": pod}],
        "jobs": [{"name": "nightly", "schedule": "0 1 * * *", "podSpec": pod}],
    }));
    let found = violations(&twice);
    assert_eq!(found.len(), 2);
    let status = status(&found);
    assert_eq!(
        status["message"],
        format!(
            "ClowdApp.cloud.redhat.com \"\" is invalid: spec.Deployment[0].Sidecars[0]: {UNKNOWN}"
        )
    );
    let cause = json!({
        "reason": "FieldValueForbidden", "message": UNKNOWN, "field": "spec.Deployment[0].Sidecars[0]",
    });
    assert_eq!(
        status["details"],
        json!({"group": "cloud.redhat.com", "kind": "ClowdApp", "causes": [cause, cause]})
    );
    assert_eq!(
        (&status["code"], &status["reason"]),
        (&json!(422), &json!("Invalid"))
    );
}

#[test]
fn several_violations_stand_in_brackets() {
    let found = violations(&app(json!({
        "database": {"name": "goods", "sharedDbAppName": "stock"}, "cyndi": {"enabled": true},
    })));
    assert_eq!(
        message(&found),
        "ClowdApp.cloud.redhat.com \"\" is invalid: \
         [spec.Database.Name.spec.Database.SharedDBAppName: Forbidden: cannot set db name and sharedDbApp Name together, \
         spec.Database.SharedDBAppName.spec.Cyndi.Enabled: Forbidden: cannot use cyndi with a shared database]"
    );
}

#[test]
fn an_app_on_its_way_out_is_not_judged() {
    let mut leaving = object(json!({"database": {"name": "a", "sharedDbAppName": "b"}}));
    leaving["metadata"]["deletionTimestamp"] = json!("2024-05-06T07:08:09Z");
    let leaving: JudgedApp = serde_json::from_value(leaving).unwrap();
    assert_eq!(violations(&leaving), []);
}

#[test]
fn an_app_of_which_more_is_wrong_than_anybody_reads_is_told_a_part_of_it() {
    let sidecars = vec![json!({}); 5_000];
    let found = judged(json!({"deployments": [{"podSpec": {"sidecars": sidecars}}]}));
    assert_eq!(found.len(), 1_000);
    assert_eq!(
        found[999].1,
        "/spec/deployments/0/podSpec/sidecars/999/name"
    );
}

#[test]
fn an_app_with_more_parts_than_any_has_is_not_read() {
    let with = |count: usize| {
        let object = object(json!({"jobs": vec![json!({}); count]}));
        serde_json::from_value::<JudgedApp>(object)
    };
    assert!(with(10_000).is_ok());
    let text = with(10_001).unwrap_err().to_string();
    assert!(
        text.contains("expected a list of at most 10000 items"),
        "{text}"
    );
}

proptest! {
    /// Whatever is wrong can be found in the file that it came from.
    #[test]
    fn every_pointer_leads_into_the_object(
        sidecars in prop::collection::vec(prop::collection::vec("[a-z]{0,3}|token-refresher", 0..4), 0..4),
        names in prop::collection::vec("[a-z]{0,1}", 0..4),
        public in any::<bool>(),
    ) {
        let pod = |sidecars: &Vec<String>| json!({
            "sidecars": sidecars.iter().map(|name| json!({"name": name})).collect::<Vec<_>>(),
            "initContainers": names.iter().map(|name| json!({"name": name})).collect::<Vec<_>>(),
        });
        let parts: Vec<Value> = sidecars.iter().map(|sidecars| json!({
            "name": "part", "schedule": "0 1 * * *", "podSpec": pod(sidecars),
            "webServices": {"public": {"enabled": public}},
            "deploymentStrategy": {"privateStrategy": "Recreate"},
        })).collect();
        let spec = json!({
            "deployments": parts, "jobs": parts,
            "database": {"name": "a", "sharedDbAppName": "b"}, "cyndi": {"enabled": public},
        });
        let document = json!({"spec": spec});
        for violation in violations(&app(document["spec"].clone())) {
            prop_assert!(document.pointer(&violation.pointer).is_some(), "{}", violation.pointer);
        }
    }
}
