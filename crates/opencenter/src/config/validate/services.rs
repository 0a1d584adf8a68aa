//! Rules of the other services.

use std::collections::BTreeSet;

use super::Validator;
use crate::{
    config::{
        Common, DatabaseType, Gateway, Harbor, HarborStorage, ListenerProtocol, OidcSource,
        Service, path,
    },
    finding::{Code, Finding},
};

mod metallb;

/// The listeners that the gateway has for active services.
const GENERATED_LISTENERS: [&str; 10] = [
    "keycloak-https",
    "keycloak-http",
    "gitops-https",
    "headlamp-https",
    "prometheus-https",
    "alertmanager-https",
    "grafana-https",
    "harbor-http",
    "harbor-https",
    "longhorn-https",
];

/// The settings of a service if it is active.
pub(super) fn active<T>(service: Option<&Service<T>>) -> Option<&T> {
    service
        .filter(|service| service.is_active())
        .map(|service| &service.settings)
}

pub(super) fn check(validator: &mut Validator<'_>) {
    common(validator);
    let services = validator.config.services();
    if let Some(harbor) = active(services.harbor.as_ref()) {
        check_harbor(validator, harbor);
    }
    if let Some(velero) = active(services.velero.as_ref())
        && velero.backup_bucket.is_empty()
    {
        let path = "opencenter.services.velero.backup_bucket";
        validator.report(Code::Oc3151, path, "there is no backup bucket");
    }
    if let Some(stack) = active(services.kube_prometheus_stack.as_ref()) {
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
    if let Some(metallb) = active(services.metallb.as_ref()) {
        metallb::check(validator, metallb);
    }
    if let Some(gateway) = active(services.gateway.as_ref()) {
        check_listeners(validator, gateway);
    }
    check_storage_classes(validator);
    check_kube_ovn(validator);
    check_headlamp(validator);
}

/// What holds for every service.
fn common(validator: &mut Validator<'_>) {
    let config = validator.config;
    let services = config
        .services()
        .iter()
        .map(|found| ("opencenter.services", found));
    let managed = config
        .managed_services()
        .iter()
        .map(|found| ("opencenter.managed_services", found));
    let both: Vec<(String, &Common)> = services
        .chain(managed)
        .filter(|(_, (_, common))| {
            common.source.branch.is_some() && common.source.release.is_some()
        })
        .map(|(map, (name, common))| (path::child(map, name), common))
        .collect();
    for (service, _) in both {
        let message = "`branch` and `release` are both set; the release wins";
        validator.report(Code::Oc3166, format!("{service}.source.branch"), message);
    }
}

fn check_harbor(validator: &mut Validator<'_>, harbor: &Harbor) {
    let service = "opencenter.services.harbor";
    let is_web = |address: &str| address.starts_with("https://") || address.starts_with("http://");
    if !is_web(&harbor.external_url) {
        let message = "the external address must be http or https";
        validator.report_text(
            Code::Oc3141,
            format!("{service}.external_url"),
            message,
            &harbor.external_url,
        );
    }
    let storage = format!("{service}.storage_type");
    let explicit = |validator: &Validator<'_>, field: &str| {
        validator.is_explicit(&format!("{service}.{field}"))
    };
    if harbor.storage_type == HarborStorage::S3
        && validator.is_explicit(&storage)
        && !explicit(validator, "s3_bucket")
        && !explicit(validator, "s3_region")
    {
        let message = format!(
            "s3 storage without bucket and region; {} in {} is assumed",
            harbor.s3_bucket, harbor.s3_region
        );
        validator.report(Code::Oc3142, storage, message);
    }
    if harbor.database_type == DatabaseType::External {
        let missing: Vec<_> = [
            ("database_host", harbor.database_host.is_none()),
            (
                "database_port",
                harbor.database_port.is_none_or(|port| port <= 0),
            ),
            ("database_name", harbor.database_name.is_none()),
            ("database_user", harbor.database_user.is_none()),
        ]
        .into_iter()
        .filter_map(|(field, is_missing)| is_missing.then_some(field))
        .collect();
        if !missing.is_empty() {
            let message = format!("an external database needs {}", missing.join(", "));
            validator.report(Code::Oc3143, format!("{service}.database_type"), message);
        }
    }
}

fn check_listeners(validator: &mut Validator<'_>, gateway: &Gateway) {
    let list = "opencenter.services.gateway.listeners";
    let mut names = BTreeSet::new();
    let mut sockets = BTreeSet::new();
    for (index, listener) in gateway.listeners.iter().enumerate() {
        let place = path::item(list, index);
        if let Some(name) = listener.name.as_deref()
            && (GENERATED_LISTENERS.contains(&name) || !names.insert(name))
        {
            let message = "the name of the listener is taken";
            validator.report_text(Code::Oc3157, format!("{place}.name"), message, name);
        }
        if listener.protocol == Some(ListenerProtocol::Https) && listener.tls_secret_name.is_none()
        {
            let message = "an HTTPS listener needs `tls_secret_name`";
            validator.report(Code::Oc3158, format!("{place}.tls_secret_name"), message);
        }
        let socket = (
            listener.port,
            listener.protocol,
            listener.hostname.as_deref(),
        );
        if listener.port.is_some() && !sockets.insert(socket) {
            let message = "another listener has the same port, protocol and host name";
            validator.report(Code::Oc3159, place, message);
        }
    }
}

fn check_storage_classes(validator: &mut Validator<'_>) {
    let Some(driver) = active(validator.config.services().vsphere_csi.as_ref()) else {
        return;
    };
    let mut names = BTreeSet::new();
    for (index, class) in driver.storage_classes.iter().enumerate() {
        if let Some(name) = &class.name
            && !names.insert(name)
        {
            let place = path::item("opencenter.services.vsphere-csi.storage_classes", index);
            let message = "another storage class has the same name";
            validator.report_text(Code::Oc3161, format!("{place}.name"), message, name);
        }
    }
}

fn check_kube_ovn(validator: &mut Validator<'_>) {
    if let Some(plugin) = active(validator.config.services().kube_ovn.as_ref())
        && let Some(version) = plugin
            .version
            .as_deref()
            .filter(|version| !version.contains('.'))
    {
        let path = "opencenter.services.kube-ovn.version";
        validator.report_text(Code::Oc3163, path, "the version has no dot", version);
    }
}

fn check_headlamp(validator: &mut Validator<'_>) {
    let config = validator.config;
    if active(config.services().headlamp.as_ref()).is_none() {
        return;
    }
    let service = "opencenter.services.headlamp";
    let configured = ["oidc_issuer_url", "oidc_client_id"]
        .map(|field| format!("{service}.{field}"))
        .into_iter()
        .find(|path| validator.is_explicit(path));
    let has_keycloak = config
        .services()
        .get("keycloak")
        .is_some_and(|keycloak| keycloak.enabled);
    if let Some(path) = configured
        && !has_keycloak
        && config.opencenter.identity.oidc.source == OidcSource::Internal
    {
        validator.push(
            Finding::new(
                Code::Oc3164,
                path,
                "headlamp signs users in, but keycloak is not enabled and the identity source is internal",
            )
            .help("enable keycloak, or set `opencenter.identity.oidc.source: external`"),
        );
    }
}
