//! Enabling and disabling services.

use std::collections::BTreeSet;

use mainstay_yaml::closest;
use serde_json::Value;

use super::{Action, Assignment, Edited, File, Session};
use crate::{
    catalog::{self, CATALOG, ServiceLayer},
    config::{ClusterConfig, format::is_dns_label, lookup::lookup, path},
    finding::{Code, Finding},
};

/// A service that shall be on.
#[derive(Clone, Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent switches of one command"
)]
pub struct EnableRequest {
    /// The name of the service.
    pub service: String,
    /// Whether it is a managed service.
    pub managed: bool,
    /// Fields to set, relative to the service.
    pub parameters: Vec<Assignment>,
    /// Secrets to set, relative to the service's block of secrets.
    pub secrets: Vec<Assignment>,
    /// Whether a service that is enabled already gets the settings.
    pub force: bool,
    /// Whether services that it needs are enabled as well.
    pub with_dependencies: bool,
    /// Whether a service that the catalog does not know may be added.
    pub allow_unregistered: bool,
}

/// A service that shall be off.
#[derive(Clone, Debug, Default)]
pub struct DisableRequest {
    /// The name of the service.
    pub service: String,
    /// Whether it is a managed service.
    pub managed: bool,
    /// Whether services that need it are disabled as well.
    pub cascade: bool,
}

/// Enables a service.
pub fn enable(file: &File<'_>, request: &EnableRequest) -> Result<Edited, Vec<Finding>> {
    let mut session = Session::start(file)?;
    let name = request.service.as_str();
    check_name(&session, name, request.managed, request.allow_unregistered)?;
    let service = service_path(name, request.managed);
    let state = state(session.config()?, name, request.managed);
    let action = match state {
        State::Enabled if !request.force => {
            return Err(session.refuse(
                Code::Oc6006,
                &service,
                format!("{name} is enabled already"),
            ));
        }
        State::Enabled => Action::Updated,
        State::Disabled => Action::ReEnabled,
        State::Absent => Action::Enabled,
    };
    let has_email = session
        .config()?
        .is_explicit("opencenter.services.cert-manager.email")
        || request
            .parameters
            .iter()
            .any(|parameter| parameter.path == "email");
    if name == "cert-manager" && state != State::Enabled && !has_email {
        let message = "cert-manager needs an e-mail address for the ACME server";
        return Err(session.refuse(Code::Oc3103, &format!("{service}.email"), message));
    }
    session.set_value(&format!("{service}.enabled"), &Value::Bool(true))?;
    for parameter in &request.parameters {
        session.assign(&Assignment {
            path: format!("{service}.{}", parameter.path),
            value: parameter.value.clone(),
        })?;
    }
    for secret in &request.secrets {
        assign_secret(&mut session, name, secret)?;
    }
    let enabled = if request.with_dependencies {
        enable_dependencies(&mut session, name)?
    } else {
        Vec::new()
    };
    let mut edited = session.finish(action, false)?;
    edited.enabled_dependencies = enabled;
    Ok(edited)
}

/// Disables a service; its settings stay.
pub fn disable(file: &File<'_>, request: &DisableRequest) -> Result<Edited, Vec<Finding>> {
    let mut session = Session::start(file)?;
    let name = request.service.as_str();
    let service = service_path(name, request.managed);
    let config = session.config()?;
    match state(config, name, request.managed) {
        State::Enabled => {}
        State::Disabled => {
            return Err(session.refuse(
                Code::Oc6007,
                &service,
                format!("{name} is disabled already"),
            ));
        }
        State::Absent => {
            return Err(session.refuse(
                Code::Oc6003,
                &service,
                format!("{name} is not in the config"),
            ));
        }
    }
    if catalog::find(name).is_some_and(|entry| entry.layer == ServiceLayer::Structural) {
        let message = format!("{name} is part of the tree's structure and cannot be switched off");
        return Err(session.refuse(Code::Oc3012, &service, message));
    }
    let dependants = if request.managed {
        Vec::new()
    } else {
        dependants(config, name)
    };
    if !dependants.is_empty() && !request.cascade {
        let message = format!("{name} is needed by {}", dependants.join(", "));
        let finding = Finding::new(Code::Oc3201, &*service, message).in_file(file.source);
        return Err(vec![finding.help("disable them as well with `--cascade`")]);
    }
    for other in
        std::iter::once(service).chain(dependants.iter().map(|other| service_path(other, false)))
    {
        session.set_value(&format!("{other}.enabled"), &Value::Bool(false))?;
    }
    let mut edited = session.finish(Action::Disabled, false)?;
    edited.disabled_dependants = dependants;
    Ok(edited)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Absent,
    Disabled,
    Enabled,
}

