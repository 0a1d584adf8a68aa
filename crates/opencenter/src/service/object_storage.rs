//! What Loki, Tempo and Mimir have in common: an object store and volumes.

pub(super) mod store;

use mainstay_yaml::Node;

use crate::{config::DefaultRules, flux::map};

use super::manifest::filled;

/// The text, or an explicit null.
pub(super) fn or_null(text: Option<&str>) -> Node {
    text.map_or(Node::Null, Node::from)
}

/// A size in GB as a Kubernetes quantity, and the class, for charts that take both.
pub(super) fn volume(size: Option<i64>, class: Option<&String>) -> Node {
    map! {
        "size": size.filter(|size| *size > 0).map(|size| format!("{size}Gi")),
        "storageClass": filled(class),
    }
    .or_absent()
}

/// Bucket, container and regions of a store.
pub(super) fn defaults(rules: &mut DefaultRules<'_>, service: &str) {
    let holder = format!("opencenter.services.{service}");
    let name = rules.text("opencenter.meta.name");
    let region = rules.text("opencenter.meta.region");
    rules.set(
        &holder,
        "bucket_name",
        format!("{name}-{service}"),
        "<name>-<service>",
    );
    let bucket = rules.text(&format!("{holder}.bucket_name"));
    rules.set(&holder, "swift_container_name", bucket, "bucket_name");
    for field in ["swift_region", "s3_region"] {
        rules.set(&holder, field, region.clone(), "opencenter.meta.region");
    }
}
