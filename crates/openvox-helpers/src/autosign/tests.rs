use std::fmt::Write as _;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use der::asn1::ObjectIdentifier;

use super::*;

/// A value of DER.
fn value(tag: u8, content: &[u8]) -> Vec<u8> {
    let mut bytes = vec![tag];
    match u8::try_from(content.len()) {
        Ok(length) if length < 0x80 => bytes.push(length),
        _ => {
            bytes.push(0x82);
            bytes.extend(u16::try_from(content.len()).unwrap().to_be_bytes());
        }
    }
    bytes.extend(content);
    bytes
}

fn sequence(parts: &[Vec<u8>]) -> Vec<u8> {
    value(0x30, &parts.concat())
}

fn oid(dotted: &str) -> Vec<u8> {
    value(6, ObjectIdentifier::new_unwrap(dotted).as_bytes())
}

fn extension(dotted: &str, content: &[u8]) -> Vec<u8> {
    sequence(&[oid(dotted), value(4, content)])
}

fn names(names: &[(u8, &str)]) -> Vec<u8> {
    let names: Vec<_> = names
        .iter()
        .map(|(kind, name)| value(0x80 | kind, name.as_bytes()))
        .collect();
    extension("2.5.29.17", &sequence(&names))
}

const ROLE: &str = "1.3.6.1.4.1.34380.1.1.13";
const KEY: &str = "1.3.6.1.4.1.34380.1.1.4";
const REQUEST: &str = "1.2.840.113549.1.9.14";

fn attribute(dotted: &str, values: &[u8]) -> Vec<u8> {
    sequence(&[oid(dotted), value(0x31, values)])
}

/// A request with attributes, in PEM.
fn with_attributes(attributes: &[Vec<u8>]) -> String {
    let empty = sequence(&[]);
    let info = sequence(&[
        value(2, &[0]),
        empty.clone(),
        empty.clone(),
        value(0xa0, &attributes.concat()),
    ]);
    pem(&sequence(&[info, empty, value(3, &[0])]))
}

fn pem(bytes: &[u8]) -> String {
    let text = BASE64_STANDARD.encode(bytes);
    let mut lines = String::from("-----BEGIN CERTIFICATE REQUEST-----\n");
    for line in text.as_bytes().chunks(64) {
        writeln!(lines, "{}", std::str::from_utf8(line).unwrap()).unwrap();
    }
    lines + "-----END CERTIFICATE REQUEST-----\n"
}

/// A request for extensions.
fn with(extensions: &[Vec<u8>]) -> String {
    with_attributes(&[attribute(REQUEST, &sequence(extensions))])
}

fn outcome(policies: &str, certname: &str, request: &str) -> Outcome {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("policy.yaml");
    std::fs::write(&path, policies).unwrap();
    let arguments = ["-config", path.to_str().unwrap(), certname].map(str::to_owned);
    run(&arguments, &mut request.as_bytes())
}

/// Whether it is signed; a denial says nothing.
fn signs(policies: &str, certname: &str, request: &str) -> bool {
    let outcome = outcome(policies, certname, request);
    assert_eq!((outcome.errors.as_str(), outcome.output.len()), ("", 0));
    outcome.status == 0
}

#[test]
fn one_policy_that_matches_is_enough_and_none_is_not() {
    let plain = with(&[]);
    for (policies, expected) in [
        ("", false),
        ("policies:\n", false),
        ("policies: []\n", false),
        ("policies: [{name: a, any: false}]\n", false),
        ("policies: [{name: a, any: true}]\n", true),
        ("policies: [{any: true, unknown: 1}]\nunknown: 2\n", true),
        ("policies: [{pattern: {allow: [x]}}, {any: true}]\n", true),
        ("policies: [{pattern: {allow: []}}]\n", false),
        ("policies: [{pattern: {allow: ['*.x.org', exact]}}]\n", true),
        ("policies: [{pattern: {allow: ['*.y.org']}}]\n", false),
    ] {
        assert_eq!(signs(policies, "n.x.org", &plain), expected, "{policies}");
    }
}

#[test]
fn every_dns_name_has_to_be_allowed_and_other_names_do_not_count() {
    let pattern = "policies: [{pattern: {allow: ['*']}}]\n";
    let listed = "policies: [{pattern: {allow: ['*']}, dnsAltNames: {allow: ['*.svc']}}]\n";
    let alone = "policies: [{dnsAltNames: {allow: ['*']}}]\n";
    let any = "policies: [{any: true}]\n";
    for (request, [without, with_list]) in [
        (with(&[]), [true, true]),
        (with(&[names(&[(2, "a.svc")])]), [false, true]),
        (
            with(&[names(&[(2, "a.svc"), (2, "b.com")])]),
            [false, false],
        ),
        (with(&[names(&[(2, "A.SVC")])]), [false, false]),
        (
            with(&[names(&[(7, "\x7f\0\0\x01"), (1, "a@b"), (6, "x:y")])]),
            [true, true],
        ),
    ] {
        assert_eq!(signs(pattern, "n", &request), without);
        assert_eq!(signs(listed, "n", &request), with_list);
        assert!(!signs(alone, "n", &request));
        assert!(signs(any, "n", &request));
    }
}

