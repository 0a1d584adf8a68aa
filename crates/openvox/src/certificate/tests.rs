mod connection;

use k8s_openapi::jiff::Timestamp;
use mainstay_api::openvox::{CertificateSpec, CertificateStatus, certificate::CertificatePhase};
use mainstay_engine::snapshot::Snapshot;
use serde_json::{Value, json};

use super::{
    cleanup::{self, AfterFailure},
    readiness::{self, Next},
    renewal::{self, Schedule},
    request, signing,
    signing::{Fetched, Submitted},
    status::{self, State},
};
use crate::{
    effect::Reply,
    fixture::{at, root, secret},
    kinds,
    views::{self, SignerAuthority},
};

const KEY: &str = include_str!("../../tests/data/key.pem");
const OTHER_KEY: &str = include_str!("../../tests/data/other-key.pem");
const CERTIFICATE: &str = include_str!("../../tests/data/certificate.pem");

const DAY: i64 = 86_400;
const NOW: i64 = 1_700_000_000;

fn authority(spec: Value, status: Value) -> SignerAuthority {
    let mut object = root("CertificateAuthority", "ca", spec);
    object["status"] = status;
    (views::SIGNER.of)(&object).unwrap()
}

fn ready() -> SignerAuthority {
    authority(
        json!({}),
        json!({"phase": "Ready", "signingSecretName": "cert-tls"}),
    )
}

fn spec(value: Value) -> CertificateSpec {
    serde_json::from_value(value).unwrap()
}

fn data(values: Value) -> views::Data {
    let snapshot = views::files([secret("it", values)]);
    let key = kinds::key(kinds::SECRET, "estate", "it");
    let view = (&snapshot as &dyn Snapshot).view(&key, &views::SECRET);
    (*view.unwrap().unwrap()).clone()
}

#[test]
fn a_request_has_dedicated_extensions_first_and_custom_ones_by_name() {
    let spec = spec(json!({
        "dnsAltNames": ["b", "a", "10.0.0.1"],
        "csrExtensions": {
            "ppCliAuth": true, "ppRole": "web", "ppEnvironment": "production",
            "customExtensions": {"pp_zone": "b-1", "pp_apptier": "x"},
        },
    }));
    let request = request::request(&spec).unwrap();
    assert_eq!(request.common_name, "puppet");
    assert_eq!(request.dns_names, ["b", "a", "10.0.0.1"]);
    let extensions: Vec<String> = request
        .extensions
        .iter()
        .map(|extension| {
            format!(
                "{}={}",
                extension.oid.rsplit_once(".1.").unwrap().1,
                extension.value
            )
        })
        .collect();
    assert_eq!(
        extensions,
        ["3.39=true", "13=web", "12=production", "24=x", "20=b-1"]
    );
}

#[test]
fn an_unknown_extension_is_named() {
    let spec = spec(json!({"csrExtensions": {"customExtensions": {"pp_nonsense": "x"}}}));
    assert_eq!(
        request::request(&spec).unwrap_err(),
        "building CSR extensions: unknown Puppet extension: pp_nonsense"
    );
}

#[test]
fn the_chain_says_what_is_next() {
    let ready = ready();
    let initializing = authority(json!({}), json!({"phase": "Initializing"}));
    let outside = authority(
        json!({"external": {"url": "https://x"}}),
        json!({"phase": "External"}),
    );
    let stored = data(json!({"cert.pem": CERTIFICATE, "key.pem": KEY}));
    let half = data(json!({"key.pem": KEY}));
    let pending = data(json!({"key.pem": KEY}));
    let next = |phase: &str, authority, stored, pending| {
        let phase = CertificatePhase::from(phase);
        let facts = readiness::Facts {
            phase: &phase,
            authority_ref: "ca",
            authority,
            stored,
            pending,
        };
        readiness::first(&facts).next
    };
    assert_eq!(next("", None, None, None), Next::AwaitAuthority);
    assert_eq!(
        next("Signed", Some(&initializing), Some(&stored), None),
        Next::AwaitReadyAuthority
    );
    assert_eq!(
        next("Renewing", Some(&ready), Some(&stored), None),
        Next::Renew
    );
    assert_eq!(
        next("Signed", Some(&ready), Some(&stored), None),
        Next::Schedule
    );
    assert_eq!(
        next("Pending", Some(&ready), Some(&stored), None),
        Next::Adopt
    );
    assert_eq!(
        next("Error", Some(&outside), Some(&half), None),
        Next::MakeKey
    );
    assert_eq!(
        next("Requesting", Some(&ready), None, Some(&pending)),
        Next::Ask
    );
    assert_eq!(
        next("Renewing", Some(&ready), None, None),
        Next::MakeKey,
        "nothing is left to renew"
    );
    assert_eq!(
        next("Signed", Some(&ready), None, None),
        Next::MakeKey,
        "the Secret counts, not the status"
    );
}

