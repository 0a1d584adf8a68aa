//! From an effective config to an overlay tree, in memory.
//!
//! Pure: no file, clock, environment or chance. The same config, descriptors and options give the same bytes. The
//! steps are those of the module list: decide which units are active, write their files, resolve sources and Flux
//! units, collect aggregates, then look at the whole once more before anybody may write it.

mod aggregate;
mod context;
mod customer;
mod dependency;
mod expand;
mod leak;
mod plan;
mod post_check;
mod report;
mod resolve;
mod secret_search;
mod user_template;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use crate::{
    config::ClusterConfig,
    descriptor::{Layer, Registry},
    finding::{self, Code, Finding},
    flux::GitAuthentication,
    graph::{FluxGraph, GraphNode},
    overlay::{
        ADOPTION_RECORD, ActionKind, Adoption, OverlayFile, OverlayTree, RETIRED_UNITS, Scope,
    },
};

pub(crate) use context::{Context, Failure, block, decision, failure, literal_values};
pub use report::{ActionReport, DescriptorReport, Report, SkippedReport, WarningReport};
pub use secret_search::{Exposure, SecretSearch, has_secrets};

use expand::Expanded;
use plan::{Plan, PlannedUnit};

/// What happens to files that hold secrets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum SecretsMode {
    /// They are encrypted when they are written.
    #[default]
    Encrypt,
    /// They are written as they are.
    Plaintext,
    /// They are left out, and nothing refers to them.
    Omit,
}

/// One unit to render instead of the whole tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceSelection {
    /// The service.
    pub name: String,
    /// Whether it is one of the managed services.
    pub managed: bool,
}

/// Everything beside config and descriptors that a render depends on.
#[derive(Clone, Debug, Default)]
pub struct RenderOptions {
    /// How Flux signs in to Git.
    pub git_authentication: GitAuthentication,
    /// What happens to files that hold secrets.
    pub secrets_mode: SecretsMode,
    /// Whether stand-ins take the place of missing secrets.
    pub allow_missing_secrets: bool,
    /// Whether sources show the other way of signing in as a comment.
    pub emit_auth_alternative: bool,
    /// Render one unit and its aggregates only.
    pub only: Option<ServiceSelection>,
    /// Files of the user that exist below `services/<service>/custom/`, relative to the overlay directory.
    pub user_files: BTreeSet<String>,
    /// What is held back since the tree was taken over.
    pub adoption: Adoption,
}

/// What a render gives.
#[derive(Clone, Debug)]
pub struct Rendered {
    /// The files.
    pub tree: OverlayTree,
    /// Why each of them is there, and why others are not.
    pub report: Report,
    /// How the Flux units depend on each other.
    pub graph: FluxGraph,
    /// What is not wrong, but worth knowing.
    pub warnings: Vec<Finding>,
    /// The search for secrets of the config in what becomes of these files.
    pub secrets: Arc<SecretSearch>,
}

/// Renders the overlay tree of a cluster, or one unit of it.
///
/// Fails with everything that is wrong, sorted. Warnings do not fail a render.
pub fn render(
    config: &ClusterConfig,
    registry: &Registry,
    options: &RenderOptions,
) -> Result<Rendered, Vec<Finding>> {
    let mut findings = Vec::new();
    let rendered = Render {
        ctx: Context { config, options },
        registry,
    }
    .run(&mut findings);
    let mask = config.origins().mask();
    for finding in &mut findings {
        mask.hide_in(finding);
    }
    finding::sort(&mut findings);
    match rendered {
        Some(rendered) if has_back(&rendered.graph, &options.adoption) => {
            let names = rendered.graph.nodes().map(|node| node.name.as_str());
            let adoption = options.adoption.awake(names);
            let options = RenderOptions {
                adoption,
                ..options.clone()
            };
            render(config, registry, &options)
        }
        Some(mut rendered) if !finding::has_errors(&findings) => {
            rendered.report.set_warnings(&findings);
            rendered.warnings = findings;
            Ok(rendered)
        }
        _ => {
            findings.retain(|finding| finding.severity == finding::Severity::Error);
            Err(findings)
        }
    }
}

