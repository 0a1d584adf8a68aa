//! Settings in the config.

use crate::{
    config::{StorageType, field::section, format::Format},
    finding::Code,
};

section! {
    /// Settings of Tempo.
    struct Tempo {
        /// Kind of the object store.
        storage_type: StorageType [word("s3"), code(Code::Oc3131), advertise(&["s3", "swift"])];
        /// Bucket for traces.
        bucket_name: String [rule("`<name>-tempo`"), format(Format::Line)];
        /// Size of the volume in GB.
        volume_size: Option<i64> [minimum(0), code(Code::Oc3137)];
        /// Storage class of the volume.
        storage_class: Option<String> [format(Format::DnsName)];
        /// Identity address of Swift, ending in /v3.
        swift_auth_url: Option<String> [required_when("storage is swift"), format(Format::Url)];
        /// Region of Swift.
        swift_region: String [rule("`opencenter.meta.region`"), format(Format::Line)];
        /// Version of the Swift identity protocol.
        swift_auth_version: i64 [number(3)];
        /// Id of the application credential.
        swift_application_credential_id: Option<String> [required_when("storage is swift"), format(Format::Line)];
        /// Container for traces.
        swift_container_name: String [rule("`bucket_name`"), format(Format::Line)];
        /// Domain of the Swift user.
        swift_user_domain_name: Option<String> [format(Format::Line)];
        /// Domain of the Swift project.
        swift_domain_name: Option<String> [format(Format::Line)];
        /// Host of the S3 store.
        s3_endpoint: String [rule("`swift.api.<region>.rackspacecloud.com`"), format(Format::Line)];
        /// Region of the S3 store.
        s3_region: String [rule("`opencenter.meta.region`"), format(Format::Line)];
        /// Whether buckets are part of the path instead of the host.
        s3_force_path_style: bool [flag(false)];
        /// Whether the S3 store is spoken to without TLS.
        s3_insecure: bool [flag(false)];
    }
}
