use serde_json::json;

use super::*;
use crate::providers::{
    cronjob::CronJobs,
    deployment::Deployments,
    fixture::{Case, Rendered, case, live, secret},
    logging::Logging,
};

const NOTHING: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

fn render(case: &Case) -> Rendered {
    case.render(&[&CronJobs, &Deployments, &Logging, &ConfigHash])
        .unwrap()
}

fn halves(case: &Case) -> (String, String) {
    let rendered = render(case);
    let hash = rendered.config["hashCache"].as_str().unwrap();
    let (app, environment) = hash.split_at(64);
    (app.to_owned(), environment.to_owned())
}

#[test]
fn contents_hash_as_the_original_s_do() {
    assert_eq!(
        content_hash(None),
        "74234e98afe7498fb5daf1f36ac2d78acc339464f950703b8c019892f982b90b"
    );
    assert_eq!(content_hash(Some(&json!({}))), content_hash(None));
    assert_eq!(
        content_hash(Some(&json!({"test": "dGVzdA=="}))),
        "63e7360f7b4cc56da3192298bbcfeb9d85fffdd68d41d6d2723787cbf1344954"
    );
    let escaped = hexadecimal_sha256(br#"{"a":"\u003cb\u003e","c":"d"}"#);
    assert_eq!(content_hash(Some(&json!({"c": "d", "a": "<b>"}))), escaped);
}

#[test]
fn the_document_is_stored_and_its_hash_is_on_the_pods() {
    let mut case = case(
        json!({}),
        json!({"deployments": [{"name": "api"}],
        "jobs": [{"name": "nightly", "schedule": "0 0 * * *"}, {"name": "manual"}]}),
    );
    case.app["metadata"]["labels"] = json!({"team": "a"});
    let rendered = render(&case);
    let secret = rendered.object("Secret", "shop");
    assert_eq!(
        secret["metadata"]["labels"],
        json!({"app": "shop", "team": "a"})
    );
    assert_eq!(secret.get("type"), None);
    let document = crate::views::SecretFacts::of(secret)
        .text("cdappconfig.json")
        .unwrap();
    assert!(
        document.starts_with(&format!(
            "{{\"hashCache\":\"{NOTHING}{NOTHING}\",\"logging\":"
        )),
        "{document}"
    );
    let hash = json!(hexadecimal_sha256(document.as_bytes()));
    let deployment = rendered.object("Deployment", "shop-api");
    assert_eq!(
        deployment["spec"]["template"]["metadata"]["annotations"]["configHash"],
        hash
    );
    let job = rendered.object("CronJob", "shop-nightly");
    assert_eq!(
        job["spec"]["jobTemplate"]["spec"]["template"]["metadata"]["annotations"]["configHash"],
        hash
    );
    case.settings.suffixed_config_secret = true;
    render(&case).object("Secret", "shop-cdappconfig");
}

fn referring() -> Case {
    let reference = |kind: &str, name: &str| json!({"name": kind, "valueFrom": {kind: {"name": name, "key": "k"}}});
    case(
        json!({}),
        json!({"deployments": [{"name": "api", "podSpec": {
        "env": [reference("secretKeyRef", "both"), reference("configMapKeyRef", "both")],
        "volumes": [{"name": "v", "secret": {"secretName": "mounted"}}, {"name": "w", "configMap": {"name": "absent"}}],
        "initContainers": [{"env": [reference("secretKeyRef", "unseen")]}]}}]}),
    )
}

fn tracked(kind: &str, name: &str, value: &str) -> Value {
    json!({"apiVersion": "v1", "kind": kind, "data": {"k": value},
        "metadata": {"namespace": "market", "name": name, "annotations": {"qontract.recycle": "true"}}})
}

#[test]
fn what_deployments_refer_to_counts_if_its_annotation_says_so() {
    assert_eq!(
        halves(&referring()),
        (NOTHING.to_owned(), NOTHING.to_owned())
    );
    let objects = || {
        [
            tracked("ConfigMap", "both", "bWFw"),
            tracked("Secret", "both", "b25l"),
            tracked("Secret", "mounted", "dHdv"),
        ]
    };
    let all = referring().among(objects());
    // In the order of name, namespace and kind.
    let hashes = ["bWFw", "b25l", "dHdv"].map(|value| content_hash(Some(&json!({"k": value}))));
    assert_eq!(
        halves(&all).0,
        hexadecimal_sha256(hashes.concat().as_bytes())
    );
    let mut silent = tracked("Secret", "mounted", "Y2hhbmdlZA==");
    silent["metadata"]["annotations"] = json!({"qontract.recycle": "yes"});
    let less = referring()
        .among(objects())
        .among([silent, tracked("Secret", "unseen", "eA==")]);
    let hashes = ["bWFw", "b25l"].map(|value| content_hash(Some(&json!({"k": value}))));
    assert_eq!(
        halves(&less).0,
        hexadecimal_sha256(hashes.concat().as_bytes())
    );
}

#[test]
fn what_the_environment_brings_counts_in_the_second_half_and_if_referred_to_in_both() {
    let mut case = referring().among([secret("market", "cloudwatch", json!({"aws_region": "r"}))]);
    case.environment["spec"]["providers"]["logging"] = json!({"mode": "app-interface"});
    let (app, environment) = halves(&case);
    assert_eq!(app, NOTHING);
    assert_ne!(environment, NOTHING);
    case.app["spec"]["deployments"][0]["podSpec"]["volumes"] =
        json!([{"name": "v", "secret": {"secretName": "cloudwatch"}}]);
    assert_eq!(halves(&case), (environment.clone(), environment));
}

#[test]
fn the_app_s_own_document_is_not_among_what_is_hashed() {
    let mut own = tracked("Secret", "shop", "eA==");
    own["metadata"]["name"] = json!("shop");
    assert_eq!(halves(&referring().among([own])).0, NOTHING);
}

/// The Secret of the app with this document, as it is found in the cluster.
fn found(document: &str, owned: bool, stands_for: Option<&str>) -> LiveObject {
    use base64::{Engine as _, engine::general_purpose::STANDARD};
    let data = json!({"cdappconfig.json": STANDARD.encode(document)});
    let mut object = json!({"metadata": {"labels": {"app": "shop"}}, "data": data});
    if let Some(hash) = stands_for {
        object["metadata"]["annotations"] = json!({STANDS_FOR: hash});
    }
    let key = ObjectKey::new(kinds::SECRET, "market", "shop");
    let mut live = live(key, facts::facts(&kinds::SECRET, &object));
    if owned {
        let fields = json!({"f:data": {"f:cdappconfig.json": {}}});
        live.owned = mainstay_engine::owned::Owned::from_field_set(&fields, &object);
    }
    live
}

/// What is written for the app when this is found: the second half of the hash, and the annotation.
fn written(case: &mut Case, live: LiveObject) -> (String, Option<String>) {
    case.snapshot.add_live(live);
    let rendered = render(case);
    let hash = rendered.config["hashCache"].as_str().unwrap();
    let annotations = &rendered.object("Secret", "shop")["metadata"]["annotations"];
    let stands_for = annotations[STANDS_FOR].as_str().map(str::to_owned);
    (hash[64..].to_owned(), stands_for)
}

#[test]
fn a_hash_of_the_original_is_kept_until_something_changes_that_it_stands_for() {
    let mut case = case(json!({}), json!({"deployments": [{"name": "api"}]}));
    let original = "0123456789abcdef".repeat(4);
    let document =
        |second: &str| format!("{{\"hashCache\":\"{NOTHING}{second}\",\"logging\":{{}}}}");
    let theirs = document(&original);
    let marked = format!("{original}-{NOTHING}");
    let kept = (original.clone(), Some(marked.clone()));
    let own = (NOTHING.to_owned(), None);

    // Found as the original wrote it: not taken over yet, and written again by the original after us.
    let mut untouched = found(&theirs, true, None);
    untouched.migrated_managed_fields = Some(json!([]));
    assert_eq!(written(&mut case, untouched), kept);
    let returned = found(&theirs, false, Some("of another time"));
    assert_eq!(written(&mut case, returned), kept);
    // Taken over, and nothing has changed: the very same is written again.
    let settled = found(&theirs, true, Some(&marked));
    assert_eq!(written(&mut case, settled), kept);
    // What it stands for has changed, and has changed back.
    let changed = found(&theirs, true, Some(&format!("{original}-{original}")));
    assert_eq!(written(&mut case, changed), own);
    let reverted = document(&"f".repeat(64));
    let reverted = found(&reverted, true, Some(&marked));
    assert_eq!(written(&mut case, reverted), own);
    // Our own, and what it stands for has changed; a crash between the two writes of a take-over looks the same, but
    // for the workload that is not taken over yet.
    assert_eq!(written(&mut case, found(&theirs, true, None)), own);
    let key = ObjectKey::new(kinds::DEPLOYMENT, "market", "shop-api");
    let mut workload = live(key, json!({}));
    workload.migrated_managed_fields = Some(json!([]));
    workload.owners = vec![mainstay_engine::live::Owner {
        group: crate::names::GROUP.to_owned(),
        kind: "ClowdApp".to_owned(),
        name: "shop".to_owned(),
        uid: "app-uid".to_owned(),
        controller: true,
    }];
    case.snapshot.add_live(workload);
    assert_eq!(written(&mut case, found(&theirs, true, None)), kept);
    // Not a hash, or the same as ours: nothing to keep.
    for same in [NOTHING.to_owned(), "x".repeat(64), String::new()] {
        let live = found(&document(&same), false, None);
        assert_eq!(written(&mut case, live), own, "{same}");
    }
}
