//! Checks that need all descriptors at once. Any finding forbids rendering.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    catalog,
    config::{
        Common, ManagedServices, Root, Services,
        field::{Kind, Section},
    },
    finding::{Code, Finding},
    flux::CLUSTER_SOURCE,
    service,
};

use super::{
    Condition, Descriptor, Origin, Owner, TemplateStore,
    load::{in_layer, is_safe_relative},
};

/// The prefix of descriptors that are made from service blocks.
const AUTO_PREFIX: &str = "auto-service-";

type Descriptors = BTreeMap<String, Descriptor>;

/// Whether a descriptor takes a name that is taken.
pub(super) fn duplicate(
    known: &Descriptors,
    descriptor: &Descriptor,
    file: &str,
) -> Option<Finding> {
    known.contains_key(&descriptor.name).then(|| {
        let message = format!("`{}` is described twice", descriptor.name);
        let mut finding = Finding::new(Code::Oc5004, "name", message);
        finding.file = Some(file.to_owned());
        finding
    })
}

/// Everything that is wrong with the descriptors as a whole.
pub(super) fn registry(descriptors: &Descriptors, store: &TemplateStore) -> Vec<Finding> {
    let mut findings = Vec::new();
    for descriptor in descriptors.values() {
        names(descriptor, descriptors, &mut findings);
        conditions(descriptor, &mut findings);
        paths(descriptor, &mut findings);
        templates(descriptor, store, &mut findings);
    }
    owners(descriptors, &mut findings);
    flux_units(descriptors, &mut findings);
    sources(descriptors, &mut findings);
    outputs(descriptors, &mut findings);
    coverage(descriptors, store, &mut findings);
    findings
}

fn report(findings: &mut Vec<Finding>, code: Code, descriptor: &Descriptor, message: String) {
    findings.push(Finding::new(code, descriptor.name.as_str(), message));
}

/// Aggregates, dependencies and renderers that a descriptor names must exist.
fn names(descriptor: &Descriptor, all: &Descriptors, findings: &mut Vec<Finding>) {
    for target in &descriptor.aggregate_targets {
        if !all.contains_key(target) {
            report(
                findings,
                Code::Oc5016,
                descriptor,
                format!("there is no aggregate `{target}`"),
            );
        }
    }
    let dependencies = descriptor
        .dependencies
        .iter()
        .chain(&descriptor.soft_dependencies);
    for dependency in dependencies {
        if catalog::find(dependency).is_none() {
            report(
                findings,
                Code::Oc5017,
                descriptor,
                format!("there is no service `{dependency}`"),
            );
        }
    }
    if let Some(renderer) = &descriptor.renderer
        && service::renderer(renderer).is_none()
        && !CODE_ONLY.contains(&renderer.as_str())
    {
        report(
            findings,
            Code::Oc5026,
            descriptor,
            format!("there is no renderer `{renderer}`"),
        );
    }
    if descriptor.name.starts_with(AUTO_PREFIX) {
        let message = format!("names that start with `{AUTO_PREFIX}` are made from service blocks");
        report(findings, Code::Oc5030, descriptor, message);
    }
}

/// Units whose files are made by the renderer itself.
const CODE_ONLY: &[&str] = &[
    "customer-managed-overlay",
    "managed-services-fluxcd-aggregate",
    "managed-services-sources-aggregate",
    "root-overlay",
    "services-sources-aggregate",
];

/// A service belongs to one descriptor.
fn owners(descriptors: &Descriptors, findings: &mut Vec<Finding>) {
    let mut seen: BTreeMap<&Owner, &str> = BTreeMap::new();
    for descriptor in descriptors
        .values()
        .filter(|descriptor| descriptor.owner != Owner::Cluster)
    {
        if let Some(first) = seen.insert(&descriptor.owner, &descriptor.name) {
            let service = descriptor.owner.service().unwrap_or_default();
            let message = format!("`{service}` belongs to `{first}` already");
            report(findings, Code::Oc5030, descriptor, message);
        }
    }
}

