//! `cluster edit`: the user's editor on a copy, which is checked before it replaces the config.

use std::{fs, io::IsTerminal as _, path::Path, process::Command};

use anyhow::{Context as _, ensure};
use mainstay_opencenter::{config::Purpose, finding};
use mainstay_sops::{Cleartext, OperatingSystem, Settings, Surroundings};
use mainstay_terminal::printer;

use crate::{
    args::EditArgs,
    keys::Keys,
    load, locate,
    report::{self, Answer, Stop, code},
    save::{self, Temporary},
    seal,
    session::{Session, variable},
};

/// Characters that a shell would give a meaning; there is no shell here.
const SHELL_CHARACTERS: &[char] = &[
    '|', '&', ';', '<', '>', '(', ')', '$', '`', '\\', '"', '\'', '*', '?', '[', ']', '#', '~',
    '=', '%', '!', '\n',
];

pub(super) fn run(session: &Session, arguments: &EditArgs) -> Answer {
    let located = locate::find(session, arguments.cluster.id.as_deref())?;
    let original = load::read(&located.path)?;
    if let Ok((config, _)) = load::parse(
        session,
        &located.path,
        &original,
        &load::options(session, Purpose::Validate),
    )
    .into_result()
        && config.opencenter.meta.locked
    {
        let cluster = load::located(session, &located, &load::options(session, Purpose::Render))?;
        cluster.refuse_if_locked()?;
    }
    let editor = editor()?;
    let temporary = Temporary::beside(&located.path)?;
    temporary.write(&original)?;
    loop {
        start(&editor, &temporary.path)?;
        let edited = fs::read(&temporary.path).context("could not read what was edited")?;
        if edited == original {
            say(session, "Nothing was changed\n");
            return Ok(code::SUCCESS);
        }
        if !arguments.no_validate {
            let options = load::options(session, Purpose::Validate);
            let findings = load::parse(session, &located.path, &edited, &options).findings;
            report::tell(&findings);
            if finding::has_errors(&findings) {
                match ask() {
                    Decision::Again => continue,
                    Decision::Discard => {
                        say(session, "The change was discarded\n");
                        return Ok(code::FAILURE);
                    }
                    Decision::Save => {}
                }
            }
        }
        if session.dry_run {
            say(session, "The change would be saved\n");
            return Ok(code::SUCCESS);
        }
        save_config(&located.path, &edited)?;
        say(session, &format!("Saved `{}`\n", located.path.display()));
        return Ok(code::SUCCESS);
    }
}

fn say(session: &Session, text: &str) {
    if session.chats() {
        printer::to_stderr(text);
    }
}

enum Decision {
    Again,
    Discard,
    Save,
}

/// Without a terminal there is nobody to ask, and the change is discarded.
fn ask() -> Decision {
    if !std::io::stdin().is_terminal() {
        return Decision::Discard;
    }
    loop {
        printer::to_stderr("The config has errors: (e)dit again, (d)iscard, (s)ave anyway? ");
        let mut answer = String::new();
        if std::io::stdin().read_line(&mut answer).unwrap_or(0) == 0 {
            return Decision::Discard;
        }
        match answer.trim() {
            "e" | "edit" => return Decision::Again,
            "d" | "discard" => return Decision::Discard,
            "s" | "save" => return Decision::Save,
            _ => {}
        }
    }
}

/// The words of the editor's command line.
fn editor() -> Answer<Vec<String>> {
    let text = variable("VISUAL")
        .or_else(|| variable("EDITOR"))
        .unwrap_or_else(|| "vi".to_owned());
    if text.contains(SHELL_CHARACTERS) {
        let message =
            "VISUAL and EDITOR must be a program with plain arguments; there is no shell here";
        return Err(Stop::Usage(message.to_owned()));
    }
    Ok(text.split_whitespace().map(str::to_owned).collect())
}

fn start(editor: &[String], path: &Path) -> anyhow::Result<()> {
    let (program, arguments) = editor
        .split_first()
        .context("VISUAL and EDITOR name no program")?;
    let status = Command::new(program)
        .args(arguments)
        .arg(path)
        .status()
        .with_context(|| format!("could not start the editor `{program}`"))?;
    ensure!(
        status.success(),
        "the editor `{program}` ended with {status}"
    );
    Ok(())
}

/// Replaces a config; one that was encrypted stays encrypted, for the same recipients.
pub(super) fn save_config(path: &Path, clear: &[u8]) -> Answer<()> {
    let present = load::read_raw(path).unwrap_or_default();
    if !load::looks_encrypted(&present) {
        save::atomically(path, clear)?;
        return Ok(());
    }
    let broken = |error: mainstay_sops::Error| seal::finding(&path.display().to_string(), &error);
    let cleartext = Cleartext::parse(clear).map_err(broken)?;
    let words = mainstay_sops::recipients(&present).map_err(broken)?;
    let recipients: Result<Vec<_>, _> = words.iter().map(|word| word.parse()).collect();
    let settings = Settings {
        recipients: recipients.map_err(|error| broken(mainstay_sops::Error::Age(error)))?,
        scope: mainstay_sops::scope(&present).map_err(broken)?,
    };
    let keys = Keys::of(None)?;
    let mut entropy = OperatingSystem;
    let mut surroundings = Surroundings {
        entropy: &mut entropy,
        now: jiff::Timestamp::now(),
    };
    let sealed = mainstay_sops::update(
        &present,
        &cleartext,
        &settings,
        &keys.identities,
        &mut surroundings,
    )
    .map_err(broken)?;
    save::atomically(path, &sealed)?;
    Ok(())
}
