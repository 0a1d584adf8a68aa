use std::sync::Arc;

use mainstay_api::openvox::{
    CertificateAuthorityStatus, certificate_authority::CertificateAuthorityPhase,
};
use mainstay_engine::{ObjectSet, options::Options};
use serde_json::{Value, json};

use super::{
    job, objects,
    reconciler::AuthorityReconciler,
    revocations,
    setup::{self, JobFacts, ServerCertificate, Setup},
    signing::{self, Signing},
    status::{self, State},
};
use crate::{
    effect::Reply,
    fixture::{UID, Walked, at, root, secret, walk},
    kinds,
    views::{self, AuthorityServer, SeenAuthority, SeenCertificate, SeenConfig},
};

const CERTIFICATE: &[u8] = include_bytes!("../../tests/data/certificate.pem");

fn authority(spec: Value) -> SeenAuthority {
    (views::AUTHORITY.of)(&root("CertificateAuthority", "ca", spec)).unwrap()
}

fn config() -> SeenConfig {
    let image =
        json!({"repository": "registry.example.org/server", "tag": "8", "pullPolicy": "Always"});
    (views::CONFIG.of)(&root("Config", "prod", json!({"image": image}))).unwrap()
}

fn certificate(name: &str, spec: Value) -> Arc<SeenCertificate> {
    let mut object = root("Certificate", name, spec);
    object["status"] = json!({"phase": "Pending"});
    Arc::new((views::CERTIFICATE.of)(&object).unwrap())
}

fn variables(job: &Value) -> Vec<String> {
    let variables = job["spec"]["template"]["spec"]["containers"][0]["env"]
        .as_array()
        .unwrap();
    let text = |variable: &Value| {
        let value = variable["value"].as_str().unwrap_or_default();
        format!("{}={value}", variable["name"].as_str().unwrap())
    };
    variables.iter().map(text).collect()
}

#[test]
fn all_objects_belong_to_the_authority_and_are_declared() {
    let ca = authority(json!({}));
    let mut set = ObjectSet::new(kinds::KINDS);
    let objects = [
        objects::claim(&ca),
        objects::service(&ca),
        objects::account(&ca),
        objects::role(&ca, ["a", "b"]),
        objects::role_binding(&ca),
        job::job(&ca, &config(), None),
        signing::certificate(&ca),
    ];
    for object in &objects {
        set.add_with("authority", object, Options::once).unwrap();
        assert_eq!(object["metadata"]["ownerReferences"][0]["uid"], UID);
        let is_labelled =
            object["metadata"]["labels"]["openvox.voxpupuli.org/certificateauthority"] == "ca";
        assert_eq!(is_labelled, object["kind"] != "Certificate", "{object}");
    }
}

