//! `cluster export`: the effective config, and where each of its values comes from.

use std::fmt::Write as _;

use mainstay_opencenter::config::{ClusterConfig, Purpose, lookup::lookup};
use mainstay_terminal::printer;
use mainstay_yaml::{Node, print_node};
use serde_json::{Map, Value, json};

use crate::{
    args::{ExportArgs, OutputForm},
    load,
    report::{self, Answer, Stop, code},
    session::Session,
};

/// What stands for a secret.
const HIDDEN: &str = "***";

pub(super) fn run(session: &Session, arguments: &ExportArgs) -> Answer {
    session.refuse_dry_run("cluster export")?;
    let mut options = load::options(session, Purpose::Render);
    options.allow_missing_secrets = true;
    let cluster = load::with_options(session, arguments.cluster.id.as_deref(), &options)?;
    if !arguments.redact && !session.yes && !report::confirm("The output will hold secrets. Go on?")
    {
        return Err(Stop::Usage(
            "`--redact=false` prints secrets: confirm with --yes".to_owned(),
        ));
    }
    let mut value = cluster.config.effective().clone();
    if arguments.redact {
        let mut outside = Vec::new();
        from_outside(&cluster.config, &value, &mut String::new(), &mut outside);
        let hidden = cluster.config.origins().outside().iter();
        let hidden = hidden.filter(|value| value.is_hidden() && !value.is_short());
        outside.extend(hidden.map(|value| value.expose().to_owned()));
        redact(&cluster.config, &mut value, &mut String::new(), &outside);
    }
    match (session.output, arguments.show_origin) {
        (OutputForm::Text, true) => {
            let mut text = String::from("---\n");
            Emitter {
                config: &cluster.config,
                out: &mut text,
            }
            .value(&value, "", 0);
            printer::to_stdout(&text)?;
        }
        (OutputForm::Text, false) => {
            let text = print_node(&Node::from(&value));
            printer::to_stdout(&format!("---\n{text}"))?;
        }
        (form, true) => {
            let mut origins = Map::new();
            collect(&cluster.config, &value, &mut String::new(), &mut origins);
            report::show(&json!({ "config": value, "origins": origins }), form)?;
        }
        (form, false) => report::show(&value, form)?,
    }
    Ok(code::SUCCESS)
}

/// The texts that came from the environment or another file.
fn from_outside(config: &ClusterConfig, value: &Value, path: &mut String, found: &mut Vec<String>) {
    match value {
        Value::Object(entries) => {
            for (key, entry) in entries {
                descend(path, key, |path| from_outside(config, entry, path, found));
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                at_index(path, index, |path| from_outside(config, item, path, found));
            }
        }
        Value::String(text) if !text.is_empty() && config.origins().is_tainted(path) => {
            found.push(text.clone());
        }
        _ => {}
    }
}

/// Hides every secret, and every text that was made from what came from outside.
fn redact(config: &ClusterConfig, value: &mut Value, path: &mut String, outside: &[String]) {
    match value {
        Value::Object(entries) => {
            for (key, entry) in entries {
                descend(path, key, |path| redact(config, entry, path, outside));
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter_mut().enumerate() {
                at_index(path, index, |path| redact(config, item, path, outside));
            }
        }
        Value::String(text) if !text.is_empty() => {
            let is_derived = outside.iter().any(|hidden| text.contains(hidden.as_str()));
            if is_derived || is_secret(config, path) {
                HIDDEN.clone_into(text);
            }
        }
        _ => {}
    }
}

fn at_index<T>(path: &mut String, index: usize, work: impl FnOnce(&mut String) -> T) -> T {
    let length = path.len();
    let _ = write!(path, "[{index}]");
    let result = work(path);
    path.truncate(length);
    result
}

fn is_secret(config: &ClusterConfig, path: &str) -> bool {
    config.origins().is_tainted(path) || lookup(path).is_ok_and(|known| known.is_secret())
}

fn descend<T>(path: &mut String, key: &str, work: impl FnOnce(&mut String) -> T) -> T {
    let length = path.len();
    if key.contains(['.', '[', ']', '"']) || key.is_empty() {
        let _ = write!(path, "[{}]", Value::from(key));
    } else {
        if !path.is_empty() {
            path.push('.');
        }
        path.push_str(key);
    }
    let result = work(path);
    path.truncate(length);
    result
}

/// The origin of every leaf, by path.
fn collect(
    config: &ClusterConfig,
    value: &Value,
    path: &mut String,
    origins: &mut Map<String, Value>,
) {
    match value {
        Value::Object(entries) if !entries.is_empty() => {
            for (key, entry) in entries {
                descend(path, key, |path| collect(config, entry, path, origins));
            }
        }
        _ => {
            if let Some(origin) = config.origins().get(path) {
                origins.insert(path.clone(), json!(origin.to_string()));
            }
        }
    }
}

/// Writes YAML with the origin of each value behind it.
struct Emitter<'a> {
    config: &'a ClusterConfig,
    out: &'a mut String,
}

impl Emitter<'_> {
    fn value(&mut self, value: &Value, path: &str, indent: usize) {
        let Value::Object(entries) = value else {
            return;
        };
        for (key, entry) in entries {
            let mut inner = path.to_owned();
            descend(&mut inner, key, |path| {
                let name = one_line(&Value::from(key.as_str()));
                let _ = write!(self.out, "{:indent$}{name}:", "");
                match entry {
                    Value::Object(fields) if !fields.is_empty() => {
                        self.out.push('\n');
                        self.value(entry, path, indent + 2);
                    }
                    leaf => {
                        let _ = write!(self.out, " {}", one_line(leaf));
                        if let Some(origin) = self.config.origins().get(path) {
                            let _ = write!(self.out, "  # {origin}");
                        }
                        self.out.push('\n');
                    }
                }
            });
        }
    }
}

/// A value on one line; JSON is YAML.
fn one_line(value: &Value) -> String {
    match value {
        Value::Object(_) | Value::Array(_) => value.to_string(),
        scalar => {
            let text = print_node(&Node::from(scalar));
            let text = text.trim_end();
            if text.contains('\n') {
                scalar.to_string()
            } else {
                text.to_owned()
            }
        }
    }
}