#[test]
fn attributes_are_compared_with_the_text_of_extensions() {
    let role = |wanted: &str, content: &[u8]| {
        let policies =
            format!("policies: [{{csrAttributes: [{{name: pp_role, value: {wanted}}}]}}]\n");
        signs(&policies, "n", &with(&[extension(ROLE, content)]))
    };
    for tag in [0x0c, 0x13, 0x14, 0x16] {
        assert!(role("web", &value(tag, b"web")), "{tag:#x}");
        assert!(!role("Web", &value(tag, b"web")), "{tag:#x}");
        assert!(!role("''", &value(tag, b"web")), "{tag:#x}");
    }
    assert!(role("web", &value(0x1e, b"\0w\0e\0b")));
    assert!(
        role("12", &value(0x12, b"12")),
        "a number stands for its digits"
    );
    assert!(role("007", &value(0x12, b"007")), "and for all of them");
    assert!(!role("7", &value(0x12, b"007")));
    assert!(role("web", b"web"), "what is not ASN.1 is the text itself");
    for tag in [0x04, 0x1a, 0x02] {
        assert!(
            !role("web", &value(tag, b"web")),
            "{tag:#x} is no such string"
        );
    }
    assert!(!role("web", &value(0x1e, b"\0w\0e\0")), "half a character");
    assert!(!role("w_b", &value(0x13, b"w_b")), "not printable");
}

#[test]
fn all_attributes_have_to_be_there_and_names_are_those_of_puppet() {
    let both = with(&[
        extension(ROLE, &value(0x0c, b"web")),
        extension(KEY, &value(0x0c, b"s3cret")),
        names(&[(2, "a.svc")]),
    ]);
    let one = with(&[extension(ROLE, &value(0x0c, b"web"))]);
    let all = "policies: [{pattern: {allow: ['*.x']}, dnsAltNames: {allow: ['*.svc']}, csrAttributes: [\
        {name: pp_role, value: web}, {name: pp_preshared_key, value: s3cret}]}]\n";
    assert!(signs(all, "n.x", &both));
    assert!(!signs(all, "n.y", &both));
    assert!(!signs(all, "n.x", &one));
    for name in ["pp_nonsense", ROLE, "challengePassword"] {
        let policies = format!("policies: [{{csrAttributes: [{{name: {name}, value: web}}]}}]\n");
        let attributes = [
            attribute("1.2.840.113549.1.9.7", &value(0x0c, b"web")),
            attribute(REQUEST, &sequence(&[extension(ROLE, &value(0x0c, b"web"))])),
        ];
        assert!(
            !signs(&policies, "n", &with_attributes(&attributes)),
            "{name}"
        );
    }
}

#[test]
fn what_cannot_be_read_is_denied_with_a_reason() {
    let any = "policies: [{any: true}]\n";
    let twice = with(&[extension(ROLE, b"a"), extension(ROLE, b"b")]);
    let certificate = pem(&sequence(&[sequence(&[value(0xa0, &[2])])]));
    let garbage = pem(b"\xff\xff\xff\xff");
    for (policies, request, reason) in [
        (
            any,
            String::new(),
            "error parsing CSR: no PEM block found in CSR\n",
        ),
        (
            any,
            "\0binary".to_owned(),
            "error parsing CSR: no PEM block found in CSR\n",
        ),
        (any, twice, "error parsing CSR: asn1: "),
        (any, certificate, "error parsing CSR: asn1: "),
        (any, garbage, "error parsing CSR: asn1: "),
        (
            any,
            "x".repeat(2_000_000),
            "error: reading CSR from stdin: more than 1048576 bytes\n",
        ),
        ("policies: [", with(&[]), "error: parsing policy config: "),
        ("policies: yes", with(&[]), "error: parsing policy config: "),
        (
            "policies: [{any: 'true'}]",
            with(&[]),
            "error: parsing policy config: ",
        ),
    ] {
        let outcome = outcome(policies, "n", &request);
        assert_eq!(outcome.status, 1);
        assert!(outcome.errors.starts_with(reason), "{}", outcome.errors);
    }
    let missing = run(&["-config=/none".to_owned()], &mut std::io::empty());
    assert_eq!(missing.errors, "error: certname argument is required\n");
    let missing = run(
        &["-config=/none", "n"].map(str::to_owned),
        &mut std::io::empty(),
    );
    let reason = "error: reading policy config: open /none: no such file or directory\n";
    assert_eq!((missing.status, missing.errors.as_str()), (1, reason));
}

#[test]
fn the_first_block_counts_whatever_its_label_says() {
    let pattern = "policies: [{pattern: {allow: ['n']}}]\n";
    let named = with(&[names(&[(2, "a.svc")])]);
    let other = with(&[]).replace("CERTIFICATE REQUEST", "SOMETHING");
    assert!(signs(pattern, "n", &format!("{other}{named}")));
    assert!(!signs(pattern, "n", &format!("{named}{other}")));
}

proptest::proptest! {
    #[test]
    fn no_request_makes_it_panic(bytes: Vec<u8>, cut in 0_usize..400) {
        let _ = CertificateRequest::from_pem(pem(&bytes).as_bytes());
        let request = with(&[extension(ROLE, &value(0x0c, b"web")), names(&[(2, "a.svc")])]);
        let mut broken = ::pem::parse(request).unwrap().into_contents();
        let length = broken.len();
        broken[cut % length] ^= 0x55;
        let _ = CertificateRequest::from_pem(pem(&broken).as_bytes());
    }
}
