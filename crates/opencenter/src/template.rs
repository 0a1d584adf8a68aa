//! New configs: a short one to start with, and a full one that shows every field.

use std::fmt::Write as _;

use mainstay_yaml::SourceName;
use serde_json::{Map, Value, json};

use crate::{
    catalog::{CATALOG, ServiceLayer},
    config::{
        Common, LoadOptions, NoSurroundings, Provider, Root,
        field::{Fallback, Field, Kind, Section},
        load, path, provider_choices,
    },
};

/// What a new config is made from.
#[derive(Clone, Debug)]
pub struct NewCluster {
    /// Name of the cluster.
    pub name: String,
    /// Organization that owns it.
    pub organization: String,
    /// Infrastructure provider.
    pub provider: Provider,
    /// Region of the infrastructure.
    pub region: String,
    /// Environment, such as dev or production.
    pub environment: String,
    /// Domain that all clusters share, if not the usual one.
    pub base_domain: Option<String>,
    /// Address of the administrators, if it is known.
    pub admin_email: Option<String>,
    /// Version of Kubernetes, if not the usual one.
    pub kubernetes_version: Option<String>,
    /// Password of Grafana's administrator; made by chance elsewhere.
    pub grafana_password: crate::config::Secret,
    /// When the config is made (RFC 3339).
    pub now: String,
    /// Who makes it.
    pub created_by: String,
}

/// A short config: what cannot be guessed, and the services that a new cluster usually has.
pub fn minimal(cluster: &NewCluster) -> String {
    let value = minimal_value(cluster);
    let mut out = String::from(
        "---\n# Cluster config. `cluster service options <service>` lists what else can be set.\n\
         # Replace every CHANGEME before deploying.\n",
    );
    let order = ["schema_version", "metadata", "opencenter", "secrets"];
    for key in order {
        if let Some(part) = value.get(key) {
            write_ordered(&mut out, key, part, 0);
        }
    }
    out
}

/// A full config: every section and service, each field with its description; what has no value is commented out.
pub fn full(cluster: &NewCluster) -> String {
    let mut value = minimal_value(cluster);
    for entry in CATALOG {
        let map = match entry.layer {
            ServiceLayer::ManagedServices => "managed_services",
            ServiceLayer::Services | ServiceLayer::Structural => "services",
            ServiceLayer::ConfigOnly => continue,
        };
        let block = &mut value["opencenter"][map][entry.name];
        if block.is_null() {
            *block = json!({"enabled": entry.layer == ServiceLayer::Structural});
        }
    }
    let text = mainstay_yaml::print(&value);
    let loaded = load(
        text.as_bytes(),
        &SourceName::new("template"),
        &NoSurroundings,
        &LoadOptions::default(),
    );
    let effective = loaded
        .config
        .map_or(value, |config| config.effective().clone());
    let mut out = String::from(
        "---\n# Cluster config with every field. Values that are written out are the defaults.\n",
    );
    if let Value::Object(fields) = &effective {
        write_section(&mut out, &[Root::SECTION], fields, "", 0);
    }
    out
}

