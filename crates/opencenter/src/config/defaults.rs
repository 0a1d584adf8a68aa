//! Fills in what is absent. Explicit values are never touched.
//!
//! Defaults of types are not recorded: what is neither in the file nor recorded as derived is one.

use serde_json::{Map, Value};

use super::{
    Common, ManagedServices, Services,
    draft::Draft,
    field::{Fallback, Kind, Section},
    origin::{Origin, Origins},
    path,
    root::{Provider, Root},
};
use crate::catalog::CATALOG;

/// Address of the public base repository, without its scheme.
const BASE_REPOSITORY: &str = "github.com/opencenter-cloud/openCenter-gitops-base.git";

/// Fills in all defaults of a draft.
pub(crate) fn fill(draft: &mut Draft) {
    let Draft { value, origins, .. } = draft;
    if let Value::Object(root) = value {
        fill_section(Root::SECTION, root);
    }
    fill_derived(&mut DefaultRules { value, origins });
}

fn fill_section(section: &'static Section, fields: &mut Map<String, Value>) {
    for field in section.fields {
        if !fields.contains_key(field.name) {
            match (field.fallback, field.kind) {
                (Fallback::Filled(literal), _) => {
                    fields.insert(field.name.to_owned(), literal.to_value());
                    continue;
                }
                (_, Kind::Object(_)) if !field.optional => {
                    fields.insert(field.name.to_owned(), Value::Object(Map::new()));
                }
                _ => continue,
            }
        }
        if let Some(value) = fields.get_mut(field.name) {
            fill_value(&field.kind, value);
        }
    }
}

fn fill_value(kind: &'static Kind, value: &mut Value) {
    match (kind, value) {
        (Kind::Object(section), Value::Object(fields)) => fill_section(section, fields),
        (Kind::List(item), Value::Array(items)) => {
            for value in items {
                fill_value(item, value);
            }
        }
        (Kind::Map(item), Value::Object(entries)) => {
            for value in entries.values_mut() {
                fill_value(item, value);
            }
        }
        (Kind::Services, Value::Object(blocks)) => {
            fill_services(blocks, Services::settings_section);
        }
        (Kind::ManagedServices, Value::Object(blocks)) => {
            fill_services(blocks, ManagedServices::settings_section);
        }
        _ => {}
    }
}

fn fill_services(blocks: &mut Map<String, Value>, settings: fn(&str) -> Option<&'static Section>) {
    for (name, block) in blocks {
        if let Value::Object(fields) = block {
            for section in std::iter::once(Common::SECTION).chain(settings(name)) {
                fill_section(section, fields);
            }
        }
    }
}

/// Gives services of the catalog their namespaces.
fn fill_namespaces(rules: &mut DefaultRules<'_>) {
    for entry in CATALOG {
        if let Some(namespace) = entry.namespace {
            rules.set_with(
                &entry.config_path(),
                "namespace",
                namespace.into(),
                Origin::CatalogDefault,
            );
        }
    }
}

/// The draft while rules over other values are applied.
pub(crate) struct DefaultRules<'draft> {
    value: &'draft mut Value,
    origins: &'draft mut Origins,
}

impl DefaultRules<'_> {
    /// The text at a path; empty if there is none.
    pub(crate) fn text(&self, path: &str) -> String {
        let found = path::get(self.value, path).and_then(Value::as_str);
        found.unwrap_or_default().to_owned()
    }

    /// Sets a value if its holder exists and has none; the rule is what `--show-origin` says.
    pub(crate) fn set(
        &mut self,
        holder: &str,
        field: &str,
        value: impl Into<Value>,
        rule: &'static str,
    ) {
        self.set_with(holder, field, value.into(), Origin::Derived(rule));
    }

    pub(crate) fn set_with(&mut self, holder: &str, field: &str, value: Value, origin: Origin) {
        if let Some(Value::Object(fields)) = path::get_mut(self.value, holder)
            && !fields.contains_key(field)
            && value.as_str() != Some("")
        {
            fields.insert(field.to_owned(), value);
            self.origins
                .record_default(path::child(holder, field), origin);
        }
    }
}

