//! Whatever comes in, the readers answer and do not panic; whatever is encrypted comes back.

#![expect(
    clippy::unwrap_used,
    reason = "clippy.toml allows these in tests, but not in the functions that tests share"
)]

use std::{env, fs, slice};

use jiff::Timestamp;
use mainstay_sops::{
    Cleartext, OperatingSystem, Scope, Settings, Surroundings,
    age::{self, Identity},
    decrypt, encrypt,
};
use mainstay_yaml::Node;
use proptest::{prelude::*, sample::Index};

/// More by `MAINSTAY_PROPERTY_CASES`, for long runs.
fn cases(usual: u32) -> ProptestConfig {
    let asked = env::var("MAINSTAY_PROPERTY_CASES").ok();
    let cases = asked
        .and_then(|number| number.parse().ok())
        .unwrap_or(usual);
    ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(cases)
    }
}

fn vector() -> (String, Vec<Identity>) {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/vectors");
    let read = |name: &str| fs::read_to_string(format!("{directory}/{name}")).unwrap();
    let identities = age::identities(&read("key.txt")).unwrap();
    (read("encrypted-regex.yaml"), identities)
}

fn scalar() -> impl Strategy<Value = Node> {
    prop_oneof![
        Just(Node::Null),
        any::<bool>().prop_map(Node::from),
        any::<i64>().prop_map(Node::from),
        "[ -~äß\\n]{0,12}".prop_map(Node::from),
    ]
}

fn tree() -> impl Strategy<Value = Node> {
    let node = scalar().prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Node::List),
            prop::collection::btree_map("[a-z]{1,5}", inner, 0..4).prop_map(Node::map),
        ]
    });
    prop::collection::btree_map("[a-z]{1,6}", node, 1..4).prop_map(Node::map)
}

/// Every value in order, one after the other: what the code of a file covers.
fn values(nodes: &[Node]) -> String {
    let value = |node: &Node| match node {
        Node::Map(entries) => entries
            .iter()
            .map(|(_, value)| values(slice::from_ref(value)))
            .collect(),
        Node::List(items) => values(items),
        Node::Null => String::new(),
        Node::Text(text) => text.clone(),
        other => other.to_value().to_string(),
    };
    nodes.iter().map(value).collect()
}

proptest! {
    #![proptest_config(cases(10_000))]

    #[test]
    fn the_readers_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = decrypt(&bytes, &[]);
        let _ = age::decrypt(&bytes, &[]);
        let text = String::from_utf8_lossy(&bytes);
        let _ = age::dearmor(&text);
        let _ = age::identities(&text);
        let _ = text.parse::<age::Recipient>();
    }
}

proptest! {
    #![proptest_config(cases(250))]

    #[test]
    fn no_value_of_a_damaged_file_is_believed(
        place in any::<Index>(),
        replacement in "[ -~]{0,4}",
        length in 0_usize..6,
    ) {
        let (text, identities) = vector();
        let mut damaged = text.clone().into_bytes();
        let start = place.index(damaged.len());
        let end = (start + length).min(damaged.len());
        damaged.splice(start..end, replacement.bytes());
        if let Ok(opened) = decrypt(&damaged, &identities) {
            // Comments, the version, and the keys of values that are not encrypted are not covered by the code.
            let original = decrypt(text.as_bytes(), &identities).unwrap();
            prop_assert_eq!(values(opened.documents()), values(original.documents()));
        }
    }
}

proptest! {
    #![proptest_config(cases(60))]

    #[test]
    fn whatever_is_encrypted_comes_back(tree in tree(), scope in "[a-z]") {
        let text = mainstay_yaml::print_node(&tree);
        let cleartext = Cleartext::parse(text.as_bytes()).unwrap();
        let identity = Identity::generate(&mut OperatingSystem).unwrap();
        let settings = Settings {
            recipients: vec![identity.recipient()],
            scope: Scope::EncryptedRegex(scope),
        };
        let mut entropy = OperatingSystem;
        let mut surroundings = Surroundings { entropy: &mut entropy, now: Timestamp::UNIX_EPOCH };
        let file = encrypt(&cleartext, &settings, &mut surroundings).unwrap();
        let opened = decrypt(file.as_bytes(), &[identity]).unwrap();
        prop_assert_eq!(&*opened.expose(), &*cleartext.expose());
    }
}
