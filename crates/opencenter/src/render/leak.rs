//! Secrets in rendered files: encrypted where a file can be, refused where not.
//!
//! Two looks. The search finds secrets in every form that it knows. And the tree is rendered once more with other values
//! from outside: a file that changes with them holds something of them, whatever became of it on the way; a file that
//! does not change holds nothing of them, even if the same word stands in it.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    config::{ClusterConfig, OutsideValue},
    finding::{self, Code, Finding},
    overlay::{OverlayFile, Sensitivity},
};

use super::{Context, Exposure, Render, SecretSearch, SecretsMode, plan::Plan};

/// How many references are tried one by one to find the one that a file depends on.
const MOST_TRIED: usize = 64;

/// Looks for secrets in all files that are not encrypted. Values files in which one is found will be encrypted.
///
/// None if the search is not possible.
pub(super) fn check(
    render: &Render<'_>,
    files: &mut BTreeMap<String, OverlayFile>,
    findings: &mut Vec<Finding>,
) -> Option<SecretSearch> {
    let Some(mut search) = SecretSearch::new(render.ctx.config) else {
        findings.push(Finding::new(
            Code::Oc8010,
            "secrets",
            "the secrets are too large to search for",
        ));
        return None;
    };
    // Findings so far are about the config as it is; a tree that is not written need not be compared.
    if search.has_outside()
        && !finding::has_errors(findings)
        && let Some(other) = render.ctx.config.substituted()
        && let Some(files) = render.rehearse(&other.config)
    {
        search.compare_with(files, &other.references);
    }
    let mut exposed: BTreeMap<Exposure, Vec<String>> = BTreeMap::new();
    let mut culprits = Culprits::new(render);
    for (path, file) in files
        .iter_mut()
        .filter(|(_, file)| file.sensitivity.is_none())
    {
        let mut exposures = search.exposures(path, &file.bytes);
        let is_dependent = exposures.is_empty() && search.is_dependent(path, &file.bytes);
        if exposures.is_empty() && !is_dependent {
            continue;
        }
        let is_values = path.contains("/helm-values/")
            && search.exposures(path, b"").is_empty()
            && render.ctx.options.secrets_mode != SecretsMode::Omit;
        if is_values {
            file.sensitivity = Some(Sensitivity::WholeFile);
            continue;
        }
        if is_dependent {
            exposures = culprits.of(path, &file.bytes);
        }
        for exposure in exposures {
            exposed.entry(exposure).or_default().push(path.clone());
        }
    }
    findings.extend(
        exposed
            .iter()
            .map(|(exposure, paths)| refusal(&render.ctx, exposure, paths)),
    );
    Some(search)
}

/// Finds the fields whose values from outside a file depends on.
struct Culprits<'r> {
    render: &'r Render<'r>,
    /// The files with another value for one reference, by reference. Made at the first need.
    rehearsals: Option<BTreeMap<String, BTreeMap<String, Vec<u8>>>>,
}

impl<'r> Culprits<'r> {
    fn new(render: &'r Render<'r>) -> Self {
        Self {
            render,
            rehearsals: None,
        }
    }

    fn of(&mut self, path: &str, bytes: &[u8]) -> Vec<Exposure> {
        let render = self.render;
        let rehearsals = self.rehearsals.get_or_insert_with(|| rehearsals(render));
        let guilty: BTreeSet<&str> = rehearsals
            .iter()
            .filter(|(_, files)| files.get(path).is_none_or(|other| other != bytes))
            .map(|(reference, _)| reference.as_str())
            .collect();
        // If none of them alone makes a difference, all are under suspicion.
        let is_guilty =
            |value: &&OutsideValue| guilty.is_empty() || guilty.contains(value.reference());
        let hidden = render.ctx.config.hidden_outside().filter(is_guilty);
        hidden
            .map(|value| Exposure {
                path: value.path.clone(),
                reference: Some(value.reference().to_owned()),
            })
            .collect()
    }
}

fn rehearsals(render: &Render<'_>) -> BTreeMap<String, BTreeMap<String, Vec<u8>>> {
    let config = render.ctx.config;
    let references: BTreeSet<&str> = config
        .hidden_outside()
        .map(OutsideValue::reference)
        .collect();
    let rehearsed = references.into_iter().take(MOST_TRIED).map(|reference| {
        let other = config.substitute(BTreeSet::from([reference.to_owned()]));
        let files = other.and_then(|other| render.rehearse(&other.config));
        (reference.to_owned(), files)
    });
    rehearsed
        .filter_map(|(reference, files)| Some((reference, files?)))
        .collect()
}

impl Render<'_> {
    /// The files of the same render with another config; none if it does not go through.
    fn rehearse(&self, config: &ClusterConfig) -> Option<BTreeMap<String, Vec<u8>>> {
        let render = Render {
            ctx: Context {
                config,
                options: self.ctx.options,
            },
            registry: self.registry,
        };
        let mut findings = Vec::new();
        let plan = Plan::new(&render.ctx, render.registry, &mut findings);
        let draft = render.draft(&plan, &mut Vec::new(), &mut findings)?;
        if finding::has_errors(&findings) {
            return None;
        }
        let files = draft.tree.files.into_iter();
        Some(files.map(|(path, file)| (path, file.bytes)).collect())
    }
}

/// Says which secret would stand where, and what to do about it.
fn refusal(ctx: &Context<'_>, exposure: &Exposure, paths: &[String]) -> Finding {
    let place = match paths {
        [only] => format!("`{only}`, which is not encrypted"),
        [first, others @ ..] => format!(
            "`{first}` and {} more files, which are not encrypted",
            others.len()
        ),
        [] => "a file that is not encrypted".to_owned(),
    };
    exposure.finding(ctx.config, &place)
}

impl Exposure {
    /// The finding about this secret in a place.
    pub fn finding(&self, config: &ClusterConfig, place: &str) -> Finding {
        let (message, help) = match &self.reference {
            Some(reference) => (
                format!("what `${{{reference}}}` brings in would stand in {place}"),
                format!(
                    "if it is no secret, add `{reference}` to `secrets.public_references`; if it is one, keep it to \
                     fields of `secrets` and to `override_values`"
                ),
            ),
            None => (
                format!("this secret would stand in {place}"),
                "keep the secret out of other fields and of custom texts".to_owned(),
            ),
        };
        let origins = config.origins();
        Finding::new(Code::Oc8010, self.path.as_str(), message)
            .help(help)
            .at(origins.position(&self.path))
            .in_file(origins.source_name())
    }
}
