use serde_json::json;

use super::*;
use crate::{fixture::root, views};

fn refusal(object: &Value) -> Option<String> {
    let snapshot = views::files([
        root("CertificateAuthority", "ca", json!({})),
        root("Config", "prod", json!({"image": {}})),
        root("Certificate", "cert", json!({"authorityRef": "ca"})),
        root("Pool", "pool", json!({})),
    ]);
    judge(object, &snapshot).unwrap().refusal()
}

fn refused(kind: &str, spec: Value) -> String {
    refusal(&root(kind, "it", spec)).unwrap()
}

#[test]
fn references_have_to_exist_in_the_same_namespace() {
    assert_eq!(
        refused(
            "Config",
            json!({"image": {}, "authorityRef": "no", "nodeClassifierRef": "no", "databaseRef": "no", "puppetdb": {"serverUrls": ["https://x"]}})
        ),
        "[spec.authorityRef: Invalid value: \"no\": referenced *v1alpha1.CertificateAuthority \"no\" not found, \
         spec.nodeClassifierRef: Invalid value: \"no\": referenced *v1alpha1.NodeClassifier \"no\" not found, \
         spec.databaseRef: Invalid value: \"no\": databaseRef and puppetdb.serverUrls are mutually exclusive, \
         spec.databaseRef: Invalid value: \"no\": referenced *v1alpha1.Database \"no\" not found]"
    );
    assert_eq!(
        refused(
            "Server",
            json!({"configRef": "prod", "certificateRef": "cert", "poolRefs": ["pool", "nada"]})
        ),
        "spec.poolRefs[1]: Invalid value: \"nada\": referenced *v1alpha1.Pool \"nada\" not found"
    );
    let mut elsewhere = root(
        "Server",
        "it",
        json!({"configRef": "prod", "certificateRef": "cert"}),
    );
    assert_eq!(refusal(&elsewhere), None);
    elsewhere["metadata"]["namespace"] = json!("elsewhere");
    assert!(
        refusal(&elsewhere)
            .unwrap()
            .starts_with("[spec.configRef: ")
    );
}

#[test]
fn durations_and_sizes_are_read_before_they_are_stored() {
    assert_eq!(
        refused(
            "CertificateAuthority",
            json!({"ttl": "1h30m", "autoRenewalCertTTL": "x", "crlRefreshInterval": "5w", "storage": {"size": "lots"}})
        ),
        "[spec.ttl: Invalid value: \"1h30m\": ttl: invalid duration: \"1h30m\", \
         spec.autoRenewalCertTTL: Invalid value: \"x\": autoRenewalCertTTL: invalid duration: \"x\", \
         spec.crlRefreshInterval: Invalid value: \"5w\": crlRefreshInterval: unknown duration unit \"w\" in \"5w\" (supported: s, m, h, d, y), \
         spec.storage.size: Invalid value: \"lots\": must be a valid Kubernetes quantity (e.g. 1Gi, 500Mi)]"
    );
    let negative = root(
        "CertificateAuthority",
        "it",
        json!({"ttl": "-5d", "storage": {"size": "-1Gi"}}),
    );
    assert_eq!(refusal(&negative), None);
}

#[test]
fn names_of_a_certificate_are_hosts_or_addresses() {
    let ok = json!({"authorityRef": "ca", "certname": "Puppet.Example.org", "dnsAltNames": ["10.0.0.1", "::1", "a.b"]});
    assert_eq!(refusal(&root("Certificate", "it", ok)), None);
    let text = refused(
        "Certificate",
        json!({"authorityRef": "ca", "certname": "Bad_Name", "dnsAltNames": ["*.x.org"]}),
    );
    assert!(text.starts_with("[spec.certname: Invalid value: \"Bad_Name\": must be a valid hostname: a lowercase RFC 1123 subdomain "), "{text}");
    assert!(
        text.contains(
            "spec.dnsAltNames[0]: Invalid value: \"*.x.org\": must be a valid DNS name or IP: "
        ),
        "{text}"
    );
    let long = "a".repeat(254);
    let text = refused(
        "Certificate",
        json!({"authorityRef": "ca", "certname": long}),
    );
    assert!(
        text.ends_with("must be a valid hostname: must be no more than 253 characters"),
        "{text}"
    );
    assert_eq!(
        refused("Certificate", json!({})),
        "spec.authorityRef: Invalid value: \"\": referenced *v1alpha1.CertificateAuthority \"\" not found"
    );
}

