//! The real `sops` and `age` read our files, and we read theirs.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "clippy.toml allows these in tests, but not in the functions that tests share"
)]

use std::{
    fs,
    process::{Command, Output},
    sync::LazyLock,
};

use jiff::Timestamp;
use mainstay_control_plane::tools::{Tool, Tools};
use mainstay_sops::{
    Cleartext, OperatingSystem, Scope, Settings, Surroundings,
    age::{self, Identity},
    decrypt, encrypt, update,
};
use tempfile::TempDir;

static TOOLS: LazyLock<Tools> = LazyLock::new(|| {
    Tools::find_or_build(&|line| println!("{line}")).expect("the tools can be built")
});

const VALUES: &str = "\
replicas: 3
ratio: 0.25
large: 123456789012345.5
enabled: true
nothing: null
empty: ''
date: '2026-01-02'
octal: '0644'
text: \"quotes \\\" and: colons # and hashes\"
multi: |
  line one

  line three
list: [a, 1, true, {deep: [x]}]
note_unencrypted: visible
key with spaces: ä
";

struct World {
    directory: TempDir,
    identity: Identity,
}

impl World {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let identity = Identity::generate(&mut OperatingSystem).unwrap();
        fs::write(directory.path().join("key.txt"), identity.expose().as_str()).unwrap();
        Self {
            directory,
            identity,
        }
    }

    fn settings(&self, scope: Scope) -> Settings {
        Settings {
            recipients: vec![self.identity.recipient()],
            scope,
        }
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        let path = self.directory.path().join(name);
        fs::write(&path, content).unwrap();
        path.to_str().unwrap().to_owned()
    }

    fn run(&self, tool: Tool, arguments: &[&str]) -> Output {
        Command::new(TOOLS.path(tool))
            .args(arguments)
            .env("SOPS_AGE_KEY_FILE", self.directory.path().join("key.txt"))
            .env("HOME", self.directory.path())
            .current_dir(self.directory.path())
            .output()
            .unwrap()
    }

    /// Standard output of a tool that has to succeed.
    fn output(&self, tool: Tool, arguments: &[&str]) -> Vec<u8> {
        let output = self.run(tool, arguments);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?}: {errors}");
        output.stdout
    }
}

fn surroundings(entropy: &mut OperatingSystem) -> Surroundings<'_> {
    Surroundings {
        entropy,
        now: Timestamp::now(),
    }
}

fn clear(text: &str) -> Cleartext {
    Cleartext::parse(text.as_bytes()).unwrap()
}

#[test]
fn sops_opens_what_we_encrypt() {
    let world = World::new();
    for scope in [
        Scope::default_suffix(),
        Scope::EncryptedRegex("^(text|list)$".to_owned()),
        Scope::UnencryptedRegex("^(text|list)$".to_owned()),
        Scope::EncryptedSuffix("t".to_owned()),
    ] {
        let cleartext = clear(VALUES);
        let settings = world.settings(scope);
        let file = encrypt(
            &cleartext,
            &settings,
            &mut surroundings(&mut OperatingSystem),
        )
        .unwrap();
        let path = world.write("values.yaml", &file);
        let opened = world.output(Tool::Sops, &["decrypt", &path]);
        let opened = Cleartext::parse(&opened).unwrap();
        assert_eq!(*opened.expose(), *cleartext.expose(), "{settings:?}");
    }
}

#[test]
fn sops_opens_every_document_and_every_update() {
    let world = World::new();
    let settings = world.settings(Scope::EncryptedRegex("^data$".to_owned()));
    let mut entropy = OperatingSystem;
    let first = clear("data: {a: x, b: y}\n---\nkind: Secret\ndata: {c: z}\n");
    let second = clear("data: {a: x, b: changed}\n---\nkind: Secret\ndata: {c: z, d: 5}\n");
    let file = encrypt(&first, &settings, &mut surroundings(&mut entropy)).unwrap();
    let identities = [world.identity.clone()];
    let file = update(
        file.as_bytes(),
        &second,
        &settings,
        &identities,
        &mut surroundings(&mut entropy),
    );
    let path = world.write("secret.yaml", file.unwrap());
    let opened = world.output(Tool::Sops, &["decrypt", &path]);
    let opened = Cleartext::parse(&opened).unwrap();
    assert_eq!(*opened.expose(), *second.expose());
}

#[test]
fn we_open_what_sops_encrypts_and_edits() {
    let world = World::new();
    let recipient = world.identity.recipient().to_string();
    let plain = world.write("plain.yaml", VALUES);
    let file = world.output(Tool::Sops, &["encrypt", "--age", &recipient, &plain]);
    let identities = [world.identity.clone()];
    assert_eq!(
        *decrypt(&file, &identities).unwrap().expose(),
        *clear(VALUES).expose()
    );

    let path = world.write("edited.yaml", &file);
    world.output(Tool::Sops, &["set", &path, "[\"text\"]", "\"new\""]);
    let edited = fs::read(&path).unwrap();
    let expected = VALUES.replace("\"quotes \\\" and: colons # and hashes\"", "new");
    assert_eq!(
        *decrypt(&edited, &identities).unwrap().expose(),
        *clear(&expected).expose()
    );
    // What sops wrote and nobody changed stays as sops wrote it.
    let settings = world.settings(Scope::default_suffix());
    let mut entropy = OperatingSystem;
    let again = update(
        &edited,
        &clear(&expected),
        &settings,
        &identities,
        &mut surroundings(&mut entropy),
    );
    assert_eq!(again.unwrap(), edited);
}

#[test]
fn sops_refuses_our_file_once_it_was_changed() {
    let world = World::new();
    let settings = world.settings(Scope::EncryptedRegex("^data$".to_owned()));
    let cleartext = clear("kind: Secret\ndata: {a: x}\n");
    let mut entropy = OperatingSystem;
    let file = encrypt(&cleartext, &settings, &mut surroundings(&mut entropy)).unwrap();
    let path = world.write("secret.yaml", file.replace("kind: Secret", "kind: Other"));
    let output = world.run(Tool::Sops, &["decrypt", &path]);
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("MAC mismatch"));
}

#[test]
fn age_and_we_open_each_others_files() {
    let world = World::new();
    let recipient = world.identity.recipient();
    let message = vec![b'x'; 100_000];
    let ours = age::encrypt(&message, &recipient, &mut OperatingSystem).unwrap();
    let ours = world.write("ours.age", age::enarmor(&ours));
    assert_eq!(
        world.output(Tool::Age, &["-d", "-i", "key.txt", &ours]),
        message
    );

    let plain = world.write("plain", &message);
    let theirs = world.output(Tool::Age, &["-r", &recipient.to_string(), &plain]);
    let opened = age::decrypt(&theirs, std::slice::from_ref(&world.identity)).unwrap();
    assert_eq!(*opened, message);
}

#[test]
fn keys_are_the_keys_of_age() {
    let world = World::new();
    let public = world.output(Tool::AgeKeygen, &["-y", "key.txt"]);
    let public = String::from_utf8(public).unwrap();
    assert_eq!(public.trim(), world.identity.recipient().to_string());

    let path = world.directory.path().join("new.txt");
    world.output(Tool::AgeKeygen, &["-o", path.to_str().unwrap()]);
    let text = fs::read_to_string(&path).unwrap();
    let identities = age::identities(&text).unwrap();
    let line = format!("# public key: {}", identities[0].recipient());
    assert!(text.contains(&line));
}
