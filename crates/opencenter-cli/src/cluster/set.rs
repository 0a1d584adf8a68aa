//! `cluster set`: values of a config, with its comments and its order kept.

use std::{
    fs,
    io::{self, Read as _},
};

use anyhow::Context as _;
use jiff::Timestamp;
use mainstay_opencenter::edit::{self, Assignment, Edited, File, Given};
use mainstay_terminal::printer;
use mainstay_yaml::SourceName;
use serde_json::json;

use super::edit::save_config;
use crate::{
    args::{OutputForm, SetArgs},
    load,
    locate::{self, Located},
    outside::Outside,
    report::{self, Answer, Stop, code},
    session::{Session, expand_home},
};

pub(super) fn run(session: &Session, arguments: &SetArgs) -> Answer {
    // The first word names the cluster if it assigns nothing.
    let (id, assignments) = match arguments.arguments.split_first() {
        Some((first, rest)) if !first.contains('=') => (Some(first.as_str()), rest),
        _ => (None, arguments.arguments.as_slice()),
    };
    if assignments.is_empty() {
        return Err(Stop::Usage(
            "there is nothing to set: name at least one PATH=VALUE".to_owned(),
        ));
    }
    let assignments: Vec<Assignment> = assignments
        .iter()
        .map(|text| assignment(text))
        .collect::<Answer<_>>()?;
    let located = locate::find(session, id)?;
    let edited = change(session, &located, |file| {
        edit::set(file, &assignments, arguments.strict)
    })?;
    save(session, &located, &edited)?;
    if session.output == OutputForm::Text {
        load::tell_warnings(session, &edited.findings);
        if session.chats() {
            let verb = if session.dry_run { "Would set" } else { "Set" };
            printer::to_stderr(&format!("{verb} {}\n", edited.changed_fields.join(", ")));
        }
    } else {
        let value = json!({
            "cluster": located.id,
            "action": edited.action.as_str(),
            "changed_fields": edited.changed_fields,
        });
        report::show(&value, session.output)?;
    }
    Ok(code::SUCCESS)
}

/// Reads a config, hands it to a pure change, and answers what came of it.
pub(super) fn change(
    session: &Session,
    located: &Located,
    how: impl FnOnce(&File<'_>) -> Result<Edited, Vec<mainstay_opencenter::finding::Finding>>,
) -> Answer<Edited> {
    let bytes = load::read(&located.path)?;
    let text = String::from_utf8(bytes).context("the config is not text")?;
    let now = Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    let file = File {
        text: &text,
        source: &SourceName::new(located.path.display().to_string()),
        surroundings: &Outside::of(session, &located.path),
        now: Some(&now),
    };
    Ok(how(&file)?)
}

/// Writes the changed config, unless nothing changed or nothing may be written.
pub(super) fn save(session: &Session, located: &Located, edited: &Edited) -> Answer<()> {
    if session.dry_run || edited.changed_fields.is_empty() {
        return Ok(());
    }
    save_config(&located.path, edited.text.as_bytes())
}

/// Reads `PATH=VALUE`, `PATH=@FILE` or `PATH=-`.
pub(super) fn assignment(text: &str) -> Answer<Assignment> {
    let Some((path, value)) = text.split_once('=') else {
        return Err(Stop::Usage(format!(
            "`{}` is not of the form KEY=VALUE",
            shown(text)
        )));
    };
    if path.is_empty() {
        return Err(Stop::Usage("there is no key in front of `=`".to_owned()));
    }
    let value = match value.strip_prefix('@') {
        Some(file) => {
            let file = expand_home(file);
            let read = fs::read_to_string(&file);
            let content = read.with_context(|| format!("could not read `{}`", file.display()))?;
            Given::Private(content.trim_end_matches('\n').to_owned())
        }
        None if value == "-" => {
            let mut content = String::new();
            io::stdin()
                .read_to_string(&mut content)
                .context("could not read stdin")?;
            Given::Private(content.trim_end_matches('\n').to_owned())
        }
        None => Given::Argument(value.to_owned()),
    };
    Ok(Assignment {
        path: path.to_owned(),
        value,
    })
}

/// An argument without what may be a secret.
fn shown(text: &str) -> &str {
    text.split([' ', ':']).next().unwrap_or_default()
}
