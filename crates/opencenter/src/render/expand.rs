//! The overlay files of one unit.

mod kustomization;

use mainstay_yaml::{Limits, Node, SourceName, parse_documents, print_manifests};

use crate::{
    config::Common,
    descriptor::{Descriptor, FileEntry, Origin, Registry},
    finding::{Code, Finding},
    overlay::{ActionKind, Decision, OverlayFile, Sensitivity, is_yaml},
    service::{self, BuildResult, Built, Emitted, Template, VALUES},
};

use super::{
    Context, SecretsMode, SkippedReport, failure,
    plan::{PlannedUnit, owner_block},
    user_template,
};

/// One file of a unit.
#[derive(Debug)]
pub(super) struct UnitFile {
    /// Relative to the unit's directory.
    pub(super) name: String,
    /// Relative to the tree.
    pub(super) path: String,
    pub(super) text: String,
    /// The documents of the file, for checks that look inside.
    pub(super) documents: Vec<Node>,
    pub(super) sensitivity: Option<Sensitivity>,
    pub(super) condition: Option<Decision>,
    /// Whether the text is the user's own, word for word.
    pub(super) is_verbatim: bool,
    is_resource: bool,
    is_patch: bool,
}

impl UnitFile {
    pub(super) fn to_overlay_file(&self, owner: &str) -> OverlayFile {
        let is_secret = self
            .documents
            .iter()
            .any(|document| document.get("kind").and_then(Node::as_text) == Some("Secret"));
        OverlayFile {
            bytes: self.text.clone().into_bytes(),
            owner: owner.to_owned(),
            kind: if is_secret {
                ActionKind::Secret
            } else {
                ActionKind::Overlay
            },
            sensitivity: self.sensitivity,
            condition: self.condition.clone(),
        }
    }
}

/// All files of a unit, and those that stayed out.
#[derive(Debug, Default)]
pub(super) struct Expanded {
    pub(super) files: Vec<UnitFile>,
    pub(super) skipped: Vec<SkippedReport>,
}

impl Expanded {
    fn emitted_names(&self) -> Vec<String> {
        self.files.iter().map(|file| file.name.clone()).collect()
    }
}

/// Writes the files of a unit: first everything, then the kustomizations that list it.
pub(super) fn expand(
    ctx: &Context<'_>,
    registry: &Registry,
    unit: &PlannedUnit<'_>,
    findings: &mut Vec<Finding>,
) -> Expanded {
    let mut expansion = Expansion {
        ctx,
        registry,
        unit,
        expanded: Expanded::default(),
        findings,
    };
    let (kustomizations, others): (Vec<_>, Vec<_>) = unit
        .descriptor
        .files
        .iter()
        .partition(|entry| entry.template.ends_with("kustomization.yaml"));
    for entry in others {
        expansion.declared(entry);
    }
    expansion.extra();
    // Inner directories first: the outer kustomization lists them.
    for entry in kustomizations.iter().rev() {
        expansion.declared(entry);
    }
    expansion.expanded
}

struct Expansion<'e, 'c> {
    ctx: &'e Context<'c>,
    registry: &'e Registry,
    unit: &'e PlannedUnit<'e>,
    expanded: Expanded,
    findings: &'e mut Vec<Finding>,
}

impl Expansion<'_, '_> {
    fn descriptor(&self) -> &Descriptor {
        &self.unit.descriptor
    }

    fn common(&self) -> Option<&Common> {
        owner_block(self.ctx, &self.descriptor().owner)
    }

    /// One file that the descriptor declares.
    fn declared(&mut self, entry: &FileEntry) {
        let mut condition = None;
        if let Some(when) = &entry.when {
            let decision = when.decide(self.ctx.config.effective());
            if !decision.result {
                self.skip(&entry.output, decision);
                return;
            }
            condition = Some(decision);
        }
        let names = self.expanded.emitted_names();
        let emitted = Emitted { names: &names };
        let template = self.template(&entry.template);
        let built = match template {
            Some(template) => (template.build)(self.ctx, &emitted),
            None => self.undefined(entry, &emitted),
        };
        let sensitivity = match entry.sensitive {
            Some(true) => Some(Sensitivity::Fields),
            Some(false) => None,
            None => template.and_then(|template| template.sensitivity),
        };
        match built {
            Ok(Built::Skipped(decision)) => self.skip(&entry.output, decision),
            Ok(built) => {
                let output = match user_template::fill(&entry.output, self.ctx.config) {
                    Ok(output) => output,
                    Err(reason) => return self.fail(&entry.output, &reason),
                };
                self.push(built, entry, output, sensitivity, condition);
            }
            Err(failure) => self.findings.push(*failure),
        }
    }

