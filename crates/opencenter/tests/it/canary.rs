//! No value from outside is ever in the clear, whichever field it stands in.

#[path = "../canary/fields.rs"]
mod fields;

use std::{collections::BTreeMap, fmt::Write as _};

use base64::{Engine as _, engine::general_purpose::STANDARD_NO_PAD};
use mainstay_opencenter::{
    config::{ClusterConfig, LoadOptions, Purpose, Surroundings, load},
    finding::{self, Code, Finding, Severity},
    overlay::{PlanArtifact, PlanInputs},
    render::{RenderOptions, Rendered, render},
};
use mainstay_yaml::{Limits, SourceName, parse_documents};
use serde_json::Value;

use crate::fixture::REGISTRY;
use fields::{CONFIG, Leaf, all, set};

/// A word that stands nowhere by chance.
const MARK: &str = "canaryx7q2k9";

/// Canaries are tried in so many configs.
const GROUPS: usize = 24;

/// What the program would find outside.
struct Outside(BTreeMap<String, String>);

impl Outside {
    fn of(values: &[(&str, &str)]) -> Self {
        let owned = values
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        Self(owned.collect())
    }
}

impl Surroundings for Outside {
    fn variable(&self, name: &str) -> Option<String> {
        self.0.get(name).cloned()
    }

    fn file(&self, path: &str) -> Result<String, String> {
        self.0
            .get(path)
            .cloned()
            .ok_or_else(|| "there is none".to_owned())
    }
}

fn base() -> Value {
    let documents = parse_documents(CONFIG, &SourceName::new("config.yaml"), &Limits::default());
    documents.expect("it is YAML").remove(0).value
}

fn try_load(
    config: &Value,
    outside: &Outside,
) -> Result<(ClusterConfig, Vec<Finding>), Vec<Finding>> {
    let text = mainstay_yaml::print(config);
    let options = LoadOptions {
        purpose: Purpose::Render,
        ..LoadOptions::default()
    };
    load(
        text.as_bytes(),
        &SourceName::new("config.yaml"),
        outside,
        &options,
    )
    .into_result()
}

fn try_render(config: &Value, outside: &Outside) -> Result<(Rendered, Vec<Finding>), Vec<Finding>> {
    let (config, warnings) = try_load(config, outside)?;
    let rendered = render(&config, &REGISTRY, &RenderOptions::default())?;
    Ok((rendered, warnings))
}

/// A text in every form in which a word could be in it: any case, wrapped, encoded. Written without the search of the
/// product.
fn readings(text: &str) -> String {
    let is_base64 =
        |character: char| character.is_ascii_alphanumeric() || "+/-_".contains(character);
    let mut readings = text.to_lowercase();
    readings.extend(text.split_whitespace().map(str::to_lowercase));
    for run in text.split(|character: char| !is_base64(character)) {
        let run = run.replace('-', "+").replace('_', "/");
        // A run may begin with something else.
        for skip in 0..4 {
            let run = run.get(skip..).unwrap_or_default();
            let whole = run.len() - usize::from(run.len() % 4 == 1);
            let decoded = run.get(..whole).map(|run| STANDARD_NO_PAD.decode(run));
            let decoded = decoded.and_then(Result::ok).unwrap_or_default();
            readings.push(' ');
            readings.push_str(&String::from_utf8_lossy(&decoded).to_lowercase());
        }
    }
    readings
}

/// Everything that a person or a file may get to see of a render, but the content of files that will be encrypted.
fn visible(rendered: &Rendered, warnings: &[Finding]) -> String {
    let mut text = String::new();
    for (path, file) in &rendered.tree.files {
        let _ = writeln!(text, "{path}");
        if file.sensitivity.is_none() {
            let _ = writeln!(text, "{}", String::from_utf8_lossy(&file.bytes));
        }
    }
    let inputs = PlanInputs {
        config: String::new(),
        descriptors: String::new(),
        options: String::new(),
        program: String::new(),
        outside: String::new(),
    };
    let artifact = PlanArtifact::new(&rendered.tree, inputs);
    let _ = write!(
        text,
        "{}\n{}\n{}\n{:?}\n{}\n{:?}",
        serde_json::to_string(&artifact).expect("it is JSON"),
        serde_json::to_string(&rendered.report).expect("it is JSON"),
        told(warnings),
        rendered.graph,
        told(&rendered.warnings),
        rendered,
    );
    text
}

fn told(findings: &[Finding]) -> String {
    format!(
        "{} {} {findings:?}",
        finding::to_text(findings),
        finding::to_json(findings)
    )
}

/// What became of one canary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fate {
    /// Rendered; it is in no file that stays readable.
    Rendered,
    /// Refused because it would be.
    Refused,
    /// Not valid there for another reason.
    Invalid,
}

