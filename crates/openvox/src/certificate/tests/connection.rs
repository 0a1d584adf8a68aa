use serde_json::{Value, json};

use super::{CERTIFICATE, KEY, OTHER_KEY, authority, ready};
use crate::{
    certificate::connection,
    effect::Trust,
    fixture::secret,
    references::{Unresolved, Values},
    views,
};

fn error(result: Result<crate::effect::Connection, Unresolved>) -> String {
    match result.unwrap_err() {
        Unresolved::Missing(message) => message,
        Unresolved::Unknown => panic!("everything is known"),
    }
}

#[test]
fn an_authority_of_this_cluster_is_trusted_by_its_own_certificate_only() {
    let pair = json!({"cert.pem": CERTIFICATE, "key.pem": KEY});
    let snapshot = views::files([
        secret("ca-ca", json!({"ca_crt.pem": CERTIFICATE})),
        secret("cert-tls", pair),
    ]);
    let values = Values {
        snapshot: &snapshot,
        namespace: "estate",
    };
    let open = connection::open(&ready(), &values).unwrap();
    assert_eq!(open.base, "https://ca-internal.estate.svc:8140");
    assert_eq!(open.trust, Trust::Only(CERTIFICATE.as_bytes().to_vec()));
    assert_eq!(open.identity, None);
    let identified = connection::identified(&ready(), &values, "cert-tls").unwrap();
    assert!(identified.identity.is_some());

    let empty = views::files([]);
    let values = Values {
        snapshot: &empty,
        namespace: "estate",
    };
    assert_eq!(
        error(connection::open(&ready(), &values)),
        "loading CA certificate: getting CA Secret ca-ca: Secret \"ca-ca\" not found"
    );
    let hollow = views::files([secret("ca-ca", json!({"ca_crt.pem": ""}))]);
    let values = Values {
        snapshot: &hollow,
        namespace: "estate",
    };
    assert!(
        connection::open(&ready(), &values).is_err(),
        "the system's certificates are no substitute"
    );
}

#[test]
fn an_outside_authority_is_reached_as_its_settings_say() {
    let outside = |spec: Value| {
        let mut spec = spec;
        spec["url"] = json!("https://ca.example.org/");
        authority(json!({"external": spec}), json!({"phase": "External"}))
    };
    let snapshot = views::files([
        secret(
            "junk",
            json!({"ca_crt.pem": "junk", "tls.crt": "junk", "tls.key": "junk"}),
        ),
        secret("half", json!({"ca_crt.pem": "", "tls.crt": CERTIFICATE})),
        secret(
            "mixed",
            json!({"tls.crt": CERTIFICATE, "tls.key": OTHER_KEY}),
        ),
    ]);
    let values = Values {
        snapshot: &snapshot,
        namespace: "estate",
    };
    let open = |spec| connection::open(&outside(spec), &values);
    assert_eq!(open(json!({})).unwrap().trust, Trust::System);
    assert_eq!(
        open(json!({"caSecretRef": "half"})).unwrap().trust,
        Trust::System
    );
    assert_eq!(
        open(json!({"insecureSkipVerify": true})).unwrap().trust,
        Trust::Anybody
    );
    assert_eq!(
        error(open(json!({"caSecretRef": "junk"}))),
        "failed to parse CA certificate from Secret junk"
    );
    assert_eq!(
        error(open(json!({"tlsSecretRef": "nope"}))),
        "getting TLS Secret nope: Secret \"nope\" not found"
    );
    assert_eq!(
        error(open(json!({"tlsSecretRef": "half"}))),
        "TLS Secret half missing tls.crt or tls.key"
    );
    let text = error(open(json!({"tlsSecretRef": "junk"})));
    assert!(
        text.starts_with("parsing client certificate from Secret junk: "),
        "{text}"
    );
    let text = error(open(json!({"tlsSecretRef": "mixed"})));
    assert!(!text.contains("BEGIN"), "{text}");
}