#[test]
fn every_finding_says_why() {
    let phase = CertificatePhase::Pending;
    let facts = readiness::Facts {
        phase: &phase,
        authority_ref: "gone",
        authority: None,
        stored: None,
        pending: None,
    };
    let told: Vec<String> = readiness::all(&facts)
        .iter()
        .map(|finding| {
            format!(
                "{}: {} ({})",
                finding.check, finding.message, finding.reason
            )
        })
        .collect();
    assert_eq!(
        told,
        [
            "authority exists: there is no CertificateAuthority gone (AuthorityMissing)",
            "key is stored: no key is stored yet (KeyMissing)",
            "certificate was asked for: the authority has not handed out a certificate for the stored key (NotSigned)",
        ]
    );
}

fn reply(code: u16, body: &str) -> Reply {
    Reply {
        code,
        body: body.to_owned(),
    }
}

#[test]
fn a_request_that_the_authority_has_already_is_no_failure() {
    assert_eq!(signing::submitted(&reply(200, "")), Submitted::Accepted);
    let known = reply(
        400,
        "node already has a requested certificate; ignoring certificate request",
    );
    assert_eq!(signing::submitted(&known), Submitted::Accepted);
    let signed = reply(
        400,
        "node already has a signed certificate; ignoring certificate request",
    );
    assert!(matches!(
        signing::submitted(&signed),
        Submitted::AlreadySigned(_)
    ));
    let revoked = reply(
        400,
        "node already has a revoked certificate; ignoring certificate request",
    );
    assert_eq!(
        signing::submitted(&revoked),
        Submitted::Refused("CA rejected CSR (HTTP 400): node already has a revoked certificate; ignoring certificate request".to_owned())
    );
}

#[test]
fn a_certificate_for_another_key_is_never_taken() {
    let answer = reply(200, CERTIFICATE);
    assert_eq!(
        signing::fetched(&answer, KEY.as_bytes()),
        Ok(Fetched::Signed(CERTIFICATE.to_owned()))
    );
    assert_eq!(
        signing::fetched(&answer, OTHER_KEY.as_bytes()),
        Ok(Fetched::Foreign)
    );
    assert_eq!(
        signing::fetched(&reply(404, "Not Found"), KEY.as_bytes()),
        Ok(Fetched::NotSigned)
    );
    assert_eq!(
        signing::fetched(&reply(200, "hello"), KEY.as_bytes()),
        Ok(Fetched::NotSigned)
    );
    assert!(signing::fetched(&answer, b"no key").is_err());
    assert_eq!(
        signing::renewed(&answer, KEY.as_bytes()),
        Ok(CERTIFICATE.to_owned())
    );
    assert_eq!(
        signing::renewed(&answer, OTHER_KEY.as_bytes()).unwrap_err(),
        "renewal response is a certificate for another key"
    );
    assert_eq!(
        signing::renewed(&reply(503, "renewal is off"), KEY.as_bytes()).unwrap_err(),
        "CA rejected renewal request (HTTP 503): renewal is off"
    );
    assert_eq!(
        signing::renewed(&reply(200, "x"), KEY.as_bytes()).unwrap_err(),
        "renewal response is not a valid PEM certificate"
    );
}

#[test]
fn pauses_grow_until_somebody_is_asked_to_sign() {
    let pauses: Vec<i64> = (0..10)
        .map(|before| signing::waiting(before, "node").pause)
        .collect();
    assert_eq!(pauses, [5, 5, 30, 30, 30, 120, 120, 120, 120, 300]);
    assert_eq!(signing::waiting(8, "node").message, None);
    let tenth = signing::waiting(9, "node");
    assert_eq!(
        tenth.message.as_deref(),
        Some("CSR submitted but not yet signed after 10 attempts")
    );
    assert_eq!(
        tenth.event.as_deref(),
        Some(
            "CSR submitted but not yet signed after 10 attempts. To sign manually: puppetserver ca sign --certname node"
        )
    );
    assert_eq!(signing::waiting(u32::MAX, "node").attempts, u32::MAX);
}

fn renewal_in(seconds: i64) -> renewal::Facts<'static> {
    renewal::Facts {
        not_after: Timestamp::from_second(NOW + seconds).unwrap(),
        renew_before: "60d",
        last_renewal: None,
        warned: "",
        now: Timestamp::from_second(NOW).unwrap(),
    }
}

