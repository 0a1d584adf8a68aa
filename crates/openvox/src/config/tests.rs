use base64::{Engine as _, engine::general_purpose::STANDARD};
use mainstay_engine::outcome::Outcome;
use serde_json::{Value, json};

use super::*;
use crate::{
    fixture::{UID, root, secret, walk},
    passive::{NodeClassifiers, ReportProcessors, SigningPolicies, UsedReconciler},
};

fn config(spec: Value) -> Value {
    let mut spec = spec;
    spec["image"] = json!({});
    root("Config", "prod", spec)
}

fn policy(name: &str, spec: Value) -> Value {
    let mut spec = spec;
    spec["certificateAuthorityRef"] = json!("ca");
    root("SigningPolicy", name, spec)
}

/// A policy whose attribute is in a Secret.
fn policy_with_secret(name: &str) -> Value {
    policy(
        name,
        json!({"csrAttributes": [{"name": "pp_preshared_key", "valueFrom": {"secretKeyRef": {"name": "psk", "key": "key"}}}]}),
    )
}

fn file(object: &Value, key: &str) -> String {
    let text = object["data"][key].as_str().unwrap();
    String::from_utf8(STANDARD.decode(text).unwrap()).unwrap()
}

#[test]
fn a_config_alone_has_its_files_and_an_account() {
    let walked = walk(&ConfigReconciler, &config(json!({})), &[]);
    assert_eq!(
        walked.names(),
        ["ConfigMap prod-config", "ServiceAccount prod-server"]
    );
    let config_map = walked.object("ConfigMap", "prod-config");
    assert_eq!(config_map["data"].as_object().unwrap().len(), 12);
    assert_eq!(
        config_map["metadata"]["labels"],
        json!({
            "app.kubernetes.io/name": "openvox",
            "app.kubernetes.io/managed-by": "openvox-operator",
            "openvox.voxpupuli.org/config": "prod",
        })
    );
    assert_eq!(config_map["metadata"]["ownerReferences"][0]["uid"], UID);
    assert_eq!(
        walked.object("ServiceAccount", "prod-server")["automountServiceAccountToken"],
        false
    );
    assert_eq!(walked.report.status["phase"], "Running");
    assert_eq!(
        walked.report.status["conditions"][0]["reason"],
        "ConfigMapsCreated"
    );
}

#[test]
fn a_missing_database_keeps_everything_from_being_written() {
    let walked = walk(&ConfigReconciler, &config(json!({"databaseRef": "x"})), &[]);
    assert_eq!(walked.names(), [""; 0]);
    assert_eq!(
        walked.error.unwrap(),
        "reconciling ConfigMaps: rendering puppetdb.conf: looking up Database \"x\": Database.openvox.voxpupuli.org \"x\" not found"
    );
    assert_eq!(walked.report.status, json!({"phase": "Pending"}));
    assert!(matches!(walked.report.outcome, Outcome::Waiting { .. }));
}

#[test]
fn policies_are_sorted_by_name_and_hold_the_values_of_secrets() {
    let others = [
        root("CertificateAuthority", "ca", json!({"ttl": "5y"})),
        policy("b", json!({"any": true, "pattern": {"allow": ["ignored"]}})),
        policy(
            "a",
            json!({"pattern": {"allow": ["*.x.org"]}, "csrAttributes": [{"name": "pp_role", "value": "web"}]}),
        ),
        policy_with_secret("c"),
        secret("psk", json!({"key": "it \"is\"\n"})),
    ];
    let walked = walk(
        &ConfigReconciler,
        &config(json!({"authorityRef": "ca"})),
        &others,
    );
    let expected = "\
policies:
  - name: a
    pattern:
      allow:
        - \"*.x.org\"
    csrAttributes:
      - name: pp_role
        value: \"web\"
  - name: b
    any: true
  - name: c
    csrAttributes:
      - name: pp_preshared_key
        value: \"it \\\"is\\\"\\n\"
";
    let secret = walked.object("Secret", "ca-autosign-policy");
    assert_eq!(file(secret, "autosign-policy.yaml"), expected);
}

#[test]
fn an_authority_without_policies_signs_nothing_and_says_so() {
    let others = [root("CertificateAuthority", "ca", json!({}))];
    let walked = walk(
        &ConfigReconciler,
        &config(json!({"authorityRef": "ca"})),
        &others,
    );
    let secret = walked.object("Secret", "ca-autosign-policy");
    assert_eq!(file(secret, "autosign-policy.yaml"), "policies:\n");
    let nobody = walk(
        &ConfigReconciler,
        &config(json!({"authorityRef": "ca"})),
        &[],
    );
    assert_eq!(nobody.names().len(), 2, "no authority, no Secret");
}

#[test]
fn of_two_configs_one_has_the_policies() {
    let others = [
        root("CertificateAuthority", "ca", json!({})),
        root(
            "Config",
            "a-first",
            json!({"image": {}, "authorityRef": "ca"}),
        ),
    ];
    let walked = walk(
        &ConfigReconciler,
        &config(json!({"authorityRef": "ca"})),
        &others,
    );
    assert_eq!(
        walked.names(),
        ["ConfigMap prod-config", "ServiceAccount prod-server"]
    );
}