#[test]
fn the_volume_has_the_size_and_class_that_are_asked_for() {
    let spec = |spec: Value| objects::claim(&authority(spec))["spec"].clone();
    let plain =
        json!({"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}});
    assert_eq!(spec(json!({})), plain);
    let asked = spec(json!({"storage": {"size": "5Gi", "storageClass": "fast"}}));
    assert_eq!(asked["resources"]["requests"]["storage"], "5Gi");
    assert_eq!(asked["storageClassName"], "fast");
}

#[test]
fn the_setup_may_touch_the_secrets_of_its_certificates_only() {
    let role = objects::role(&authority(json!({})), ["a", "b"]);
    assert_eq!(
        role["rules"][0]["resourceNames"],
        json!(["ca-ca", "ca-ca-key", "ca-ca-crl", "a-tls", "b-tls"])
    );
    assert_eq!(role["rules"][1]["verbs"], json!(["create"]));
}

#[test]
fn the_setup_makes_the_certificate_of_its_server() {
    let server = certificate(
        "server",
        json!({"certname": "puppet.example.org", "dnsAltNames": ["puppet"]}),
    );
    let job = job::job(&authority(json!({})), &config(), Some(&server));
    assert_eq!(
        variables(&job),
        [
            "CERTNAME=puppet.example.org",
            "DNS_ALT_NAMES=puppet,ca-internal.estate.svc",
            "CA_SECRET_NAME=ca-ca",
            "CA_KEY_SECRET_NAME=ca-ca-key",
            "CA_CRL_SECRET_NAME=ca-ca-crl",
            "CA_NAME=ca",
            "CONFIG_NAME=prod",
            "SSL_SECRET_NAME=server-tls",
            "CERT_RESOURCE_NAME=server",
        ]
    );
    let alone = job::job(&authority(json!({})), &config(), None);
    assert_eq!(
        variables(&alone)[..2],
        ["CERTNAME=puppet", "DNS_ALT_NAMES="]
    );
}

#[test]
fn the_setup_runs_with_the_least_rights_and_bounded() {
    let job = job::job(&authority(json!({})), &config(), None);
    let pod = &job["spec"]["template"]["spec"];
    let container = &pod["containers"][0];
    assert_eq!(job["spec"]["backoffLimit"], 3);
    assert_eq!(container["image"], "registry.example.org/server:8");
    assert_eq!(container["imagePullPolicy"], "Always");
    assert_eq!(container["securityContext"]["readOnlyRootFilesystem"], true);
    assert_eq!(
        container["resources"]["limits"],
        json!({"cpu": "1", "memory": "1Gi"})
    );
    assert_eq!(pod["securityContext"]["runAsNonRoot"], true);
    let asked = authority(json!({"resources": {"limits": {"memory": "2Gi"}}}));
    let job = job::job(&asked, &config(), None);
    let resources = &job["spec"]["template"]["spec"]["containers"][0]["resources"];
    assert_eq!(*resources, json!({"limits": {"memory": "2Gi"}}));
}

#[test]
fn the_setup_goes_on_by_what_is_stored_and_what_the_job_says() {
    let facts = |image: &str, succeeded, failed| JobFacts {
        image: image.to_owned(),
        succeeded,
        failed,
    };
    let next = |is_stored, job: Option<&JobFacts>| setup::setup(is_stored, job, "new");
    assert_eq!(next(true, Some(&facts("old", false, true))), Setup::Done);
    assert_eq!(next(false, None), Setup::Create);
    assert!(matches!(
        next(false, Some(&facts("old", false, false))),
        Setup::Replace(_)
    ));
    assert!(matches!(
        next(false, Some(&facts("new", true, false))),
        Setup::Replace(_)
    ));
    assert!(matches!(
        next(false, Some(&facts("new", false, true))),
        Setup::Replace(_)
    ));
    let running = next(false, Some(&facts("new", false, false)));
    assert_eq!((running, running.pause()), (Setup::Running, Some(15)));
}

#[test]
fn a_server_that_shows_up_late_still_gets_its_certificate() {
    let (a, b) = (certificate("a", json!({})), certificate("b", json!({})));
    let both = [Arc::clone(&a), Arc::clone(&b)];
    let server = Arc::new(AuthorityServer {
        namespace: "estate".to_owned(),
        config: "prod".to_owned(),
        certificate: "b".to_owned(),
    });
    let known = ServerCertificate::Known;
    assert_eq!(
        setup::server_certificate(&both, &[server], 0),
        known(Arc::clone(&b))
    );
    assert_eq!(
        setup::server_certificate(&both, &[], 29),
        ServerCertificate::Undecided
    );
    assert_eq!(
        setup::server_certificate(&both, &[], 30),
        known(Arc::clone(&a))
    );
    assert_eq!(setup::server_certificate(&both[1..], &[], 0), known(b));
    assert_eq!(
        setup::server_certificate(&[], &[], 0),
        ServerCertificate::None
    );
}

#[test]
fn somebody_can_sign_at_every_moment() {
    let of = |phase: &str| {
        let mut object = root("Certificate", "ca-operator-signing", json!({}));
        object["status"] = json!({"phase": phase});
        (views::CERTIFICATE.of)(&object).unwrap()
    };
    assert_eq!(signing::signing("ca", []), Signing::Create);
    assert_eq!(
        signing::signing("ca", [&of("Requesting")]),
        Signing::Waiting
    );
    assert_eq!(signing::signing("ca", [&of("Signed")]), Signing::Active);
    let secret =
        |signing, is_stored| signing::secret_name("ca", signing, is_stored, Some("server"));
    assert_eq!(
        secret(Signing::Waiting, false).as_deref(),
        Some("server-tls")
    );
    assert_eq!(
        secret(Signing::Active, true).as_deref(),
        Some("ca-operator-signing-tls")
    );
    assert_eq!(
        secret(Signing::Active, false).as_deref(),
        Some("server-tls"),
        "it was deleted"
    );
    assert_eq!(
        signing::secret_name("ca", Signing::Create, false, None),
        None
    );
}

#[test]
fn a_list_is_fetched_as_often_as_asked_and_only_a_list_is_stored() {
    let interval =
        |text: &str| revocations::interval(&authority(json!({"crlRefreshInterval": text})).spec);
    assert_eq!(
        (interval(""), interval("1h"), interval("0s")),
        (Ok(300), Ok(3_600), Ok(0))
    );
    assert_eq!(
        interval("x").unwrap_err(),
        "parsing crlRefreshInterval \"x\": invalid duration: \"x\""
    );
    let reply = |code, body: &str| Reply {
        code,
        body: body.to_owned(),
    };
    assert_eq!(
        revocations::fetched(&reply(503, "away")).unwrap_err(),
        "fetching CRL: CA returned HTTP 503 for CRL: away"
    );
    assert!(revocations::fetched(&reply(200, "<html>")).is_err());
    assert_eq!(
        revocations::refreshed_message(300),
        "CRL refreshed successfully, next refresh in 5m0s"
    );
}

#[test]
fn an_authority_tells_each_step_once() {
    let told = |before: &CertificateAuthorityStatus, state: &State| {
        let (status, events) = status::status(before, "ca", state, &at(1));
        let reasons: Vec<&str> = events.iter().map(|event| event.reason).collect();
        (status, reasons)
    };
    let (waiting, _) = told(&CertificateAuthorityStatus::default(), &State::Waiting);
    assert_eq!(waiting.phase, CertificateAuthorityPhase::Pending);
    let (initializing, _) = told(&waiting, &State::Initializing);
    let ready = |signing, secret: &str| State::Ready {
        not_after: status::not_after(CERTIFICATE),
        signing,
        signing_secret: Some(secret.to_owned()),
    };
    let (made, reasons) = told(&initializing, &ready(Signing::Waiting, "server-tls"));
    assert_eq!(reasons, ["CAInitialized"]);
    assert!(made.not_after.is_some());
    let (active, reasons) = told(&made, &ready(Signing::Active, "ca-operator-signing-tls"));
    assert_eq!(reasons, ["OperatorSigningReady"]);
    assert_eq!(active.signing_secret_name, "ca-operator-signing-tls");
    assert_eq!(active.conditions.len(), 2);
    let (again, reasons) = told(&active, &ready(Signing::Active, "ca-operator-signing-tls"));
    assert_eq!((again, reasons), (active, Vec::new()));
}

#[test]
fn an_outside_authority_names_its_address_and_no_service() {
    let state = State::External {
        url: "https://ca.example.org".to_owned(),
        secret: "trust".to_owned(),
        not_after: None,
    };
    let (said, events) =
        status::status(&CertificateAuthorityStatus::default(), "ca", &state, &at(1));
    assert_eq!(
        serde_json::to_value(&said).unwrap(),
        json!({
            "phase": "External",
            "caSecretName": "trust",
            "conditions": [{
                "type": "CAReady",
                "status": "True",
                "reason": "ExternalCA",
                "message": "External CA configured at https://ca.example.org",
                "lastTransitionTime": "1970-01-01T00:00:01Z",
            }],
        })
    );
    assert_eq!(events[0].reason, "CAExternal");
}

fn prod() -> Value {
    root(
        "Config",
        "prod",
        json!({"image": {"repository": "server", "tag": "8"}, "authorityRef": "ca"}),
    )
}

/// What the setup stores.
fn stored() -> [Value; 3] {
    let certificate = String::from_utf8(CERTIFICATE.to_vec()).unwrap();
    [
        secret("ca-ca", json!({"ca_crt.pem": certificate})),
        secret("ca-ca-key", json!({"ca_key.pem": "key"})),
        secret("ca-ca-crl", json!({"ca_crl.pem": "list"})),
    ]
}

fn phase(walked: &Walked) -> &str {
    walked.report.status["phase"].as_str().unwrap()
}

#[test]
fn an_authority_that_no_config_names_makes_nothing() {
    let walked = walk(
        &AuthorityReconciler,
        &root("CertificateAuthority", "ca", json!({})),
        &[],
    );
    assert_eq!(walked.names(), [""; 0]);
    assert_eq!(phase(&walked), "Pending");
    assert_eq!(
        walked.report.events[0].message,
        "Waiting for a Config with authorityRef: ca"
    );
}

#[test]
fn an_authority_is_set_up_by_a_job() {
    let walked = walk(
        &AuthorityReconciler,
        &root("CertificateAuthority", "ca", json!({})),
        &[prod()],
    );
    assert_eq!(
        walked.names(),
        [
            "PersistentVolumeClaim ca-data",
            "Service ca-internal",
            "ServiceAccount ca-ca-setup",
            "Role ca-ca-setup",
            "RoleBinding ca-ca-setup",
            "Job ca-ca-setup",
        ]
    );
    assert_eq!(phase(&walked), "Initializing");
}

#[test]
fn an_authority_is_ready_when_its_certificate_is_stored_and_asks_for_one_of_the_operator() {
    let server = root("Certificate", "server", json!({"authorityRef": "ca"}));
    let others: Vec<Value> = stored().into_iter().chain([prod(), server]).collect();
    let ca = root("CertificateAuthority", "ca", json!({}));
    let walked = walk(&AuthorityReconciler, &ca, &others);
    assert_eq!(phase(&walked), "Ready");
    assert_eq!(walked.report.status["signingSecretName"], "server-tls");
    let names = walked.names();
    assert!(!names.contains(&"Job ca-ca-setup".to_owned()), "{names:?}");
    assert!(
        names.contains(&"Certificate ca-operator-signing".to_owned()),
        "{names:?}"
    );
    let key = walked.object("Secret", "ca-ca-key");
    assert_eq!(key["metadata"]["ownerReferences"][0]["uid"], UID);
    assert_eq!(key["data"], Value::Null, "what it holds is not ours to say");
}

#[test]
fn an_outside_authority_makes_nothing_and_waits_for_whom_to_trust() {
    let spec = json!({"external": {"url": "https://ca.example.org", "caSecretRef": "trust"}});
    let ca = root("CertificateAuthority", "ca", spec);
    let waiting = walk(&AuthorityReconciler, &ca, &[]);
    assert_eq!(
        (phase(&waiting), waiting.report.events.len()),
        ("Pending", 0)
    );
    let junk = [secret("trust", json!({"ca_crt.pem": "junk"}))];
    let there = walk(&AuthorityReconciler, &ca, &junk);
    assert_eq!(there.names(), [""; 0]);
    assert_eq!(phase(&there), "External");
    assert_eq!(there.report.status["notAfter"], Value::Null);
    assert_eq!(there.report.status["caSecretName"], "trust");
}