/// The outcome for canaries that stand in one config together. Each is told by its own number.
fn fates(leaves: &[(usize, &Leaf)]) -> BTreeMap<String, Fate> {
    let mut open: Vec<(usize, &Leaf)> = leaves.to_vec();
    let mut fates = BTreeMap::new();
    while !open.is_empty() {
        let mut config = base();
        let mut outside = BTreeMap::new();
        for (number, leaf) in &open {
            set(
                &mut config,
                &leaf.path,
                &format!("${{env:CANARY_{number}}}"),
            );
            outside.insert(
                format!("CANARY_{number}"),
                leaf.canary(&format!("{MARK}{number}")),
            );
        }
        let words: Vec<&str> = outside
            .values()
            .map(|value| {
                if value.contains(MARK) {
                    MARK
                } else {
                    value.as_str()
                }
            })
            .collect();
        let findings = match try_render(&config, &Outside(outside.clone())) {
            Ok((rendered, warnings)) => {
                let visible = visible(&rendered, &warnings);
                assert_unseen(&visible, &words);
                fates.extend(
                    open.iter()
                        .map(|(_, leaf)| (leaf.path.clone(), Fate::Rendered)),
                );
                break;
            }
            Err(findings) => findings,
        };
        let told = told(&findings);
        assert_unseen(&told, &words);
        let before = open.len();
        open.retain(|(number, leaf)| {
            let mut about = findings
                .iter()
                .filter(|finding| finding.severity == Severity::Error && finding.path == leaf.path);
            let refusal = about.clone().find(|finding| finding.code == Code::Oc8010);
            let fate = match (refusal, about.next()) {
                (Some(refusal), _) => {
                    assert!(
                        refusal.message.contains(&format!("env:CANARY_{number}}}`")),
                        "{told}"
                    );
                    assert!(refusal.line.is_some() && refusal.file.is_some(), "{told}");
                    Fate::Refused
                }
                (None, Some(_)) => Fate::Invalid,
                (None, None) => return true,
            };
            fates.insert(leaf.path.clone(), fate);
            false
        });
        // What is wrong is said about another field: trying fewer tells whose fault it is.
        if open.len() == before {
            match open.as_slice() {
                [(_, only)] => {
                    fates.insert(only.path.clone(), Fate::Invalid);
                }
                several => {
                    let (some, others) = several.split_at(several.len() / 2);
                    fates.extend(self::fates(some));
                    fates.extend(self::fates(others));
                }
            }
            break;
        }
    }
    fates
}

fn assert_unseen(text: &str, words: &[&str]) {
    let readings = readings(text);
    for word in words {
        assert!(!readings.contains(word), "`{word}` is seen:\n{text}");
    }
}

/// Fields that take only what exists elsewhere or has a narrow form, so that no canary is valid there. That it is not
/// shown when it is refused, is looked at all the same.
const NARROW: [&str; 18] = [
    "backup_schedule",
    "conditional_dependencies[0].name",
    "conditional_dependencies[0].when_enabled",
    "custom_resources[0]",
    "extra_dependencies[0]",
    "helm_release_name",
    "ip_address_pools[0].addresses[0]",
    "ip_address_pools[0].name",
    "ip_address_pools[0]",
    "kustomization_content",
    "kustomization_name",
    "kustomizations[0].path",
    "overlay_files_renderer",
    "override_depends_on[0]",
    "override_values_renderer",
    "secret_ref",
    "source_name",
    "values_secret_name",
];

#[test]
fn no_value_from_outside_is_in_the_clear_whichever_field_it_stands_in() {
    let leaves = all();
    let numbered: Vec<(usize, &Leaf)> = leaves.iter().enumerate().collect();
    // Neighbours in the tables get in each other's way more often than strangers.
    let groups: Vec<Vec<(usize, &Leaf)>> = (0..GROUPS)
        .map(|group| {
            numbered
                .iter()
                .skip(group)
                .step_by(GROUPS)
                .copied()
                .collect()
        })
        .collect();
    let fates: BTreeMap<String, Fate> = std::thread::scope(|scope| {
        let threads: Vec<_> = groups
            .chunks(GROUPS / 2)
            .map(|half| {
                scope.spawn(|| {
                    half.iter()
                        .flat_map(|group| fates(group))
                        .collect::<Vec<_>>()
                })
            })
            .collect();
        let outcomes = threads
            .into_iter()
            .flat_map(|thread| thread.join().expect("no canary is seen"));
        outcomes.collect()
    });
    let count = |fate: Fate| fates.values().filter(|other| **other == fate).count();
    println!(
        "{} fields: {} rendered, {} refused",
        leaves.len(),
        count(Fate::Rendered),
        count(Fate::Refused)
    );
    let untried: Vec<&str> = leaves
        .iter()
        .filter(|leaf| leaf.takes_text() && fates[&leaf.path] == Fate::Invalid)
        .map(|leaf| leaf.path.as_str())
        .filter(|path| *path != "opencenter.services.loki.override_values")
        .filter(|path| !NARROW.iter().any(|name| path.ends_with(name)))
        .collect();
    assert!(
        untried.is_empty(),
        "give these a canary that is valid there: {untried:#?}"
    );
    for (path, fate) in [
        (
            "opencenter.services.own-cache.override_values",
            Fate::Rendered,
        ),
        (
            "opencenter.services.own-cache.kustomization_content",
            Fate::Refused,
        ),
        (
            "opencenter.services.own-cache.kustomization_name",
            Fate::Refused,
        ),
        ("opencenter.services.loki.bucket_name", Fate::Rendered),
        ("opencenter.gitops.base_repo.url", Fate::Refused),
        ("opencenter.meta.region", Fate::Rendered),
        ("opencenter.cluster.base_domain", Fate::Refused),
        ("opencenter.cluster.cluster_name", Fate::Refused),
        ("opencenter.cluster.admin_email", Fate::Rendered),
        ("secrets.grafana.admin_password", Fate::Rendered),
    ] {
        assert_eq!(fates[path], fate, "{path}");
    }
}

