//! Files that hold secrets: encrypted, written as they are, or left out, before the tree goes to disk.

use std::{collections::BTreeMap, fs, path::Path};

use jiff::Timestamp;
use mainstay_gitops::{Desired, DesiredFile, Ledger, Overlay, Reader};
use mainstay_opencenter::{
    config::ClusterConfig,
    finding::{Code, Finding},
    overlay::{ActionKind, OverlayFile, OverlayTree, Scope as TreeScope, Sensitivity},
    render::SecretSearch,
};
use mainstay_sops::{
    Cleartext, DigestKey, OperatingSystem, Scope, Settings, Surroundings, age::Recipient, encrypt,
    update,
};
use regex::Regex;

use crate::{
    args::SecretsMode,
    keys::{self, Keys},
    report::Answer,
    save,
};

/// Which keys of a manifest that is no Secret hold secrets.
const CREDENTIAL_KEYS: &str = "^(data|stringData|secret|credentials)$";

/// The file with the key of digests, in the config directory.
pub(crate) const DIGEST_KEY_FILE: &str = "digest.key";

/// Encrypts the files of one cluster.
pub(crate) struct Sealer<'a> {
    config: &'a ClusterConfig,
    present: Reader,
    rules: Vec<(Regex, Rule)>,
    fallback: Vec<Recipient>,
    keys: Keys,
    ledger: Option<Ledger>,
    digest_key: DigestKey,
    search: &'a SecretSearch,
    now: Timestamp,
}

#[derive(Clone)]
struct Rule {
    recipients: Vec<Recipient>,
    encrypted_regex: Option<String>,
}

/// Turns a rendered tree into files for the disk.
pub(crate) fn seal(
    tree: OverlayTree,
    search: &SecretSearch,
    mode: SecretsMode,
    config: &ClusterConfig,
    overlay: &Overlay,
    config_dir: &Path,
) -> Answer<Desired> {
    let scope = match tree.scope {
        TreeScope::Full => mainstay_gitops::Scope::Full,
        TreeScope::Unit { directory } => mainstay_gitops::Scope::Unit { directory },
    };
    let is_sensitive = tree.files.values().any(|file| file.sensitivity.is_some());
    let mut sealer = if mode == SecretsMode::Encrypt && is_sensitive {
        Some(Sealer::new(config, search, overlay, config_dir)?)
    } else {
        None
    };
    let mut files = BTreeMap::new();
    for (path, file) in tree.files {
        let sealed = match (&file.sensitivity, &mut sealer) {
            (Some(sensitivity), Some(sealer)) => sealer.file(&path, &file, *sensitivity)?,
            _ => DesiredFile {
                bytes: file.bytes,
                cleartext: None,
            },
        };
        files.insert(path, sealed);
    }
    Ok(Desired { scope, files })
}

impl<'a> Sealer<'a> {
    pub(crate) fn new(
        config: &'a ClusterConfig,
        search: &'a SecretSearch,
        overlay: &Overlay,
        config_dir: &Path,
    ) -> Answer<Self> {
        let keys = Keys::of(Some(config))?;
        let mut fallback: Vec<Recipient> = keys.own.into_iter().collect();
        if fallback.is_empty() {
            fallback = keys::recipients_of_environment()?;
        }
        Ok(Self {
            config,
            present: overlay.reader().map_err(crate::write::stop)?,
            rules: rules(config)?,
            fallback,
            keys,
            ledger: overlay.ledger().map_err(crate::write::stop)?,
            digest_key: digest_key(config_dir)?,
            search,
            now: Timestamp::now(),
        })
    }

    /// How a file is encrypted: by the first rule for its path, else for the key of the config.
    pub(crate) fn settings(
        &self,
        path: &str,
        kind: ActionKind,
        sensitivity: Sensitivity,
    ) -> Answer<Settings> {
        let rule = self.rules.iter().find(|(regex, _)| regex.is_match(path));
        let (recipients, regex) = match rule {
            Some((_, rule)) => (rule.recipients.clone(), rule.encrypted_regex.clone()),
            None => (self.fallback.clone(), None),
        };
        if recipients.is_empty() {
            let message = format!("`{path}` holds secrets and there is nobody to encrypt it for");
            return Err(Finding::new(Code::Oc8001, "", message).into());
        }
        let scope = match (regex, sensitivity, kind) {
            (Some(regex), _, _) => Scope::EncryptedRegex(regex),
            (None, Sensitivity::WholeFile, _) => Scope::default_suffix(),
            (None, Sensitivity::Fields, ActionKind::Secret) => {
                Scope::EncryptedRegex(self.config.secrets.sops.encrypted_regex.clone())
            }
            (None, Sensitivity::Fields, _) => Scope::EncryptedRegex(CREDENTIAL_KEYS.to_owned()),
        };
        Ok(Settings { recipients, scope })
    }

    fn file(
        &mut self,
        path: &str,
        file: &OverlayFile,
        sensitivity: Sensitivity,
    ) -> Answer<DesiredFile> {
        let settings = self.settings(path, file.kind, sensitivity)?;
        let present = self.present.read(path).map_err(crate::write::stop)?;
        self.bytes(path, &file.bytes, present, &settings)
    }