    /// The built-in template of a file.
    fn template(&self, name: &str) -> Option<&'static Template> {
        let key = match self.descriptor().origin {
            Origin::Auto => {
                let common = self.common()?;
                if name == VALUES {
                    common.override_values_renderer.as_deref()?
                } else {
                    common.overlay_files_renderer.as_deref()?
                }
            }
            Origin::BuiltIn | Origin::User => self.descriptor().name.as_str(),
        };
        let template = service::renderer(key)?.template(name)?;
        let is_own_kustomization =
            name == "kustomization.yaml" && self.descriptor().origin == Origin::Auto;
        (!is_own_kustomization).then_some(template)
    }

    /// A file without a built-in template: generated, of the user, or from the service block.
    fn undefined(&self, entry: &FileEntry, emitted: &Emitted<'_>) -> BuildResult {
        let root = self.descriptor().root.as_deref().unwrap_or_default();
        if let Some(bytes) = self.registry.store().user_template(root, &entry.template) {
            return self.user_text(entry, bytes);
        }
        match entry.template.as_str() {
            "kustomization.yaml" => Ok(self.overlay_kustomization(emitted)),
            "namespace/kustomization.yaml" => service::stage_kustomization(self.ctx, emitted),
            "namespace/namespace.yaml" => {
                let namespace = self.common().and_then(|common| common.namespace.as_deref());
                Ok(service::stage_namespace(namespace.unwrap_or_default()))
            }
            VALUES => Ok(self.literal_values()),
            name => Err(failure(
                Code::Oc5027,
                entry.output.as_str(),
                format!("the template `{root}/{name}` is missing"),
            )),
        }
    }

    fn literal_values(&self) -> Built {
        let text = self
            .common()
            .and_then(|common| common.override_values.as_deref());
        match text.filter(|text| !text.trim().is_empty()) {
            Some(text) => Built::Text(text.to_owned()),
            None => Built::empty_values(),
        }
    }

    fn user_text(&self, entry: &FileEntry, bytes: &[u8]) -> BuildResult {
        let fail = |reason: String| failure(Code::Oc6012, entry.output.as_str(), reason);
        let text =
            std::str::from_utf8(bytes).map_err(|_| fail("the template is not UTF-8".to_owned()))?;
        if !entry.render {
            return Ok(Built::Text(text.to_owned()));
        }
        user_template::fill(text, self.ctx.config)
            .map(Built::Text)
            .map_err(fail)
    }

    /// Files whose names depend on the config, and the promise of `custom_resources`.
    fn extra(&mut self) {
        let key = self.descriptor().name.clone();
        if self.descriptor().origin != Origin::Auto
            && let Some(extra) = service::renderer(&key).and_then(|renderer| renderer.extra)
        {
            match extra(self.ctx) {
                Ok(files) => {
                    let root = self.descriptor().root.clone().unwrap_or_default();
                    for file in files {
                        let entry = FileEntry::new(&root, &file.name);
                        let output = entry.output.clone();
                        self.push(
                            Built::Documents(file.documents),
                            &entry,
                            output,
                            file.sensitivity,
                            file.condition,
                        );
                    }
                }
                Err(failure) => self.findings.push(*failure),
            }
        }
        self.check_custom_resources();
    }

    fn push(
        &mut self,
        built: Built,
        entry: &FileEntry,
        output: String,
        sensitivity: Option<Sensitivity>,
        condition: Option<Decision>,
    ) {
        let (text, documents, is_verbatim) = match built {
            Built::Documents(documents) => (print_manifests(&documents), documents, false),
            Built::Text(text) => match self.user_documents(&output, &text) {
                Some(documents) => (with_final_newline(text), documents, true),
                None => return,
            },
            Built::Skipped(decision) => return self.skip(&output, decision),
        };
        if text.trim().is_empty() {
            return;
        }
        let sensitivity = sensitivity.or_else(|| secret_manifest(&documents));
        if sensitivity.is_some() && self.ctx.options.secrets_mode == SecretsMode::Omit {
            return;
        }
        self.expanded.files.push(UnitFile {
            name: entry.template.clone(),
            path: output,
            text,
            documents,
            sensitivity,
            condition,
            is_verbatim,
            is_resource: entry.is_resource(),
            is_patch: entry.patch,
        });
    }

    /// Text that is not generated must be YAML where its name says so.
    fn user_documents(&mut self, output: &str, text: &str) -> Option<Vec<Node>> {
        if !is_yaml(output) {
            return Some(Vec::new());
        }
        match parse_documents(text, &SourceName::new(output), &Limits::default()) {
            Ok(documents) => Some(
                documents
                    .iter()
                    .map(|document| Node::from(&document.value))
                    .collect(),
            ),
            Err(error) => {
                self.fail(
                    output,
                    &format!("the text is not YAML: {}", error.message()),
                );
                None
            }
        }
    }

    fn skip(&mut self, output: &str, decision: Decision) {
        self.expanded.skipped.push(SkippedReport {
            owner: self.unit.descriptor.name.clone(),
            output: output.to_owned(),
            condition: decision,
        });
    }

    fn fail(&mut self, output: &str, reason: &str) {
        let owner = &self.unit.descriptor.name;
        self.findings.push(Finding::new(
            Code::Oc6012,
            output,
            format!("{owner}: {reason}"),
        ));
    }
}

/// Manifests of kind `Secret` are secret whoever wrote them.
fn secret_manifest(documents: &[Node]) -> Option<Sensitivity> {
    documents
        .iter()
        .any(|document| document.get("kind").and_then(Node::as_text) == Some("Secret"))
        .then_some(Sensitivity::Fields)
}

fn with_final_newline(mut text: String) -> String {
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

/// The documents of a unit below a directory, for rules that look inside.
pub(super) fn documents_below<'e>(
    expanded: &'e Expanded,
    directory: &'e str,
) -> impl Iterator<Item = &'e Node> {
    expanded
        .files
        .iter()
        .filter(move |file| {
            file.path
                .strip_prefix(directory)
                .is_some_and(|rest| rest.starts_with('/'))
        })
        .flat_map(|file| &file.documents)
}