fn state(config: &ClusterConfig, name: &str, managed: bool) -> State {
    let common = if managed {
        config.managed_services().get(name)
    } else {
        config.services().get(name)
    };
    match common {
        None => State::Absent,
        Some(common) if common.enabled => State::Enabled,
        Some(_) => State::Disabled,
    }
}

fn service_path(name: &str, managed: bool) -> String {
    let map = if managed {
        "opencenter.managed_services"
    } else {
        "opencenter.services"
    };
    path::child(map, name)
}

fn check_name(
    session: &Session<'_>,
    name: &str,
    managed: bool,
    allow_unregistered: bool,
) -> Result<(), Vec<Finding>> {
    let known = if managed {
        catalog::find_managed(name)
    } else {
        catalog::find_service(name)
    };
    let is_in_config = state(session.config()?, name, managed) != State::Absent;
    if known.is_some() || is_in_config {
        return Ok(());
    }
    let service = service_path(name, managed);
    if !is_dns_label(name) {
        let message = "the name of a service must be a DNS label";
        return Err(session.refuse(Code::Oc2003, &service, message));
    }
    if allow_unregistered && !managed {
        return Ok(());
    }
    let names: Vec<_> = CATALOG
        .iter()
        .filter(|entry| (entry.layer == ServiceLayer::ManagedServices) == managed)
        .map(|entry| entry.name)
        .collect();
    let finding = Finding::new(
        Code::Oc6005,
        service,
        format!("there is no service `{name}`"),
    );
    let finding = finding.in_file(session.file.source);
    Err(vec![match closest(name, &names) {
        Some(meant) => finding.help(format!("did you mean `{meant}`?")),
        None => finding,
    }])
}

fn assign_secret(
    session: &mut Session<'_>,
    service: &str,
    secret: &Assignment,
) -> Result<(), Vec<Finding>> {
    let block = catalog::find(service).map_or_else(
        || path::child("service_secrets", service),
        catalog::CatalogEntry::secret_path,
    );
    let path = format!("secrets.{block}.{}", secret.path);
    if lookup(&path).is_err() {
        let message = format!("{service} has no secret `{}`", secret.path);
        return Err(session.refuse(Code::Oc6008, &path, message));
    }
    session.assign(&Assignment {
        path,
        value: secret.value.clone(),
    })
}

/// Enables everything that a service needs; returns what was not enabled before.
fn enable_dependencies(session: &mut Session<'_>, name: &str) -> Result<Vec<String>, Vec<Finding>> {
    let mut enabled = BTreeSet::new();
    let mut waiting: Vec<&'static str> =
        catalog::find(name).map_or_else(Vec::new, |entry| entry.requires.to_vec());
    while let Some(needed) = waiting.pop() {
        let config = session.config()?;
        if config.is_active(needed)
            || config.is_external(needed)
            || !enabled.insert(needed.to_owned())
        {
            continue;
        }
        session.set_value(
            &format!("opencenter.services.{needed}.enabled"),
            &Value::Bool(true),
        )?;
        waiting.extend(catalog::find(needed).map_or(&[][..], |entry| entry.requires));
    }
    Ok(enabled.into_iter().collect())
}

/// The active services that need a service, directly or through others.
fn dependants(config: &ClusterConfig, name: &str) -> Vec<String> {
    let mut found = BTreeSet::new();
    let mut waiting = vec![name.to_owned()];
    while let Some(needed) = waiting.pop() {
        for entry in CATALOG {
            if entry.requires.contains(&needed.as_str())
                && config.services().is_active(entry.name)
                && found.insert(entry.name.to_owned())
            {
                waiting.push(entry.name.to_owned());
            }
        }
    }
    found.into_iter().collect()
}
