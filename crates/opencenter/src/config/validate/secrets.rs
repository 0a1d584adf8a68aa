//! Secrets that active services cannot do without: each service asks for its own.

use super::Validator;
use crate::{
    catalog::CATALOG,
    config::{Purpose, Resolved, ResolvedPair, Secret},
    finding::{Code, Finding, Severity},
};

pub(super) fn check(validator: &mut Validator<'_>) {
    let active = CATALOG
        .iter()
        .filter(|entry| validator.config.is_active(entry.name));
    let checks: Vec<_> = active.filter_map(|entry| entry.secrets).collect();
    for check in checks {
        check(validator);
    }
}

impl Validator<'_> {
    /// Asks for a secret: an error if it is missing, a remark if it is a placeholder.
    pub(crate) fn need(&mut self, path: &str, secret: Option<&Secret>) {
        match secret {
            Some(secret) if secret.is_real() => {}
            Some(secret) if secret.is_placeholder() => self.placeholder(path),
            _ => {
                let severity = if self.options.allow_missing_secrets {
                    Severity::Warning
                } else {
                    Severity::Error
                };
                let finding = Finding::new(Code::Oc3030, path, format!("`{path}` is missing"));
                self.push(finding.severity(severity).help(format!("set `{path}`")));
            }
        }
    }

    /// Asks for free secrets of a service.
    pub(crate) fn need_free(&mut self, service: &str, keys: &[&str]) {
        for key in keys {
            let secret = self.config.secrets.service_secret(service, key);
            self.need(&format!("secrets.service_secrets.{service}.{key}"), secret);
        }
    }

    /// Asks for the application credential of OpenStack.
    pub(crate) fn need_openstack_credential(&mut self) {
        let Some(openstack) = &self.config.opencenter.infrastructure.cloud.openstack else {
            return;
        };
        let holder = "opencenter.infrastructure.cloud.openstack";
        let id = openstack.application_credential_id.as_ref();
        self.need(&format!("{holder}.application_credential_id"), id);
        let secret = openstack.application_credential_secret.as_ref();
        self.need(&format!("{holder}.application_credential_secret"), secret);
    }

    /// Keys of an object store may be absent; if they are there, they shall be real.
    pub(crate) fn real_pair(&mut self, pair: Option<ResolvedPair<'_>>) {
        if let Some(pair) = pair.filter(|pair| !(pair.key.is_real() && pair.secret.is_real())) {
            self.placeholder(&pair.path);
        }
    }

    /// The same for a single secret.
    pub(crate) fn real_secret(&mut self, found: Option<Resolved<'_>>) {
        if let Some(found) = found.filter(|found| !found.secret.is_real()) {
            self.placeholder(&found.path);
        }
    }

    fn placeholder(&mut self, path: &str) {
        let severity = match self.options.purpose {
            Purpose::Deploy => Severity::Error,
            Purpose::Render | Purpose::Validate => Severity::Warning,
        };
        let message = format!("`{path}` is still a placeholder");
        self.push(Finding::new(Code::Oc3031, path, message).severity(severity));
    }
}