/// Whether a unit is in the tree that had gone with an adoption.
fn has_back(graph: &FluxGraph, adoption: &Adoption) -> bool {
    let mut nodes = graph.nodes();
    nodes.any(|node| adoption.retires_unit(&node.name))
}

/// The owner of files that are there because of an adoption.
const ADOPTION_OWNER: &str = "adoption";

struct Render<'c> {
    ctx: Context<'c>,
    registry: &'c Registry,
}

/// What a render gives before anybody has looked for secrets.
struct Draft {
    tree: OverlayTree,
    graph: FluxGraph,
}

impl Render<'_> {
    fn run(&self, findings: &mut Vec<Finding>) -> Option<Rendered> {
        let plan = Plan::new(&self.ctx, self.registry, findings);
        let mut skipped = Vec::new();
        let Draft { mut tree, graph } = self.draft(&plan, &mut skipped, findings)?;
        let secrets = leak::check(self, &mut tree.files, findings)?;
        post_check::sops_rules(&self.ctx, &tree.files, findings);
        let report = Report::new(&tree, &plan, skipped, self.registry);
        Some(Rendered {
            tree,
            report,
            graph,
            warnings: Vec::new(),
            secrets: Arc::new(secrets),
        })
    }

    /// The files and units, with all checks but those that look for secrets.
    fn draft(
        &self,
        plan: &Plan<'_>,
        skipped: &mut Vec<SkippedReport>,
        findings: &mut Vec<Finding>,
    ) -> Option<Draft> {
        let selected = self.selected(plan, findings)?;
        if plan.active_services().next().is_none() {
            findings.push(Finding::new(
                Code::Oc6009,
                "opencenter.services",
                "no service is active",
            ));
        }
        let mut output = Output::default();
        let mut expanded = Vec::new();
        for unit in plan
            .active()
            .filter(|unit| selected.contains(&unit.descriptor.name))
        {
            let unit_files = expand::expand(&self.ctx, self.registry, unit, findings);
            output.take(unit, &unit_files, findings);
            expanded.push((unit, unit_files));
        }
        let mut nodes = Vec::new();
        for (unit, files) in &expanded {
            output.sources(resolve::sources(&self.ctx, unit, findings), findings);
            let units = resolve::flux_units(&self.ctx, plan, unit, files, findings);
            nodes.extend(units.iter().map(|(_, flux_unit)| GraphNode {
                name: flux_unit.name.clone(),
                owner: unit.descriptor.name.clone(),
                depends_on: flux_unit.depends_on.clone(),
            }));
            output.flux_files(&unit.descriptor.name, units, findings);
        }
        for (unit, _) in &expanded {
            for (path, file) in aggregate::files(&self.ctx, plan, &unit.descriptor) {
                output.insert(path, file, findings);
            }
            if unit.descriptor.name == customer::UNIT {
                let layer = customer::layer(&self.ctx, &unit.descriptor.name);
                nodes.extend(layer.nodes);
                for (path, file) in layer.files {
                    output.insert(path, file, findings);
                }
            }
        }
        let graph = FluxGraph::new(nodes);
        let is_full = self.ctx.options.only.is_none();
        if is_full {
            output.adoption(&self.ctx.options.adoption, findings);
            dependency::check_graph(&graph, findings);
        }
        post_check::check(&self.ctx, &expanded, findings);
        let tree = OverlayTree {
            cluster: self.ctx.config.cluster_name().to_owned(),
            scope: self.scope(plan),
            files: output.files,
        };
        *skipped = output.skipped;
        Some(Draft { tree, graph })
    }

    /// The names of the units to expand: all, or one with its aggregates.
    fn selected(&self, plan: &Plan<'_>, findings: &mut Vec<Finding>) -> Option<BTreeSet<String>> {
        let Some(selection) = &self.ctx.options.only else {
            return Some(
                plan.active()
                    .map(|unit| unit.descriptor.name.clone())
                    .collect(),
            );
        };
        let layer = if selection.managed {
            Layer::ManagedServices
        } else {
            Layer::Services
        };
        match plan.find_service(&self.ctx, layer, &selection.name) {
            Ok(unit) => {
                let mut names: BTreeSet<String> =
                    unit.descriptor.aggregate_targets.iter().cloned().collect();
                names.insert(unit.descriptor.name.clone());
                Some(names)
            }
            Err(failure) => {
                findings.push(*failure);
                None
            }
        }
    }

    fn scope(&self, plan: &Plan<'_>) -> Scope {
        match &self.ctx.options.only {
            None => Scope::Full,
            Some(selection) => {
                let layer = if selection.managed {
                    Layer::ManagedServices
                } else {
                    Layer::Services
                };
                let unit = plan.find_service(&self.ctx, layer, &selection.name).ok();
                Scope::Unit {
                    directory: unit.and_then(|unit| unit.descriptor.root.clone()),
                }
            }
        }
    }
}

