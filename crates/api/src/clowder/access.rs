//! What pods may do with the Kubernetes API.

use crate::word::word;

word! {
    /// What the service account of a workload may do in its namespace.
    pub enum AccessLevel {
        /// Nothing that a service account may not do anyway.
        Default = "default",
        /// Read.
        View = "view",
        /// Nothing was said, the same as [`Default`](Self::Default).
        Unset = "",
        /// Read and write.
        Edit = "edit",
    }
}
