//! Files that the real `sops` 3.13.3 and `age` 1.3.2 wrote.

#![expect(
    clippy::unwrap_used,
    reason = "clippy.toml allows these in tests, but not in the functions that tests share"
)]

use std::{fs, path::PathBuf};

use mainstay_sops::{
    Cleartext,
    age::{self, Identity},
    decrypt,
};

/// What was encrypted, as it is read back: `sops` opens a date as the time of its first second.
const SHOP: &str = "\
apiVersion: v1
kind: Secret
metadata:
  name: shop
  'on': '2026-01-02'
stringData:
  password: correct horse
  multi: |
    line one
    line two
  port: 5432
  ratio: 0.5
  big: 1e+21
  flag: true
  disabled: false
  date: '2026-01-02T00:00:00Z'
  empty: ''
  none: null
  hosts: [one, two]
";

fn vector(name: &str) -> Vec<u8> {
    let directory = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/vectors");
    fs::read(directory.join(name)).unwrap()
}

fn identities() -> Vec<Identity> {
    let text = String::from_utf8(vector("key.txt")).unwrap();
    age::identities(&text).unwrap()
}

fn same_text(left: &Cleartext, right: &Cleartext) -> bool {
    *left.expose() == *right.expose()
}

#[test]
fn opens_files_of_sops_whatever_their_scope() {
    let expected = Cleartext::parse(SHOP.as_bytes()).unwrap();
    for name in [
        "encrypted-regex.yaml",
        "whole-file.yaml",
        "unencrypted-regex.yaml",
        "encrypted-suffix.yaml",
        "mac-only-encrypted.yaml",
        "two-recipients.yaml",
    ] {
        let opened = decrypt(&vector(name), &identities()).unwrap_or_else(|error| {
            panic!("{name}: {error}");
        });
        assert!(
            same_text(&opened, &expected),
            "{name}: {}",
            *opened.expose()
        );
    }
}

#[test]
fn opens_every_document() {
    let opened = decrypt(&vector("two-documents.yaml"), &identities()).unwrap();
    let expected = "stringData: {a: 1}\n---\nstringData: {b: two}\n";
    assert!(same_text(
        &opened,
        &Cleartext::parse(expected.as_bytes()).unwrap()
    ));
}

#[test]
fn opens_files_of_age() {
    let armored = String::from_utf8(vector("message.age")).unwrap();
    let file = age::dearmor(&armored).unwrap();
    assert_eq!(
        *age::decrypt(&file, &identities()).unwrap(),
        b"attack at dawn"
    );
}
