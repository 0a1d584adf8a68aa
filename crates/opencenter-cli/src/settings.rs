//! Settings of the user, from two files of the config directory: `settings.yaml`, which the original program keeps, and
//! `config.yaml` with what only this program knows. Where both say something, the second wins.

use std::{
    fs,
    path::{Path, PathBuf},
};

use mainstay_opencenter::{
    config::from_yaml_error,
    finding::{Code, Finding},
};
use mainstay_yaml::{
    Dialect, Document, Limits, SourceName, from_value, from_value_reporting, parse_bytes_as,
};
use serde::{Deserialize, de::IgnoredAny};

use crate::{
    args::{GitopsAuth, LogLevel},
    report::{Answer, Stop},
    session::expand_home,
};

/// The file of the original program.
const ORIGINAL_FILE: &str = "settings.yaml";

/// The file of this program.
const OWN_FILE: &str = "config.yaml";

/// What the user decided once and for all; everything is optional.
#[derive(Debug, Default)]
pub(crate) struct Settings {
    pub(crate) clusters_dir: Option<PathBuf>,
    pub(crate) log_level: Option<LogLevel>,
    /// Whether questions are answered with yes.
    pub(crate) auto_confirm: bool,
    /// Whether commands that change something only say what they would do.
    pub(crate) dry_run: bool,
    pub(crate) auth: Option<GitopsAuth>,
    pub(crate) allowed_hosts: Vec<String>,
    pub(crate) reference_dirs: Vec<String>,
    pub(crate) new_cluster: NewClusterDefaults,
    /// Keys that nobody knows.
    pub(crate) findings: Vec<Finding>,
}

/// Defaults of `cluster init`.
#[derive(Clone, Debug, Default)]
pub(crate) struct NewClusterDefaults {
    pub(crate) organization: Option<String>,
    pub(crate) provider: Option<String>,
    pub(crate) region: Option<String>,
    pub(crate) environment: Option<String>,
    pub(crate) base_domain: Option<String>,
    pub(crate) admin_email: Option<String>,
    pub(crate) kubernetes_version: Option<String>,
}