fn minimal_value(cluster: &NewCluster) -> Value {
    let is_kind = cluster.provider == Provider::Kind;
    let services: Map<String, Value> = CATALOG
        .iter()
        .filter(|entry| {
            entry.layer == ServiceLayer::Services
                && entry.enabled_at_init_for(cluster.provider)
                && !entry.not_with.contains(&cluster.provider)
        })
        .map(|entry| (entry.name.to_owned(), json!({"enabled": true})))
        .collect();
    let mut value = json!({
        "schema_version": "2.0",
        "metadata": {
            "created_at": cluster.now,
            "updated_at": cluster.now,
            "created_by": cluster.created_by,
        },
        "opencenter": {
            "meta": {
                "name": cluster.name,
                "organization": cluster.organization,
                "env": cluster.environment,
                "region": cluster.region,
            },
            "cluster": {"kubernetes": {"network_plugin": {"calico": {
                "enabled": true,
                "version": "3.31.6",
                "vxlan_mode": "Always",
                "network_policy": true,
                "nat_outgoing": false,
                "install_method": "helm",
            }}}},
            "infrastructure": {"provider": cluster.provider.as_str()},
            "gitops": {
                "repository": {
                    "url": format!("https://github.com/{}/cluster-config.git", cluster.organization),
                },
                "base_repo": {"branch": "main"},
                "auth": {"token": {"provider": "github", "token": "CHANGEME"}},
            },
            "services": services,
        },
        "secrets": {
            "sops": {"age_key_file": "~/.config/sops/age/keys.txt"},
            "global": {"aws": {"application": {"access_key": "CHANGEME", "secret_access_key": "CHANGEME"}}},
            "grafana": {"admin_password": cluster.grafana_password.expose()},
        },
    });
    for (name, chosen) in [
        ("base_domain", &cluster.base_domain),
        ("admin_email", &cluster.admin_email),
    ] {
        if let Some(chosen) = chosen {
            value["opencenter"]["cluster"][name] = chosen.as_str().into();
        }
    }
    if let Some(version) = &cluster.kubernetes_version {
        value["opencenter"]["cluster"]["kubernetes"]["version"] = version.as_str().into();
    }
    if is_kind {
        value["opencenter"]["cluster"]["kubernetes"]["subnet_pods"] = "10.244.0.0/16".into();
        value["opencenter"]["cluster"]["kubernetes"]["subnet_services"] = "10.96.0.0/16".into();
    } else {
        value["opencenter"]["gitops"]["base_repo"]["release"] = "2026.01".into();
    }
    match cluster.provider {
        Provider::Openstack => {
            value["opencenter"]["infrastructure"]["cloud"]["openstack"] = json!({
                "project_name": "CHANGEME",
                "application_credential_id": "CHANGEME",
                "application_credential_secret": "CHANGEME",
            });
        }
        Provider::Aws | Provider::Gcp | Provider::Azure | Provider::Vmware => {
            value["opencenter"]["infrastructure"]["cloud"][cluster.provider.as_str()] = json!({});
        }
        Provider::Baremetal | Provider::Kind => {}
    }
    for placeholder in CATALOG.iter().flat_map(|entry| entry.placeholders) {
        if let Some((block, field)) = placeholder.split_once('.') {
            value["secrets"][block][field] = "CHANGEME".into();
        }
    }
    propose_backup_store(&mut value, cluster.provider);
    value
}

/// Lets velero keep backups in the provider's own object store.
fn propose_backup_store(value: &mut Value, provider: Provider) {
    let keys: &[&str] = match provider {
        Provider::Aws => &["s3_access_key", "s3_secret_key"],
        Provider::Gcp => &["gcp_service_account_key"],
        Provider::Azure => &["azure_storage_account_key"],
        Provider::Openstack | Provider::Baremetal | Provider::Vmware | Provider::Kind => return,
    };
    let store = provider_choices::default_storage_type(provider);
    value["opencenter"]["services"]["velero"]["storage_type"] = store.as_str().into();
    for key in keys {
        value["secrets"]["service_secrets"]["velero"][*key] = "CHANGEME".into();
    }
}

/// Writes a value in the order of the schema, without comments.
fn write_ordered(out: &mut String, key: &str, value: &Value, depth: usize) {
    let indent = "  ".repeat(depth);
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            let _ = writeln!(out, "{indent}{key}:");
            for name in field_order(fields) {
                if let Some(inner) = fields.get(name) {
                    write_ordered(out, name, inner, depth + 1);
                }
            }
        }
        other => {
            let _ = writeln!(out, "{indent}{key}: {}", scalar(other));
        }
    }
}

/// Names of fields as people expect them: identity first, `enabled` on top, the rest by name.
fn field_order(fields: &Map<String, Value>) -> Vec<&str> {
    const FIRST: [&str; 9] = [
        "enabled",
        "name",
        "meta",
        "cluster",
        "infrastructure",
        "gitops",
        "repository",
        "url",
        "base_repo",
    ];
    let mut names: Vec<&str> = fields.keys().map(String::as_str).collect();
    names.sort_by_key(|name| {
        let place = FIRST.iter().position(|first| first == name);
        (place.unwrap_or(FIRST.len()), *name)
    });
    names
}

