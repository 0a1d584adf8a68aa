//! From a bundle and the adjustments of its user to what is installed. Pure.

use std::collections::BTreeMap;

use crate::{
    identity::Identity,
    scope::Scopes,
    set::ManifestSet,
    transform::{
        Annotations, Images, Labels, Namespace, Normalise, Problem, Transform, TransformError,
        Workloads, additional::Additional, validate,
    },
};

/// What a user changes about a bundle.
#[derive(Clone, Debug, Default)]
pub struct Adjustments {
    /// Namespace of everything; if empty, namespaces stay as they are.
    pub namespace: String,
    /// Annotations on everything.
    pub annotations: BTreeMap<String, String>,
    /// Labels on everything.
    pub labels: BTreeMap<String, String>,
    /// Images, and secrets to pull them with.
    pub images: Images,
    /// Overrides of workloads.
    pub workloads: Workloads,
    /// Refuse additional manifests that live in no namespace.
    pub deny_cluster_scoped_additions: bool,
}

/// What is to be installed, and what its user should know.
#[derive(Clone, Debug)]
pub struct Rendered {
    /// The objects.
    pub set: ManifestSet,
    /// Names of workload overrides that found no workload.
    pub workloads_not_found: Vec<String>,
    /// Identities that several packaged objects had, of which the last was taken.
    pub repeated: Vec<Identity>,
}

/// Renders a bundle: normalise, namespace, annotations, labels, images, workloads, additional manifests, validation, in
/// this order. Definitions in the bundle tell the scope of their kinds; `scopes` tells that of others.
///
/// ```
/// use mainstay_manifest::{ManifestSet, Scopes, parse, render::{Adjustments, render}};
///
/// let bundle = ManifestSet::new(parse::text("{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}", "a.yaml")?);
/// let adjustments = Adjustments { namespace: "team".to_owned(), ..Adjustments::default() };
/// let rendered = render(&bundle, &ManifestSet::default(), &adjustments, &Scopes::default())?;
/// assert_eq!(rendered.set.objects()[0].namespace(), "team");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn render(
    packaged: &ManifestSet,
    additional: &ManifestSet,
    adjustments: &Adjustments,
    scopes: &Scopes,
) -> Result<Rendered, TransformError> {
    requested(adjustments)?;
    let scopes = scopes
        .clone()
        .with_definitions(packaged)
        .with_definitions(additional);
    let (set, mut repeated) = packaged.deduplicated();
    let namespace = Namespace::new(adjustments.namespace.as_str(), scopes.clone());
    let namespace: Option<&dyn Transform> = match adjustments.namespace.as_str() {
        "" => None,
        _ => Some(&namespace),
    };
    // Namespaces can make two objects coincide.
    let set = set.transform(&[Some(&Normalise), namespace])?;
    let (set, coinciding) = set.deduplicated();
    repeated.extend(coinciding);
    let annotations = Annotations(adjustments.annotations.clone());
    let labels = Labels(adjustments.labels.clone());
    let workloads_not_found = adjustments.workloads.not_found(&set);
    let set = set.transform(&[
        Some(&annotations),
        Some(&labels),
        Some(&adjustments.images),
        Some(&adjustments.workloads),
    ])?;
    let additions = Additional {
        namespace: &adjustments.namespace,
        scopes: &scopes,
        deny_cluster_scoped: adjustments.deny_cluster_scoped_additions,
    };
    let set = additions.merge(&set, additional)?;
    validate::set(&set)?;
    Ok(Rendered {
        set,
        workloads_not_found,
        repeated,
    })
}

/// What users want on everything is checked once, not on each object.
fn requested(adjustments: &Adjustments) -> Result<(), TransformError> {
    let checked = validate::requested_labels(&adjustments.labels)
        .and_then(|()| validate::requested_annotations(&adjustments.annotations));
    checked.map_err(|invalid| TransformError {
        transformer: "validate",
        object: "what is asked for".to_owned(),
        origin: None,
        problem: Problem::InvalidResource(invalid.to_string()),
    })
}
