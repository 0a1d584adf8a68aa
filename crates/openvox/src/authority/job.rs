//! The Job that sets an authority up.

use k8s_openapi::api::core::v1::ResourceRequirements;
use serde_json::{Value, json};

use super::objects;
use crate::{
    certificate::request::certname,
    names,
    views::{SeenAuthority, SeenCertificate, SeenConfig},
};

/// Makes the authority and stores what others need of it in Secrets. What is there already is not made again.
const SCRIPT: &str = include_str!("setup.sh");

/// The image of the Job. When the Config has another one the Job is made anew.
pub fn image(config: &SeenConfig) -> String {
    let image = &config.spec.image;
    format!("{}:{}", image.repository, image.tag)
}

/// The Job. `certificate` is that of the server of the authority, which it makes along the way.
pub fn job(
    authority: &SeenAuthority,
    config: &SeenConfig,
    certificate: Option<&SeenCertificate>,
) -> Value {
    let name = names::authority_setup(&authority.name);
    let labels = objects::labels(&authority.name);
    json!({
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": objects::owner(authority).metadata(name.clone(), labels.clone()),
        "spec": {
            "backoffLimit": 3,
            "template": {
                "metadata": {"labels": labels},
                "spec": {
                    "serviceAccountName": name,
                    "restartPolicy": "Never",
                    "securityContext": {
                        "runAsUser": 1001,
                        "runAsGroup": 0,
                        "runAsNonRoot": true,
                        "seccompProfile": {"type": "RuntimeDefault"},
                    },
                    "containers": [container(authority, config, certificate)],
                    "volumes": volumes(authority, config),
                },
            },
        },
    })
}

fn container(
    authority: &SeenAuthority,
    config: &SeenConfig,
    certificate: Option<&SeenCertificate>,
) -> Value {
    let mut container = json!({
        "name": "ca-setup",
        "image": image(config),
        "command": ["/bin/bash", "-c", SCRIPT],
        "env": environment(authority, config, certificate),
        "resources": resources(&authority.spec.resources),
        "securityContext": {
            "allowPrivilegeEscalation": false,
            "readOnlyRootFilesystem": true,
            "capabilities": {"drop": ["ALL"]},
        },
        "volumeMounts": [
            {"name": "ca-data", "mountPath": "/etc/puppetlabs/puppetserver/ca"},
            {"name": "ssl", "mountPath": "/etc/puppetlabs/puppet/ssl"},
            {
                "name": "puppet-conf",
                "mountPath": "/etc/puppetlabs/puppet/puppet.conf",
                "subPath": "puppet.conf",
                "readOnly": true,
            },
            {
                "name": "puppetserver-conf",
                "mountPath": "/etc/puppetlabs/puppetserver/conf.d/puppetserver.conf",
                "subPath": "puppetserver.conf",
                "readOnly": true,
            },
            {"name": "puppetserver-data", "mountPath": "/run/puppetserver"},
            {"name": "tmp", "mountPath": "/tmp"},
        ],
    });
    let pull_policy = &config.spec.image.pull_policy;
    if !pull_policy.is_empty()
        && let Some(fields) = container.as_object_mut()
    {
        fields.insert("imagePullPolicy".to_owned(), json!(pull_policy));
    }
    container
}

fn environment(
    authority: &SeenAuthority,
    config: &SeenConfig,
    certificate: Option<&SeenCertificate>,
) -> Vec<Value> {
    let host = names::authority_host(&authority.name, &authority.namespace);
    let names_of = |certificate: &SeenCertificate| {
        let mut names = certificate.spec.dns_alt_names.clone();
        if !names.contains(&host) {
            names.push(host.clone());
        }
        names.join(",")
    };
    let variables = [
        (
            "CERTNAME",
            certificate
                .map_or(names::DEFAULT_CERTNAME, |certificate| {
                    certname(&certificate.spec)
                })
                .to_owned(),
        ),
        (
            "DNS_ALT_NAMES",
            certificate.map(names_of).unwrap_or_default(),
        ),
        ("CA_SECRET_NAME", names::authority_secret(&authority.name)),
        (
            "CA_KEY_SECRET_NAME",
            names::authority_key_secret(&authority.name),
        ),
        (
            "CA_CRL_SECRET_NAME",
            names::revocation_secret(&authority.name),
        ),
        ("CA_NAME", authority.name.clone()),
        ("CONFIG_NAME", config.name.clone()),
        (
            "SSL_SECRET_NAME",
            certificate
                .map(|certificate| names::tls_secret(&certificate.name))
                .unwrap_or_default(),
        ),
        (
            "CERT_RESOURCE_NAME",
            certificate
                .map(|certificate| certificate.name.clone())
                .unwrap_or_default(),
        ),
    ];
    let variables = variables.into_iter();
    // An empty value is stored as none.
    variables
        .map(|(name, value)| {
            if value.is_empty() {
                json!({"name": name})
            } else {
                json!({"name": name, "value": value})
            }
        })
        .collect()
}

fn resources(asked: &ResourceRequirements) -> Value {
    let is_empty = |quantities: &Option<std::collections::BTreeMap<_, _>>| {
        quantities
            .as_ref()
            .is_none_or(std::collections::BTreeMap::is_empty)
    };
    if is_empty(&asked.requests) && is_empty(&asked.limits) {
        return json!({
            "requests": {"cpu": "200m", "memory": "768Mi"},
            "limits": {"cpu": "1", "memory": "1Gi"},
        });
    }
    json!(asked)
}

fn volumes(authority: &SeenAuthority, config: &SeenConfig) -> Value {
    let file = |volume: &str, file: &str| {
        json!({
            "name": volume,
            "configMap": {
                "name": names::config_map(&config.name),
                "items": [{"key": file, "path": file}],
            },
        })
    };
    let claim = names::authority_claim(&authority.name);
    json!([
        {"name": "ca-data", "persistentVolumeClaim": {"claimName": claim}},
        {"name": "ssl", "emptyDir": {}},
        {"name": "puppetserver-data", "emptyDir": {}},
        {"name": "tmp", "emptyDir": {}},
        file("puppet-conf", "puppet.conf"),
        file("puppetserver-conf", "puppetserver.conf"),
    ])
}