#[test]
fn extensions_are_known_and_have_one_place() {
    let custom = json!({"pp_role": "a", "nope": "b", "pp_zone": "c"});
    assert_eq!(
        refused(
            "Certificate",
            json!({"authorityRef": "ca", "csrExtensions": {"customExtensions": custom}})
        ),
        "[spec.csrExtensions.customExtensions[nope]: Invalid value: \"nope\": unknown Puppet extension name, \
         spec.csrExtensions.customExtensions[pp_role]: Invalid value: \"pp_role\": use the dedicated field instead of customExtensions]"
    );
}

#[test]
fn addresses_are_refused_in_the_words_of_go() {
    let detail = |address: &str| {
        let object = root("NodeClassifier", "it", json!({"url": address}));
        refusal(&object).map(|text| text.split_once(": url: ").unwrap().1.to_owned())
    };
    for (address, text) in [
        ("ftp://x", "URL \"ftp://x\" must use http or https scheme"),
        ("https://", "URL \"https://\" must include a host"),
        (
            "http://[::1",
            "invalid URL \"http://[::1\": parse \"http://[::1\": missing ']' in host",
        ),
        (
            "http://x/%zz",
            "invalid URL \"http://x/%zz\": parse \"http://x/%zz\": invalid URL escape \"%zz\"",
        ),
        (
            "http://x/%z",
            "invalid URL \"http://x/%z\": parse \"http://x/%z\": invalid URL escape \"%z\"",
        ),
        (
            "http://x/\u{7}",
            "invalid URL \"http://x/\\a\": parse \"http://x/\\a\": net/url: invalid control character in URL",
        ),
        (
            "http://x:port/",
            "invalid URL \"http://x:port/\": parse \"http://x:port/\": invalid port \":port\" after host",
        ),
        (
            "x.example.org/enc",
            "URL \"x.example.org/enc\" must use http or https scheme",
        ),
        (
            ":foo",
            "invalid URL \":foo\": parse \":foo\": missing protocol scheme",
        ),
        ("", "URL \"\" must use http or https scheme"),
        ("mailto:x", "URL \"mailto:x\" must use http or https scheme"),
        ("http:x", "URL \"http:x\" must include a host"),
    ] {
        assert_eq!(detail(address).as_deref(), Some(text));
    }
    for address in [
        "http://x",
        "HTTPS://user:pw@x.org:8443/a?b=%zz",
        "http://[::1]:80/",
        "http://größe.example/ä",
    ] {
        assert_eq!(detail(address), None, "{address}");
    }
}

#[test]
fn ports_modes_and_what_must_not_be_empty() {
    assert_eq!(
        refused("Pool", json!({"service": {"port": 70000}})),
        "spec.service.port: Invalid value: 70000: must be between 1 and 65535"
    );
    assert_eq!(
        refused("Database", json!({"postgres": {"sslMode": "maybe"}})),
        "[spec.certificateRef: Required value: must not be empty, \
         spec.postgres.host: Required value: must not be empty, \
         spec.postgres.credentialsSecretRef: Required value: must not be empty, \
         spec.postgres.sslMode: Unsupported value: \"maybe\": supported values: \"disable\", \"allow\", \"prefer\", \"require\", \"verify-ca\", \"verify-full\"]"
    );
    assert_eq!(
        refused(
            "SigningPolicy",
            json!({"certificateAuthorityRef": "ca", "pattern": {"allow": ["a", ""]}})
        ),
        "spec.pattern.allow[1]: Invalid value: \"\": pattern must not be empty"
    );
}

#[test]
fn several_pods_of_an_authority_are_a_warning() {
    let server = root("Server", "it", json!({"ca": true, "replicas": 2}));
    let verdict = judge(&server, &views::files([])).unwrap();
    assert_eq!(
        verdict.warnings,
        [
            "running CA role with 2 replicas; CA data is stored on a PVC and concurrent writes may cause issues"
        ]
    );
}

#[test]
fn whoever_leaves_and_whoever_is_not_ours_breaks_no_rule() {
    let mut leaving = root("Certificate", "it", json!({"authorityRef": "gone"}));
    assert!(refusal(&leaving).is_some());
    leaving["metadata"]["deletionTimestamp"] = json!("2024-01-02T03:04:05Z");
    assert_eq!(refusal(&leaving), None);
    let foreign = json!({"apiVersion": "cert-manager.io/v1", "kind": "Certificate", "spec": {}});
    assert_eq!(refusal(&foreign), None);
}

#[test]
fn webhooks_listen_where_the_original_does() {
    assert_eq!(
        path("CertificateAuthority"),
        "/validate-openvox-voxpupuli-org-v1alpha1-certificateauthority"
    );
}