/// The files so far.
#[derive(Default)]
struct Output {
    files: BTreeMap<String, OverlayFile>,
    skipped: Vec<SkippedReport>,
}

impl Output {
    fn insert(&mut self, path: String, file: OverlayFile, findings: &mut Vec<Finding>) {
        if let Some(first) = self.files.get(&path) {
            findings.push(Finding::new(
                Code::Oc5025,
                path,
                format!("{} and {} both write this file", first.owner, file.owner),
            ));
            return;
        }
        self.files.insert(path, file);
    }

    fn take(&mut self, unit: &PlannedUnit<'_>, expanded: &Expanded, findings: &mut Vec<Finding>) {
        for file in &expanded.files {
            self.insert(
                file.path.clone(),
                file.to_overlay_file(&unit.descriptor.name),
                findings,
            );
        }
        self.skipped.extend(expanded.skipped.iter().cloned());
    }

    /// Several units may declare a shared source; then its content must be equal.
    fn sources(&mut self, sources: Vec<(String, OverlayFile)>, findings: &mut Vec<Finding>) {
        for (path, file) in sources {
            match self.files.get(&path) {
                Some(first) if first.bytes == file.bytes => {}
                Some(first) => findings.push(Finding::new(
                    Code::Oc5023,
                    path,
                    format!(
                        "{} and {} declare this source differently",
                        first.owner, file.owner
                    ),
                )),
                None => {
                    self.files.insert(path, file);
                }
            }
        }
    }

    /// Writes down what is held back since the tree was taken over, and the units that sleep.
    fn adoption(&mut self, adoption: &Adoption, findings: &mut Vec<Finding>) {
        if adoption.is_empty() {
            return;
        }
        let record = aggregate::aggregate_file(ADOPTION_OWNER, adoption.to_text(), None);
        self.insert(ADOPTION_RECORD.to_owned(), record, findings);
        if adoption.retires() {
            let units = aggregate::aggregate_file(ADOPTION_OWNER, adoption.retired_units(), None);
            self.insert(format!("services/fluxcd/{RETIRED_UNITS}"), units, findings);
        }
        let message = format!("{} units and sources are held back", adoption.count());
        findings.push(Finding::new(Code::Oc6053, ADOPTION_RECORD, message));
    }

    /// Writes the units of one file as its documents, in declared order.
    fn flux_files(
        &mut self,
        owner: &str,
        units: Vec<(String, crate::flux::FluxUnit)>,
        findings: &mut Vec<Finding>,
    ) {
        let mut by_file: Vec<(String, Vec<mainstay_yaml::Node>)> = Vec::new();
        for (path, unit) in units {
            let node = unit.to_node();
            post_check::spec_fields(&unit.name, &node, findings);
            match by_file.iter_mut().find(|(known, _)| *known == path) {
                Some((_, nodes)) => nodes.push(node),
                None => by_file.push((path, vec![node])),
            }
        }
        for (path, nodes) in by_file {
            let file = OverlayFile {
                bytes: mainstay_yaml::print_manifests(&nodes).into_bytes(),
                owner: owner.to_owned(),
                kind: ActionKind::Flux,
                sensitivity: None,
                condition: None,
            };
            self.insert(path, file, findings);
        }
    }
}
