//! What must hold before a cluster can be deployed.

use super::Validator;
use crate::{
    config::{InstallMethod, Provider, TokenProvider},
    finding::{Code, Finding},
};

pub(super) fn check(validator: &mut Validator<'_>) {
    network_plugin(validator);
    git_access(validator);
}

fn network_plugin(validator: &mut Validator<'_>) {
    let config = validator.config;
    let list = "opencenter.cluster.kubernetes.network_plugin";
    let plugins = &config.opencenter.cluster.kubernetes.network_plugin;
    let calico = plugins
        .calico
        .as_ref()
        .filter(|plugin| plugin.enabled)
        .map(|plugin| plugin.install_method);
    let cilium = plugins
        .cilium
        .as_ref()
        .filter(|plugin| plugin.enabled)
        .map(|plugin| plugin.install_method);
    let kube_ovn = plugins
        .kube_ovn
        .as_ref()
        .filter(|plugin| plugin.enabled)
        .map(|plugin| plugin.install_method);
    let enabled: Vec<(&str, Option<InstallMethod>)> = [
        calico.map(|method| ("calico", Some(method))),
        cilium.map(|method| ("cilium", method)),
        kube_ovn.map(|method| ("kube-ovn", method)),
    ]
    .into_iter()
    .flatten()
    .collect();
    if enabled.len() != 1 {
        let names: Vec<_> = enabled.iter().map(|(name, _)| *name).collect();
        let message = if names.is_empty() {
            "no network plugin is enabled".to_owned()
        } else {
            format!("several network plugins are enabled: {}", names.join(", "))
        };
        validator.report(Code::Oc4501, list, message);
    }
    if config.opencenter.infrastructure.provider != Provider::Openstack {
        return;
    }
    for (name, method) in enabled {
        if method == Some(InstallMethod::Kubespray) {
            let message = format!("{name} cannot be installed by kubespray on OpenStack");
            validator.report(
                Code::Oc4502,
                format!("{list}.{name}.install_method"),
                message,
            );
        }
    }
}

fn git_access(validator: &mut Validator<'_>) {
    let gitops = &validator.config.opencenter.gitops;
    let address = gitops.repository.url.as_str();
    let is_web = address.starts_with("https://") || address.starts_with("http://");
    let path = "opencenter.gitops.auth";
    match (&gitops.auth.ssh, &gitops.auth.token) {
        (Some(_), Some(_)) => {
            validator.report(Code::Oc4505, path, "both ssh and token are configured");
        }
        (None, None) => validator.report(Code::Oc4505, path, "neither ssh nor token is configured"),
        (Some(_), None) if is_web => {
            let message = "ssh keys are configured, but the repository has an https address";
            validator.report(Code::Oc4503, format!("{path}.ssh"), message);
        }
        (None, Some(_)) if !is_web => {
            let message = "a token is configured, but the repository has an ssh address";
            validator.report(Code::Oc4503, format!("{path}.token"), message);
        }
        (None, Some(token)) => {
            let host = address
                .split_once("://")
                .and_then(|(_, rest)| rest.split(['/', ':']).next())
                .unwrap_or_default();
            let expected = match host {
                "github.com" => TokenProvider::Github,
                host if host.starts_with("gitlab") => TokenProvider::Gitlab,
                _ => TokenProvider::Gitea,
            };
            if let Some(provider) = token.provider.filter(|provider| *provider != expected) {
                validator.push(
                    Finding::new(
                        Code::Oc4504,
                        format!("{path}.token.provider"),
                        format!("provider {provider} does not fit host {host}"),
                    )
                    .got(provider.as_str())
                    .help(format!("use {expected}")),
                );
            }
        }
        (Some(_), None) => {}
    }
}