fn fill_derived(rules: &mut DefaultRules<'_>) {
    fill_namespaces(rules);
    fill_identity(rules);
    fill_gitops(rules);
    fill_infrastructure(rules);
    fill_hosts(rules);
    for defaults in CATALOG.iter().filter_map(|entry| entry.defaults) {
        defaults(rules);
    }
}

fn fill_identity(rules: &mut DefaultRules<'_>) {
    let cluster = "opencenter.cluster";
    rules.set(
        cluster,
        "cluster_name",
        rules.text("opencenter.meta.name"),
        "opencenter.meta.name",
    );
    let name = rules.text("opencenter.cluster.cluster_name");
    if name.is_empty() {
        return;
    }
    let region = rules.text("opencenter.meta.region");
    let domain = rules.text("opencenter.cluster.base_domain");
    rules.set(
        cluster,
        "cluster_fqdn",
        format!("{name}.{region}.{domain}"),
        "<cluster_name>.<region>.<base_domain>",
    );
}

fn fill_gitops(rules: &mut DefaultRules<'_>) {
    let repository = "opencenter.gitops.repository";
    let name = rules.text("opencenter.cluster.cluster_name");
    let organization = rules.text("opencenter.meta.organization");
    rules.set(
        repository,
        "path",
        format!("clusters/{name}"),
        "clusters/<cluster_name>",
    );
    rules.set(
        repository,
        "local_dir",
        format!("clusters/{organization}"),
        "clusters/<organization>",
    );
    let is_ssh = path::get(rules.value, "opencenter.gitops.auth.ssh").is_some();
    let (scheme, rule) = if is_ssh {
        ("ssh://git@", "the public base repository over ssh")
    } else {
        ("https://", "the public base repository over https")
    };
    rules.set(
        "opencenter.gitops.base_repo",
        "url",
        format!("{scheme}{BASE_REPOSITORY}"),
        rule,
    );
}

fn fill_infrastructure(rules: &mut DefaultRules<'_>) {
    let infrastructure = "opencenter.infrastructure";
    let provider = Provider::from_word(&rules.text("opencenter.infrastructure.provider"));
    let (class, rule) = match provider {
        Some(Provider::Openstack) => ("csi-cinder-sc-delete", "openstack"),
        Some(Provider::Vmware) => ("vsphere-csi", "vmware"),
        _ => ("Performance", "other providers"),
    };
    rules.set_with(
        &format!("{infrastructure}.storage"),
        "default_storage_class",
        class.into(),
        Origin::ProviderDefault(rule),
    );
    let openstack = "opencenter.infrastructure.cloud.openstack";
    if provider == Some(Provider::Openstack) {
        let empty = Value::Object(Map::new());
        rules.set_with(
            "opencenter.infrastructure.cloud",
            "openstack",
            empty.clone(),
            Origin::ProviderDefault("openstack"),
        );
        rules.set_with(
            openstack,
            "networking",
            empty,
            Origin::ProviderDefault("openstack"),
        );
    }
    let region = rules.text("opencenter.meta.region");
    rules.set(
        openstack,
        "region",
        region.clone(),
        "opencenter.meta.region",
    );
    rules.set(
        openstack,
        "auth_url",
        format!("https://keystone.api.{region}.rackspacecloud.com/v3/"),
        "https://keystone.api.<region>.rackspacecloud.com/v3/",
    );
}

/// Gives web interfaces their host names.
fn fill_hosts(rules: &mut DefaultRules<'_>) {
    let fqdn = rules.text("opencenter.cluster.cluster_fqdn");
    for entry in CATALOG {
        for host in entry.hosts {
            let name = format!("{}.{fqdn}", host.label);
            rules.set(&entry.config_path(), host.field, name, host.rule);
        }
    }
}
