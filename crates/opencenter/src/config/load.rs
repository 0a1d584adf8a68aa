//! From bytes to a config: parse, aliases, references, shape, defaults, validation. All findings at once.

use mainstay_yaml::{Dialect, ErrorKind, Limits, SourceName, parse_bytes_as};
use serde::Deserialize;
use serde_json::Value;

use super::{
    ClusterConfig, alias, defaults,
    draft::Draft,
    normalize,
    reference::{self, Surroundings},
    required,
    root::Root,
    shape, validate,
};
use crate::finding::{self, Code, Finding};

/// The version of the file format.
pub const SCHEMA_VERSION: &str = "2.0";

/// A config is written by hand; beyond this it is something else, or an attack.
const LIMITS: Limits = Limits {
    bytes: 4 * 1024 * 1024,
    scalar_bytes: 1024 * 1024,
    depth: 64,
    nodes: 200_000,
    documents: 16,
};

/// What the config is loaded for; decides how strict validation is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Purpose {
    /// To render a tree: settings that only provisioning reads may be incomplete.
    #[default]
    Render,
    /// To validate everything in the file.
    Validate,
    /// To deploy the cluster: no placeholders, complete access to Git, one network plugin.
    Deploy,
}

/// How to load a config.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoadOptions {
    /// What the config is loaded for.
    pub purpose: Purpose,
    /// Whether missing secrets are warnings.
    pub allow_missing_secrets: bool,
    /// Hosts that the customer's repository may live on; empty means any.
    pub allowed_hosts: Vec<String>,
}

/// The outcome of loading.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The config, as far as it could be understood; none if the text is not YAML.
    pub config: Option<ClusterConfig>,
    /// Everything that was found, sorted.
    pub findings: Vec<Finding>,
}

impl Loaded {
    /// The config with its warnings, or all findings if one of them is an error.
    pub fn into_result(self) -> Result<(ClusterConfig, Vec<Finding>), Vec<Finding>> {
        match self.config {
            Some(config) if !finding::has_errors(&self.findings) => Ok((config, self.findings)),
            _ => Err(self.findings),
        }
    }
}

/// Loads a config.
pub fn load(
    bytes: &[u8],
    source: &SourceName,
    surroundings: &dyn Surroundings,
    options: &LoadOptions,
) -> Loaded {
    match parse(bytes, source) {
        Ok(draft) => finish(draft, surroundings, options),
        Err(finding) => Loaded {
            config: None,
            findings: vec![*finding],
        },
    }
}

/// From a parsed document to a config.
pub(crate) fn finish(
    mut draft: Draft,
    surroundings: &dyn Surroundings,
    options: &LoadOptions,
) -> Loaded {
    let source = draft.origins.document().source_name().clone();
    check_version(&mut draft);
    alias::rewrite(&mut draft);
    reference::expand(&mut draft, surroundings);
    normalize::normalize(&mut draft);
    shape::check(&mut draft);
    defaults::fill(&mut draft);
    required::check(&mut draft);
    let Draft {
        value,
        origins,
        mut findings,
    } = draft;
    let mask = origins.mask();
    let config = match Root::deserialize(&value) {
        Ok(root) => Some(ClusterConfig {
            root,
            effective: value,
            origins,
        }),
        // The table of fields and the types come from one declaration, so this would be a defect of ours.
        Err(error) => {
            findings.push(Finding::new(Code::Oc1103, "", error.to_string()).in_file(&source));
            None
        }
    };
    if let Some(config) = &config {
        findings.extend(validate::validate(config, options));
    }
    for finding in &mut findings {
        mask.hide_in(finding);
    }
    finding::sort(&mut findings);
    findings.dedup();
    Loaded { config, findings }
}

/// Reads the one document of a config.
fn parse(bytes: &[u8], source: &SourceName) -> Result<Draft, Box<Finding>> {
    let refuse = |message: &str| Box::new(Finding::new(Code::Oc1101, "", message).in_file(source));
    let documents = parse_bytes_as(Dialect::Core, bytes, source, &LIMITS)
        .map_err(|error| Box::new(from_yaml_error(&error)))?;
    let mut documents = documents.into_iter();
    let first = documents
        .next()
        .ok_or_else(|| refuse("the file is empty"))?;
    if let Some(second) = documents.next() {
        let line = second.first_line();
        return Err(Box::new(
            Finding::new(Code::Oc1101, "", "the file has more than one document")
                .in_file(source)
                .at(mainstay_yaml::Position { line, column: 1 })
                .help("keep one document; a file describes one cluster"),
        ));
    }
    Ok(Draft::new(first))
}

/// A finding for text that is not usable YAML. The text may hold secrets, so nothing of it is quoted.
pub fn from_yaml_error(error: &mainstay_yaml::Error) -> Finding {
    let code = match error.kind() {
        ErrorKind::DuplicateKey => Code::Oc1104,
        ErrorKind::Limit => Code::Oc1105,
        _ => Code::Oc1101,
    };
    let finding = Finding::new(code, "", error.message())
        .in_file(error.source_name())
        .at(error.position());
    match error.hint() {
        Some(hint) => finding.help(hint),
        None => finding,
    }
}

fn check_version(draft: &mut Draft) {
    let path = "schema_version";
    let finding = match draft.value.get(path) {
        Some(Value::String(version)) if version == SCHEMA_VERSION => return,
        None | Some(Value::Null) => Finding::new(Code::Oc1110, path, "`schema_version` is missing"),
        Some(Value::String(version)) => {
            let message = format!("schema version {} is not supported", shape::quoted(version));
            Finding::new(Code::Oc1110, path, message)
        }
        Some(_) => Finding::new(
            Code::Oc1110,
            path,
            "`schema_version` must be the text \"2.0\"",
        )
        .help("put the version in quotes: `schema_version: \"2.0\"`"),
    };
    draft.report(finding);
    // Reported once; later checks need not stumble over it.
    if let Value::Object(fields) = &mut draft.value {
        fields.insert(path.to_owned(), SCHEMA_VERSION.into());
    }
}
