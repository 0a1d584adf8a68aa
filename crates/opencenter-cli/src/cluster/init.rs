//! `cluster init`: the config of a new cluster.

use std::path::PathBuf;

use jiff::Timestamp;
use mainstay_opencenter::{
    config::{Provider, Secret},
    template::{self, NewCluster},
};
use mainstay_sops::{Entropy as _, OperatingSystem};
use mainstay_terminal::printer;
use serde_json::json;

use crate::{
    args::{InitArgs, OutputForm},
    report::{self, Answer, Stop, code},
    save,
    session::Session,
};

/// Length of a generated password.
const PASSWORD: usize = 16;

pub(super) fn run(session: &Session, arguments: &InitArgs) -> Answer {
    let defaults = session.settings.new_cluster.clone();
    let chosen = |flag: &Option<String>, setting: Option<String>, usual: &str| {
        flag.clone().or(setting).unwrap_or_else(|| usual.to_owned())
    };
    let org = chosen(&arguments.org, defaults.organization, "opencenter");
    let provider = chosen(&arguments.provider, defaults.provider, "openstack");
    let Some(provider) = Provider::from_word(&provider) else {
        let known = Provider::WORDS.join(", ");
        let message = format!(
            "there is no provider `{}`: {known}",
            provider.escape_debug()
        );
        return Err(Stop::Usage(message));
    };
    for (what, name) in [("cluster", &arguments.name), ("organization", &org)] {
        let is_plain =
            |character: char| character.is_ascii_alphanumeric() || "-._".contains(character);
        if name.is_empty() || name.starts_with('.') || !name.chars().all(is_plain) {
            let message = format!("`{}` cannot be the name of a {what}", name.escape_debug());
            return Err(Stop::Usage(message));
        }
    }
    let path = match &session.config_file {
        Some(path) => path.clone(),
        None => place(session, &org, &arguments.name),
    };
    if path.exists() && !arguments.force {
        let message = format!("`{}` exists; replace it with --force", path.display());
        return Err(anyhow::anyhow!(message).into());
    }
    let cluster = NewCluster {
        name: arguments.name.clone(),
        organization: org.clone(),
        provider,
        region: chosen(&arguments.region, defaults.region, "dfw3"),
        environment: chosen(&None, defaults.environment, "dev"),
        base_domain: defaults.base_domain,
        admin_email: defaults.admin_email,
        kubernetes_version: defaults.kubernetes_version,
        grafana_password: password()?,
        now: Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        created_by: format!("mainstay {}", env!("CARGO_PKG_VERSION")),
    };
    let text = if arguments.full {
        template::full(&cluster)
    } else {
        template::minimal(&cluster)
    };
    if !session.dry_run {
        save::atomically(&path, text.as_bytes())?;
    }
    if session.output == OutputForm::Text {
        if session.chats() {
            let verb = if session.dry_run {
                "Would write"
            } else {
                "Wrote"
            };
            printer::to_stderr(&format!("{verb} `{}`\n", path.display()));
        }
    } else {
        let id = format!("{org}/{}", arguments.name);
        report::show(
            &json!({ "id": id, "path": path.display().to_string() }),
            session.output,
        )?;
    }
    Ok(code::SUCCESS)
}

fn place(session: &Session, organization: &str, name: &str) -> PathBuf {
    let directory = session.clusters_dir().join(organization);
    directory.join(format!(".{name}-config.yaml"))
}

/// Letters and digits by chance, each as likely as any other.
fn password() -> Answer<Secret> {
    const ALPHABET: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    let mut password = String::with_capacity(PASSWORD);
    while password.len() < PASSWORD {
        let mut byte = [0];
        OperatingSystem
            .fill(&mut byte)
            .map_err(anyhow::Error::new)?;
        // Larger values would favour the first letters.
        let [value] = byte;
        if let Some(letter) = ALPHABET.get(usize::from(value & 63)) {
            password.push(char::from(*letter));
        }
    }
    Ok(Secret::new(password))
}
