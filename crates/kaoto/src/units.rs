//! Units: one per action of the original, in its order.
//!
//! Every object is stated with exactly the fields that the operator means to own; what is not stated
//! here stays with whoever sets it.

mod deployment;
mod ingress;
mod route;
mod service;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};
use mainstay_engine::{Kind, ObjectKey, ObjectSet, kind::KindTable, unit::Unit};

pub use self::{
    deployment::DeploymentUnit, ingress::IngressUnit, route::RouteUnit, service::ServiceUnit,
};
use crate::{kinds, names, settings::ClusterType, validate::KaotoInput};

/// Units of a plain cluster, in order.
pub static VANILLA: &[&dyn Unit<KaotoInput>] = &[&ServiceUnit, &IngressUnit, &DeploymentUnit];

/// Units of OpenShift, in order.
pub static OPENSHIFT: &[&dyn Unit<KaotoInput>] = &[&ServiceUnit, &RouteUnit, &DeploymentUnit];

/// Name of the unit that renders the Service.
pub const SERVICE: &str = "service";
/// Name of the unit that renders the Ingress.
pub const INGRESS: &str = "ingress";
/// Name of the unit that renders the Route.
pub const ROUTE: &str = "route";
/// Name of the unit that renders the Deployment.
pub const DEPLOYMENT: &str = "deployment";

/// Why an exposure of ours is not wanted.
const NOT_EXPOSED: &str = "spec.ingress is not set";

/// The units for a cluster of this type.
pub fn units(cluster_type: ClusterType) -> &'static [&'static dyn Unit<KaotoInput>] {
    match cluster_type {
        ClusterType::Vanilla => VANILLA,
        ClusterType::OpenShift => OPENSHIFT,
    }
}

/// Name of the unit that exposes the editor on a cluster of this type.
pub const fn exposure_unit(cluster_type: ClusterType) -> &'static str {
    match cluster_type {
        ClusterType::Vanilla => INGRESS,
        ClusterType::OpenShift => ROUTE,
    }
}

/// An empty set whose objects bear the labels of an instance.
pub fn labelled_set(declared: KindTable, input: &KaotoInput) -> ObjectSet {
    let mut set = ObjectSet::new(declared);
    set.label_all(names::labels(&input.name));
    set
}

/// Metadata that all objects of an instance have in common, besides their labels.
fn metadata(input: &KaotoInput) -> ObjectMeta {
    ObjectMeta {
        name: Some(input.name.clone()),
        namespace: Some(input.namespace.clone()),
        owner_references: input.uid.as_ref().map(|uid| vec![owner(&input.name, uid)]),
        ..ObjectMeta::default()
    }
}

fn owner(name: &str, uid: &str) -> OwnerReference {
    OwnerReference {
        api_version: kinds::KAOTO.api_version(),
        kind: names::KIND.to_owned(),
        name: name.to_owned(),
        uid: uid.to_owned(),
        controller: Some(true),
        block_owner_deletion: Some(true),
    }
}

/// The key of the instance's object of a kind.
fn key(kind: Kind, input: &KaotoInput) -> ObjectKey {
    ObjectKey::new(kind, input.namespace.as_str(), input.name.as_str())
}

#[cfg(test)]
mod tests;
