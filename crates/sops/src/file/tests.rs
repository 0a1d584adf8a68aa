use jiff::Timestamp;

use super::*;
use crate::surroundings::tests::Counter;

const SECRET: &str = "\
apiVersion: v1
kind: Secret
metadata:
  name: shop
  labels: {b: x, a: y}
stringData:
  password: correct horse
  port: 5432
  ratio: 0.5
  on: true
  empty: \"\"
  nothing: null
  hosts: [one, two]
";

struct World {
    entropy: Counter,
    identity: Identity,
}

impl World {
    fn new() -> Self {
        let mut entropy = Counter::default();
        let identity = Identity::generate(&mut entropy).unwrap();
        Self { entropy, identity }
    }

    fn settings(&self) -> Settings {
        Settings {
            recipients: vec![self.identity.recipient()],
            scope: Scope::EncryptedRegex("^(data|stringData)$".to_owned()),
        }
    }

    fn encrypt(&mut self, text: &str) -> String {
        let settings = self.settings();
        encrypt(&clear(text), &settings, &mut self.surroundings()).unwrap()
    }

    fn update(&mut self, old: &str, text: &str, settings: &Settings) -> String {
        let identities = [self.identity.clone()];
        let updated = update(
            old.as_bytes(),
            &clear(text),
            settings,
            &identities,
            &mut self.surroundings(),
        );
        String::from_utf8(updated.unwrap()).unwrap()
    }

    fn decrypt(&self, text: &str) -> Result<Cleartext, Error> {
        decrypt(text.as_bytes(), std::slice::from_ref(&self.identity))
    }

    fn surroundings(&mut self) -> Surroundings<'_> {
        Surroundings {
            entropy: &mut self.entropy,
            now: Timestamp::from_second(1_700_000_000).unwrap(),
        }
    }
}

fn clear(text: &str) -> Cleartext {
    Cleartext::parse(text.as_bytes()).unwrap()
}

#[test]
fn a_file_survives_and_shows_only_what_the_scope_leaves_open() {
    let mut world = World::new();
    let text = world.encrypt(&SECRET.replace("on:", "\"on\":"));
    assert!(text.contains("  name: shop\n"), "{text}");
    assert!(!text.contains("correct horse"), "{text}");
    assert_eq!(text.matches("ENC[AES256_GCM").count(), 7, "{text}");
    let opened = world.decrypt(&text).unwrap();
    assert!(same(&opened, &clear(&SECRET.replace("on:", "\"on\":"))));
}

#[test]
fn every_document_of_a_file_is_encrypted() {
    let mut world = World::new();
    let two = "stringData: {a: x}\n---\nstringData: {b: y}\n";
    let text = world.encrypt(two);
    assert_eq!(text.matches("lastmodified").count(), 2);
    assert!(same(&world.decrypt(&text).unwrap(), &clear(two)));
}

#[test]
fn nothing_changed_gives_the_same_bytes() {
    let mut world = World::new();
    let (settings, text) = (world.settings(), "stringData: {a: x, b: y}\nkind: Secret\n");
    let old = world.encrypt(text);
    assert_eq!(world.update(&old, text, &settings), old);
    // Presentation is no change.
    let old = old.replace("kind: Secret", "kind:   'Secret' # by hand");
    assert_eq!(world.update(&old, text, &settings), old);
}

#[test]
fn only_changed_values_get_new_ciphertext() {
    let mut world = World::new();
    let (settings, lines) = (world.settings(), |text: &str| -> Vec<String> {
        text.lines().map(str::to_owned).collect()
    });
    let old = world.encrypt("stringData:\n  a: x\n  b: y\n");
    let new = world.update(&old, "stringData:\n  a: x\n  b: z\n", &settings);
    let (old, new) = (lines(&old), lines(&new));
    let changed: Vec<&String> = new.iter().filter(|line| !old.contains(line)).collect();
    assert_eq!(changed.len(), 2, "{changed:?}");
    assert!(changed[0].trim().starts_with("b: ENC"));
    assert!(changed[1].trim().starts_with("mac: ENC"));
}

#[test]
fn a_value_that_moved_in_its_list_keeps_its_ciphertext() {
    let mut world = World::new();
    let settings = world.settings();
    let old = world.encrypt("data: [one, two]\n");
    let new = world.update(&old, "data: [two, one]\n", &settings);
    let items = |text: &str| -> Vec<String> {
        text.lines()
            .filter(|line| line.trim().starts_with("- ENC"))
            .map(str::to_owned)
            .collect()
    };
    let (mut old, new) = (items(&old), items(&new));
    old.reverse();
    assert_eq!(old, new);
}