#[test]
fn one_policy_that_cannot_be_resolved_stops_later_steps_and_names_itself() {
    let prod = config(json!({"authorityRef": "ca", "nodeClassifierRef": "enc"}));
    let (fine, broken) = (policy("a", json!({"any": true})), policy_with_secret("b"));
    let others = [
        root("CertificateAuthority", "ca", json!({})),
        root(
            "NodeClassifier",
            "enc",
            json!({"url": "http://enc", "request": {}, "response": {}}),
        ),
        fine.clone(),
        broken.clone(),
    ];
    let walked = walk(&ConfigReconciler, &prod, &others);
    assert_eq!(walked.names(), ["ConfigMap prod-config"]);
    assert_eq!(
        walked.error.unwrap(),
        "reconciling autosign Secrets: reconciling autosign Secret for CA ca: rendering autosign policy config: resolving csrAttribute \"pp_preshared_key\" for policy b: getting Secret psk: Secret \"psk\" not found"
    );
    assert_eq!(walked.report.status, json!({"phase": "Pending"}));

    let all: Vec<Value> = others.iter().cloned().chain([prod]).collect();
    let policies = UsedReconciler::<SigningPolicies>::default();
    let broken = walk(&policies, &broken, &all).report.status;
    assert_eq!(broken["phase"], "Error");
    assert_eq!(
        broken["conditions"][0]["message"],
        "getting Secret psk: Secret \"psk\" not found"
    );
    assert_eq!(walk(&policies, &fine, &all).report.status, Value::Null);
    let classifiers = UsedReconciler::<NodeClassifiers>::default();
    assert_eq!(
        walk(&classifiers, &others[1], &all).report.status,
        Value::Null
    );
}

#[test]
fn a_classifier_is_written_with_its_credentials() {
    let classifier = root(
        "NodeClassifier",
        "enc",
        json!({
            "url": "https://enc.example.org",
            "request": {"method": "GET", "path": "/node/{certname}"},
            "response": {"format": "yaml"},
            "auth": {"bearer": {"secretKeyRef": {"name": "enc", "key": "token"}}},
            "cache": {"enabled": true},
        }),
    );
    let prod = config(json!({"nodeClassifierRef": "enc"}));
    let others = [
        classifier.clone(),
        secret("enc", json!({"token": "t"})),
        prod.clone(),
    ];
    let walked = walk(&ConfigReconciler, &prod, &others);
    let expected = "\
url: https://enc.example.org
method: GET
path: /node/{certname}
responseFormat: yaml
timeoutSeconds: 10
auth:
    type: bearer
    token: t
cache:
    enabled: true
    directory: /var/cache/openvox-enc
ssl:
    certFile: /etc/puppetlabs/puppet/ssl/certs/puppet.pem
    keyFile: /etc/puppetlabs/puppet/ssl/private_keys/puppet.pem
    caFile: /etc/puppetlabs/puppet/ssl/certs/ca.pem
";
    assert_eq!(
        file(walked.object("Secret", "prod-enc"), "enc.yaml"),
        expected
    );
    let classifiers = UsedReconciler::<NodeClassifiers>::default();
    let status = walk(&classifiers, &classifier, &others).report.status;
    assert_eq!(status["phase"], "Active");
    let status = walk(&classifiers, &classifier, &[prod]).report.status;
    assert_eq!(
        status["conditions"][0]["message"],
        "resolving bearer secret: getting Secret enc: Secret \"enc\" not found"
    );
}

#[test]
fn endpoints_of_reports_are_sorted_and_fail_together() {
    let processor = |name: &str, spec: Value| {
        let mut spec = spec;
        spec["configRef"] = json!("prod");
        root("ReportProcessor", name, spec)
    };
    let plain = processor(
        "z",
        json!({"url": "http://z", "headers": [{"name": "X-Tenant", "value": "0042"}]}),
    );
    let pdb = processor(
        "pdb",
        json!({"url": "https://pdb", "processor": "puppetdb", "auth": {"mtls": true}}),
    );
    let prod = config(json!({}));
    let others = [plain.clone(), pdb.clone()];
    let walked = walk(&ConfigReconciler, &prod, &others);
    let text = file(
        walked.object("Secret", "prod-report-webhook"),
        "report-webhook.yaml",
    );
    let beginning = "\
endpoints:
    - name: pdb
      processor: puppetdb
      url: https://pdb
      timeoutSeconds: 30
      auth:
        type: mtls
      ssl:
        certFile: /etc/puppetlabs/puppet/ssl/certs/puppet.pem
";
    assert!(text.starts_with(beginning), "{text}");
    assert!(
        text.ends_with("      headers:\n        - name: X-Tenant\n          value: \"0042\"\n"),
        "{text}"
    );

    let broken = processor(
        "b",
        json!({"url": "http://b", "headers": [{"name": "X", "valueFrom": {"configMapKeyRef": {"name": "nope", "key": "k"}}}]}),
    );
    let processors = UsedReconciler::<ReportProcessors>::default();
    let status = walk(&processors, &plain, &[prod.clone(), pdb, broken])
        .report
        .status;
    assert_eq!(
        status["conditions"][0]["message"],
        "resolving header configmap for b: getting ConfigMap nope: ConfigMap \"nope\" not found"
    );
    let status = walk(&processors, &plain, &[]).report.status;
    assert_eq!(status, Value::Null, "nobody uses it");
}
