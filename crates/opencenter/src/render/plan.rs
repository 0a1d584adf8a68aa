//! Which units are active, and what each of them adds to aggregates.

use std::{borrow::Cow, collections::BTreeMap};

use crate::{
    config::{AdoptionMode, Common},
    descriptor::{Descriptor, FluxUnitEntry, Layer, Lifecycle, Owner, Registry, SourceEntry, auto},
    finding::{Code, Finding},
    overlay::Decision,
    service,
};

use super::{Context, Failure, failure};

/// A unit and whether it is rendered.
#[derive(Debug)]
pub(super) struct PlannedUnit<'c> {
    pub(super) descriptor: Cow<'c, Descriptor>,
    /// What switched it on or off.
    pub(super) decision: Decision,
    pub(super) is_active: bool,
}

/// What is known about a Flux unit that some descriptor could emit.
#[derive(Clone, Debug)]
pub(super) struct UnitFacts {
    /// The service that it belongs to.
    pub(super) service: Option<String>,
    /// Whether it is emitted.
    pub(super) is_active: bool,
}

/// All units of a cluster.
#[derive(Debug)]
pub(super) struct Plan<'c> {
    units: Vec<PlannedUnit<'c>>,
    flux_units: BTreeMap<String, UnitFacts>,
}

impl<'c> Plan<'c> {
    pub(super) fn new(
        ctx: &Context<'c>,
        registry: &'c Registry,
        findings: &mut Vec<Finding>,
    ) -> Self {
        let mut units: Vec<PlannedUnit<'c>> = registry
            .iter()
            .map(|descriptor| decide(ctx, Cow::Borrowed(descriptor)))
            .collect();
        units.extend(auto_units(ctx, registry, findings));
        check_managed(ctx, registry, findings);
        let mut plan = Self {
            units,
            flux_units: BTreeMap::new(),
        };
        plan.settle_managed_aggregates();
        plan.index_flux_units(ctx);
        plan
    }

    /// The units that are rendered, in the order of their names.
    pub(super) fn active(&self) -> impl Iterator<Item = &PlannedUnit<'c>> {
        self.units.iter().filter(|unit| unit.is_active)
    }

    /// All units.
    pub(super) fn units(&self) -> &[PlannedUnit<'c>] {
        &self.units
    }

    /// The active units that belong to a service.
    pub(super) fn active_services(&self) -> impl Iterator<Item = &PlannedUnit<'c>> {
        self.active()
            .filter(|unit| unit.descriptor.owner.service().is_some())
    }

    /// The active units of a layer that take part in its aggregates, sorted by weight and file name.
    pub(super) fn members(&self, layer: Layer) -> Vec<&PlannedUnit<'c>> {
        let mut members: Vec<_> = self
            .active()
            .filter(|unit| unit.descriptor.layer == layer)
            .collect();
        members.sort_by(|left, right| {
            let key =
                |unit: &PlannedUnit<'_>| (unit.descriptor.order, unit.descriptor.flux_file.clone());
            key(left).cmp(&key(right))
        });
        members
    }

    /// What is known about a Flux unit.
    pub(super) fn flux_unit(&self, name: &str) -> Option<&UnitFacts> {
        self.flux_units.get(name)
    }

    /// The unit of a service that is asked for by name.
    pub(super) fn find_service(
        &self,
        ctx: &Context<'_>,
        layer: Layer,
        service: &str,
    ) -> Result<&PlannedUnit<'c>, Failure> {
        let (path, common) = match layer {
            Layer::ManagedServices => (
                format!("opencenter.managed_services.{service}"),
                ctx.config.managed_services().get(service),
            ),
            _ => (
                format!("opencenter.services.{service}"),
                ctx.config.services().get(service),
            ),
        };
        let unit = self.units.iter().find(|unit| {
            unit.descriptor.layer == layer && unit.descriptor.owner.service() == Some(service)
        });
        match (common, unit) {
            (None, Some(_)) => Err(failure(
                Code::Oc6003,
                path,
                format!("`{service}` is not in the config"),
            )),
            (Some(common), _) if !common.is_active() => {
                let why = if common.enabled {
                    "managed elsewhere"
                } else {
                    "disabled"
                };
                Err(failure(Code::Oc6004, path, format!("`{service}` is {why}")))
            }
            (Some(_), Some(unit)) if unit.is_active => Ok(unit),
            (None | Some(_), _) => Err(failure(
                Code::Oc6002,
                path,
                format!("nothing can render `{service}`"),
            )),
        }
    }

    /// The aggregates of a layer without members are not written.
    fn settle_managed_aggregates(&mut self) {
        let members = self
            .active()
            .find(|unit| {
                unit.descriptor.layer == Layer::ManagedServices
                    && unit.descriptor.owner != Owner::Cluster
            })
            .map(|unit| unit.decision.clone());
        let aggregates = self.units.iter_mut().filter(|unit| {
            unit.descriptor.layer == Layer::ManagedServices
                && unit.descriptor.owner == Owner::Cluster
        });
        for unit in aggregates {
            unit.is_active &= members.is_some();
            unit.decision = members.clone().unwrap_or_else(|| Decision {
                field: "opencenter.managed_services".to_owned(),
                operator: "exists",
                value: None,
                result: false,
            });
        }
    }

    fn index_flux_units(&mut self, ctx: &Context<'_>) {
        let mut index = BTreeMap::new();
        for unit in &self.units {
            for entry in &unit.descriptor.flux_units {
                let facts = UnitFacts {
                    service: unit.descriptor.owner.service().map(str::to_owned),
                    is_active: unit.is_active
                        && unit_gate(ctx, unit, entry).is_none_or(|gate| gate.result),
                };
                index.insert(entry.name.clone(), facts);
            }
        }
        self.flux_units = index;
    }
}

