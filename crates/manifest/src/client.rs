//! What an apply needs of a cluster, the real one, and a double.

mod kube;
pub mod memory;

use std::future::Future;

use mainstay_engine::{Kind, ObjectKey, kind::Scope};
use serde_json::Value;

pub use self::{kube::KubeClient, memory::MemoryClient};

/// A request that failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// The cluster does not serve the kind.
    #[error("the cluster has no kind {kind} in {api_version}")]
    NotServed {
        /// The kind.
        kind: String,
        /// Its group and version.
        api_version: String,
    },
    /// Something is not there: the object, or its namespace.
    #[error("{message}")]
    NotFound {
        /// Words of the server.
        message: String,
    },
    /// There is an object of this name.
    #[error("{message}")]
    AlreadyExists {
        /// Words of the server.
        message: String,
    },
    /// The object is not as it was read.
    #[error("{message}")]
    Conflict {
        /// Words of the server.
        message: String,
    },
    /// The object is not valid.
    #[error("{message}")]
    Invalid {
        /// Words of the server.
        message: String,
    },
    /// A right is missing.
    #[error("{message}")]
    Forbidden {
        /// Words of the server.
        message: String,
    },
    /// The server cannot do it now, or cannot be reached.
    #[error("{message}")]
    Unavailable {
        /// What went wrong.
        message: String,
    },
    /// The caller does not want it any more.
    #[error("cancelled")]
    Cancelled,
    /// The time was over.
    #[error("the time for it is over")]
    Deadline,
    /// A hook objected.
    #[error("vetoed: {message}")]
    Vetoed {
        /// Words of the hook.
        message: String,
    },
}

/// How something is written.
#[derive(Clone, Copy, Debug)]
pub struct WriteOptions<'name> {
    /// Who writes.
    pub field_manager: &'name str,
    /// Ask only what would become of it.
    pub dry_run: bool,
    /// Take over the fields of others. Only of a server-side apply.
    pub force: bool,
}

/// What becomes of what belongs to an object that is deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Propagation {
    /// It goes later.
    Background,
    /// It goes first.
    Foreground,
    /// It stays.
    Orphan,
}

/// How something is deleted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeleteRequest {
    /// What becomes of what belongs to it; otherwise as its kind has it.
    pub propagation: Option<Propagation>,
    /// Seconds that it has to end; otherwise as its kind has it.
    pub grace_period: Option<u32>,
    /// Only if it is this very object.
    pub uid: Option<String>,
    /// Only if it is as it was read.
    pub resource_version: Option<String>,
    /// Ask only what would become of it.
    pub dry_run: bool,
}

/// A cluster. All calls can be cancelled by dropping their future.
///
/// Keys and objects of cluster-scoped kinds may name a namespace, which does not count.
pub trait Client: Send + Sync {
    /// Whether objects of a kind live in a namespace.
    fn scope_of(&self, kind: &Kind) -> impl Future<Output = Result<Scope, ClientError>> + Send;

    /// An object; none if it is not there.
    fn get(
        &self,
        key: &ObjectKey,
    ) -> impl Future<Output = Result<Option<Value>, ClientError>> + Send;

    /// Creates an object, and gives it as it is then.
    fn create(
        &self,
        object: &Value,
        options: WriteOptions<'_>,
    ) -> impl Future<Output = Result<Value, ClientError>> + Send;

    /// Replaces an object that is as its resource version says, and gives it as it is then.
    fn update(
        &self,
        object: &Value,
        options: WriteOptions<'_>,
    ) -> impl Future<Output = Result<Value, ClientError>> + Send;

    /// Applies an object on the server, and gives it as it is then.
    fn apply(
        &self,
        object: &Value,
        options: WriteOptions<'_>,
    ) -> impl Future<Output = Result<Value, ClientError>> + Send;

    /// Deletes an object.
    fn delete(
        &self,
        key: &ObjectKey,
        request: &DeleteRequest,
    ) -> impl Future<Output = Result<(), ClientError>> + Send;
}
