//! What every command of openCenter needs to know: directories, settings, form of output.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, anyhow};
use mainstay_opencenter::descriptor::{Registry, TemplateStore};

use crate::{
    args::{GitopsAuth, GlobalArgs, LogLevel, OutputForm},
    load,
    report::{Answer, Stop},
    settings::Settings,
};

/// Everything that a command of openCenter needs besides its own arguments.
#[derive(Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "flags of a command line are independent"
)]
pub(crate) struct Session {
    pub(crate) config_dir: PathBuf,
    pub(crate) config_file: Option<PathBuf>,
    pub(crate) settings: Settings,
    pub(crate) output: OutputForm,
    pub(crate) log_level: LogLevel,
    pub(crate) quiet: bool,
    pub(crate) yes: bool,
    pub(crate) dry_run: bool,
    /// Whether the command itself was asked for it.
    is_dry_run_asked: bool,
    pub(crate) descriptor_dirs: Vec<PathBuf>,
    reference_dirs: Vec<PathBuf>,
}

impl Session {
    pub(crate) fn new(arguments: &GlobalArgs) -> Answer<Self> {
        let config_dir = match (&arguments.config_dir, variable("OPENCENTER_CONFIG_DIR")) {
            (Some(directory), _) => directory.clone(),
            (None, Some(directory)) => PathBuf::from(directory),
            (None, None) => home()?.join(".config/opencenter"),
        };
        let settings = Settings::read(&config_dir)?;
        let log_level = match (arguments.log_level, variable("OPENCENTER_LOG_LEVEL")) {
            (Some(level), _) => level,
            (None, Some(word)) => {
                <LogLevel as clap::ValueEnum>::from_str(&word, true).map_err(|_| {
                    Stop::Usage(format!("OPENCENTER_LOG_LEVEL: there is no level `{word}`"))
                })?
            }
            (None, None) => settings.log_level.unwrap_or(LogLevel::Warn),
        };
        let session = Self {
            config_dir,
            config_file: arguments.config_file.clone(),
            output: arguments.output,
            log_level,
            quiet: arguments.quiet,
            yes: arguments.yes || settings.auto_confirm,
            dry_run: arguments.dry_run || settings.dry_run,
            is_dry_run_asked: arguments.dry_run,
            settings,
            descriptor_dirs: arguments.descriptor_dir.clone(),
            reference_dirs: arguments.allow_references.clone(),
        };
        load::tell_warnings(&session, &session.settings.findings);
        Ok(session)
    }

    /// For commands that change nothing.
    pub(crate) fn refuse_dry_run(&self, command: &str) -> Answer<()> {
        if self.is_dry_run_asked {
            let message = format!("`{command}` changes nothing, so --dry-run means nothing there");
            return Err(Stop::Usage(message));
        }
        Ok(())
    }

    /// The directory in which clusters are looked up.
    pub(crate) fn clusters_dir(&self) -> PathBuf {
        variable("OPENCENTER_CLUSTERS_DIR")
            .map(PathBuf::from)
            .or_else(|| self.settings.clusters_dir.clone())
            .unwrap_or_else(|| self.config_dir.join("clusters"))
    }

    /// The access method of the user's settings.
    pub(crate) fn default_auth(&self) -> Option<GitopsAuth> {
        self.settings.auth
    }

    /// Hosts that the customer's repository may live on.
    pub(crate) fn allowed_hosts(&self) -> Vec<String> {
        self.settings.allowed_hosts.clone()
    }

    /// Directories besides that of the config that `${file:…}` may read from.
    pub(crate) fn allowed_references(&self) -> Vec<PathBuf> {
        let settings = self.settings.reference_dirs.iter();
        let directories = settings.map(|directory| self.config_dir.join(expand_home(directory)));
        self.reference_dirs
            .iter()
            .cloned()
            .chain(directories)
            .collect()
    }

    /// Whether to say what is not an answer.
    pub(crate) fn chats(&self) -> bool {
        !self.quiet && self.output == OutputForm::Text
    }

    /// The descriptors: built-in ones and those of the user's directories.
    pub(crate) fn registry(&self) -> Answer<Registry> {
        let (texts, store) = self.descriptors()?;
        Ok(Registry::with_user(&texts, store)?)
    }

    /// The user's descriptor texts by file, and their templates.
    pub(crate) fn descriptors(&self) -> Answer<(Vec<(String, String)>, TemplateStore)> {
        let mut texts = Vec::new();
        let mut templates = std::collections::BTreeMap::new();
        for directory in &self.descriptor_dirs {
            for file in files_below(directory)? {
                let path = directory.join(&file);
                let bytes = fs::read(&path)
                    .with_context(|| format!("could not read `{}`", path.display()))?;
                // Descriptors lie at the top; everything deeper is a template.
                let is_descriptor = !file.contains('/')
                    && matches!(
                        path.extension().and_then(|name| name.to_str()),
                        Some("yaml" | "yml")
                    );
                if is_descriptor {
                    let text = String::from_utf8(bytes)
                        .map_err(|_| anyhow!("`{}` is not text", path.display()))?;
                    texts.push((path.display().to_string(), text));
                } else {
                    templates.insert(file, bytes);
                }
            }
        }
        Ok((texts, TemplateStore::new(templates)))
    }
}

/// Regular files below a directory, relative to it, sorted. Links are not followed.
pub(crate) fn files_below(root: &Path) -> anyhow::Result<Vec<String>> {
    let mut found = Vec::new();
    let mut open = vec![PathBuf::new()];
    while let Some(directory) = open.pop() {
        let path = root.join(&directory);
        let could_not = || format!("could not read directory `{}`", path.display());
        for entry in fs::read_dir(&path).with_context(could_not)? {
            let entry = entry.with_context(could_not)?;
            let relative = directory.join(entry.file_name());
            let kind = entry.file_type().with_context(could_not)?;
            if kind.is_dir() {
                open.push(relative);
            } else if kind.is_file()
                && let Some(text) = relative.to_str()
            {
                found.push(text.to_owned());
            }
        }
    }
    found.sort_unstable();
    Ok(found)
}

/// An environment variable that is set and not empty.
pub(crate) fn variable(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.is_empty())
}

/// The user's home directory.
pub(crate) fn home() -> anyhow::Result<PathBuf> {
    variable("HOME")
        .map(PathBuf::from)
        .context("could not find the home directory: set `HOME`")
}

/// A path in which `~/` is the home directory.
pub(crate) fn expand_home(path: &str) -> PathBuf {
    match (path.strip_prefix("~/"), home()) {
        (Some(rest), Ok(home)) => home.join(rest),
        _ => PathBuf::from(path),
    }
}
