//! Settings in the config.

use crate::config::{field::section, format::Format};

section! {
    /// Settings of the etcd backup.
    struct EtcdBackup {
        /// Address of the S3 store.
        s3_host: String [rule("`https://swift.api.<region>.rackspacecloud.com`"), format(Format::Line)];
        /// Region of the S3 store.
        s3_region: String [rule("`opencenter.meta.region`"), format(Format::Line)];
    }
}
