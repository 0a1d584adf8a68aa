//! Keys, requests and certificates that were made here and elsewhere.

use std::sync::LazyLock;

use aws_lc_rs::signature::{RSA_PKCS1_2048_8192_SHA256, UnparsedPublicKey};
use der::{Decode, Encode};
use jiff::Timestamp;
use x509_cert::request::CertReq;

use super::*;

/// Made once: a key takes seconds.
static KEY: LazyLock<PrivateKey> = LazyLock::new(|| PrivateKey::generate().unwrap());

/// An authority, one of its certificates and its list, made with `openssl` for these tests.
const AUTHORITY: &[u8] = include_bytes!("../tests/data/authority.pem");
const NODE: &[u8] = include_bytes!("../tests/data/node.pem");
const LIST: &[u8] = include_bytes!("../tests/data/list.pem");

fn request() -> Request {
    let extension = |oid: &str, value: &str| RequestedExtension {
        oid: oid.to_owned(),
        value: value.to_owned(),
    };
    Request {
        common_name: "compiler-1.example.org".to_owned(),
        dns_names: vec!["puppet".to_owned(), "10.0.0.1".to_owned()],
        extensions: vec![
            extension("1.3.6.1.4.1.34380.1.3.39", "true"),
            extension("1.3.6.1.4.1.34380.1.1.13", "web & größer"),
        ],
    }
}

#[test]
fn a_key_is_written_the_way_puppet_writes_it_and_read_back() {
    let text = KEY.to_pem().unwrap();
    assert!(text.starts_with("-----BEGIN RSA PRIVATE KEY-----\n"));
    assert!(text.ends_with("-----END RSA PRIVATE KEY-----\n"));
    let again = PrivateKey::from_pem(text.as_bytes()).unwrap();
    assert_eq!(again.public_key(), KEY.public_key());
    assert_eq!(*again.to_pem().unwrap(), *text);
    // A modulus of 4096 bits, an exponent and their frame.
    assert_eq!(KEY.public_key().unwrap().len(), 550);
}

#[test]
fn a_key_shows_nothing_of_itself() {
    assert_eq!(format!("{:?}", *KEY), "PrivateKey(…)");
    let error = PrivateKey::from_pem(NODE).unwrap_err();
    assert_eq!(
        error.to_string(),
        "private key: the PEM block says `CERTIFICATE`"
    );
}

#[test]
fn a_request_says_what_it_was_made_from_and_is_the_same_each_time() {
    let text = request().to_pem(&KEY).unwrap();
    assert!(text.starts_with("-----BEGIN CERTIFICATE REQUEST-----\n"));
    assert_eq!(Request::from_pem(text.as_bytes()).unwrap(), request());
    assert_eq!(request().to_pem(&KEY).unwrap(), text);
}

#[test]
fn a_request_is_signed_with_the_key_that_it_is_for() {
    let text = request().to_pem(&KEY).unwrap();
    let contents = pem::parse(&text).unwrap().into_contents();
    let read = CertReq::from_der(&contents).unwrap();
    let public = &read.info.public_key;
    assert_eq!(public.to_der().unwrap(), KEY.public_key().unwrap());
    let key = public.subject_public_key.as_bytes().unwrap();
    let signature = read.signature.as_bytes().unwrap();
    UnparsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, key)
        .verify(&read.info.to_der().unwrap(), signature)
        .unwrap();
}

#[test]
fn texts_are_printable_strings_where_their_characters_allow() {
    let encoded = |value: &str| text::encode(value).unwrap().to_der().unwrap();
    assert_eq!(encoded("true"), b"\x13\x04true");
    assert_eq!(encoded("b-1"), b"\x13\x03b-1");
    assert_eq!(encoded("prod_tier"), b"\x0c\x09prod_tier");
    assert_eq!(encoded("a@b"), b"\x0c\x03a@b");
    assert_eq!(encoded(""), b"\x13\x00");
}

#[test]
fn a_request_without_names_and_extensions_has_an_empty_attribute_list() {
    let plain = Request {
        common_name: "puppet".to_owned(),
        ..Request::default()
    };
    let text = plain.to_pem(&KEY).unwrap();
    assert_eq!(Request::from_pem(text.as_bytes()).unwrap(), plain);
}

#[test]
fn more_names_than_anybody_needs_are_refused() {
    let many = Request {
        dns_names: vec!["a.example.org".to_owned(); MOST_NAMES + 1],
        ..request()
    };
    let error = many.to_pem(&KEY).unwrap_err();
    assert!(matches!(error, Error::TooMany { .. }), "{error}");
    let error = Request {
        dns_names: vec!["größer.example.org".to_owned()],
        ..request()
    }
    .to_pem(&KEY)
    .unwrap_err();
    assert!(error.to_string().contains("größer"), "{error}");
}

