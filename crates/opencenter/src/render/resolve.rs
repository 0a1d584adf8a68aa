//! Sources and Flux units of a unit, with everything decided.

use crate::{
    config::{AdoptionMode, Common},
    descriptor::{
        Adoption, FluxUnitEntry, HealthCheck, Include, Layer, OVERLAY_PREFIX, Owner, Role,
        SourceEntry, SourceKind, TargetNamespace,
    },
    finding::{Code, Finding},
    flux::{
        CLUSTER_SOURCE, FluxUnit, GitAuthentication, GitRepository, GitUrlError, Reference,
        convert_git_url,
    },
    overlay::{ActionKind, OverlayFile},
};

use super::{
    Context, Failure, dependency,
    expand::Expanded,
    failure,
    plan::{Plan, PlannedUnit, adoption, emitted_flux_units, emitted_sources, owner_block},
};

/// The source files of a unit.
pub(super) fn sources(
    ctx: &Context<'_>,
    unit: &PlannedUnit<'_>,
    findings: &mut Vec<Finding>,
) -> Vec<(String, OverlayFile)> {
    let directory = unit.descriptor.layer.directory();
    let mut files = Vec::new();
    for source in emitted_sources(ctx, unit) {
        match git_repository(ctx, unit, source) {
            Ok(repository) => files.push((
                format!("{directory}/sources/{}", source.file),
                OverlayFile {
                    bytes: repository.to_text().into_bytes(),
                    owner: unit.descriptor.name.clone(),
                    kind: ActionKind::Source,
                    sensitivity: None,
                    condition: source
                        .when
                        .as_ref()
                        .map(|when| when.decide(ctx.config.effective())),
                },
            )),
            Err(failure) => findings.push(*failure),
        }
    }
    files
}

fn git_repository(
    ctx: &Context<'_>,
    unit: &PlannedUnit<'_>,
    source: &SourceEntry,
) -> Result<GitRepository, Failure> {
    let gitops = &ctx.config.opencenter.gitops;
    let owner = match &source.override_from {
        Some(service) => ctx.config.services().get(service),
        None => owner_block(ctx, &unit.descriptor.owner),
    };
    let (path, url, reference, secret) = match source.kind {
        SourceKind::BaseRepository => {
            let (path, url) = match owner.and_then(|owner| owner.source.repo.as_deref()) {
                Some(url) => (source_path(unit, source), url),
                None => (
                    "opencenter.gitops.base_repo.url".to_owned(),
                    gitops.base_repo.url.as_str(),
                ),
            };
            (
                path,
                url,
                base_reference(ctx, owner),
                Some(gitops.base_repo.secret_name.clone()),
            )
        }
        SourceKind::ClusterRepository => (
            "opencenter.gitops.repository.url".to_owned(),
            gitops.repository.url.as_str(),
            Reference::branch(&gitops.repository.branch),
            Some(gitops.repository.secret_name.clone()),
        ),
        SourceKind::CustomerRepository | SourceKind::Explicit => (
            unit.descriptor.name.clone(),
            source.url.as_deref().unwrap_or_default(),
            Reference::branch("main"),
            None,
        ),
    };
    let reference = match &source.reference {
        Some((kind, value)) => Reference {
            kind: *kind,
            value: value.clone(),
        },
        None => reference,
    };
    let refuse = |error: GitUrlError| failure(Code::Oc6020, path.as_str(), error.to_string());
    let method = ctx.options.git_authentication;
    let is_ours = matches!(
        source.kind,
        SourceKind::BaseRepository | SourceKind::ClusterRepository
    );
    let converted = if is_ours {
        convert_git_url(url, method).map_err(refuse)?
    } else {
        url.to_owned()
    };
    let is_public = method == GitAuthentication::AsIs
        && source.kind == SourceKind::BaseRepository
        && converted.starts_with("https://");
    let other = match method {
        GitAuthentication::Ssh => GitAuthentication::Token,
        GitAuthentication::Token | GitAuthentication::AsIs => GitAuthentication::Ssh,
    };
    let alternative = (is_ours && ctx.options.emit_auth_alternative)
        .then(|| convert_git_url(url, other).map(|url| (method, url)))
        .transpose()
        .map_err(refuse)?;
    let repository = GitRepository {
        name: source.name.clone(),
        interval: source.interval.clone(),
        url: converted,
        reference,
        secret_name: source.secret_name.clone().or(secret).filter(|_| !is_public),
        include: source
            .include
            .iter()
            .map(|include| expand_include(ctx, include))
            .collect(),
        alternative,
    };
    Ok(ctx.options.adoption.hold_source(repository))
}

