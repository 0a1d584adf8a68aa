//! Settings in the config.

use crate::config::{
    field::{Literal, section},
    format::Format,
};

section! {
    /// Settings of Longhorn. Only what is set is written to the chart's values.
    struct Longhorn {
        /// Host name of the user interface.
        hostname: String [rule("`longhorn.<cluster_fqdn>`"), format(Format::DnsName)];
        /// Number of replicas of a volume.
        default_replica_count: Option<i64> [chart(Literal::Number(3)), minimum(1)];
        /// Directory on the nodes.
        default_data_path: Option<String> [chart(Literal::Word("/var/lib/longhorn")), format(Format::Line)];
        /// How far storage may be promised beyond what is there, in percent.
        storage_over_provisioning_percentage: Option<i64> [chart(Literal::Number(200)), minimum(0)];
        /// Share of a disk that stays free, in percent.
        storage_minimal_available_percentage: Option<i64> [chart(Literal::Number(25)), minimum(0), maximum(100)];
        /// Address of the backup store.
        backup_target: Option<String> [format(Format::Line)];
        /// Secret for the backup store.
        backup_target_credential_secret: Option<String> [format(Format::DnsName)];
    }
}