/// `settings.yaml`. Keys that mean nothing here are listed, so that they are not taken for slips.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Original {
    logging: Logging,
    paths: Paths,
    behavior: Behavior,
    cluster_defaults: ClusterDefaults,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Logging {
    level: String,
    #[serde(rename = "format")]
    _format: IgnoredAny,
    #[serde(rename = "output")]
    _output: IgnoredAny,
    #[serde(rename = "file")]
    _file: LogFile,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct LogFile {
    #[serde(rename = "maxSize")]
    _max_size: IgnoredAny,
    #[serde(rename = "maxBackups")]
    _max_backups: IgnoredAny,
    #[serde(rename = "maxAge")]
    _max_age: IgnoredAny,
    #[serde(rename = "compress")]
    _compress: IgnoredAny,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
#[expect(clippy::struct_field_names, reason = "the names of the original")]
struct Paths {
    #[serde(rename = "clustersDir")]
    clusters_dir: String,
    #[serde(rename = "settingsDir")]
    _settings_dir: IgnoredAny,
    #[serde(rename = "blueprintsDir")]
    _blueprints_dir: IgnoredAny,
    #[serde(rename = "gitopsDir")]
    _gitops_dir: IgnoredAny,
    #[serde(rename = "clusterStateDir")]
    _cluster_state_dir: IgnoredAny,
    #[serde(rename = "secretsDir")]
    _secrets_dir: IgnoredAny,
    #[serde(rename = "pluginsDir")]
    _plugins_dir: IgnoredAny,
    #[serde(rename = "stateDir")]
    _state_dir: IgnoredAny,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Behavior {
    #[serde(rename = "autoConfirm")]
    auto_confirm: bool,
    #[serde(rename = "dryRun")]
    dry_run: bool,
    #[serde(rename = "validation")]
    _validation: IgnoredAny,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ClusterDefaults {
    organization: String,
    provider: String,
    region: String,
    environment: String,
    base_domain: String,
    admin_email: String,
    kubernetes_version: String,
    gitops_auth_method: String,
    #[serde(rename = "ssh_authorized_keys")]
    _ssh_authorized_keys: IgnoredAny,
    #[serde(rename = "cni")]
    _cni: IgnoredAny,
    #[serde(rename = "ssh_user")]
    _ssh_user: IgnoredAny,
}

/// `config.yaml`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Own {
    paths: OwnPaths,
    cluster_defaults: OwnClusterDefaults,
    gitops: Gitops,
    references: References,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
struct OwnPaths {
    clusters_dir: Option<PathBuf>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct OwnClusterDefaults {
    gitops_auth_method: Option<AuthWord>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum AuthWord {
    Token,
    Ssh,
    AsIs,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Gitops {
    allowed_hosts: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
struct References {
    allowed_dirs: Vec<String>,
}

impl Settings {
    /// Reads both files; each may be missing.
    pub(crate) fn read(config_dir: &Path) -> Answer<Self> {
        let mut settings = match document(&config_dir.join(ORIGINAL_FILE))? {
            Some(document) => Self::of_original(&document)?,
            None => Self::default(),
        };
        if let Some(document) = document(&config_dir.join(OWN_FILE))? {
            let own: Own = from_value(&document).map_err(|error| from_yaml_error(&error))?;
            settings.add(own);
        }
        Ok(settings)
    }

    fn of_original(document: &Document) -> Answer<Self> {
        let read = from_value_reporting::<Original>(document);
        let (original, unknown) = read.map_err(|error| from_yaml_error(&error))?;
        let findings = unknown.iter().map(|error| {
            let named = from_yaml_error(error);
            Finding {
                code: Code::Oc1005,
                severity: Code::Oc1005.severity(),
                ..named
            }
        });
        let directory = filled(original.paths.clusters_dir);
        let defaults = original.cluster_defaults;
        Ok(Self {
            clusters_dir: directory.map(|directory| expand_home(&directory)),
            log_level: chosen(&original.logging.level, "logging.level")?,
            auto_confirm: original.behavior.auto_confirm,
            dry_run: original.behavior.dry_run,
            auth: chosen(
                &defaults.gitops_auth_method,
                "cluster_defaults.gitops_auth_method",
            )?,
            new_cluster: NewClusterDefaults {
                organization: filled(defaults.organization),
                provider: filled(defaults.provider),
                region: filled(defaults.region),
                environment: filled(defaults.environment),
                base_domain: filled(defaults.base_domain),
                admin_email: filled(defaults.admin_email),
                kubernetes_version: filled(defaults.kubernetes_version),
            },
            findings: findings.collect(),
            ..Self::default()
        })
    }

    fn add(&mut self, own: Own) {
        self.clusters_dir = own.paths.clusters_dir.or(self.clusters_dir.take());
        let auth = own
            .cluster_defaults
            .gitops_auth_method
            .map(|word| match word {
                AuthWord::Token => GitopsAuth::Token,
                AuthWord::Ssh => GitopsAuth::Ssh,
                AuthWord::AsIs => GitopsAuth::AsIs,
            });
        self.auth = auth.or(self.auth);
        self.allowed_hosts = own.gitops.allowed_hosts;
        self.reference_dirs = own.references.allowed_dirs;
    }
}

/// A text that says something.
fn filled(text: String) -> Option<String> {
    Some(text).filter(|text| !text.is_empty())
}

/// One of a few words; none if there is no word.
fn chosen<T: clap::ValueEnum>(word: &str, key: &str) -> Answer<Option<T>> {
    if word.is_empty() {
        return Ok(None);
    }
    let found = T::from_str(word, true);
    found.map(Some).map_err(|_| {
        Stop::Usage(format!(
            "`{ORIGINAL_FILE}`: `{key}` cannot be `{}`",
            word.escape_debug()
        ))
    })
}

fn document(path: &Path) -> Answer<Option<Document>> {
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => {
            let context = format!("could not read `{}`", path.display());
            return Err(anyhow::Error::new(error).context(context).into());
        }
    };
    let source = SourceName::new(path.display().to_string());
    let parsed = parse_bytes_as(Dialect::Core, &bytes, &source, &Limits::default());
    let documents = parsed.map_err(|error| from_yaml_error(&error))?;
    Ok(documents.into_iter().next())
}
