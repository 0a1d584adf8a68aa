//! `cluster list`, `cluster use`, `cluster active`.

use mainstay_opencenter::finding::{Code, Finding};
use mainstay_terminal::printer;
use serde_json::{Value, json};

use crate::{
    args::OutputForm,
    locate,
    report::{self, Answer, code},
    session::Session,
};

pub(super) fn list(session: &Session) -> Answer {
    session.refuse_dry_run("cluster list")?;
    let all = locate::all(session)?;
    let active = locate::active(session)?;
    let is_active = |id: &str| active.as_deref() == Some(id);
    if session.output == OutputForm::Text {
        let lines = all.iter().map(|located| {
            let mark = if is_active(&located.id) { "* " } else { "" };
            format!("{mark}{}\n", located.id)
        });
        printer::to_stdout(&lines.collect::<String>())?;
    } else {
        let items = all.iter().map(|located| {
            json!({
                "id": located.id,
                "path": located.path.display().to_string(),
                "active": is_active(&located.id),
            })
        });
        report::show(&Value::Array(items.collect()), session.output)?;
    }
    Ok(code::SUCCESS)
}

pub(super) fn set(session: &Session, id: &str) -> Answer {
    let located = locate::find(session, Some(id))?;
    if !session.dry_run {
        locate::set_active(session, &located.id)?;
    }
    if session.chats() {
        printer::to_stderr(&format!("{} is the active cluster\n", located.id));
    }
    Ok(code::SUCCESS)
}

pub(super) fn show(session: &Session) -> Answer {
    session.refuse_dry_run("cluster active")?;
    let Some(id) = locate::active(session)? else {
        return Err(Finding::new(Code::Oc1002, "", "no cluster is active").into());
    };
    if session.output == OutputForm::Text {
        printer::to_stdout(&format!("{id}\n"))?;
    } else {
        report::show(&json!({ "id": id }), session.output)?;
    }
    Ok(code::SUCCESS)
}
