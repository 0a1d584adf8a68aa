//! `cluster schema`: the JSON Schema of configs.

use std::fs;

use mainstay_opencenter::{
    catalog,
    finding::{Code, Finding},
    schema,
};
use mainstay_terminal::printer;

use crate::{
    args::{OutputForm, SchemaArgs},
    report::{self, Answer, code},
    save,
    session::Session,
};

pub(super) fn run(session: &Session, arguments: &SchemaArgs) -> Answer {
    if arguments.out.is_none() {
        session.refuse_dry_run("cluster schema")?;
    }
    let value = match &arguments.service {
        None => schema::config_schema(arguments.id.as_deref().unwrap_or(schema::DEFAULT_ID)),
        Some(name) if catalog::find(name).is_some() => schema::service_schema(name),
        Some(name) => {
            let message = format!("the catalog has no service `{name}`");
            return Err(Finding::new(Code::Oc6005, "", message).into());
        }
    };
    let text = schema::to_text(&value);
    let Some(path) = &arguments.out else {
        if session.output == OutputForm::Yaml {
            report::show(&value, session.output)?;
        } else {
            printer::to_stdout(&text)?;
        }
        return Ok(code::SUCCESS);
    };
    let is_fresh = fs::read_to_string(path).is_ok_and(|present| present == text);
    if arguments.check {
        if !is_fresh && session.chats() {
            printer::to_stderr(&format!("`{}` is stale\n", path.display()));
        }
        return Ok(if is_fresh {
            code::SUCCESS
        } else {
            code::DIFFERENT
        });
    }
    if !is_fresh && !session.dry_run {
        save::atomically(path, text.as_bytes())?;
    }
    Ok(code::SUCCESS)
}
