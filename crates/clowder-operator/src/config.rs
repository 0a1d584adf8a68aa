//! How Clowder's operator is configured, for commands other than `run`: a plan with other settings than the operator's
//! would show what the operator then undoes.

mod deployed;

use std::{fs, path::Path};

use anyhow::Context;
use kube::Client;
use mainstay_clowder::settings::{DEFAULT_PATH, OperatorConfig, PATH_VARIABLE, Settings};
use mainstay_terminal::exit::Rejected;

use self::deployed::Deployed;
use crate::flags::ConfigArgs;

/// Settings, and where they come from.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) settings: Settings,
    /// In words.
    origin: String,
    /// What is wrong with the place that they should have come from.
    warning: Option<String>,
}

impl Found {
    /// Says where the settings come from.
    pub(crate) fn notes(&self) -> Vec<String> {
        let warning = self.warning.iter().map(|text| format!("warning: {text}"));
        let origin = format!("note: configuration of Clowder: {}", self.origin);
        warning.chain([origin]).collect()
    }
}

/// A file that was named decides; then the operator that runs in the cluster; then what is known without it.
pub(crate) async fn in_cluster(client: &Client, arguments: &ConfigArgs) -> anyhow::Result<Found> {
    let deployed = deployed::find(client).await?;
    let mut found = match (&arguments.clowder_config, &deployed) {
        (None, Deployed::Found(operator)) => {
            let (config, warning) = operator.config();
            Found {
                settings: Settings {
                    config,
                    ..Settings::default()
                },
                origin: operator.origin(),
                warning,
            }
        }
        _ => offline(arguments)?,
    };
    match deployed {
        Deployed::Found(operator) => {
            found.settings.namespace.clone_from(&operator.namespace);
            found.settings.suffixed_config_secret = operator.suffixed_config_secret;
        }
        Deployed::Nowhere => found.origin += "; no operator was found in the cluster",
        Deployed::Unreadable(why) => {
            found.warning = Some(format!(
                "could not find out how the operator of Clowder is configured: {why}"
            ));
        }
    }
    given(&mut found.settings, arguments);
    Ok(found)
}

/// The file that was named, which has to be good; else the one that the operator would read here.
pub(crate) fn offline(arguments: &ConfigArgs) -> anyhow::Result<Found> {
    let (config, origin, warning) = if let Some(path) = &arguments.clowder_config {
        let origin = format!("`{}` (--clowder-config)", path.display());
        (read_config(path)?, origin, None)
    } else {
        from_environment()
    };
    let mut settings = Settings {
        config,
        ..Settings::default()
    };
    given(&mut settings, arguments);
    Ok(Found {
        settings,
        origin,
        warning,
    })
}

/// What flags say about the operator holds.
fn given(settings: &mut Settings, arguments: &ConfigArgs) {
    if let Some(suffixed) = arguments.clowder_suffixed_config_secret {
        settings.suffixed_config_secret = suffixed;
    }
    if let Some(namespace) = &arguments.clowder_namespace {
        settings.namespace.clone_from(namespace);
    }
}

/// The file that `run` would read here, and its words about one that it cannot use.
fn from_environment() -> (OperatorConfig, String, Option<String>) {
    let (path, is_named) = environment_path();
    let origin = if is_named {
        format!("`{path}` ({PATH_VARIABLE})")
    } else {
        format!("`{path}`")
    };
    let unusable = |problem: &dyn std::fmt::Display| {
        let warning =
            format!("`{path}` {problem}, and counts as empty, as it does for the operator");
        (
            OperatorConfig::absent(),
            "defaults".to_owned(),
            Some(warning),
        )
    };
    match fs::read_to_string(&path) {
        Ok(text) => match OperatorConfig::parse(&text) {
            Ok(config) => (config, origin, None),
            Err(error) => unusable(&format_args!("is not valid ({error})")),
        },
        Err(error) if is_named => unusable(&format_args!("cannot be read ({error})")),
        Err(_) => (OperatorConfig::absent(), "defaults".to_owned(), None),
    }
}

/// Where the configuration file of an operator in this environment lies, and whether a variable says so.
pub(crate) fn environment_path() -> (String, bool) {
    let named = std::env::var(PATH_VARIABLE).ok();
    match named.filter(|path| !path.is_empty()) {
        Some(path) => (path, true),
        None => (DEFAULT_PATH.to_owned(), false),
    }
}

fn read_config(path: &Path) -> anyhow::Result<OperatorConfig> {
    let text =
        fs::read_to_string(path).with_context(|| format!("could not read `{}`", path.display()))?;
    let config = OperatorConfig::parse(&text).map_err(|error| Rejected {
        message: format!(
            "{}:{}:{}: {error}",
            path.display(),
            error.line(),
            error.column()
        ),
        hint: None,
    })?;
    Ok(config)
}
