//! Settings in the config.

use crate::{
    config::{BindingMode, ReclaimPolicy, ReclaimSelection, field::section, format::Format},
    finding::Code,
};

section! {
    /// Settings of the vSphere storage driver.
    struct VSphereCsi {
        /// Storage classes.
        storage_classes: Vec<StorageClass>;
        /// Which of the two classes of older files are rendered, if no classes are listed.
        reclaim_policy: ReclaimSelection [word("Retain")];
    }

    /// A storage class on vSphere.
    struct StorageClass {
        /// Name of the class.
        name: Option<String> [required, format(Format::DnsName)];
        /// Datastore of the volumes.
        datastore_url: Option<String> [required, missing(Code::Oc3160)];
        /// What happens to a volume that is no longer claimed.
        reclaim_policy: ReclaimPolicy [word("Retain")];
        /// When a volume is made.
        volume_binding_mode: BindingMode [word("Immediate")];
        /// Whether volumes may grow.
        allow_expansion: bool [flag(true)];
    }
}
