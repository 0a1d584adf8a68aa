//! The marks on what is installed and on sets.

use mainstay_engine::mark::Mark;
use mainstay_manifest::conventions::{MANAGED_BY_LABEL, MANAGER};

/// The mark on installed objects names the set.
pub static INSTALLED: Mark = Mark {
    label: (MANAGED_BY_LABEL, MANAGER),
    name: "/metadata/annotations/cpaas.io~1install-manifest",
    namespace: None,
    hash: "/metadata/annotations/cpaas.io~1last-applied-hash",
};

/// The mark on a set names its Connector, which cannot own it: it lives in a namespace, and the set in none.
pub static SET: Mark = Mark {
    label: (MANAGED_BY_LABEL, MANAGER),
    name: "/metadata/labels/cpaas.io~1connector-name",
    namespace: Some("/metadata/labels/cpaas.io~1connector-namespace"),
    hash: "/metadata/annotations/cpaas.io~1last-applied-hash",
};
