//! Flux units.

use super::{Reader, names::is_dns_subdomain};
use crate::{
    descriptor::{
        Adoption, DependencyEntry, FluxUnitEntry, HealthCheck, HealthCheckExpression, InlinePatch,
        RETRY_INTERVAL, Role, TIMEOUT, TargetNamespace,
        raw::{RawAdoption, RawDependency, RawFluxUnit, RawHealthCheck},
    },
    finding::Code,
};

impl Reader<'_> {
    pub(super) fn flux_unit(&mut self, raw: RawFluxUnit, pointer: &str) -> Option<FluxUnitEntry> {
        let (Some(name), Some(path)) = (raw.name, raw.path) else {
            self.report(Code::Oc5018, pointer, "a flux unit needs `name` and `path`");
            return None;
        };
        if !is_dns_subdomain(&name) {
            self.report(
                Code::Oc5019,
                &format!("{pointer}/name"),
                format!("`{name}` is not a DNS name"),
            );
        }
        let role = match raw.role.as_deref() {
            Some("base") => Role::Base,
            Some("override") => Role::Override,
            Some("single") => Role::Single,
            Some("namespace") => Role::Namespace,
            Some("stage") | None => Role::Stage,
            Some("sources") => Role::Sources,
            Some(other) => {
                self.report(
                    Code::Oc5001,
                    &format!("{pointer}/role"),
                    format!("there is no role `{other}`"),
                );
                return None;
            }
        };
        let by_role = |default: &str| (role != Role::Sources).then(|| default.to_owned());
        let depends_on = raw
            .depends_on
            .map(|entries| self.dependencies(entries, &format!("{pointer}/depends_on")));
        Some(FluxUnitEntry {
            name,
            role,
            file: raw.file,
            source_ref: raw.source_ref,
            path,
            namespace: match raw.namespace.as_deref() {
                None => TargetNamespace::ByRole,
                Some("-") => TargetNamespace::Suppressed,
                Some("owner") => TargetNamespace::OfOwner,
                Some(name) => TargetNamespace::Named(name.to_owned()),
            },
            depends_on,
            interval: raw.interval,
            retry_interval: raw.retry_interval.or_else(|| by_role(RETRY_INTERVAL)),
            timeout: raw.timeout.or_else(|| by_role(TIMEOUT)),
            prune: raw.prune,
            wait: raw.wait.unwrap_or(true),
            force: self.adoption(raw.force, &format!("{pointer}/force")),
            suspend: self.adoption(raw.suspend, &format!("{pointer}/suspend")),
            decryption: raw.sops_decryption,
            health_checks: raw
                .health_checks
                .map(|checks| checks.into_iter().map(health_check).collect()),
            health_check_expressions: raw
                .health_check_exprs
                .into_iter()
                .map(|expression| HealthCheckExpression {
                    api_version: expression.api_version,
                    kind: expression.kind,
                    current: expression.current,
                    failed: expression.failed,
                    in_progress: expression.in_progress,
                })
                .collect(),
            patches: raw
                .patches
                .into_iter()
                .map(|patch| InlinePatch {
                    target: patch.target,
                    patch: patch.patch,
                })
                .collect(),
            part_of: raw.part_of,
            managed_by: raw.managed_by.unwrap_or_else(|| "opencenter".to_owned()),
            when: self.condition(raw.when.as_ref(), &format!("{pointer}/when")),
        })
    }

    fn adoption(&mut self, raw: Option<RawAdoption>, pointer: &str) -> Adoption {
        match raw {
            None => Adoption::Follows,
            Some(RawAdoption::Pinned(flag)) => Adoption::Pinned(flag),
            Some(RawAdoption::Word(word)) => {
                if word != "adoption" {
                    self.report(Code::Oc5001, pointer, "write true, false or `adoption`");
                }
                Adoption::Follows
            }
        }
    }

    fn dependencies(&mut self, entries: Vec<RawDependency>, pointer: &str) -> Vec<DependencyEntry> {
        let mut dependencies = Vec::with_capacity(entries.len());
        for (index, entry) in entries.into_iter().enumerate() {
            dependencies.push(match entry {
                RawDependency::Name(name) => DependencyEntry {
                    name,
                    when_enabled: None,
                    when: None,
                },
                RawDependency::Detailed {
                    name,
                    when_enabled,
                    when,
                } => DependencyEntry {
                    name,
                    when_enabled,
                    when: self.condition(when.as_ref(), &format!("{pointer}/{index}/when")),
                },
            });
        }
        dependencies
    }
}

fn health_check(raw: RawHealthCheck) -> HealthCheck {
    HealthCheck {
        api_version: raw
            .api_version
            .unwrap_or_else(|| "helm.toolkit.fluxcd.io/v2".to_owned()),
        kind: raw.kind.unwrap_or_else(|| "HelmRelease".to_owned()),
        name: raw.name,
        namespace: raw.namespace,
    }
}