fn conditions(descriptor: &Descriptor, findings: &mut Vec<Finding>) {
    let of_units = descriptor.flux_units.iter().flat_map(|unit| {
        let dependencies = unit.depends_on.iter().flatten();
        unit.when
            .iter()
            .chain(dependencies.filter_map(|dependency| dependency.when.as_ref()))
    });
    let all = descriptor
        .enabled_when
        .iter()
        .chain(
            descriptor
                .sources
                .iter()
                .filter_map(|source| source.when.as_ref()),
        )
        .chain(
            descriptor
                .files
                .iter()
                .filter_map(|file| file.when.as_ref()),
        )
        .chain(of_units);
    for Condition { field, .. } in all {
        if !field_exists(field) {
            report(
                findings,
                Code::Oc5012,
                descriptor,
                format!("the config has no field `{field}`"),
            );
        }
    }
}

/// Whether a dotted path names a field of the config's types, whatever a particular config holds.
pub(super) fn field_exists(path: &str) -> bool {
    let steps: Vec<&str> = path.split('.').collect();
    exists_in_section(Root::SECTION, &steps)
}

fn exists_in_section(section: &'static Section, steps: &[&str]) -> bool {
    let [first, rest @ ..] = steps else {
        return true;
    };
    match section.field(first) {
        Some(field) => exists_in_kind(field.kind, rest),
        None => section.open,
    }
}

fn exists_in_kind(kind: Kind, steps: &[&str]) -> bool {
    let [first, rest @ ..] = steps else {
        return true;
    };
    let of_service = |known: bool, settings: Option<&'static Section>| {
        known
            && (exists_in_section(Common::SECTION, rest)
                || settings.is_some_and(|section| exists_in_section(section, rest)))
    };
    match kind {
        Kind::Object(section) => exists_in_section(section, steps),
        Kind::Map(value) => exists_in_kind(*value, rest),
        Kind::Services => of_service(
            catalog::find_service(first).is_some(),
            Services::settings_section(first),
        ),
        Kind::ManagedServices => of_service(
            catalog::find_managed(first).is_some(),
            ManagedServices::settings_section(first),
        ),
        Kind::Opaque | Kind::Any => true,
        Kind::Boolean | Kind::Integer | Kind::Text | Kind::Choice(_) | Kind::List(_) => false,
    }
}

fn paths(descriptor: &Descriptor, findings: &mut Vec<Finding>) {
    let outputs = descriptor.files.iter().map(|file| &file.output);
    let flux_files = descriptor
        .flux_units
        .iter()
        .filter_map(|unit| unit.file.as_ref());
    let source_files = descriptor.sources.iter().map(|source| &source.file);
    let plain = flux_files
        .chain(source_files)
        .chain([&descriptor.flux_file]);
    for path in plain {
        if !is_safe_relative(path) {
            report(
                findings,
                Code::Oc5024,
                descriptor,
                format!("`{path}` leaves its directory"),
            );
        }
    }
    for path in outputs.chain(&descriptor.root) {
        if !is_safe_relative(path) || !in_layer(path, descriptor.layer) {
            report(
                findings,
                Code::Oc5024,
                descriptor,
                format!("`{path}` leaves its layer"),
            );
        }
    }
}

/// Every file has a template: in code, in the store, or one that is always generated.
fn templates(descriptor: &Descriptor, store: &TemplateStore, findings: &mut Vec<Finding>) {
    const GENERATED: &[&str] = &[
        "kustomization.yaml",
        "namespace/kustomization.yaml",
        "namespace/namespace.yaml",
        service::VALUES,
    ];
    let root = descriptor.root.as_deref().unwrap_or_default();
    let code = service::renderer(&descriptor.name);
    for file in &descriptor.files {
        let in_code = code.is_some_and(|renderer| renderer.template(&file.template).is_some());
        let in_store = store.user_template(root, &file.template).is_some();
        if !in_code && !in_store && !GENERATED.contains(&file.template.as_str()) {
            let message = format!("the template `{root}/{}` is missing", file.template);
            report(findings, Code::Oc5027, descriptor, message);
        }
    }
}

