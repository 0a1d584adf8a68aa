//! `mainstay secrets`: the encrypted files of a tree.

use std::{collections::BTreeSet, fmt::Write as _, fs, path::Path, sync::Arc};

use anyhow::Context as _;
use mainstay_gitops::{Desired, Overlay, Scope, Unwatched, WriteOptions};
use mainstay_opencenter::{
    config::ClusterConfig,
    finding::{Code, Finding},
    overlay::{ActionKind, OverlayTree, Sensitivity},
    render::SecretSearch,
};
use mainstay_terminal::{exit::ExitStatus, printer};
use serde_json::{Map, Value, json};

use crate::{
    args::{
        OutputForm, SecretFilesArgs, SecretsCommand, SecretsCommandArgs, SecretsMode, TreeArgs,
    },
    keys::Keys,
    load,
    report::{self, Answer, code},
    seal::{self, Sealer},
    session::{Session, files_below},
    tree::{self, Target},
    write,
};

/// Runs a command about encrypted files.
pub(crate) fn run(arguments: &SecretsCommandArgs) -> ExitStatus {
    let answer = Session::new(&arguments.global).and_then(|session| match &arguments.command {
        SecretsCommand::Encrypt(files) => Files::new(&session, files)?.encrypt(),
        SecretsCommand::Decrypt(files) => {
            session.refuse_dry_run("secrets decrypt")?;
            Files::new(&session, files)?.decrypt()
        }
        SecretsCommand::Status(files) => {
            session.refuse_dry_run("secrets status")?;
            Files::new(&session, files)?.status()
        }
        SecretsCommand::Sync(files) => Files::new(&session, files)?.sync(),
    });
    report::conclude(answer, arguments.global.output)
}

/// The files of one tree, as far as they are asked for.
struct Files<'a> {
    session: &'a Session,
    arguments: &'a SecretFilesArgs,
    config: ClusterConfig,
    target: Target,
    /// The rendered tree, which knows which files hold secrets.
    rendered: OverlayTree,
    secrets: Arc<SecretSearch>,
}

impl<'a> Files<'a> {
    fn new(session: &'a Session, arguments: &'a SecretFilesArgs) -> Answer<Self> {
        let tree_arguments = TreeArgs {
            output_dir: arguments.output_dir.clone(),
            ..TreeArgs::default()
        };
        let options = tree::load_options(session, &tree_arguments);
        let cluster = load::with_options(session, arguments.cluster.id.as_deref(), &options)?;
        cluster.tell_warnings(session);
        let target = Target::new(
            session,
            &cluster.config,
            &tree_arguments,
            SecretsMode::Encrypt,
        )?;
        let rendered = target.render(&cluster.config, &session.registry()?)?;
        Ok(Self {
            session,
            arguments,
            config: cluster.config,
            target,
            rendered: rendered.tree,
            secrets: rendered.secrets,
        })
    }

    fn overlay(&self) -> &Overlay {
        &self.target.overlay
    }