#[test]
fn a_certificate_says_whose_it_is_and_until_when() {
    let node = Certificate::from_pem(NODE).unwrap();
    assert_eq!(node.common_name, "node.example.org");
    assert_eq!(node.dns_names, ["node", "node.example.org"]);
    assert!(node.not_before < node.not_after);
    assert!(node.is_valid_at(node.not_before) && node.is_valid_at(node.not_after));
    assert!(!node.is_valid_at(Timestamp::MAX));
    assert!(!node.belongs_to(&KEY));
}

#[test]
fn a_certificate_is_signed_by_its_authority_and_by_nobody_else() {
    let node = Certificate::from_pem(NODE).unwrap();
    let authorities = Certificate::bundle(AUTHORITY).unwrap();
    assert!(node.is_signed_by_one_of(&authorities));
    assert!(!node.is_signed_by_one_of(std::slice::from_ref(&node)));
    assert!(authorities[0].is_signed_by_one_of(&authorities));
}

#[test]
fn a_list_takes_back_what_it_names() {
    let node = Certificate::from_pem(NODE).unwrap();
    let authority = Certificate::from_pem(AUTHORITY).unwrap();
    let lists = RevocationList::bundle(LIST).unwrap();
    assert_eq!(lists.len(), 1);
    assert!(lists[0].revokes(&node) && !lists[0].revokes(&authority));
    assert!(lists[0].next_update > Some(lists[0].this_update));
}

#[test]
fn a_text_that_is_too_long_is_not_looked_at() {
    let huge = vec![b'a'; LARGEST_TEXT + 1];
    for error in [
        Certificate::bundle(&huge).unwrap_err(),
        RevocationList::bundle(&huge).unwrap_err(),
        PrivateKey::from_pem(&huge).unwrap_err(),
    ] {
        assert!(matches!(error, Error::TooLarge { .. }), "{error}");
    }
}

#[test]
fn only_the_first_block_says_what_an_answer_is() {
    assert!(Certificate::is_announced(NODE));
    assert!(!Certificate::is_announced(LIST));
    assert!(!Certificate::is_announced(b"Not Found"));
    let both = [LIST, NODE].concat();
    assert!(Certificate::from_pem(&both).is_err());
    assert_eq!(Certificate::bundle(&both).unwrap().len(), 1);
}

/// Reads a text as everything that there is. Whatever comes of it, it ends.
fn read(text: &[u8]) {
    drop(Certificate::bundle(text));
    drop(Certificate::from_pem(text));
    drop(RevocationList::bundle(text));
    drop(Request::from_pem(text));
    drop(PrivateKey::from_pem(text));
}

/// The bytes of a PEM text's first block in a block of another label.
fn relabelled(text: &[u8], label: &str) -> String {
    let contents = pem::parse(text).unwrap().into_contents();
    pem_block::encode(label, &contents)
}

#[test]
fn a_damaged_text_is_refused_and_nothing_worse_happens() {
    let asked = request().to_pem(&KEY).unwrap();
    let key = KEY.to_pem().unwrap();
    let samples = [AUTHORITY, NODE, LIST, asked.as_bytes(), key.as_bytes()];
    // A fixed sequence, so that a failure comes again.
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = |bound: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % u64::try_from(bound).unwrap()).unwrap()
    };
    for sample in samples {
        let block = pem::parse(sample).unwrap();
        for _ in 0..400 {
            // Inside the frame, so that more than the PEM reader sees it.
            let mut contents = block.contents().to_vec();
            match next(3) {
                0 => contents.truncate(next(block.contents().len())),
                1 => {
                    let at = next(contents.len());
                    contents[at] ^= 1 << next(8);
                }
                _ => {
                    let at = next(contents.len());
                    contents[at] = u8::try_from(next(256)).unwrap();
                }
            }
            read(pem_block::encode(block.tag(), &contents).as_bytes());
            let mut text = sample.to_vec();
            let at = next(text.len());
            text[at] = u8::try_from(next(256)).unwrap();
            read(&text);
        }
        for label in [
            "CERTIFICATE",
            "X509 CRL",
            "CERTIFICATE REQUEST",
            "PRIVATE KEY",
        ] {
            read(relabelled(sample, label).as_bytes());
        }
    }
}

proptest::proptest! {
    #[test]
    fn arbitrary_bytes_are_read_without_harm(bytes in proptest::collection::vec(0_u8.., 0..2_000)) {
        read(&bytes);
        for label in ["CERTIFICATE", "X509 CRL", "CERTIFICATE REQUEST", "RSA PRIVATE KEY"] {
            read(pem_block::encode(label, &bytes).as_bytes());
        }
    }

    #[test]
    fn a_request_survives_its_encoding(name in "[a-zA-Z0-9.*_ äß&-]{1,40}", names in proptest::collection::vec("[a-z0-9.*-]{1,30}", 0..8)) {
        let request = Request { common_name: name, dns_names: names, extensions: Vec::new() };
        let text = request.to_pem(&KEY).unwrap();
        proptest::prop_assert_eq!(Request::from_pem(text.as_bytes()).unwrap(), request);
    }
}
