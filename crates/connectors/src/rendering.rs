//! From a Connector to its two sets: load, transform, split, hash.

use std::sync::Arc;

use mainstay_api::connectors::{ConnectorSpec, connector::AdditionalPage};
use mainstay_engine::snapshot::{Snapshot, Unknown, all_known};
use mainstay_manifest::{
    ManifestSet, Object,
    hash::of_installation,
    identity::{InstallType, release_version},
    parse,
    render::{Adjustments, render},
    source::{
        additional::{Allowed, Place},
        without_secrets,
    },
    transform::{Images, WorkloadOverride, Workloads},
};
use serde_json::Value;

use crate::{
    catalog::{Catalog, Failure},
    page::{FetchPage, Page},
};

/// What the operator was started with.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Version of the operator.
    pub operator_version: String,
    /// The application of a Connector that names none.
    pub default_application: String,
    /// Where additional manifests may come from.
    pub additional: Allowed,
    /// Additional manifests must not live outside of namespaces.
    pub deny_cluster_scoped_additions: bool,
}

/// One of the two sets, rendered.
#[derive(Clone, Debug)]
pub struct Part {
    /// Its objects, in the order of the bundle.
    pub objects: ManifestSet,
    /// Their hash.
    pub hash: String,
}

/// A Connector, rendered.
#[derive(Clone, Debug)]
pub struct Rendering {
    /// Release version.
    pub release: String,
    /// What does not run.
    pub statics: Part,
    /// Workloads and Services.
    pub deployment: Part,
    /// Overrides that found no workload.
    pub not_found: Vec<String>,
    /// The pages that were used.
    pub pages: Vec<AdditionalPage>,
    /// Pages that could not be fetched anew, and why.
    pub stale: Vec<(String, String)>,
}

impl Rendering {
    /// One of the sets.
    pub const fn part(&self, install_type: InstallType) -> &Part {
        match install_type {
            InstallType::Static => &self.statics,
            InstallType::Deployment => &self.deployment,
        }
    }

    /// Hash over both sets.
    pub fn hash(&self) -> String {
        of_installation(&self.statics.hash, &self.deployment.hash)
    }
}

/// Why there is no rendering.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotRendered {
    /// It cannot be rendered.
    Failed(Failure),
    /// A page is not known yet.
    Unknown,
}

impl From<Failure> for NotRendered {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

impl From<Unknown> for NotRendered {
    fn from(_: Unknown) -> Self {
        Self::Unknown
    }
}

/// Renders a Connector. The same inputs give the same sets.
pub fn rendering(
    namespace: &str,
    spec: &ConnectorSpec,
    settings: &Settings,
    catalog: &dyn Catalog,
    snapshot: &dyn Snapshot,
) -> Result<Rendering, NotRendered> {
    let application = spec.application.as_deref();
    let application = application.unwrap_or(&settings.default_application);
    let bundle = catalog.bundle(application, spec.version.as_deref())?;
    let added = additional(spec, settings, catalog, snapshot)?;
    let adjustments = adjustments(namespace, spec, settings);
    let scopes = catalog.scopes();
    let rendered = render(&bundle.objects, &added.set, &adjustments, &scopes);
    let rendered = rendered.map_err(|error| Failure {
        reason: error.reason(),
        message: error.to_string(),
    })?;
    let (statics, deployment) = rendered.set.split();
    let part = |objects: ManifestSet| Part {
        hash: objects.hash(),
        objects,
    };
    Ok(Rendering {
        release: release_version(&settings.operator_version, bundle.version.as_deref()),
        statics: part(statics),
        deployment: part(deployment),
        not_found: rendered.workloads_not_found,
        pages: added.pages,
        stale: added.stale,
    })
}

fn adjustments(namespace: &str, spec: &ConnectorSpec, settings: &Settings) -> Adjustments {
    let secrets = spec.image_pull_secrets.iter();
    let images = Images::new()
        .with_registry(spec.registry.clone().unwrap_or_default())
        .with_overrides(spec.registry_overrides.clone())
        .with_pull_secrets(secrets.map(|secret| secret.name.clone()).collect());
    let workloads = spec.workloads.iter().map(|one| WorkloadOverride {
        name: one.name.clone(),
        replicas: one.replicas,
        selector: one
            .selector
            .as_ref()
            .and_then(|selector| serde_json::to_value(selector).ok()),
        template: one.template.clone(),
    });
    Adjustments {
        namespace: namespace.to_owned(),
        annotations: spec.annotations.clone(),
        labels: spec.labels.clone(),
        images,
        workloads: Workloads(workloads.collect()),
        deny_cluster_scoped_additions: settings.deny_cluster_scoped_additions,
    }
}

/// Manifests that users added.
#[derive(Default)]
struct Added {
    set: ManifestSet,
    pages: Vec<AdditionalPage>,
    stale: Vec<(String, String)>,
}

fn additional(
    spec: &ConnectorSpec,
    settings: &Settings,
    catalog: &dyn Catalog,
    snapshot: &dyn Snapshot,
) -> Result<Added, NotRendered> {
    let list = spec.additional_manifests.as_deref().unwrap_or_default();
    if list.trim().is_empty() {
        return Ok(Added::default());
    }
    let places = settings.additional.parse(list);
    let places = places.map_err(|error| failed(error.to_string()))?;
    // All pages are asked for before the first unknown one ends the round.
    let pages = places.iter().filter_map(|place| match place {
        Place::Url(url) => Some(snapshot.effect(Arc::new(FetchPage { url: url.clone() }))),
        Place::Path(_) => None,
    });
    let mut pages = all_known(pages)?.into_iter();
    let mut added = Added::default();
    let mut objects = Vec::new();
    for place in &places {
        match place {
            Place::Path(path) => objects.extend(catalog.local(path)?.objects().iter().cloned()),
            Place::Url(url) => {
                let page = pages.next().unwrap_or_else(|| Ok(String::new()));
                objects.extend(read(url, page, &mut added)?);
            }
        }
    }
    added.set = ManifestSet::new(objects);
    Ok(added)
}

/// The objects of a page.
fn read(
    url: &str,
    page: Result<String, String>,
    added: &mut Added,
) -> Result<Vec<Object>, Failure> {
    let page = page.map_err(failed)?;
    let page: Page = serde_json::from_str(&page)
        .map_err(|error| failed(format!("a page was not handed on as it should be: {error}")))?;
    let url = without_secrets(url);
    added.pages.push(AdditionalPage {
        url: url.clone(),
        digest: page.digest,
    });
    if let Some(cause) = page.stale {
        added.stale.push((url.clone(), cause));
    }
    parse::text(&page.body, &url).map_err(|error| failed(error.to_string()))
}

fn failed(message: String) -> Failure {
    Failure {
        reason: "AdditionalManifestsFailed",
        message,
    }
}

/// What a set records of an object.
pub fn recorded(object: &Object, is_all: bool) -> Value {
    if is_all {
        return object.value().clone();
    }
    let mut metadata = serde_json::Map::new();
    for field in ["name", "generateName", "namespace"] {
        let value = object.value().pointer(&format!("/metadata/{field}"));
        if let Some(value) = value.filter(|value| !value.is_null()) {
            metadata.insert(field.to_owned(), value.clone());
        }
    }
    serde_json::json!({
        "apiVersion": object.kind().api_version(),
        "kind": object.kind_name(),
        "metadata": metadata,
    })
}