    /// The encrypted form of a cleartext, with as much of the present file as is still right.
    pub(crate) fn bytes(
        &mut self,
        path: &str,
        clear: &[u8],
        present: Option<Vec<u8>>,
        settings: &Settings,
    ) -> Answer<DesiredFile> {
        if let Some(present) = &present {
            let recorded = self
                .ledger
                .as_ref()
                .and_then(|ledger| ledger.files.get(path));
            let recorded = recorded.and_then(|record| record.cleartext.as_ref());
            let digest = self.digest_key.digest(path, clear, settings, present);
            if recorded == Some(&digest) {
                // An earlier version of this program may not have known what to look for.
                if self.search.has_outside() {
                    self.check_covered(path, present, settings)?;
                }
                return Ok(DesiredFile {
                    bytes: present.clone(),
                    cleartext: Some(digest),
                });
            }
        }
        let broken = |error: mainstay_sops::Error| finding(path, &error);
        let cleartext = Cleartext::parse(clear).map_err(broken)?;
        let mut entropy = OperatingSystem;
        let mut surroundings = Surroundings {
            entropy: &mut entropy,
            now: self.now,
        };
        let updated = present.and_then(|present| {
            // A file that does not open, or is none of sops, is made anew; whether it may be replaced is judged later.
            update(
                &present,
                &cleartext,
                settings,
                &self.keys.identities,
                &mut surroundings,
            )
            .ok()
        });
        let bytes = match updated {
            Some(bytes) => bytes,
            None => encrypt(&cleartext, settings, &mut surroundings)
                .map_err(broken)?
                .into_bytes(),
        };
        self.check_covered(path, &bytes, settings)?;
        let digest = self.digest_key.digest(path, clear, settings, &bytes);
        Ok(DesiredFile {
            bytes,
            cleartext: Some(digest),
        })
    }
}

impl Sealer<'_> {
    /// An expression of the user need not cover every field that holds a secret. Then nothing may be written.
    fn check_covered(&self, path: &str, encrypted: &[u8], settings: &Settings) -> Answer<()> {
        let exposures = self.search.exposures(path, encrypted);
        if exposures.is_empty() {
            return Ok(());
        }
        let how = match &settings.scope {
            Scope::EncryptedRegex(expression) => format!("`encrypted_regex` {expression}"),
            _ => "the rule".to_owned(),
        };
        let place = format!("`{path}` in the open, because {how} does not cover it");
        let mask = self.config.origins().mask();
        let findings = exposures.iter().map(|exposure| {
            let mut finding = exposure.finding(self.config, &place);
            if exposure.reference.is_none() {
                let help = "let the expression match a key above every secret, or leave it out";
                finding = finding.help(help);
            }
            mask.hide_in(&mut finding);
            finding
        });
        Err(findings.collect::<Vec<_>>().into())
    }
}

/// The rules of the config, if it has any.
fn rules(config: &ClusterConfig) -> Answer<Vec<(Regex, Rule)>> {
    let sops = &config.opencenter.gitops.overlay_units.sops;
    if !sops.enabled {
        return Ok(Vec::new());
    }
    let mut rules = Vec::new();
    for (index, rule) in sops.rules.iter().enumerate() {
        let path =
            |field: &str| format!("opencenter.gitops.overlay_units.sops.rules[{index}].{field}");
        let text = rule.path_regex.as_deref().unwrap_or_default();
        let regex = Regex::new(text).map_err(|_| {
            let message = format!("`{text}` is not a regular expression");
            Finding::new(Code::Oc4025, path("path_regex"), message)
        })?;
        let recipients: Result<Vec<Recipient>, _> = rule
            .age_recipients
            .iter()
            .map(|text| text.trim().parse())
            .collect();
        let recipients = recipients.map_err(|error| {
            Finding::new(Code::Oc4026, path("age_recipients"), error.to_string())
        })?;
        let encrypted_regex = rule.encrypted_regex.clone();
        rules.push((
            regex,
            Rule {
                recipients,
                encrypted_regex,
            },
        ));
    }
    Ok(rules)
}

/// The key of digests; made at the first need.
fn digest_key(config_dir: &Path) -> Answer<DigestKey> {
    let path = config_dir.join(DIGEST_KEY_FILE);
    if let Some(key) = fs::read_to_string(&path)
        .ok()
        .and_then(|text| DigestKey::parse(&text))
    {
        return Ok(key);
    }
    let key = DigestKey::generate(&mut OperatingSystem).map_err(anyhow::Error::new)?;
    // Without a place to keep it, files are compared by decrypting them.
    let _ = save::atomically(&path, format!("{}\n", *key.expose()).as_bytes());
    Ok(key)
}

/// A finding for a file that cannot be encrypted or decrypted.
pub(crate) fn finding(path: &str, error: &mainstay_sops::Error) -> Finding {
    use mainstay_sops::Error;
    let code = match error {
        Error::WrongKey { .. } => Code::Oc8003,
        Error::NoRecipient => Code::Oc8001,
        Error::Age(_) | Error::Expression(_) => Code::Oc8002,
        _ => Code::Oc8004,
    };
    let mut message = format!("`{path}`: {error}");
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        message = format!("{message}: {cause}");
        source = cause.source();
    }
    Finding::new(code, "", message)
}
