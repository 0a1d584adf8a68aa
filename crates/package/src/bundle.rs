//! The OLM bundle: what a catalog needs to offer one version of an operator.

use k8s_openapi::jiff::Timestamp;
use semver::Version;
use serde_json::{Map, Value, json};

use crate::{
    File, Image,
    csv::{self, GENERATOR, LAYOUT, Release},
    openshift::{OpenShiftVersions, OpenShiftVersionsError},
    scorecard,
    validate::{self, Violation},
};

/// An operator as OLM sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct Product {
    /// Name of the package.
    pub name: &'static str,
    /// What is the same in every `ClusterServiceVersion`.
    pub base: Value,
    /// The definitions, with the names of their files.
    pub definitions: Vec<(String, Value)>,
    /// The operator itself. What belongs to the install strategy is folded into the `ClusterServiceVersion`.
    pub objects: Vec<Value>,
    /// What OLM has to create besides, with the names of the files.
    pub further: Vec<(&'static str, Value)>,
}

/// What a bundle is generated from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BundleInput {
    /// Version of the operator; a leading `v` does not count.
    pub version: String,
    /// Image of the operator.
    pub image: Image,
    /// Channels that offer this version; empty means `alpha`.
    pub channels: Vec<String>,
    /// The channel that is offered first, if there is a choice.
    pub default_channel: Option<String>,
    /// The version that this one replaces.
    pub replaces: Option<String>,
    /// `Some` makes the OpenShift variant, offered to these versions of OpenShift.
    pub openshift: Option<String>,
    /// Time of creation in RFC 3339, UTC.
    pub created_at: String,
}