#[test]
fn other_recipients_mean_a_new_data_key() {
    let mut world = World::new();
    let mut settings = world.settings();
    let old = world.encrypt("data: {a: x}\n");
    let second = Identity::generate(&mut world.entropy).unwrap();
    settings.recipients.push(second.recipient());
    let new = world.update(&old, "data: {a: x}\n", &settings);
    let sealed = old.lines().find(|line| line.contains("a: ENC")).unwrap();
    assert!(!new.contains(sealed));
    assert!(decrypt(new.as_bytes(), &[second]).is_ok());
    assert_eq!(recipients(new.as_bytes()).unwrap().len(), 2);
}

#[test]
fn each_failure_has_its_own_words() {
    let mut world = World::new();
    let text = world.encrypt("data:\n  a: x\n  b: y\nkind: Secret\n");
    let line = |start: &str| {
        let found = text.lines().find(|line| line.trim().starts_with(start));
        found.unwrap().to_owned()
    };
    let (a, b, code) = (line("a: ENC"), line("b: ENC"), line("mac:"));
    let stranger = Identity::generate(&mut world.entropy).unwrap();
    let wrong_key = decrypt(text.as_bytes(), &[stranger]).unwrap_err();
    assert!(wrong_key.is_missing_key());
    let cases = [
        (
            text.replace("kind: Secret", "kind: Other"),
            "the values do not fit the code of the file: they were changed without `sops`",
        ),
        (
            text.replace(&format!("{b}\n"), ""),
            "the values do not fit the code of the file: they were changed without `sops`",
        ),
        (
            text.replace(&b, &a.replacen("a:", "b:", 1)),
            "`data.b` was tampered with, moved, or belongs to another file",
        ),
        (
            text.replace(&b, "  b: plain"),
            "`data.b` is not encrypted, or not in the form of sops",
        ),
        (
            text.replace(&b, "  b: 5"),
            "`data.b` should be encrypted and is not",
        ),
        (
            text.replace("data:AA", "data:BB").replace(
                &code,
                "  mac: ENC[AES256_GCM,data:AA==,iv:AA==,tag:AA==,type:str]",
            ),
            "the code of the file (`sops.mac`) was tampered with",
        ),
        (
            text.replace("2023-", "2022-"),
            "the code of the file (`sops.mac`) was tampered with",
        ),
        (text.replace(&code, ""), "`sops.mac` is missing"),
        (
            text.replace("END AGE", "END"),
            "could not open the data key for",
        ),
        (
            text.split("sops:").next().unwrap().to_owned(),
            "the file is not encrypted: it has no `sops` block",
        ),
    ];
    for (changed, expected) in cases {
        assert_ne!(changed, text);
        let error = world.decrypt(&changed).unwrap_err().to_string();
        assert!(
            error.starts_with(expected),
            "{error}\n{expected}\n{changed}"
        );
    }
}

#[test]
fn a_file_without_a_recipient_or_with_a_block_of_its_own_is_refused() {
    let mut world = World::new();
    let settings = Settings {
        recipients: Vec::new(),
        scope: Scope::default_suffix(),
    };
    let error = encrypt(&clear("a: b\n"), &settings, &mut world.surroundings()).unwrap_err();
    assert!(matches!(error, Error::NoRecipient));
    let settings = world.settings();
    let error = encrypt(&clear("sops: {}\n"), &settings, &mut world.surroundings()).unwrap_err();
    assert!(matches!(error, Error::AlreadyEncrypted));
    assert!(matches!(
        Cleartext::parse(b"- a\n"),
        Err(Error::NotAMapping { index: 1 })
    ));
}

#[test]
fn errors_and_debug_never_show_cleartext() {
    let mut world = World::new();
    let cleartext = clear("data: {a: hunter2}\n");
    assert_eq!(format!("{cleartext:?}"), "Cleartext(***)");
    let error = Cleartext::parse(b"stringData: {a: hunter2").unwrap_err();
    assert!(
        !format!("{error:?} {error}").contains("hunter2"),
        "{error:?}"
    );
    let text = world
        .encrypt("data: {a: hunter2}\n")
        .replace("type:str", "type:int");
    let error = world.decrypt(&text).unwrap_err();
    assert!(!format!("{error:?} {error}").contains("hunter2"));
}