fn write_section(
    out: &mut String,
    sections: &[&'static Section],
    fields: &Map<String, Value>,
    path: &str,
    depth: usize,
) {
    for field in sections.iter().flat_map(|section| section.fields) {
        let hidden = field.deprecated || (field.rendering_field && path.starts_with("opencenter."));
        if !hidden {
            write_field(
                out,
                field,
                fields.get(field.name),
                &path::child(path, field.name),
                depth,
            );
        }
    }
}

fn write_field(
    out: &mut String,
    field: &'static Field,
    value: Option<&Value>,
    path: &str,
    depth: usize,
) {
    let indent = "  ".repeat(depth);
    let _ = writeln!(out, "{indent}# {}{}", field.description(), hint(field));
    match (value, field.kind) {
        (Some(Value::Object(fields)), Kind::Object(section)) => {
            let _ = writeln!(out, "{indent}{}:", field.name);
            let before = out.len();
            write_section(out, &[section], fields, path, depth + 1);
            if !has_content(out.get(before..).unwrap_or_default()) {
                let _ = writeln!(out, "{indent}  {{}}");
            }
        }
        (Some(Value::Object(blocks)), Kind::Services | Kind::ManagedServices) => {
            let _ = writeln!(out, "{indent}{}:", field.name);
            write_services(out, blocks, path, depth + 1);
        }
        (Some(value), _) if value.as_object().is_none_or(|fields| !fields.is_empty()) => {
            let block = mainstay_yaml::print(&json!({ field.name: value }));
            for line in block.lines() {
                let _ = writeln!(out, "{indent}{line}");
            }
        }
        _ => {
            let _ = writeln!(out, "{indent}# {}:{}", field.name, example(field));
        }
    }
}

fn write_services(out: &mut String, blocks: &Map<String, Value>, path: &str, depth: usize) {
    let indent = "  ".repeat(depth);
    for entry in CATALOG {
        let Some(Value::Object(fields)) = blocks.get(entry.name) else {
            continue;
        };
        let _ = writeln!(
            out,
            "{indent}# {}.\n{indent}{}:",
            entry.description, entry.name
        );
        let sections = [Common::SECTION, entry.settings()];
        write_section(
            out,
            &sections,
            fields,
            &path::child(path, entry.name),
            depth + 1,
        );
    }
}

/// Whether some line is more than a comment.
fn has_content(text: &str) -> bool {
    text.lines().any(|line| !line.trim_start().starts_with('#'))
}

fn hint(field: &Field) -> String {
    match field.choices() {
        Some(words) => format!(" One of {}.", words.join(", ")),
        None => String::new(),
    }
}

fn example(field: &Field) -> String {
    match (field.fallback, field.kind) {
        (Fallback::Filled(literal) | Fallback::Chart(literal), _) => {
            format!(" {}", scalar(&literal.to_value()))
        }
        (_, Kind::List(_)) => " []".into(),
        (_, Kind::Object(_) | Kind::Map(_) | Kind::Opaque) => " {}".into(),
        _ => String::new(),
    }
}

fn scalar(value: &Value) -> String {
    let printed = mainstay_yaml::print(value);
    printed.trim_end_matches('\n').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{config::Secret, finding::Severity};

    fn cluster(provider: Provider) -> NewCluster {
        NewCluster {
            name: "demo".into(),
            organization: "example-org".into(),
            provider,
            environment: "dev".to_owned(),
            base_domain: None,
            admin_email: None,
            kubernetes_version: None,
            region: "ord1".into(),
            grafana_password: Secret::new("generated-password"),
            now: "2026-01-02T03:04:05Z".into(),
            created_by: "operator".into(),
        }
    }

    fn errors(text: &str) -> Vec<String> {
        let loaded = load(
            text.as_bytes(),
            &SourceName::new("new.yaml"),
            &NoSurroundings,
            &LoadOptions::default(),
        );
        loaded
            .findings
            .iter()
            .filter(|finding| finding.severity == Severity::Error)
            .map(crate::finding::Finding::to_text)
            .collect()
    }

    #[test]
    fn new_configs_are_valid_for_every_provider() {
        for word in Provider::WORDS {
            let cluster = cluster(Provider::from_word(word).unwrap());
            assert_eq!(errors(&minimal(&cluster)), Vec::<String>::new(), "{word}");
            assert_eq!(errors(&full(&cluster)), Vec::<String>::new(), "{word}");
        }
    }

    #[test]
    fn the_full_config_means_what_the_short_one_means() {
        let cluster = cluster(Provider::Openstack);
        let load = |text: &str| {
            let source = SourceName::new("new.yaml");
            load(
                text.as_bytes(),
                &source,
                &NoSurroundings,
                &LoadOptions::default(),
            )
            .config
            .unwrap()
        };
        let (short, long) = (load(&minimal(&cluster)), load(&full(&cluster)));
        for entry in CATALOG {
            assert_eq!(
                short.is_active(entry.name),
                long.is_active(entry.name),
                "{}",
                entry.name
            );
        }
        assert_eq!(short.services().keycloak, long.services().keycloak);
        assert_eq!(short.secrets, long.secrets);
    }

    #[test]
    fn the_short_config_is_short_and_starts_with_a_marker() {
        let text = minimal(&cluster(Provider::Kind));
        assert!(text.starts_with("---\n#"));
        assert!(text.lines().count() < 120, "{}", text.lines().count());
        assert!(text.contains("subnet_pods: 10.244.0.0/16"));
        assert!(!text.contains("velero"));
    }
}
