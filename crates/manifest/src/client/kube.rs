//! The real cluster.

use std::{
    collections::HashMap,
    fmt,
    sync::{Mutex, MutexGuard, PoisonError},
};

use ::kube::{
    Resource as _,
    api::{
        ApiResource, DeleteParams, DynamicObject, GetParams, GroupVersionKind, Patch, PatchParams,
        PostParams, Preconditions, PropagationPolicy,
    },
    core::{Request, Status},
    discovery::{self, pinned_kind},
};
use mainstay_engine::{Kind, ObjectKey, kind::Scope};
use serde_json::Value;

use super::{Client, ClientError, DeleteRequest, Propagation, WriteOptions};

/// A cluster behind a client of the `kube` crate. Kinds are asked for once; one that is not served is asked for again.
pub struct KubeClient {
    client: ::kube::Client,
    default_namespace: String,
    kinds: Mutex<HashMap<Kind, (ApiResource, Scope)>>,
}

impl fmt::Debug for KubeClient {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "KubeClient in {}", self.default_namespace)
    }
}

impl KubeClient {
    /// The cluster behind a client; objects that need a namespace and name none are in the client's own.
    pub fn new(client: ::kube::Client) -> Self {
        let default_namespace = client.default_namespace().to_owned();
        Self {
            client,
            default_namespace,
            kinds: Mutex::default(),
        }
    }

    /// The same, with another namespace for objects that need one and name none.
    #[must_use]
    pub fn with_default_namespace(mut self, namespace: impl Into<String>) -> Self {
        self.default_namespace = namespace.into();
        self
    }

    async fn kind(&self, kind: &Kind) -> Result<(ApiResource, Scope), ClientError> {
        let known = self.kinds().get(kind).cloned();
        if let Some(known) = known {
            return Ok(known);
        }
        let wanted = GroupVersionKind::gvk(&kind.group, &kind.version, &kind.kind);
        let (resource, capabilities) = match pinned_kind(&self.client, &wanted).await {
            Ok(found) => found,
            Err(::kube::Error::Api(status)) if status.code != 404 => {
                return Err(answered(&status));
            }
            Err(::kube::Error::Api(_) | ::kube::Error::Discovery(_)) => {
                return Err(ClientError::NotServed {
                    kind: kind.kind.to_string(),
                    api_version: kind.api_version(),
                });
            }
            Err(error) => return Err(failed(error)),
        };
        let scope = match capabilities.scope {
            discovery::Scope::Namespaced => Scope::Namespaced,
            discovery::Scope::Cluster => Scope::Cluster,
        };
        let found = (resource, scope);
        self.kinds().insert(kind.clone(), found.clone());
        Ok(found)
    }

    fn kinds(&self) -> MutexGuard<'_, HashMap<Kind, (ApiResource, Scope)>> {
        self.kinds.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn requests(&self, kind: &Kind, namespace: &str) -> Result<Request, ClientError> {
        let (resource, scope) = self.kind(kind).await?;
        let namespace = match (scope, namespace) {
            (Scope::Cluster, _) => None,
            (Scope::Namespaced, "") => Some(self.default_namespace.as_str()),
            (Scope::Namespaced, namespace) => Some(namespace),
        };
        Ok(Request::new(DynamicObject::url_path(&resource, namespace)))
    }

    async fn send(&self, request: http::Request<Vec<u8>>) -> Result<Value, ClientError> {
        self.client.request(request).await.map_err(failed)
    }
}

/// Kind, namespace and name of an object.
fn place(object: &Value) -> (Kind, &str, &str) {
    let text = |pointer: &str| {
        let found = object.pointer(pointer).and_then(Value::as_str);
        found.unwrap_or_default()
    };
    let kind = Kind::from_parts(text("/apiVersion"), text("/kind"));
    (kind, text("/metadata/namespace"), text("/metadata/name"))
}

fn body(object: &Value) -> Vec<u8> {
    object.to_string().into_bytes()
}

fn post(options: WriteOptions<'_>) -> PostParams {
    PostParams {
        dry_run: options.dry_run,
        field_manager: Some(options.field_manager.to_owned()),
    }
}

