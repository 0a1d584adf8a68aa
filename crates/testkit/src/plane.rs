//! The control plane that tests share.

use std::{
    ops::Deref,
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
};

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{
    Api, Client, Config,
    api::{DynamicObject, ListParams, Patch, PatchParams},
    config::{KubeConfigOptions, Kubeconfig},
    discovery::ApiResource,
};
use mainstay_control_plane::{
    Layout,
    assets::Program as ControlPlaneProgram,
    definitions::{self, Edition},
    halt::{halt, resume},
    state::State,
};
use tokio::sync::OnceCell;

use crate::{latency_relay, operator::http_post, wait::eventually};

/// What the tests of a process do once with a plane.
struct Once {
    directory: OnceLock<PathBuf>,
    installed: OnceCell<()>,
}

impl Once {
    const fn new() -> Self {
        Self {
            directory: OnceLock::new(),
            installed: OnceCell::const_new(),
        }
    }
}

/// A running control plane.
#[derive(Clone, Debug)]
pub struct Plane {
    directory: PathBuf,
}

impl Plane {
    /// Plain Kubernetes, with the definitions of the suite installed.
    pub async fn vanilla() -> Self {
        static ONCE: Once = Once::new();
        Self::at(&ONCE, "MAINSTAY_TEST_PLANE", "tests", Vec::new).await
    }

    /// The same with OpenShift's Route.
    pub async fn openshift() -> Self {
        static ONCE: Once = Once::new();
        Self::at(
            &ONCE,
            "MAINSTAY_TEST_PLANE_OPENSHIFT",
            "tests-openshift",
            || definitions::route().unwrap(),
        )
        .await
    }

    /// One for the operator of Clowder, which looks at the whole cluster: with the kinds of Prometheus, OLM, KEDA,
    /// Strimzi, Cyndi, cert-manager and OpenShift's ingress.
    pub async fn clowder() -> Self {
        static ONCE: Once = Once::new();
        Self::at(
            &ONCE,
            "MAINSTAY_TEST_PLANE_CLOWDER",
            "tests-clowder",
            || definitions::clowder(Edition::Current).unwrap(),
        )
        .await
    }

    /// `cargo xtask test` names the directory; a bare `cargo test` starts a plane that stays for the next run.
    async fn at(once: &Once, variable: &str, name: &str, crds: fn() -> Vec<PathBuf>) -> Self {
        let directory = once
            .directory
            .get_or_init(|| match std::env::var_os(variable) {
                Some(directory) => PathBuf::from(directory),
                None => start(name, &crds()),
            });
        let plane = Self {
            directory: directory.clone(),
        };
        let installed = once.installed.get_or_init(|| async {
            install_definitions(&plane.client().await).await;
        });
        installed.await;
        plane
    }

    /// Its kubeconfig.
    pub fn kubeconfig(&self) -> PathBuf {
        latency_relay::kubeconfig(&self.directory)
    }

    /// The plane that writes this audit log.
    pub(crate) fn of_audit_log(path: &Path) -> Self {
        Self {
            directory: path.parent().unwrap().to_owned(),
        }
    }

    /// Its audit log.
    pub fn audit_log(&self) -> PathBuf {
        self.directory.join("audit.log")
    }

    /// The `kubectl` that belongs to it.
    pub fn kubectl(&self) -> PathBuf {
        self.program("kubectl")
    }

    /// A program that belongs to it.
    pub(crate) fn program(&self, name: &str) -> PathBuf {
        let state = std::fs::read(self.directory.join("plane.json")).unwrap();
        let state: serde_json::Value = serde_json::from_slice(&state).unwrap();
        Path::new(state["assets"].as_str().unwrap()).join(name)
    }

    /// Configuration of an administrator.
    pub async fn config(&self) -> Config {
        let file = Kubeconfig::read_from(self.kubeconfig()).unwrap();
        Config::from_custom_kubeconfig(file, &KubeConfigOptions::default())
            .await
            .unwrap()
    }

    /// Client of an administrator, under the name of the tests.
    pub async fn client(&self) -> Client {
        Client::try_from(self.config().await).unwrap()
    }
}

fn start(name: &str, crds: &[PathBuf]) -> PathBuf {
    // The plane remembers its paths and compares them.
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let workspace = workspace.canonicalize().unwrap();
    let directory = workspace.join("target/control-plane").join(name);
    let crds = crds.iter().map(|path| format!("--crds={}", path.display()));
    xtask(&workspace, "up", &directory, &crds.collect::<Vec<_>>());
    directory
}

fn xtask(workspace: &Path, word: &str, directory: &Path, arguments: &[String]) {
    let status = Command::new("cargo")
        .args(["xtask", "control-plane", word, "--dir"])
        .arg(directory)
        .args(arguments)
        .current_dir(workspace)
        .status()
        .unwrap();
    assert!(
        status.success(),
        "could not start or stop a control plane: run `cargo xtask control-plane {word}`"
    );
}

/// A plane of one test alone, for what would disturb all others; stopped and removed when dropped. No definition is
/// installed.
#[derive(Debug)]
pub struct OwnPlane {
    plane: Plane,
}

impl OwnPlane {
    /// Starts one in a directory whose name begins so.
    pub fn start(prefix: &str) -> Self {
        Self::with_crds(prefix, &[])
    }

    /// The same with these definitions from the start.
    pub fn with_crds(prefix: &str, crds: &[PathBuf]) -> Self {
        let directory = start(&format!("{prefix}-{}", std::process::id()), crds);
        Self {
            plane: Plane { directory },
        }
    }
}

