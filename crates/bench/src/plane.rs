//! The control plane as the measurements need it: connected, with our definitions, and otherwise silent.

use std::{
    fmt,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use anyhow::Context;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{
    Api, Client, Config,
    api::{ApiResource, DynamicObject, GroupVersionKind, ListParams, Patch, PatchParams},
    config::{KubeConfigOptions, Kubeconfig},
    runtime::{conditions, wait::await_condition},
};
use mainstay_control_plane::{Layout, state::State};
use mainstay_testkit::{Operator, audit};
use rustix::process::{Pid, Signal, kill_process};

use crate::{cost::Cost, usage};

/// The user of the operators; see the kubeconfigs of the plane.
const OPERATOR_USER: &str = "mainstay";

/// Components that act upon what the measurements write. They work the same for the product and for its floors, so
/// they only blur the difference.
const BYSTANDERS: [&str; 3] = ["kube-controller-manager", "kube-scheduler", "kwok"];

/// Longest wait for a kind to be served.
const PATIENCE: Duration = Duration::from_secs(30);

/// A running control plane whose bystanders are paused until this is dropped.
pub(crate) struct Plane {
    /// Client of an administrator.
    pub(crate) client: Client,
    layout: Layout,
    /// The program that makes certificates.
    pub(crate) pki: PathBuf,
    server: u32,
    /// Waiting for its end.
    _silence: Silence,
}

impl fmt::Debug for Plane {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_tuple("Plane")
            .field(&self.layout.directory())
            .finish()
    }
}

impl Plane {
    /// Connects to the plane in a directory, installs our definitions and silences the rest.
    pub(crate) async fn connect(directory: &Path) -> anyhow::Result<Self> {
        let layout = Layout::new(directory)?;
        let state = State::read(&layout)?.context("there is no control plane in the directory")?;
        let process = |name: &str| {
            let component = state.components.iter().find(|running| running.name == name);
            component
                .map(|running| running.pid)
                .with_context(|| format!("the control plane runs no {name}"))
        };
        let client = connect(&layout).await?;
        install_definitions(&client).await?;
        let bystanders: Result<Vec<u32>, _> = BYSTANDERS.into_iter().map(process).collect();
        Ok(Self {
            client,
            pki: state.assets.join("pki"),
            server: process("kube-apiserver")?,
            _silence: Silence::begin(&bystanders?)?,
            layout,
        })
    }

    /// Starts the operator as a user would, except that it stands for no election.
    pub(crate) async fn start_operator(&self, binary: &Path, flags: &[&str]) -> Operator {
        let kubeconfig = self.layout.client_kubeconfig(OPERATOR_USER);
        let mut operator = Operator::start(binary, &kubeconfig, flags);
        operator.ready().await;
        operator
    }

    /// The end of the audit log now.
    pub(crate) fn mark(&self) -> audit::Mark {
        audit::Mark::now(self.layout.audit_log())
    }

    /// Wall time and time of the API server over a piece of work.
    pub(crate) async fn cost<T>(
        &self,
        work: impl Future<Output = anyhow::Result<T>>,
    ) -> anyhow::Result<(Cost, T)> {
        let (server, begun) = (self.server_time()?, Instant::now());
        let result = work.await?;
        let cost = Cost {
            wall: begun.elapsed(),
            server: self.server_time()?.saturating_sub(server),
            ..Cost::default()
        };
        Ok((cost, result))
    }

    /// Processor time of the API server so far.
    pub(crate) fn server_time(&self) -> anyhow::Result<Duration> {
        usage::processor_time(self.server)
    }
}

async fn connect(layout: &Layout) -> anyhow::Result<Client> {
    let file = Kubeconfig::read_from(layout.kubeconfig())?;
    let mut config = Config::from_custom_kubeconfig(file, &KubeConfigOptions::default()).await?;
    // A hidden retry would make a floor look slow.
    config.default_retry = false;
    Ok(Client::try_from(config)?)
}

async fn install_definitions(client: &Client) -> anyhow::Result<()> {
    let api: Api<CustomResourceDefinition> = Api::all(client.clone());
    let params = PatchParams::apply("mainstay-bench").force();
    for (_, definition) in mainstay_api::crds() {
        let name = definition.pointer("/metadata/name");
        let name = name
            .and_then(|name| name.as_str())
            .context("a definition has no name")?;
        api.patch(name, &params, &Patch::Apply(&definition)).await?;
        await_condition(api.clone(), name, conditions::is_crd_established()).await?;
        let definition = serde_json::from_value(definition)?;
        await_storage(client, &definition).await?;
    }
    Ok(())
}

/// Established is not served yet: the storage of a new kind takes a moment to be there.
async fn await_storage(
    client: &Client,
    definition: &CustomResourceDefinition,
) -> anyhow::Result<()> {
    let spec = &definition.spec;
    let version = spec
        .versions
        .first()
        .context("a definition has no version")?;
    let kind = GroupVersionKind::gvk(&spec.group, &version.name, &spec.names.kind);
    let resource = ApiResource::from_gvk_with_plural(&kind, &spec.names.plural);
    let api: Api<DynamicObject> = Api::all_with(client.clone(), &resource);
    let begun = Instant::now();
    while let Err(error) = api.list(&ListParams::default().limit(1)).await {
        if begun.elapsed() > PATIENCE {
            return Err(error).context("a new kind is not served");
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    Ok(())
}

/// Stopped processes, which go on when this is dropped.
#[derive(Debug)]
struct Silence {
    processes: Vec<Pid>,
}

impl Silence {
    fn begin(processes: &[u32]) -> anyhow::Result<Self> {
        let mut silence = Self {
            processes: Vec::new(),
        };
        for &process in processes {
            let process = i32::try_from(process).ok().and_then(Pid::from_raw);
            let process = process.context("a process id is out of range")?;
            kill_process(process, Signal::STOP).context("could not pause a component")?;
            silence.processes.push(process);
        }
        Ok(silence)
    }
}

impl Drop for Silence {
    fn drop(&mut self) {
        for &process in &self.processes {
            // It may have ended meanwhile.
            let _ = kill_process(process, Signal::CONT);
        }
    }
}
