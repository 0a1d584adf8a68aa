//! `cluster service options` and `cluster service secrets`: what can be set, and which secrets are.

use std::fmt::Write as _;

use mainstay_opencenter::{
    catalog,
    config::{
        ClusterConfig, Purpose, is_placeholder,
        lookup::{OptionRow, ServiceOptions, service_options},
    },
    finding::{Code, Finding},
};
use mainstay_terminal::printer;
use serde_json::{Value, json};

use super::catalog::aligned;
use crate::{
    args::{OutputForm, ServiceOptionsArgs, ServiceSecretsArgs},
    load, locate,
    report::{self, Answer, code},
    session::Session,
};

pub(super) fn options(session: &Session, arguments: &ServiceOptionsArgs) -> Answer {
    session.refuse_dry_run("cluster service options")?;
    let name = arguments.service.as_str();
    if arguments.managed && catalog::find_managed(name).is_none() {
        let message = format!("the catalog has no managed service `{name}`");
        return Err(Finding::new(Code::Oc6005, "", message).into());
    }
    let options = service_options(name);
    if session.output == OutputForm::Text {
        printer::to_stdout(&text(name, &options))?;
        return Ok(code::SUCCESS);
    }
    let secrets = options.secrets.iter().map(|row| {
        let mut value = value(row);
        value["path"] = json!(format!("secrets.{}.{}", options.secret_path, row.path));
        value
    });
    let fields = options
        .common
        .iter()
        .chain(&options.rendering)
        .chain(&options.parameters);
    let rows: Vec<Value> = fields.map(value).chain(secrets).collect();
    report::show(&Value::Array(rows), session.output)?;
    Ok(code::SUCCESS)
}

fn value(row: &OptionRow) -> Value {
    json!({
        "path": row.path,
        "type": row.type_name(),
        "default": row.default_text(),
        "enum": row.field.choices(),
        "required": row.field.required,
        "required_when": row.field.required_when,
        "secret": row.field.secret,
        "description": row.field.description(),
    })
}

fn text(name: &str, options: &ServiceOptions) -> String {
    let mut text = String::new();
    for (title, rows) in [
        ("Common fields", &options.common),
        ("Rendering fields", &options.rendering),
        ("Service parameters", &options.parameters),
        ("Secrets", &options.secrets),
    ] {
        if rows.is_empty() {
            continue;
        }
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{title}:");
        for row in rows {
            let _ = writeln!(text, "  {}", line(row));
        }
        text.push('\n');
    }
    let _ = writeln!(text, "Examples:\n  cluster service enable {name}");
    if let Some(row) = options
        .parameters
        .iter()
        .find(|row| !row.path.contains(['.', '[']))
    {
        let _ = writeln!(
            text,
            "  cluster service enable {name} --param {}=…",
            row.path
        );
    }
    if let Some(row) = options.secrets.iter().find(|row| row.field.secret) {
        let _ = writeln!(
            text,
            "  cluster service enable {name} --secret {}=@file",
            row.path
        );
    }
    text
}

/// `name (type) default=<d> {enum} – description [required]`.
fn line(row: &OptionRow) -> String {
    let mut line = format!("{} ({})", row.path, row.type_name());
    if let Some(default) = row.default_text() {
        let _ = write!(line, " default={default}");
    }
    if let Some(choices) = row.field.choices() {
        let _ = write!(line, " {{{}}}", choices.join(", "));
    }
    let _ = write!(line, " – {}", row.field.description());
    match row.field.required_when {
        Some(when) => {
            let _ = write!(line, " [required when {when}]");
        }
        None if row.field.required => line.push_str(" [required]"),
        None => {}
    }
    line
}

/// One secret of a service, without its value.
#[derive(Debug)]
struct SecretState {
    path: String,
    state: &'static str,
    required: bool,
}

