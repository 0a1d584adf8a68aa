//! From a config to the files for the disk: the part that render, diff and the checks share.

use std::path::{Path, PathBuf};

use mainstay_gitops::{Desired, Overlay};
use mainstay_opencenter::{
    config::{ClusterConfig, LoadOptions, Purpose},
    descriptor::Registry,
    finding::{Code, Finding},
    flux::GitAuthentication,
    overlay::{ADOPTION_RECORD, Adoption, Contents},
    render::{self, RenderOptions, Rendered, ServiceSelection},
};

use crate::{
    args::{GitopsAuth, SecretsMode, TreeArgs},
    load,
    report::{self, Answer, Stop},
    seal,
    session::{Session, expand_home, files_below},
    write,
};

/// What to render, resolved from arguments, config and settings.
#[derive(Debug)]
pub(crate) struct Target {
    pub(crate) overlay: Overlay,
    pub(crate) options: RenderOptions,
    pub(crate) secrets_mode: SecretsMode,
}

/// The options to load a config with, for rendering.
pub(crate) fn load_options(session: &Session, arguments: &TreeArgs) -> LoadOptions {
    LoadOptions {
        allow_missing_secrets: arguments.allow_missing_secrets,
        ..load::options(session, Purpose::Render)
    }
}

/// The root of the repository: the flag, else what the config says, relative to the config directory.
pub(crate) fn repository(
    session: &Session,
    config: &ClusterConfig,
    output_dir: Option<&Path>,
) -> PathBuf {
    output_dir.map_or_else(
        || {
            let directory = expand_home(&config.opencenter.gitops.repository.local_dir);
            session.config_dir.join(directory)
        },
        Path::to_owned,
    )
}

impl Target {
    pub(crate) fn new(
        session: &Session,
        config: &ClusterConfig,
        arguments: &TreeArgs,
        secrets_mode: SecretsMode,
    ) -> Answer<Self> {
        let repository = repository(session, config, arguments.output_dir.as_deref());
        let overlay = Overlay::new(&repository, config.cluster_name()).map_err(write::stop)?;
        let auth = arguments.gitops_auth.or_else(|| configured_auth(config));
        let auth = auth
            .or_else(|| session.default_auth())
            .unwrap_or(GitopsAuth::Token);
        let options = RenderOptions {
            git_authentication: match auth {
                GitopsAuth::Token => GitAuthentication::Token,
                GitopsAuth::Ssh => GitAuthentication::Ssh,
                GitopsAuth::AsIs => GitAuthentication::AsIs,
            },
            secrets_mode: match secrets_mode {
                SecretsMode::Encrypt => render::SecretsMode::Encrypt,
                SecretsMode::Plaintext => render::SecretsMode::Plaintext,
                SecretsMode::Omit => render::SecretsMode::Omit,
            },
            allow_missing_secrets: arguments.allow_missing_secrets,
            emit_auth_alternative: arguments.emit_auth_alternative,
            only: arguments.service.as_ref().map(|name| ServiceSelection {
                name: name.clone(),
                managed: arguments.managed,
            }),
            user_files: overlay.custom_files().map_err(write::stop)?,
            adoption: adoption(&overlay)?,
        };
        Ok(Self {
            overlay,
            options,
            secrets_mode,
        })
    }

    /// Renders in memory.
    pub(crate) fn render(&self, config: &ClusterConfig, registry: &Registry) -> Answer<Rendered> {
        Ok(render::render(config, registry, &self.options)?)
    }

    /// Encrypts what has to be encrypted.
    pub(crate) fn seal(
        &self,
        session: &Session,
        config: &ClusterConfig,
        rendered: Rendered,
    ) -> Answer<Desired> {
        seal::seal(
            rendered.tree,
            &rendered.secrets,
            self.secrets_mode,
            config,
            &self.overlay,
            &session.config_dir,
        )
    }
}

/// What is held back since the tree was taken over.
fn adoption(overlay: &Overlay) -> Answer<Adoption> {
    let Some(bytes) = overlay.read(ADOPTION_RECORD).map_err(write::stop)? else {
        return Ok(Adoption::default());
    };
    Adoption::from_bytes(&bytes).map_err(|error| {
        let finding = Finding::new(Code::Oc6054, ADOPTION_RECORD, error.message());
        Stop::from(finding.at(error.position()))
    })
}

/// The access method that the config stands for.
fn configured_auth(config: &ClusterConfig) -> Option<GitopsAuth> {
    let auth = &config.opencenter.gitops.auth;
    if auth.ssh.is_some() {
        Some(GitopsAuth::Ssh)
    } else if auth.token.is_some() {
        Some(GitopsAuth::Token)
    } else {
        None
    }
}

/// Every file of the overlay on disk, by path.
pub(crate) fn contents(overlay: &Overlay) -> Answer<Contents> {
    let directory = overlay.directory();
    let mut contents = Contents::new();
    if directory.is_dir() {
        let reader = overlay.reader().map_err(write::stop)?;
        for path in files_below(&directory)? {
            if let Some(bytes) = reader.read(&path).map_err(write::stop)? {
                contents.insert(path, bytes);
            }
        }
    }
    Ok(contents)
}

/// Plain text has to be confirmed, unless every secret is a stand-in anyway.
pub(crate) fn confirm_plaintext(session: &Session, config: &ClusterConfig) -> Answer<bool> {
    if !render::has_secrets(config) {
        return Ok(false);
    }
    let question =
        "Secrets will be written in plain text, and the result must not be committed. Go on?";
    if session.yes || report::confirm(question) {
        return Ok(true);
    }
    let message = "`--secrets-mode plaintext` would write real secrets in plain text";
    Err(Stop::from(Finding::new(Code::Oc8005, "", message)))
}