/// Decides about one descriptor.
fn decide<'c>(ctx: &Context<'_>, descriptor: Cow<'c, Descriptor>) -> PlannedUnit<'c> {
    if descriptor.lifecycle == Lifecycle::Bootstrap {
        let field = "opencenter.gitops.overlay_units.flux_system.enabled".to_owned();
        return PlannedUnit {
            descriptor,
            decision: Decision {
                field,
                operator: "true",
                value: None,
                result: false,
            },
            is_active: false,
        };
    }
    let owner = match &descriptor.owner {
        Owner::Service(name) => Some(ctx.service_gate(name)),
        Owner::ManagedService(name) => Some(ctx.managed_gate(name)),
        Owner::Cluster => None,
    };
    let condition = descriptor
        .enabled_when
        .as_ref()
        .map(|condition| condition.decide(ctx.config.effective()));
    let code = service::renderer(&descriptor.name)
        .and_then(|renderer| renderer.gate)
        .and_then(|gate| gate(ctx, None));
    let gates: Vec<Decision> = [owner, condition, code].into_iter().flatten().collect();
    let decision = gates
        .iter()
        .find(|gate| !gate.result)
        .or_else(|| gates.first())
        .cloned()
        .unwrap_or_else(|| Decision {
            field: "opencenter.cluster.cluster_name".to_owned(),
            operator: "exists",
            value: None,
            result: true,
        });
    PlannedUnit {
        is_active: decision.result,
        descriptor,
        decision,
    }
}

/// Units for services that nobody describes.
fn auto_units<'c>(
    ctx: &Context<'c>,
    registry: &Registry,
    findings: &mut Vec<Finding>,
) -> Vec<PlannedUnit<'c>> {
    let undescribed = ctx.config.services().iter().filter(|(name, _)| {
        !auto::is_reserved(name) && registry.of_service(Layer::Services, name).is_none()
    });
    undescribed
        .map(|(name, common)| {
            findings.extend(auto::check(name, common));
            decide(ctx, Cow::Owned(auto::describe(name, common)))
        })
        .collect()
}

/// Managed services have no automatic descriptor.
fn check_managed(ctx: &Context<'_>, registry: &Registry, findings: &mut Vec<Finding>) {
    let undescribed = ctx
        .config
        .managed_services()
        .iter()
        .filter(|(name, common)| {
            common.is_active() && registry.of_service(Layer::ManagedServices, name).is_none()
        });
    findings.extend(undescribed.map(|(name, _)| {
        Finding::new(
            Code::Oc6001,
            format!("opencenter.managed_services.{name}"),
            format!("nothing can render the managed service `{name}`"),
        )
    }));
}

/// What decides about one Flux unit of an active unit; none if nothing does.
pub(super) fn unit_gate(
    ctx: &Context<'_>,
    unit: &PlannedUnit<'_>,
    entry: &FluxUnitEntry,
) -> Option<Decision> {
    let condition = entry
        .when
        .as_ref()
        .map(|condition| condition.decide(ctx.config.effective()));
    let code = service::renderer(&unit.descriptor.name)
        .and_then(|renderer| renderer.gate)
        .and_then(|gate| gate(ctx, Some(&entry.name)));
    [condition, code]
        .into_iter()
        .flatten()
        .reduce(|first, second| if first.result { second } else { first })
}

/// The Flux units of a unit that are emitted.
pub(super) fn emitted_flux_units<'u>(
    ctx: &'u Context<'_>,
    unit: &'u PlannedUnit<'_>,
) -> impl Iterator<Item = &'u FluxUnitEntry> {
    unit.descriptor
        .flux_units
        .iter()
        .filter(move |entry| unit_gate(ctx, unit, entry).is_none_or(|gate| gate.result))
}

/// The sources of a unit that are emitted.
pub(super) fn emitted_sources<'u>(
    ctx: &'u Context<'_>,
    unit: &'u PlannedUnit<'_>,
) -> impl Iterator<Item = &'u SourceEntry> {
    unit.descriptor.sources.iter().filter(move |source| {
        source
            .when
            .as_ref()
            .is_none_or(|condition| condition.holds(ctx.config.effective()))
    })
}

/// What all services share, for the owner of a unit.
pub(super) fn owner_block<'c>(ctx: &Context<'c>, owner: &Owner) -> Option<&'c Common> {
    match owner {
        Owner::Service(name) => ctx.config.services().get(name),
        Owner::ManagedService(name) => ctx.config.managed_services().get(name),
        Owner::Cluster => None,
    }
}

/// How the owner of a unit wants to be taken over.
pub(super) fn adoption(ctx: &Context<'_>, owner: &Owner) -> Option<AdoptionMode> {
    owner_block(ctx, owner).map(|common| common.adoption_mode)
}
