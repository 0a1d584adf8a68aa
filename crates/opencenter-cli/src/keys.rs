//! Whom to encrypt for, and the keys to decrypt with.

use std::{fs, path::PathBuf};

use mainstay_opencenter::{
    config::ClusterConfig,
    finding::{Code, Finding},
};
use mainstay_sops::age::{self, Identity, Recipient};
use zeroize::Zeroizing;

use crate::{
    report::Answer,
    session::{expand_home, home, variable},
};

/// Where `sops` keeps keys, in the home directory.
const SOPS_KEYS: &str = ".config/sops/age/keys.txt";

/// Secret keys, from wherever the user keeps them.
#[derive(Debug, Default)]
pub(crate) struct Keys {
    pub(crate) identities: Vec<Identity>,
    /// The public key that the key file of the config names or stands for.
    pub(crate) own: Option<Recipient>,
}

impl Keys {
    /// The keys for a config: its key file first, then what `sops` would use.
    pub(crate) fn of(config: Option<&ClusterConfig>) -> Answer<Self> {
        let mut keys = Self::default();
        if let Some(path) = config.and_then(key_file) {
            keys.read(&path, true)?;
        }
        for (name, is_file) in [("SOPS_AGE_KEY_FILE", true), ("SOPS_AGE_KEY", false)] {
            match variable(name) {
                Some(path) if is_file => keys.read(&PathBuf::from(path), false)?,
                Some(text) => {
                    let text = Zeroizing::new(text);
                    keys.add(&text, name)?;
                }
                None => {}
            }
        }
        if keys.identities.is_empty()
            && let Ok(home) = home()
        {
            keys.read(&home.join(SOPS_KEYS), false)?;
        }
        Ok(keys)
    }

    /// Reads a key file if it exists; whether a key is missed turns out later.
    fn read(&mut self, path: &PathBuf, is_own: bool) -> Answer<()> {
        let text = match fs::read_to_string(path) {
            Ok(text) => Zeroizing::new(text),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            Err(error) => {
                let message = format!(
                    "could not read the age key file `{}`: {error}",
                    path.display()
                );
                return Err(
                    Finding::new(Code::Oc8002, "secrets.sops.age_key_file", message).into(),
                );
            }
        };
        let count = self.identities.len();
        self.add(&text, &path.display().to_string())?;
        if is_own {
            let named = text
                .lines()
                .filter_map(|line| line.trim().strip_prefix('#'))
                .find_map(|line| line.trim().strip_prefix("public key:"));
            let derived = self.identities.get(count).map(Identity::recipient);
            self.own = named.and_then(|text| text.trim().parse().ok()).or(derived);
        }
        Ok(())
    }

    fn add(&mut self, text: &str, origin: &str) -> Answer<()> {
        let read = age::identities(text).map_err(|error| {
            let message = format!("`{origin}` is not an age key file: {error}");
            Finding::new(Code::Oc8002, "secrets.sops.age_key_file", message)
        })?;
        self.identities.extend(read);
        Ok(())
    }
}

/// The key file that a config names.
pub(crate) fn key_file(config: &ClusterConfig) -> Option<PathBuf> {
    let sops = config.secrets.sops.age_key_file.as_deref();
    let path = sops.or(config.secrets.sops_age_key_file.as_deref())?;
    (!path.is_empty()).then(|| expand_home(path))
}

/// The files that [`Keys::of`] may read, whether they exist or not.
pub(crate) fn files(config: &ClusterConfig) -> Vec<PathBuf> {
    let of_environment = variable("SOPS_AGE_KEY_FILE").map(PathBuf::from);
    let of_home = home().ok().map(|home| home.join(SOPS_KEYS));
    let all = [key_file(config), of_environment, of_home];
    all.into_iter().flatten().collect()
}

/// A warning for each key file that others can read.
pub(crate) fn exposed(config: &ClusterConfig) -> Vec<Finding> {
    use std::os::unix::fs::PermissionsExt as _;
    let mut files = files(config);
    files.sort_unstable();
    files.dedup();
    let is_exposed = |path: &PathBuf| {
        let metadata = fs::metadata(path);
        metadata.is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o077 != 0)
    };
    let exposed = files.into_iter().filter(is_exposed);
    exposed
        .map(|path| {
            let message = format!("others than the owner have access to `{}`", path.display());
            Finding::new(Code::Oc8006, "secrets.sops.age_key_file", message)
                .help(format!("`chmod 600 {}`", path.display()))
        })
        .collect()
}

/// Recipients of `SOPS_AGE_RECIPIENTS`.
pub(crate) fn recipients_of_environment() -> Answer<Vec<Recipient>> {
    let list = variable("SOPS_AGE_RECIPIENTS").unwrap_or_default();
    let words = list
        .split(',')
        .map(str::trim)
        .filter(|word| !word.is_empty());
    let parsed: Result<Vec<Recipient>, age::Error> = words.map(str::parse).collect();
    Ok(parsed
        .map_err(|error| Finding::new(Code::Oc8002, "", format!("SOPS_AGE_RECIPIENTS: {error}")))?)
}
