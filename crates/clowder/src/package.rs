//! The operator's own manifests, as values, in every form: one source for all of them.
//!
//! | Module | Content |
//! |---|---|
//! | `operator` | account, permissions, Deployment, Services |
//! | `webhook` | what the API server asks the webhooks with, or judges by without them |
//! | `kustomize`, `helm`, `olm` | the forms |

mod helm;
mod kustomize;
mod olm;
mod operator;
mod webhook;

use mainstay_package::{File, Image};
use serde_json::Value;

pub use self::{
    helm::chart,
    kustomize::kustomize_tree,
    olm::bundle,
    operator::{permissions, roles},
};

/// Namespace of the operator.
pub const NAMESPACE: &str = crate::settings::DEFAULT_NAMESPACE;
/// Path of the program in its image.
const BINARY: &str = "/manager";

/// Whether an installation has webhooks, or the API server judges by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// The original's way; certificates come from cert-manager.
    Webhooks,
    /// A policy with the same rules, for clusters without cert-manager. Pods are not completed.
    Policy,
}

/// Image of the operator if nobody names another: one that the user builds from [`containerfile`], on no registry.
pub fn default_image(version: &str) -> Image {
    Image::tagged("mainstay-clowder", version)
}

/// Everything that an installation consists of, definitions first.
pub fn installation(image: &str, admission: Admission) -> Vec<Value> {
    let definitions = definitions().into_iter();
    let mut objects: Vec<Value> = definitions.map(|(_, definition)| definition).collect();
    objects.extend(operator::objects(image, admission));
    match admission {
        Admission::Webhooks => objects.extend(webhook::objects()),
        Admission::Policy => objects.extend(crate::admission::policy::objects()),
    }
    objects
}

/// Installations as plain YAML.
pub fn plain(image: &Image) -> Vec<File> {
    let image = &image.to_string();
    vec![
        File::yaml("clowder.yaml", installation(image, Admission::Webhooks)),
        File::yaml(
            "clowder-without-webhooks.yaml",
            installation(image, Admission::Policy),
        ),
    ]
}

/// The definition of the operator's container image: a static program, one per platform, and the certificates of public
/// servers, which bundles of authorities are fetched from.
pub fn containerfile() -> File {
    const CERTIFICATES: &str = "/etc/ssl/certs/ca-certificates.crt";
    let text = format!(
        "FROM scratch\n\
         ARG TARGETPLATFORM\n\
         COPY --from=gcr.io/distroless/static:nonroot {CERTIFICATES} {CERTIFICATES}\n\
         COPY --chmod=0755 dist/${{TARGETPLATFORM}}/mainstay {BINARY}\n\
         USER 65532:65532\n\
         ENTRYPOINT [\"{BINARY}\"]\n"
    );
    File::text("Containerfile", text)
}

/// The definitions, with the names of their files.
fn definitions() -> Vec<(String, Value)> {
    let mut all = mainstay_api::crds();
    all.retain(|(_, definition)| definition["spec"]["group"] == crate::names::GROUP);
    all
}

#[cfg(test)]
mod tests;