fn flux_units(descriptors: &Descriptors, findings: &mut Vec<Finding>) {
    let all = || {
        descriptors.values().flat_map(|descriptor| {
            descriptor
                .flux_units
                .iter()
                .map(move |unit| (descriptor, unit))
        })
    };
    let mut names = BTreeSet::new();
    for (descriptor, unit) in all() {
        if !names.insert(unit.name.as_str()) {
            let message = format!("the flux unit `{}` exists already", unit.name);
            report(findings, Code::Oc5020, descriptor, message);
        }
    }
    let sources: BTreeSet<&str> = descriptors
        .values()
        .flat_map(|descriptor| descriptor.sources.iter().map(|source| source.name.as_str()))
        .collect();
    for (descriptor, unit) in all() {
        for dependency in unit.depends_on.iter().flatten() {
            if !names.contains(dependency.name.as_str()) {
                let message = format!(
                    "`{}` depends on `{}`, which nobody emits",
                    unit.name, dependency.name
                );
                report(findings, Code::Oc5022, descriptor, message);
            }
        }
        let source = unit.source_ref.as_deref().unwrap_or(CLUSTER_SOURCE);
        if source != CLUSTER_SOURCE && !sources.contains(source) {
            let message = format!("`{}` reads `{source}`, which nobody emits", unit.name);
            report(findings, Code::Oc5021, descriptor, message);
        }
    }
}

fn sources(descriptors: &Descriptors, findings: &mut Vec<Finding>) {
    let mut seen: BTreeMap<&str, &super::SourceEntry> = BTreeMap::new();
    for descriptor in descriptors.values() {
        for source in &descriptor.sources {
            let Some(first) = seen.insert(&source.name, source) else {
                continue;
            };
            if !(first.shared && source.shared && first == source) {
                let message = format!("the source `{}` exists already", source.name);
                report(findings, Code::Oc5023, descriptor, message);
            }
        }
    }
}

fn outputs(descriptors: &Descriptors, findings: &mut Vec<Finding>) {
    let mut seen = BTreeSet::new();
    for descriptor in descriptors.values() {
        for file in &descriptor.files {
            if !seen.insert(file.output.as_str()) {
                let message = format!("`{}` is written already", file.output);
                report(findings, Code::Oc5025, descriptor, message);
            }
        }
    }
}

/// Every template belongs to exactly one descriptor, those in code as well as those of the user.
fn coverage(descriptors: &Descriptors, store: &TemplateStore, findings: &mut Vec<Finding>) {
    for renderer in service::renderers() {
        let Some(descriptor) = descriptors.get(renderer.unit) else {
            let message = format!(
                "the templates of `{}` belong to no descriptor",
                renderer.unit
            );
            findings.push(Finding::new(Code::Oc5028, renderer.unit, message));
            continue;
        };
        for template in renderer.templates {
            let owners = descriptor
                .files
                .iter()
                .filter(|file| file.template == template.name)
                .count();
            let name = format!(
                "{}/{}",
                descriptor.root.as_deref().unwrap_or_default(),
                template.name
            );
            count(owners, &name, findings);
        }
    }
    for path in store.paths() {
        let plain = path.strip_suffix(".tpl").unwrap_or(path);
        let owners = descriptors
            .values()
            .filter(|descriptor| descriptor.origin == Origin::User)
            .flat_map(|descriptor| {
                let root = descriptor.root.as_deref().unwrap_or_default();
                descriptor.files.iter().map(move |file| (root, file))
            })
            .filter(|(root, file)| {
                plain
                    .strip_prefix(root)
                    .and_then(|rest| rest.strip_prefix('/'))
                    == Some(&file.template)
            })
            .count();
        count(owners, path, findings);
    }
}

fn count(owners: usize, template: &str, findings: &mut Vec<Finding>) {
    match owners {
        1 => {}
        0 => findings.push(Finding::new(
            Code::Oc5028,
            template,
            format!("the template `{template}` belongs to no descriptor"),
        )),
        _ => findings.push(Finding::new(
            Code::Oc5029,
            template,
            format!("the template `{template}` belongs to several descriptors"),
        )),
    }
}