    fn is_asked_for(&self, path: &str) -> bool {
        let below = |directory: &str| {
            let rest = path.strip_prefix(directory.trim_end_matches('/'));
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let by_path = self.arguments.path.as_deref().is_none_or(below);
        let services = &self.arguments.services;
        let by_service = services.is_empty()
            || services.iter().any(|service| {
                below(&format!("services/{service}"))
                    || below(&format!("managed-services/{service}"))
            });
        by_path && by_service
    }

    /// Files that hold secrets: those that rendering says, and every Secret or encrypted file on disk.
    fn paths(&self) -> Answer<BTreeSet<String>> {
        let rendered = self.rendered.files.iter();
        let mut paths: BTreeSet<String> = rendered
            .filter(|(_, file)| file.sensitivity.is_some())
            .map(|(path, _)| path.clone())
            .collect();
        let directory = self.overlay().directory();
        if directory.is_dir() {
            for path in files_below(&directory)? {
                let is_yaml = Path::new(&path)
                    .extension()
                    .is_some_and(|extension| extension == "yaml" || extension == "yml");
                if !is_yaml || path.starts_with("flux-system/") || !self.is_asked_for(&path) {
                    continue;
                }
                let bytes = self
                    .overlay()
                    .read(&path)
                    .map_err(write::stop)?
                    .unwrap_or_default();
                if holds_secret(&bytes) {
                    paths.insert(path);
                }
            }
        }
        paths.retain(|path| self.is_asked_for(path));
        Ok(paths)
    }

    fn status(&self) -> Answer {
        let keys = Keys::of(Some(&self.config))?;
        let mut rows = Vec::new();
        let mut number = code::SUCCESS;
        for path in self.paths()? {
            let bytes = self.overlay().read(&path).map_err(write::stop)?;
            let (state, recipients) = match bytes {
                None => ("missing".to_owned(), Vec::new()),
                Some(bytes) if !load::looks_encrypted(&bytes) => {
                    number = code::SECURITY;
                    ("plain text".to_owned(), Vec::new())
                }
                Some(bytes) => {
                    let recipients = mainstay_sops::recipients(&bytes).unwrap_or_default();
                    let state = match mainstay_sops::decrypt(&bytes, &keys.identities) {
                        Ok(_) => "encrypted".to_owned(),
                        Err(error) if error.is_missing_key() => "encrypted, no key here".to_owned(),
                        Err(error) => {
                            number = number.max(code::FAILURE);
                            format!("broken: {}", write::with_causes(&error))
                        }
                    };
                    (state, recipients)
                }
            };
            rows.push((path, state, recipients));
        }
        if self.session.output == OutputForm::Text {
            let width = rows.iter().map(|(path, ..)| path.len()).max().unwrap_or(0);
            let lines = rows
                .iter()
                .map(|(path, state, _)| format!("{path:width$}  {state}\n"));
            printer::to_stdout(&lines.collect::<String>())?;
        } else {
            let values = rows.iter().map(|(path, state, recipients)| {
                json!({ "path": path, "state": state, "recipients": recipients })
            });
            report::show(&Value::Array(values.collect()), self.session.output)?;
        }
        Ok(number)
    }

    /// Prints files in the clear. Nothing is decrypted on disk: it would lie in the repository.
    fn decrypt(&self) -> Answer {
        let keys = Keys::of(Some(&self.config))?;
        let mut values = Map::new();
        let mut text = String::new();
        for path in self.paths()? {
            let Some(bytes) = self.overlay().read(&path).map_err(write::stop)? else {
                continue;
            };
            if !load::looks_encrypted(&bytes) {
                continue;
            }
            let cleartext = mainstay_sops::decrypt(&bytes, &keys.identities)
                .map_err(|error| seal::finding(&path, &error))?;
            if self.session.output == OutputForm::Text {
                let _ = write!(text, "# {path}\n{}", *cleartext.expose());
            } else {
                values.insert(path, json!(*cleartext.expose()));
            }
        }
        if self.session.output == OutputForm::Text {
            printer::to_stdout(&text)?;
        } else {
            report::show(&Value::Object(values), self.session.output)?;
        }
        Ok(code::SUCCESS)
    }

    fn encrypt(&self) -> Answer {
        let mut sealer = Sealer::new(
            &self.config,
            &self.secrets,
            self.overlay(),
            &self.session.config_dir,
        )?;
        let mut desired = Desired {
            scope: Scope::Unit { directory: None },
            files: std::collections::BTreeMap::new(),
        };
        let mut others = Vec::new();
        for path in self.paths()? {
            let Some(bytes) = self.overlay().read(&path).map_err(write::stop)? else {
                continue;
            };
            if load::looks_encrypted(&bytes) {
                continue;
            }
            let (kind, sensitivity) = self.nature(&path);
            let settings = sealer.settings(&path, kind, sensitivity)?;
            let sealed = sealer.bytes(&path, &bytes, None, &settings)?;
            if mainstay_gitops::owner(&path) == mainstay_gitops::Owner::Renderer {
                desired.files.insert(path, sealed);
            } else {
                others.push((path, sealed.bytes));
            }
        }
        let count = desired.files.len() + others.len();
        if !self.session.dry_run {
            self.write(&desired)?;
            for (path, bytes) in &others {
                replace(&self.overlay().directory().join(path), bytes)?;
            }
        }
        let paths = desired
            .files
            .keys()
            .chain(others.iter().map(|(path, _)| path));
        self.tell("encrypted", &paths.cloned().collect::<Vec<_>>(), count)
    }

    /// What a file is, by the rendered tree; a file of the user is taken for a Secret.
    fn nature(&self, path: &str) -> (ActionKind, Sensitivity) {
        let file = self.rendered.files.get(path);
        match file.and_then(|file| Some((file.kind, file.sensitivity?))) {
            Some(nature) => nature,
            None => (ActionKind::Secret, Sensitivity::Fields),
        }
    }

    /// Renders the files that hold secrets again, and only them.
    fn sync(&self) -> Answer {
        let mut tree = self.rendered.clone();
        tree.files
            .retain(|path, file| file.sensitivity.is_some() && self.is_asked_for(path));
        tree.scope = mainstay_opencenter::overlay::Scope::Unit { directory: None };
        let desired = seal::seal(
            tree,
            &self.secrets,
            SecretsMode::Encrypt,
            &self.config,
            self.overlay(),
            &self.session.config_dir,
        )?;
        let plan = if self.session.dry_run {
            self.overlay().plan(&desired, false).map_err(write::stop)?
        } else {
            self.write(&desired)?
        };
        let changed: Vec<String> = plan.added.iter().chain(&plan.changed).cloned().collect();
        self.tell("synced", &changed, changed.len())
    }

    fn write(&self, desired: &Desired) -> Answer<mainstay_gitops::Plan> {
        if desired.files.is_empty() {
            return Ok(mainstay_gitops::Plan::default());
        }
        let outcome = self
            .overlay()
            .write(desired, &WriteOptions::default(), &Unwatched)
            .map_err(write::stop)?;
        Ok(outcome.plan)
    }

    fn tell(&self, word: &str, paths: &[String], count: usize) -> Answer {
        if self.session.output == OutputForm::Text {
            if !self.session.quiet {
                let mut text = String::new();
                for path in paths {
                    let _ = writeln!(text, "~ {path}");
                }
                let _ = writeln!(text, "{count} files {word}");
                printer::to_stdout(&text)?;
            }
        } else {
            report::show(
                &json!({ word: paths, "dry_run": self.session.dry_run }),
                self.session.output,
            )?;
        }
        Ok(code::SUCCESS)
    }
}

/// Whether a file is encrypted, or holds a Secret that should be.
fn holds_secret(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    let is_secret = || {
        mainstay_opencenter::scan::scan("file.yaml", bytes)
            .iter()
            .any(|finding| finding.code == Code::Oc7013)
    };
    load::looks_encrypted(bytes) || (text.contains("Secret") && is_secret())
}

/// Replaces a file of the user, keeping its mode.
fn replace(path: &Path, bytes: &[u8]) -> Answer<()> {
    let could_not = || format!("could not write `{}`", path.display());
    if path.is_symlink() {
        let message = format!(
            "refusing to follow `{}`: it is a symbolic link",
            path.display()
        );
        return Err(Finding::new(Code::Oc6045, "", message).into());
    }
    let permissions = fs::metadata(path).with_context(could_not)?.permissions();
    crate::save::atomically(path, bytes)?;
    fs::set_permissions(path, permissions).with_context(could_not)?;
    Ok(())
}
