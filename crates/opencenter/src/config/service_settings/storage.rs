//! Settings of volumes, backups and the registry.

use super::choices::{
    BindingMode, DatabaseType, HarborStorage, ReclaimPolicy, ReclaimSelection, StorageType,
};
use crate::{
    config::{
        field::{Literal, section},
        format::Format,
    },
    finding::Code,
};

section! {
    /// Settings of Harbor.
    struct Harbor {
        /// Host name of the registry.
        hostname: String [rule("`harbor.<cluster_fqdn>`"), format(Format::DnsName)];
        /// Address of the registry as clients see it.
        external_url: String [rule("`https://<hostname>`")];
        /// Where images are kept.
        storage_type: HarborStorage [word("s3")];
        /// Size of the registry volume in GB.
        registry_volume_size: i64 [number(100), minimum(0), code(Code::Oc3144)];
        /// Bucket for images.
        s3_bucket: String [rule("`<cluster_name>-harbor`"), format(Format::Line)];
        /// Region of the bucket.
        s3_region: String [rule("`opencenter.meta.region` in upper case"), format(Format::Line)];
        /// Where the database runs.
        database_type: DatabaseType [word("internal")];
        /// Host of the external database.
        database_host: Option<String> [required_when("the database is external"), format(Format::Line)];
        /// Port of the external database.
        database_port: Option<i64> [required_when("the database is external")];
        /// Name of the external database.
        database_name: Option<String> [required_when("the database is external"), format(Format::Line)];
        /// User of the external database.
        database_user: Option<String> [required_when("the database is external"), format(Format::Line)];
        /// Whether a certificate is rendered.
        emit_certificate: bool [flag(false)];
    }

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

    /// Settings of the etcd backup.
    struct EtcdBackup {
        /// Address of the S3 store.
        s3_host: String [rule("`https://swift.api.<region>.rackspacecloud.com`"), format(Format::Line)];
        /// Region of the S3 store.
        s3_region: String [rule("`opencenter.meta.region`"), format(Format::Line)];
    }
}