/// A config whose service of its own has these values.
fn with_values(
    text: &str,
    outside: &[(&str, &str)],
) -> Result<(Rendered, Vec<Finding>), Vec<Finding>> {
    let mut config = base();
    set(
        &mut config,
        "opencenter.services.own-cache.override_values",
        text,
    );
    try_render(&config, &Outside::of(outside))
}

const VALUES: &str = "services/own-cache/helm-values/override-values.yaml";

#[test]
fn values_from_outside_are_found_in_every_form_and_length() {
    for (text, secret) in [
        ("password: ${env:PW}", "hunter22-long"),
        ("password: ${env:PW}", "abcd"),
        ("password: ${file:PW}", "hunter22-long"),
        ("url: https://u:${env:PW}@example.org", "x9Z4"),
        ("user: \"${env:PW}\"", "with \\\"quotes\\\" inside"),
        ("key: |\n  ${env:PW}", "only-one-line"),
        ("key: prefix-${env:PW}-suffix", "abcd"),
    ] {
        let (rendered, _) = with_values(text, &[("PW", secret)])
            .unwrap_or_else(|findings| panic!("{}", told(&findings)));
        assert!(rendered.tree.files[VALUES].sensitivity.is_some(), "{text}");
    }
    let (rendered, _) = with_values("replicas: 2", &[]).expect("it renders");
    assert!(rendered.tree.files[VALUES].sensitivity.is_none());
}

#[test]
fn what_the_config_declares_public_is_rendered_in_the_clear() {
    for declaration in ["env:PW", "${env:PW}"] {
        let mut config = base();
        set(
            &mut config,
            "opencenter.services.own-cache.override_values",
            "level: ${env:PW}",
        );
        set(&mut config, "opencenter.cluster.base_domain", "${env:PW}");
        set(&mut config, "secrets.public_references[0]", declaration);
        let outside = Outside::of(&[("PW", "public.example.org")]);
        let (rendered, _) =
            try_render(&config, &outside).unwrap_or_else(|findings| panic!("{}", told(&findings)));
        assert!(rendered.tree.files[VALUES].sensitivity.is_none());
    }
    let mut config = base();
    set(&mut config, "secrets.public_references[0]", "PW");
    let findings = try_load(&config, &Outside::of(&[])).expect_err("it is no reference");
    assert_eq!(findings[0].path, "secrets.public_references[0]");
}

#[test]
fn a_value_too_short_to_be_found_is_refused_outside_of_secret_fields() {
    let findings =
        with_values("password: ${env:PW}", &[("PW", "abc")]).expect_err("it is too short");
    let refusal = findings.iter().find(|finding| finding.code == Code::Oc8010);
    assert!(
        refusal.is_some_and(|refusal| refusal.message.contains("fewer than 4")),
        "{}",
        told(&findings)
    );
    let mut config = base();
    set(&mut config, "secrets.grafana.admin_password", "${env:PW}");
    assert!(try_render(&config, &Outside::of(&[("PW", "abc")])).is_ok());
}

#[test]
fn a_word_that_stands_in_the_tree_anyway_gives_nothing_away() {
    for word in ["observability", "https", "keycloak", "Kustomization"] {
        let mut config = base();
        set(&mut config, "secrets.grafana.admin_password", "${env:PW}");
        let outcome = try_render(&config, &Outside::of(&[("PW", word)]));
        assert!(
            outcome.is_ok(),
            "{word}: {}",
            told(&outcome.err().unwrap_or_default())
        );
    }
}

#[test]
fn what_was_made_of_a_value_on_its_way_is_noticed() {
    // The address is taken apart and put together again for ssh, and the region is written in capitals.
    let mut config = base();
    set(
        &mut config,
        "opencenter.gitops.base_repo.url",
        "${env:WHERE}",
    );
    let outside = Outside::of(&[("WHERE", "https://git.example.org/hidden-group/tree.git")]);
    let (config, _) = try_load(&config, &outside).expect("it loads");
    let options = RenderOptions {
        git_authentication: mainstay_opencenter::flux::GitAuthentication::Ssh,
        ..RenderOptions::default()
    };
    let findings = render(&config, &REGISTRY, &options).expect_err("the address would be seen");
    assert!(
        findings.iter().all(|finding| finding.code == Code::Oc8010),
        "{}",
        told(&findings)
    );
    assert_eq!(findings[0].path, "opencenter.gitops.base_repo.url");
    assert_unseen(&told(&findings), &["hidden-group"]);
}
