//! Settings in the config.

use crate::config::{StorageType, field::section, format::Format};

section! {
    /// Settings of Velero.
    struct Velero {
        /// Bucket for backups.
        backup_bucket: String [rule("`<name>-velero`"), format(Format::Line)];
        /// Region of the bucket.
        region: Option<String> [format(Format::Line)];
        /// Kind of the object store.
        storage_type: StorageType [rule("swift on openstack, else s3")];
        /// Whether rights for snapshots are rendered.
        emit_snapshot_rbac: bool [flag(false)];
    }
}
