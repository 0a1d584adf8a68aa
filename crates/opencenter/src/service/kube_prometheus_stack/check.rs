//! Rules about the config.

use std::collections::BTreeSet;

use crate::{config::Validator, finding::Code};

pub(super) fn check(validator: &mut Validator<'_>) {
    let Some(service) = &validator.config.services().kube_prometheus_stack else {
        return;
    };
    let stack = &service.settings;
    let hosts = [
        &stack.hostname,
        &stack.prometheus_hostname,
        &stack.alertmanager_hostname,
    ];
    let distinct: BTreeSet<_> = hosts.iter().collect();
    if distinct.len() < hosts.len() {
        let path = "opencenter.services.kube-prometheus-stack.hostname";
        let message = "Grafana, Prometheus and Alertmanager need host names of their own";
        validator.report_text(Code::Oc3153, path, message, &stack.hostname);
    }
}

pub(super) fn secrets(validator: &mut Validator<'_>) {
    let secret = validator.config.secrets.grafana.admin_password.as_ref();
    validator.need("secrets.grafana.admin_password", secret);
}