pub(super) fn secrets(session: &Session, arguments: &ServiceSecretsArgs) -> Answer {
    session.refuse_dry_run("cluster service secrets")?;
    let located = locate::find(session, arguments.cluster.as_deref())?;
    let bytes = load::read(&located.path)?;
    let options = load::options(session, Purpose::Validate);
    let loaded = load::parse(session, &located.path, &bytes, &options);
    let Some(config) = &loaded.config else {
        return Err(loaded.findings.into());
    };
    let missing: Vec<&str> = loaded
        .findings
        .iter()
        .filter(|finding| finding.code == Code::Oc3030)
        .map(|finding| finding.path.as_str())
        .collect();
    let states = states(config, &arguments.service, &missing);
    let sources = fallback_sources(config, &arguments.service);
    if session.output != OutputForm::Text {
        let rows: Vec<Value> = states
            .iter()
            .map(|state| {
                json!({ "path": state.path, "state": state.state, "required_now": state.required })
            })
            .collect();
        let value = json!({ "service": arguments.service, "secrets": rows, "sources": sources });
        report::show(&value, session.output)?;
        return Ok(code::SUCCESS);
    }
    let mut table = vec![["SECRET", "STATE", "REQUIRED NOW"].map(str::to_owned)];
    table.extend(states.iter().map(|state| {
        let required = if state.required { "yes" } else { "no" };
        [
            state.path.clone(),
            state.state.to_owned(),
            required.to_owned(),
        ]
    }));
    let mut text = aligned(&table);
    for source in sources {
        let _ = writeln!(text, "used: {source}");
    }
    printer::to_stdout(&text)?;
    Ok(code::SUCCESS)
}

fn states(config: &ClusterConfig, service: &str, missing: &[&str]) -> Vec<SecretState> {
    let options = service_options(service);
    let is_active = config.is_active(service) || config.managed_services().is_active(service);
    let mut states = Vec::new();
    for row in options.secrets.iter().filter(|row| row.field.secret) {
        for path in paths(
            config,
            &format!("secrets.{}.{}", options.secret_path, row.path),
        ) {
            let text = config
                .lookup(&path)
                .and_then(Value::as_str)
                .unwrap_or_default();
            let state = match text {
                "" => "missing",
                text if is_placeholder(text) => "placeholder",
                _ => "set",
            };
            let is_missed = missing.iter().any(|found| *found == path);
            states.push(SecretState {
                required: is_missed || (is_active && row.field.required),
                path,
                state,
            });
        }
    }
    states
}

/// A path with every entry of the config in the place of `<name>`.
fn paths(config: &ClusterConfig, path: &str) -> Vec<String> {
    let Some((before, after)) = path.split_once(".<name>") else {
        return vec![path.to_owned()];
    };
    let entries = config.lookup(before).and_then(Value::as_object);
    let names = entries.into_iter().flat_map(|entries| entries.keys());
    names
        .map(|name| format!("{before}.{name}{after}"))
        .collect()
}

/// The links of fallback chains that win for a service.
fn fallback_sources(config: &ClusterConfig, service: &str) -> Vec<String> {
    let pair =
        |pair: Option<mainstay_opencenter::config::ResolvedPair<'_>>| pair.map(|pair| pair.path);
    let single = |one: Option<mainstay_opencenter::config::Resolved<'_>>| one.map(|one| one.path);
    let found = match service {
        "loki" => vec![
            pair(config.loki_s3_keys()),
            single(config.loki_swift_secret()),
        ],
        "tempo" => vec![
            pair(config.tempo_s3_keys()),
            single(config.tempo_swift_secret()),
        ],
        "velero" => vec![
            single(config.velero_swift_secret()),
            pair(config.velero_s3_keys()),
        ],
        "mimir" | "harbor" | "etcd-backup" => vec![pair(config.service_s3_keys(service))],
        "openstack-ccm" | "openstack-csi" => vec![pair(config.openstack_credential())],
        "cert-manager" => vec![pair(config.legacy_route53_keys())],
        _ => Vec::new(),
    };
    found.into_iter().flatten().collect()
}