impl OwnPlane {
    /// Takes the API server away: whoever asks is refused the connection.
    pub async fn stop_api_server(&self) {
        let layout = self.layout();
        halt_or_resume(move || halt(&layout, ControlPlaneProgram::KubeApiserver)).await;
    }

    /// Gives it back, and waits until it says that it is ready.
    pub async fn start_api_server(&self) {
        let layout = self.layout();
        halt_or_resume(move || resume(&layout, ControlPlaneProgram::KubeApiserver)).await;
        self.api_server_ready().await;
    }

    /// Takes the storage of the API server away: whoever asks waits, or hears of an error.
    pub async fn stop_etcd(&self) {
        let layout = self.layout();
        halt_or_resume(move || halt(&layout, ControlPlaneProgram::Etcd)).await;
    }

    /// Gives it back, and waits until the API server says that it is ready.
    pub async fn start_etcd(&self) {
        let layout = self.layout();
        halt_or_resume(move || resume(&layout, ControlPlaneProgram::Etcd)).await;
        self.api_server_ready().await;
    }

    /// Lets the storage say that it is full, as it does at its quota: it is read, and every write is refused.
    pub async fn fill_etcd(&self) {
        self.alarm("ACTIVATE").await;
    }

    /// Lets it take writes again.
    pub async fn empty_etcd(&self) {
        self.alarm("DEACTIVATE").await;
    }

    async fn alarm(&self, action: &str) {
        let state = State::read(&self.layout()).unwrap().unwrap();
        let address = format!("127.0.0.1:{}", state.ports.unwrap().etcd);
        let members = http_post(&address, "/v3/cluster/member/list", "{}").await;
        let (_, body) = members.split_once("\r\n\r\n").unwrap();
        let members: serde_json::Value = serde_json::from_str(body).unwrap();
        let alarm = serde_json::json!({
            "action": action, "alarm": "NOSPACE", "memberID": members["members"][0]["ID"],
        });
        let answer = http_post(&address, "/v3/maintenance/alarm", &alarm.to_string()).await;
        assert!(answer.contains(" 200 "), "{answer}");
    }

    async fn api_server_ready(&self) {
        let client = self.client().await;
        eventually("the API server is ready again", || async {
            let question = http::Request::get("/readyz").body(Vec::new()).unwrap();
            let answer = client.request_text(question).await.ok()?;
            (answer == "ok").then_some(())
        })
        .await;
    }

    fn layout(&self) -> Layout {
        Layout::new(&self.plane.directory).unwrap()
    }
}

async fn halt_or_resume<E: std::fmt::Debug + Send + 'static>(
    work: impl FnOnce() -> Result<(), E> + Send + 'static,
) {
    tokio::task::spawn_blocking(work).await.unwrap().unwrap();
}

impl Deref for OwnPlane {
    type Target = Plane;

    fn deref(&self) -> &Plane {
        &self.plane
    }
}

impl Drop for OwnPlane {
    fn drop(&mut self) {
        let workspace = Path::new(env!("CARGO_MANIFEST_DIR"));
        xtask(workspace, "down", &self.plane.directory, &[]);
        let _ = std::fs::remove_dir_all(&self.plane.directory);
    }
}

/// Applies our definitions and waits until they and those that the plane came with are served.
pub async fn install_definitions(client: &Client) {
    for (_, definition) in mainstay_api::crds() {
        install_definition(client, &definition).await;
    }
    let api: Api<CustomResourceDefinition> = Api::all(client.clone());
    for definition in api.list(&ListParams::default()).await.unwrap() {
        served(client, &definition).await;
    }
}

/// Applies one definition and waits until it is served.
pub async fn install_definition(client: &Client, definition: &serde_json::Value) {
    let api: Api<CustomResourceDefinition> = Api::all(client.clone());
    let params = PatchParams::apply("mainstay-tests").force();
    let name = definition["metadata"]["name"].as_str().unwrap();
    api.patch(name, &params, &Patch::Apply(definition))
        .await
        .unwrap();
    let live = eventually("the definition is established", || async {
        let live = api.get(name).await.ok()?;
        let conditions = live.status.as_ref()?.conditions.as_ref()?;
        let mut conditions = conditions.iter();
        conditions
            .any(|condition| condition.type_ == "Established" && condition.status == "True")
            .then_some(live)
    })
    .await;
    served(client, &live).await;
}

/// Waits until a kind can be listed and is told of: those parts of the server hear of a definition later than we do.
async fn served(client: &Client, definition: &CustomResourceDefinition) {
    let (group, names) = (&definition.spec.group, &definition.spec.names);
    let versions = definition.spec.versions.iter();
    for version in versions.filter(|version| version.served) {
        let api_version = format!("{group}/{}", version.name);
        let objects = dynamic(client, "", &api_version, &names.kind, &names.plural);
        eventually(&format!("{} is served", names.kind), || async {
            let told = client.list_api_group_resources(&api_version).await.ok()?;
            let mut told = told.resources.iter();
            told.find(|resource| resource.name == names.plural)?;
            objects.list(&ListParams::default().limit(1)).await.ok()
        })
        .await;
    }
}

/// The API of any kind in a namespace; without one, of a kind that lives in none, or of all namespaces.
pub fn dynamic(
    client: &Client,
    namespace: &str,
    api_version: &str,
    kind: &str,
    plural: &str,
) -> Api<DynamicObject> {
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    let resource = ApiResource {
        group: group.to_owned(),
        version: version.to_owned(),
        api_version: api_version.to_owned(),
        kind: kind.to_owned(),
        plural: plural.to_owned(),
    };
    if namespace.is_empty() {
        return Api::all_with(client.clone(), &resource);
    }
    Api::namespaced_with(client.clone(), namespace, &resource)
}
