//! Rules that look at several values at once: services, dependencies, provider, secrets, overlay units, readiness.

use serde_json::Value;

use super::{ClusterConfig, LoadOptions, Purpose, path, shape::quoted};
use crate::finding::{Code, Finding, Severity};

mod dependencies;
mod outside;
mod overlay_units;
mod provider;
mod readiness;
mod rendering_fields;
mod secrets;
mod services;

/// Environments that need no second look.
const USUAL_ENVIRONMENTS: [&str; 7] = ["dev", "qa", "uat", "staging", "dr", "prod", "production"];

/// All findings about a config whose shape is sound.
pub(crate) fn validate(config: &ClusterConfig, options: &LoadOptions) -> Vec<Finding> {
    let mut validator = Validator {
        config,
        options,
        findings: Vec::new(),
    };
    basics(&mut validator);
    rendering_fields::check(&mut validator);
    services::check(&mut validator);
    dependencies::check(&mut validator);
    provider::check(&mut validator);
    secrets::check(&mut validator);
    overlay_units::check(&mut validator);
    outside::check(&mut validator);
    if options.purpose == Purpose::Deploy {
        readiness::check(&mut validator);
    }
    validator.findings
}

/// A config under examination.
pub(crate) struct Validator<'config> {
    pub(crate) config: &'config ClusterConfig,
    pub(crate) options: &'config LoadOptions,
    findings: Vec<Finding>,
}

impl Validator<'_> {
    /// Reports a value.
    pub(crate) fn report(
        &mut self,
        code: Code,
        path: impl Into<String>,
        message: impl Into<String>,
    ) {
        self.push(Finding::new(code, path, message));
    }

    /// Reports a value and shows it.
    pub(crate) fn report_text(
        &mut self,
        code: Code,
        path: impl Into<String>,
        message: impl Into<String>,
        text: &str,
    ) {
        let finding = Finding::new(code, path, message);
        let is_tainted = self.config.origins.is_tainted(&finding.path);
        self.push(if is_tainted {
            finding
        } else {
            finding.got(quoted(text))
        });
    }

    /// Reports a number and shows it.
    pub(crate) fn report_number(
        &mut self,
        code: Code,
        path: impl Into<String>,
        message: impl Into<String>,
        number: i64,
    ) {
        self.push(Finding::new(code, path, message).got(number.to_string()));
    }

    /// Reports with the place of the value.
    pub(crate) fn push(&mut self, finding: Finding) {
        let origins = &self.config.origins;
        let position = origins.position(&finding.path);
        self.findings.push(
            finding
                .at(position)
                .in_file(origins.document().source_name()),
        );
    }

    /// Whether the file says so.
    pub(crate) fn is_explicit(&self, path: &str) -> bool {
        self.config.is_explicit(path)
    }

    /// Error when validating, warning when rendering: settings that only provisioning needs.
    fn provisioning_severity(&self) -> Severity {
        match self.options.purpose {
            Purpose::Render => Severity::Warning,
            Purpose::Validate | Purpose::Deploy => Severity::Error,
        }
    }
}

fn basics(validator: &mut Validator<'_>) {
    let config = validator.config;
    let environment = &config.opencenter.meta.env;
    if !environment.is_empty() && !USUAL_ENVIRONMENTS.contains(&environment.as_str()) {
        validator.push(
            Finding::new(
                Code::Oc2002,
                "opencenter.meta.env",
                "the environment has an unusual name",
            )
            .severity(Severity::Warning)
            .got(quoted(environment))
            .help(format!("usual names are {}", USUAL_ENVIRONMENTS.join(", "))),
        );
    }
    if config.deployment.get("method") == Some(&Value::from("")) {
        validator.report(Code::Oc2001, "deployment.method", "`method` is empty");
    }
    let sops = &config.secrets.sops;
    let has_rules = config.opencenter.gitops.overlay_units.sops.enabled;
    if sops.enabled
        && sops.age_key_file.is_none()
        && !has_rules
        && validator.is_explicit("secrets.sops.enabled")
    {
        let severity = validator.provisioning_severity();
        validator.push(
            Finding::new(
                Code::Oc2005,
                "secrets.sops.age_key_file",
                "encryption is on, but no age key file is named",
            )
            .severity(severity),
        );
    }
    embedded_credentials(validator);
}

/// Refuses passwords and tokens in repository addresses.
fn embedded_credentials(validator: &mut Validator<'_>) {
    let gitops = &validator.config.opencenter.gitops;
    let mut addresses = vec![
        (
            "opencenter.gitops.repository.url".to_owned(),
            Some(gitops.repository.url.clone()),
        ),
        (
            "opencenter.gitops.base_repo.url".to_owned(),
            Some(gitops.base_repo.url.clone()),
        ),
        (
            "opencenter.gitops.overlay_units.customer_managed.repository_url".to_owned(),
            gitops.overlay_units.customer_managed.repository_url.clone(),
        ),
    ];
    for (name, common) in validator.config.services().iter() {
        let service = path::child("opencenter.services", name);
        addresses.push((format!("{service}.source.repo"), common.source.repo.clone()));
    }
    for (name, common) in validator.config.managed_services().iter() {
        let service = path::child("opencenter.managed_services", name);
        addresses.push((format!("{service}.source.repo"), common.source.repo.clone()));
    }
    for (path, address) in addresses {
        if address.is_some_and(|address| holds_credentials(&address)) {
            validator.report(
                Code::Oc4028,
                path,
                "the repository address holds a password or token",
            );
        }
    }
}

/// Whether an address names more than a user: anything before `@` over http, a password over ssh.
pub(super) fn holds_credentials(address: &str) -> bool {
    let Some((scheme, rest)) = address.split_once("://") else {
        return false;
    };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let Some((user, _)) = authority.rsplit_once('@') else {
        return false;
    };
    scheme != "ssh" || user.contains(':')
}
