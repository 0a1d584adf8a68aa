//! Whatever the bytes are, loading ends with a config or with findings; never with a panic.
//!
//! The number of inputs can be raised with `OPENCENTER_FUZZ_CASES`.

use mainstay_opencenter::{
    config::{LoadOptions, NoSurroundings, load},
    finding::{has_errors, sort},
};
use mainstay_yaml::SourceName;
use proptest::{
    collection::vec,
    prelude::*,
    test_runner::{Config, TestRunner},
};

use crate::config;

/// How many inputs the quick run takes in all.
const QUICK: u32 = 100_000;

#[expect(
    clippy::disallowed_methods,
    reason = "longer runs are asked for from outside"
)]
fn cases() -> u32 {
    std::env::var("OPENCENTER_FUZZ_CASES")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(QUICK)
}

/// A runner for some thousandths of all inputs; the larger the inputs, the fewer.
fn runner(thousandths: u32) -> TestRunner {
    TestRunner::new(Config {
        cases: cases() / 1000 * thousandths,
        failure_persistence: None,
        ..Config::default()
    })
}

fn try_load(bytes: &[u8]) {
    let source = SourceName::new("any.yaml");
    let loaded = load(bytes, &source, &NoSurroundings, &LoadOptions::default());
    assert!(loaded.config.is_some() || has_errors(&loaded.findings));
    let mut sorted = loaded.findings.clone();
    sort(&mut sorted);
    assert_eq!(sorted, loaded.findings);
    for finding in &loaded.findings {
        assert!(finding.file.is_some() && !finding.to_text().is_empty());
    }
}

#[test]
fn any_bytes_are_loaded_or_refused() {
    runner(975)
        .run(&vec(any::<u8>(), 0..64), |bytes| {
            try_load(&bytes);
            Ok(())
        })
        .unwrap();
}

/// Words that mean something to the loader, and some that mean something to YAML.
const WORDS: [&str; 48] = [
    "schema_version",
    "\"2.0\"",
    "opencenter",
    "meta",
    "name",
    "services",
    "managed_services",
    "managed-service",
    "loki",
    "keycloak",
    "metallb",
    "gateway",
    "cert-manager",
    "own",
    "enabled",
    "true",
    "false",
    "secrets",
    "gitops",
    "overlay_units",
    "customer_managed",
    "kustomizations",
    "depends_on",
    "uri",
    "release",
    "2026.01",
    "-1",
    "null",
    "${ref:opencenter.meta.name}",
    "${ref:a[0]}",
    "${env:X}",
    "${file:",
    "a.b",
    "[",
    "]",
    "{",
    "}",
    ":",
    "-",
    ",",
    "\n",
    "\n  ",
    "\n    ",
    "\n      ",
    "&a",
    "*a",
    "'",
    "\"",
];

#[test]
fn any_mixture_of_words_is_loaded_or_refused() {
    let words = vec((0..WORDS.len(), any::<bool>()), 0..40);
    runner(20)
        .run(&words, |picked| {
            let text: String = picked
                .iter()
                .map(|(index, with_blank)| {
                    format!("{}{}", WORDS[*index], if *with_blank { " " } else { "" })
                })
                .collect();
            try_load(text.as_bytes());
            Ok(())
        })
        .unwrap();
}

/// Values that fit almost nowhere.
const ODD: [&str; 12] = [
    "null",
    "\"\"",
    "[]",
    "{}",
    "[null]",
    "[[1]]",
    "{a: {b: 1}}",
    "-9223372036854775808",
    "1e999",
    "\"\\0\"",
    "\"${ref:opencenter}\"",
    "\"{{ x }}\"",
];

#[test]
fn any_value_in_any_place_is_loaded_or_refused() {
    let text = config(&[
        (
            "@opencenter",
            "  cluster: {kubernetes: {network_plugin: {calico: {enabled: true}}}}\n  identity: {oidc: {source: internal}}",
        ),
        (
            "@gitops",
            "    overlay_units:\n      customer_managed: {enabled: true, repository_name: a, repository_url: ssh://git@h/p, kustomizations: [{name: a, path: /a, depends_on: [b]}]}\n      sops: {enabled: true, rules: [{path_regex: a, age_recipients: [x]}]}",
        ),
        (
            "@services",
            "    loki: {enabled: true, storage_type: swift}\n    metallb: {enabled: true, ip_address_pools: [{name: a, addresses: [10.0.0.0/8]}]}\n    gateway: {enabled: true, listeners: [{name: a, port: 1, protocol: HTTP}]}\n    keycloak: {enabled: true, rbac_bindings: [{name: a}]}",
        ),
        (
            "@secrets",
            "  cert_manager: {aws: {a: {enabled: true}}}\n  service_secrets: {a: {b: c}}",
        ),
    ]);
    // Places where a value could begin: behind every `: `, `[` and `{`.
    let places: Vec<usize> = text
        .match_indices([':', '[', '{', ','])
        .map(|(offset, mark)| offset + mark.len())
        .collect();
    let strategy = (
        vec((0..places.len(), 0..ODD.len(), 0_usize..12), 1..4),
        any::<bool>(),
    );
    runner(5)
        .run(&strategy, |(changes, drop_rest)| {
            let mut changed = text.clone();
            for (place, odd, length) in changes {
                let Some(start) = places
                    .get(place)
                    .filter(|start| changed.is_char_boundary(**start))
                else {
                    continue;
                };
                let end = (*start + length).min(changed.len());
                if changed.is_char_boundary(end) {
                    changed.replace_range(*start..end, &format!(" {}", ODD[odd]));
                }
            }
            if drop_rest {
                changed.truncate(changed.len() / 2);
            }
            try_load(changed.as_bytes());
            Ok(())
        })
        .unwrap();
}