#[test]
fn looks_become_more_frequent_and_then_it_is_renewed() {
    let pause = |seconds| match renewal::schedule(&renewal_in(seconds)) {
        Schedule::Wait { pause, .. } => pause,
        other => panic!("{other:?}"),
    };
    assert_eq!(pause(90 * DAY), 12 * 3_600);
    assert_eq!(pause(61 * DAY), 12 * 3_600);
    assert_eq!(pause(60 * DAY + 4 * 3_600), 2 * 3_600);
    assert_eq!(pause(60 * DAY + 1), 1, "never a loop without a pause");
    assert_eq!(
        renewal::schedule(&renewal_in(59 * DAY)),
        Schedule::Renew {
            message: "Certificate renewal triggered, expires 2024-01-12T22:13:20Z".to_owned()
        }
    );
}

#[test]
fn a_window_that_is_longer_than_the_life_does_not_renew_in_a_loop() {
    let after = |last: &'static str| {
        renewal::schedule(&renewal::Facts {
            last_renewal: Some(last),
            ..renewal_in(DAY)
        })
    };
    let cool = Schedule::CoolDown {
        message: "Certificate renewBefore (1440h0m0s) exceeds remaining lifetime; renewal skipped to avoid loop".to_owned(),
        pause: 3_600,
    };
    assert_eq!(after("2023-11-14T22:00:00Z"), cool);
    assert_eq!(
        after("2023-11-14T22:30:00Z"),
        cool,
        "another clock is a little ahead"
    );
    assert!(matches!(
        after("2023-11-14T20:00:00Z"),
        Schedule::Renew { .. }
    ));
    assert!(
        matches!(after("2033-01-01T00:00:00Z"), Schedule::Renew { .. }),
        "a clock that was wrong"
    );
    assert!(matches!(after("yesterday"), Schedule::Renew { .. }));
}

#[test]
fn each_warning_is_given_once() {
    let schedule = |seconds, warned| {
        let facts = renewal::Facts {
            renew_before: "1h",
            warned,
            ..renewal_in(seconds)
        };
        match renewal::schedule(&facts) {
            Schedule::Wait {
                warnings, warned, ..
            } => (warnings, warned),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(schedule(31 * DAY, ""), (Vec::new(), String::new()));
    assert_eq!(
        schedule(5 * DAY, ""),
        (
            vec![
                "Certificate expires in less than 30d".to_owned(),
                "Certificate expires in less than 7d".to_owned()
            ],
            "30d,7d".to_owned()
        )
    );
    assert_eq!(
        schedule(DAY, "30d,7d"),
        (
            vec!["Certificate expires in less than 1d".to_owned()],
            "30d,7d,1d".to_owned()
        )
    );
    assert_eq!(schedule(DAY, "30d,7d,1d").0, [""; 0]);
}

#[test]
fn an_unusable_window_is_the_usual_one() {
    assert_eq!(
        ["", "soon", "-1d", "0s"].map(renewal::window),
        [60 * DAY; 4]
    );
    assert_eq!(renewal::window("90d"), 90 * DAY);
}

#[test]
fn a_deletion_asks_an_authority_of_this_cluster_and_never_hangs() {
    assert!(cleanup::is_needed(Some(&ready())));
    assert!(!cleanup::is_needed(None));
    let unable = authority(json!({}), json!({"phase": "Ready"}));
    assert!(!cleanup::is_needed(Some(&unable)));
    let outside = authority(
        json!({"external": {"url": "https://x"}}),
        json!({"signingSecretName": "x"}),
    );
    assert!(!cleanup::is_needed(Some(&outside)));
    let retry = |attempts| AfterFailure::Retry {
        attempts,
        pause: 15,
    };
    let steps: Vec<AfterFailure> = (0..5).map(cleanup::after_failure).collect();
    assert_eq!(
        steps,
        [retry(1), retry(2), retry(3), retry(4), AfterFailure::GiveUp]
    );
}

#[test]
fn the_status_of_a_certificate_names_its_secret_and_its_end() {
    let not_after = status::not_after(CERTIFICATE.as_bytes());
    assert!(not_after.is_some());
    let signed = State::Signed {
        not_after,
        renewed: false,
    };
    let said = status::status(&CertificateStatus::default(), "cert", &signed, &at(NOW));
    assert_eq!(said.secret_name, "cert-tls");
    assert_eq!(said.conditions[0].reason, "CertificateSigned");
    assert_eq!(said.conditions[0].observed_generation, None);
    let failed = State::RenewalFailed("no".to_owned());
    let said = status::status(&said, "cert", &failed, &at(NOW + 1));
    assert_eq!(said.phase, CertificatePhase::Renewing);
    assert_eq!(
        said.not_after.map(|time| time.0),
        not_after,
        "what was there stays"
    );
    assert_eq!(status::not_after(b"junk"), None);
}
