//! The one directory of a plane: which file is where.

use std::{
    io,
    path::{Path, PathBuf},
};

/// Paths inside the directory of one plane. Everything a plane writes is below it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    directory: PathBuf,
}

impl Layout {
    /// The layout of `directory`, made absolute: the kubeconfig names files by absolute path.
    pub fn new(directory: &Path) -> io::Result<Self> {
        Ok(Self {
            directory: std::path::absolute(directory)?,
        })
    }

    /// The directory itself.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// What runs, on which ports: [`crate::state::State`] as JSON.
    pub fn state(&self) -> PathBuf {
        self.directory.join("plane.json")
    }

    /// Locked by the supervisor for as long as it lives. This, not a process id, tells whether a plane runs.
    pub fn lock(&self) -> PathBuf {
        self.directory.join("supervisor.lock")
    }

    /// The request to stop: the supervisor ends the plane when this file exists.
    pub fn stop_request(&self) -> PathBuf {
        self.directory.join("stop")
    }

    /// The request to do without a component: the supervisor keeps it away for as long as this file exists.
    pub fn halt_request(&self, component: &str) -> PathBuf {
        self.halt_requests().join(component)
    }

    /// The directory of the requests to do without components.
    pub fn halt_requests(&self) -> PathBuf {
        self.directory.join("halted")
    }

    /// The supervisor's own output.
    pub fn supervisor_log(&self) -> PathBuf {
        self.directory.join("supervisor.log")
    }

    /// The output of one component.
    pub fn log(&self, component: &str) -> PathBuf {
        self.logs().join(format!("{component}.log"))
    }

    /// The directory of the components' output.
    pub fn logs(&self) -> PathBuf {
        self.directory.join("logs")
    }

    /// The kubeconfig of the user `admin`, who may do everything.
    pub fn kubeconfig(&self) -> PathBuf {
        self.directory.join("kubeconfig")
    }

    /// The kubeconfig of another user; see [`crate::PlaneOptions::clients`].
    pub fn client_kubeconfig(&self, client: &str) -> PathBuf {
        self.client_kubeconfigs().join(client)
    }

    /// The directory of the kubeconfigs of users other than `admin`.
    pub fn client_kubeconfigs(&self) -> PathBuf {
        self.directory.join("kubeconfigs")
    }

    /// One JSON document per line for each request that the API server answered.
    pub fn audit_log(&self) -> PathBuf {
        self.directory.join("audit.log")
    }

    /// What goes into the audit log.
    pub fn audit_policy(&self) -> PathBuf {
        self.directory.join("audit-policy.yaml")
    }

    /// Certificates and keys.
    pub fn pki(&self) -> PathBuf {
        self.directory.join("pki")
    }

    /// A certificate or key, such as `ca.crt`.
    pub fn pki_file(&self, name: &str) -> PathBuf {
        self.pki().join(name)
    }

    /// etcd's data.
    pub fn etcd_data(&self) -> PathBuf {
        self.directory.join("etcd")
    }

    /// KWOK's stages, put together for this plane.
    pub fn kwok_configuration(&self) -> PathBuf {
        self.directory.join("kwok.yaml")
    }

    /// kubectl's discovery cache. Its default place is keyed by host and port only, and would hand the API of an
    /// earlier plane to a later one that happens to get the same port.
    pub fn kubectl_cache(&self) -> PathBuf {
        self.directory.join("kubectl-cache")
    }
}