impl Client for KubeClient {
    async fn scope_of(&self, kind: &Kind) -> Result<Scope, ClientError> {
        self.kind(kind).await.map(|(_, scope)| scope)
    }

    async fn get(&self, key: &ObjectKey) -> Result<Option<Value>, ClientError> {
        let requests = self.requests(&key.kind, &key.namespace).await?;
        let request = requests
            .get(&key.name, &GetParams::default())
            .map_err(|error| built(&error))?;
        match self.send(request).await {
            Ok(found) => Ok(Some(found)),
            Err(ClientError::NotFound { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    async fn create(
        &self,
        object: &Value,
        options: WriteOptions<'_>,
    ) -> Result<Value, ClientError> {
        let (kind, namespace, _) = place(object);
        let requests = self.requests(&kind, namespace).await?;
        let request = requests
            .create(&post(options), body(object))
            .map_err(|error| built(&error))?;
        self.send(request).await
    }

    async fn update(
        &self,
        object: &Value,
        options: WriteOptions<'_>,
    ) -> Result<Value, ClientError> {
        let (kind, namespace, name) = place(object);
        let requests = self.requests(&kind, namespace).await?;
        let request = requests
            .replace(name, &post(options), body(object))
            .map_err(|error| built(&error))?;
        self.send(request).await
    }

    async fn apply(&self, object: &Value, options: WriteOptions<'_>) -> Result<Value, ClientError> {
        let (kind, namespace, name) = place(object);
        let requests = self.requests(&kind, namespace).await?;
        let params = PatchParams {
            dry_run: options.dry_run,
            force: options.force,
            field_manager: Some(options.field_manager.to_owned()),
            field_validation: None,
        };
        let request = requests
            .patch(name, &params, &Patch::Apply(object))
            .map_err(|error| built(&error))?;
        self.send(request).await
    }

    async fn delete(&self, key: &ObjectKey, wanted: &DeleteRequest) -> Result<(), ClientError> {
        let requests = self.requests(&key.kind, &key.namespace).await?;
        let policy = wanted.propagation.map(|propagation| match propagation {
            Propagation::Background => PropagationPolicy::Background,
            Propagation::Foreground => PropagationPolicy::Foreground,
            Propagation::Orphan => PropagationPolicy::Orphan,
        });
        let has_preconditions = wanted.uid.is_some() || wanted.resource_version.is_some();
        let params = DeleteParams {
            dry_run: wanted.dry_run,
            grace_period_seconds: wanted.grace_period,
            propagation_policy: policy,
            preconditions: has_preconditions.then(|| Preconditions {
                uid: wanted.uid.clone(),
                resource_version: wanted.resource_version.clone(),
            }),
        };
        let request = requests
            .delete(&key.name, &params)
            .map_err(|error| built(&error))?;
        self.send(request).await.map(drop)
    }
}

/// A request that could not even be written.
fn built(error: &::kube::core::request::Error) -> ClientError {
    ClientError::Invalid {
        message: error.to_string(),
    }
}

fn failed(error: ::kube::Error) -> ClientError {
    match error {
        ::kube::Error::Api(status) => answered(&status),
        error => {
            let mut message = error.to_string();
            let mut next = std::error::Error::source(&error);
            while let Some(cause) = next {
                let words = cause.to_string();
                if !message.contains(&words) {
                    message = format!("{message}: {words}");
                }
                next = cause.source();
            }
            ClientError::Unavailable { message }
        }
    }
}

fn answered(status: &Status) -> ClientError {
    let message = status.message.clone();
    if status.is_not_found() || status.code == 404 {
        ClientError::NotFound { message }
    } else if status.is_already_exists() {
        ClientError::AlreadyExists { message }
    } else if status.is_conflict() {
        ClientError::Conflict { message }
    } else if status.is_forbidden() {
        ClientError::Forbidden { message }
    } else if status.is_invalid() || status.code == 400 {
        ClientError::Invalid { message }
    } else {
        ClientError::Unavailable { message }
    }
}