/// Why there is no bundle.
#[derive(Debug, thiserror::Error)]
pub enum BundleError {
    /// A version that is none.
    #[error("{what} `{version}` is not a version such as `0.0.6`")]
    Version {
        /// Which of the versions.
        what: &'static str,
        /// As it was given.
        version: String,
        /// Cause.
        #[source]
        source: semver::Error,
    },
    /// A version cannot replace itself.
    #[error("version {0} cannot replace itself")]
    ReplacesItself(Version),
    /// A channel that is none.
    #[error("`{0}` is not a channel name: use letters, digits, `.`, `_` and `-`")]
    Channel(String),
    /// The default channel is not among the channels.
    #[error("default channel `{0}` is not among the channels")]
    DefaultChannel(String),
    /// Not a time in UTC.
    #[error("creation time `{0}` is not a time in UTC such as `2024-05-01T12:00:00Z`")]
    CreatedAt(String),
    /// Not an expression of OpenShift versions.
    #[error(transparent)]
    OpenShift(#[from] OpenShiftVersionsError),
    /// The result breaks a rule of bundles: a defect of the generator.
    #[error("the bundle breaks its own rules: {}", join(.0))]
    Invalid(Vec<Violation>),
}

const DEFAULT_CHANNEL: &str = "alpha";

/// Generates the bundle of a product that was made with the image of the input, and checks it.
pub fn bundle(product: &Product, input: &BundleInput) -> Result<Vec<File>, BundleError> {
    let version = parse_version("version", &input.version)?;
    let replaces = input
        .replaces
        .as_deref()
        .map(|replaces| parse_version("replaced version", replaces))
        .transpose()?;
    if replaces.as_ref() == Some(&version) {
        return Err(BundleError::ReplacesItself(version));
    }
    check_created_at(&input.created_at)?;
    let annotations = annotations(product.name, input)?;

    let csv = csv::build(&Release {
        operator: product.name,
        base: &product.base,
        version: &version.to_string(),
        replaces: replaces.map(|replaces| replaces.to_string()).as_deref(),
        created_at: &input.created_at,
        objects: &product.objects,
    });
    let tests: Vec<Value> = scorecard::suites().flat_map(scorecard::tests).collect();
    let manifest = |name: &str| format!("bundle/manifests/{name}");
    let csv_file = format!("{}.clusterserviceversion.yaml", product.name);
    let mut files = vec![File::yaml(manifest(&csv_file), [csv])];
    let definitions = product.definitions.iter();
    files.extend(definitions.map(|(name, crd)| File::yaml(manifest(name), [crd.clone()])));
    let further = product.further.iter();
    files.extend(further.map(|(name, object)| File::yaml(manifest(name), [object.clone()])));
    files.extend([
        File::yaml(
            "bundle/metadata/annotations.yaml",
            [json!({"annotations": annotations})],
        ),
        File::yaml(
            "bundle/tests/scorecard/config.yaml",
            [scorecard::configuration(&tests)],
        ),
        File::text("bundle.Dockerfile", dockerfile(&annotations)),
    ]);
    let violations = validate::validate(product, &files);
    if violations.is_empty() {
        Ok(files)
    } else {
        Err(BundleError::Invalid(violations))
    }
}

fn annotations(operator: &str, input: &BundleInput) -> Result<Map<String, Value>, BundleError> {
    let channels = match input.channels.as_slice() {
        [] => vec![DEFAULT_CHANNEL.to_owned()],
        channels => channels.to_vec(),
    };
    if let Some(wrong) = channels.iter().find(|channel| !is_channel(channel)) {
        return Err(BundleError::Channel(wrong.clone()));
    }
    let mut pairs = vec![
        (
            "operators.operatorframework.io.bundle.mediatype.v1",
            "registry+v1".to_owned(),
        ),
        (
            "operators.operatorframework.io.bundle.manifests.v1",
            "manifests/".to_owned(),
        ),
        (
            "operators.operatorframework.io.bundle.metadata.v1",
            "metadata/".to_owned(),
        ),
        (
            "operators.operatorframework.io.bundle.package.v1",
            operator.to_owned(),
        ),
        (validate::CHANNELS, channels.join(",")),
        (
            "operators.operatorframework.io.metrics.builder",
            GENERATOR.to_owned(),
        ),
        (
            "operators.operatorframework.io.metrics.mediatype.v1",
            "metrics+v1".to_owned(),
        ),
        (
            "operators.operatorframework.io.metrics.project_layout",
            LAYOUT.to_owned(),
        ),
        (
            "operators.operatorframework.io.test.mediatype.v1",
            "scorecard+v1".to_owned(),
        ),
        (
            "operators.operatorframework.io.test.config.v1",
            "tests/scorecard/".to_owned(),
        ),
    ];
    if let Some(default) = &input.default_channel {
        if !channels.contains(default) {
            return Err(BundleError::DefaultChannel(default.clone()));
        }
        pairs.push((
            "operators.operatorframework.io.bundle.channel.default.v1",
            default.clone(),
        ));
    }
    if let Some(expression) = &input.openshift {
        let versions: OpenShiftVersions = expression.parse()?;
        pairs.push(("com.redhat.openshift.versions", versions.to_string()));
    }
    Ok(pairs
        .into_iter()
        .map(|(key, value)| (key.to_owned(), Value::from(value)))
        .collect())
}

fn dockerfile(annotations: &Map<String, Value>) -> String {
    let labels = annotations
        .iter()
        .filter_map(|(key, value)| Some(format!("LABEL {key}={}\n", value.as_str()?)));
    let labels: String = labels.collect();
    format!(
        "FROM scratch\n\n{labels}\n\
         COPY bundle/manifests /manifests/\n\
         COPY bundle/metadata /metadata/\n\
         COPY bundle/tests/scorecard /tests/scorecard/\n"
    )
}

fn parse_version(what: &'static str, text: &str) -> Result<Version, BundleError> {
    Version::parse(text.strip_prefix('v').unwrap_or(text)).map_err(|source| BundleError::Version {
        what,
        version: text.to_owned(),
        source,
    })
}

fn check_created_at(text: &str) -> Result<(), BundleError> {
    let is_time = text.ends_with('Z') && text.parse::<Timestamp>().is_ok();
    if is_time {
        Ok(())
    } else {
        Err(BundleError::CreatedAt(text.to_owned()))
    }
}

fn is_channel(channel: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    !channel.is_empty() && channel.bytes().all(allowed)
}

fn join(violations: &[Violation]) -> String {
    violations
        .iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join("; ")
}
