//! Settings in the config.

use crate::{
    config::{DatabaseType, HarborStorage, field::section, format::Format},
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
}