fn source_path(unit: &PlannedUnit<'_>, source: &SourceEntry) -> String {
    let service = source
        .override_from
        .as_deref()
        .or(unit.descriptor.owner.service());
    let section = match unit.descriptor.owner {
        Owner::ManagedService(_) => "managed_services",
        Owner::Service(_) | Owner::Cluster => "services",
    };
    format!(
        "opencenter.{section}.{}.source.repo",
        service.unwrap_or_default()
    )
}

/// Release before branch, the service before the base repository.
fn base_reference(ctx: &Context<'_>, owner: Option<&Common>) -> Reference {
    let gitops = &ctx.config.opencenter.gitops;
    let filled = |text: Option<&String>| text.filter(|text| !text.is_empty()).cloned();
    let own = owner.map(|owner| &owner.source);
    if let Some(release) = filled(own.and_then(|source| source.release.as_ref())) {
        return Reference::tag(release);
    }
    if let Some(branch) = filled(own.and_then(|source| source.branch.as_ref())) {
        return Reference::branch(branch);
    }
    if let Some(release) = filled(gitops.base_repo.release.as_ref()) {
        return Reference::tag(release);
    }
    let branch = filled(gitops.base_repo.branch.as_ref())
        .or_else(|| filled(Some(&gitops.repository.branch)));
    Reference::branch(branch.unwrap_or_else(|| "main".to_owned()))
}

fn expand_include(ctx: &Context<'_>, include: &Include) -> Include {
    let to_path = match include.to_path.strip_prefix(OVERLAY_PREFIX) {
        Some(rest) => format!("{}/{rest}", ctx.overlay_root()),
        None => include.to_path.clone(),
    };
    Include {
        to_path,
        ..include.clone()
    }
}

/// The Flux units of a unit, each with the file that holds it.
pub(super) fn flux_units(
    ctx: &Context<'_>,
    plan: &Plan<'_>,
    unit: &PlannedUnit<'_>,
    expanded: &Expanded,
    findings: &mut Vec<Finding>,
) -> Vec<(String, FluxUnit)> {
    let directory = unit.descriptor.layer.directory();
    emitted_flux_units(ctx, unit)
        .map(|entry| {
            let file = entry.file.as_ref().unwrap_or(&unit.descriptor.flux_file);
            let depends_on = dependency::resolve(ctx, plan, unit, entry, expanded, findings);
            let resolved = flux_unit(ctx, unit, entry, depends_on);
            let resolved = ctx.options.adoption.hold_unit(resolved);
            check_source(plan, ctx, unit, &resolved, findings);
            (format!("{directory}/fluxcd/{file}"), resolved)
        })
        .collect()
}

fn flux_unit(
    ctx: &Context<'_>,
    unit: &PlannedUnit<'_>,
    entry: &FluxUnitEntry,
    depends_on: Vec<String>,
) -> FluxUnit {
    let descriptor = &unit.descriptor;
    let flux = &ctx.config.opencenter.gitops.flux;
    let namespace = owner_namespace(ctx, &descriptor.owner);
    let follows_adoption = matches!(entry.role, Role::Base | Role::Override | Role::Single);
    let mode = adoption(ctx, &descriptor.owner).filter(|_| follows_adoption);
    let source = entry.source_ref.clone().unwrap_or_else(|| {
        match (entry.role, descriptor.sources.first()) {
            (Role::Base, Some(source)) => source.name.clone(),
            _ => CLUSTER_SOURCE.to_owned(),
        }
    });
    let target_namespace = match (&entry.namespace, entry.role) {
        (TargetNamespace::ByRole, Role::Base | Role::Override) | (TargetNamespace::OfOwner, _) => {
            namespace.map(str::to_owned)
        }
        (TargetNamespace::Named(name), _) => Some(name.clone()),
        (TargetNamespace::ByRole | TargetNamespace::Suppressed, _) => None,
    };
    FluxUnit {
        name: entry.name.clone(),
        role: entry.role,
        depends_on,
        interval: entry
            .interval
            .clone()
            .unwrap_or_else(|| flux.interval.clone()),
        retry_interval: entry.retry_interval.clone(),
        timeout: entry.timeout.clone(),
        decryption: entry
            .decryption
            .unwrap_or(matches!(entry.role, Role::Override | Role::Single)),
        source,
        path: flux_path(ctx, entry),
        target_namespace,
        prune: entry.prune.unwrap_or(flux.prune),
        wait: entry.wait,
        force: pinned_or(entry.force, mode.map(|mode| mode != AdoptionMode::Sync)),
        suspend: pinned_or(
            entry.suspend,
            mode.map(|mode| mode == AdoptionMode::Deferred),
        ),
        health_checks: health_checks(entry, descriptor.owner.service(), namespace),
        health_check_expressions: entry.health_check_expressions.clone(),
        part_of: entry
            .part_of
            .clone()
            .or_else(|| descriptor.owner.service().map(str::to_owned)),
        managed_by: entry.managed_by.clone(),
        patches: entry.patches.clone(),
    }
}

fn pinned_or(field: Adoption, by_mode: Option<bool>) -> Option<bool> {
    match field {
        Adoption::Pinned(flag) => Some(flag),
        Adoption::Follows => by_mode,
    }
}

pub(super) fn owner_namespace<'c>(ctx: &Context<'c>, owner: &Owner) -> Option<&'c str> {
    match owner {
        Owner::Service(name) => ctx.namespace(name),
        Owner::ManagedService(name) => ctx.managed_namespace(name),
        Owner::Cluster => None,
    }
}

/// Paths of the overlay are written out; others are taken as they are.
fn flux_path(ctx: &Context<'_>, entry: &FluxUnitEntry) -> String {
    // Parity: some stages are written without the leading dot.
    if let Some(path) = entry.path.strip_prefix(OVERLAY_PREFIX) {
        return format!("{}/{path}", ctx.overlay_root());
    }
    let in_overlay = [
        Layer::Services,
        Layer::ManagedServices,
        Layer::CustomerManaged,
    ]
    .iter()
    .any(|layer| entry.path.starts_with(&format!("{}/", layer.directory())));
    if in_overlay {
        format!("./{}/{}", ctx.overlay_root(), entry.path)
    } else {
        entry.path.clone()
    }
}

/// By default a base is healthy when the HelmRelease of its service is.
fn health_checks(
    entry: &FluxUnitEntry,
    service: Option<&str>,
    namespace: Option<&str>,
) -> Vec<HealthCheck> {
    let declared = match (&entry.health_checks, entry.role, service) {
        (Some(checks), _, _) => checks.clone(),
        (None, Role::Base, Some(service)) => vec![HealthCheck {
            api_version: "helm.toolkit.fluxcd.io/v2".to_owned(),
            kind: "HelmRelease".to_owned(),
            name: service.to_owned(),
            namespace: None,
        }],
        (None, _, _) => Vec::new(),
    };
    declared
        .into_iter()
        .map(|check| HealthCheck {
            namespace: check.namespace.or_else(|| namespace.map(str::to_owned)),
            ..check
        })
        .collect()
}

/// A service block may name a source that nobody emits.
fn check_source(
    plan: &Plan<'_>,
    ctx: &Context<'_>,
    unit: &PlannedUnit<'_>,
    resolved: &FluxUnit,
    findings: &mut Vec<Finding>,
) {
    let is_emitted = resolved.source == CLUSTER_SOURCE
        || plan.active().any(|active| {
            emitted_sources(ctx, active).any(|source| source.name == resolved.source)
        });
    if !is_emitted {
        let service = unit
            .descriptor
            .owner
            .service()
            .unwrap_or(&unit.descriptor.name);
        findings.push(Finding::new(
            Code::Oc5021,
            format!("opencenter.services.{service}.source_name"),
            format!(
                "`{}` reads the source `{}`, which nobody emits",
                resolved.name, resolved.source
            ),
        ));
    }
}
