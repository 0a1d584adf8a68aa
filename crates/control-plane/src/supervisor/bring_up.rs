//! The starting order, with as much side by side as the components allow.

use std::{
    ffi::OsStr,
    fs,
    net::{Ipv4Addr, TcpStream},
    path::PathBuf,
    process::{Output, Stdio},
    thread,
    time::{Duration, Instant},
};

use super::{Error, Supervisor};
use crate::{
    FileError,
    assets::Program,
    components::{self, COMPONENT_CLIENTS},
    ports::Ports,
    sources,
};

/// How long the API server, and then the rest, may take. Seconds are normal; a busy machine may need many.
const LIMIT: Duration = Duration::from_mins(2);

impl Supervisor {
    /// From nothing to a ready node.
    pub(super) fn bring_up(&mut self) -> Result<(), Error> {
        let ports = Ports::choose().map_err(Error::Ports)?;
        self.state.ports = Some(ports);
        for directory in [self.layout.logs(), self.layout.client_kubeconfigs()] {
            fs::create_dir_all(&directory).map_err(FileError::of("create", directory))?;
        }
        self.start(Program::Etcd, &ports)?;
        self.write_identities(&ports)?;
        write_file(self.layout.audit_policy(), components::AUDIT_POLICY)?;
        self.start(Program::KubeApiserver, &ports)?;
        self.wait_for_api(&ports)?;
        // Definitions come before the controller manager: its garbage collector looks for new kinds only every 30 s.
        self.define_kinds()?;
        self.start(Program::KubeControllerManager, &ports)?;
        self.start(Program::KubeScheduler, &ports)?;
        self.write_stages()?;
        self.start(Program::Kwok, &ports)?;
        let objects = sources::cluster_objects();
        self.kubectl(["apply", "--server-side", "-f"], [objects])?;
        self.wait_for_node()
    }

    /// Certificates, and a kubeconfig for each user.
    fn write_identities(&self, ports: &Ports) -> Result<(), Error> {
        let program = self.assets.program(Program::Pki);
        let mut command = self.launcher.bound_command(&program);
        command.arg("--dir").arg(self.layout.pki());
        for client in COMPONENT_CLIENTS {
            command.arg(format!("--client={client}:system:masters"));
        }
        for client in &self.options.clients {
            command.arg(format!("--client={client}"));
        }
        let output = command
            .stdin(Stdio::null())
            .output()
            .map_err(|source| Error::Spawn {
                program: Program::Pki.name(),
                source,
            })?;
        successful("pki", output)?;
        write_file(
            self.layout.kubeconfig(),
            &components::kubeconfig("admin", &self.layout, ports),
        )?;
        let others = self.options.clients.iter().map(String::as_str);
        for client in COMPONENT_CLIENTS.into_iter().chain(others) {
            let name = client.split(':').next().unwrap_or(client);
            write_file(
                self.layout.client_kubeconfig(name),
                &components::kubeconfig(name, &self.layout, ports),
            )?;
        }
        Ok(())
    }

    /// First for the port, which costs nothing to ask; then for `/readyz`, which needs a client with certificates.
    fn wait_for_api(&mut self, ports: &Ports) -> Result<(), Error> {
        self.wait_until(
            "kube-apiserver did not listen",
            Program::KubeApiserver,
            |_| TcpStream::connect((Ipv4Addr::LOCALHOST, ports.apiserver)).is_ok(),
        )?;
        self.wait_until(
            "kube-apiserver was not ready",
            Program::KubeApiserver,
            |supervisor| {
                supervisor
                    .kubectl(["get", "--raw"], ["/readyz"])
                    .is_ok_and(|output| output.stdout == b"ok")
            },
        )
    }

    fn define_kinds(&mut self) -> Result<(), Error> {
        if self.options.crds.is_empty() {
            return Ok(());
        }
        let files: Vec<PathBuf> = self
            .options
            .crds
            .iter()
            .flat_map(|path| [PathBuf::from("-f"), path.clone()])
            .collect();
        self.kubectl(["apply", "--server-side"], &files)?;
        let wait = ["wait", "--for=condition=Established", "--timeout=60s"];
        self.kubectl(wait, &files)?;
        // Components that look for a kind before the server tells of it do without, or end.
        let kinds = self.defined_kinds()?;
        self.wait_until(
            "a definition was not served",
            Program::KubeApiserver,
            |supervisor| {
                let told = supervisor.kubectl(["api-resources", "-o"], ["name"]);
                told.is_ok_and(|output| {
                    let told = String::from_utf8_lossy(&output.stdout);
                    let is_told = |kind: &String| told.lines().any(|line| line == kind);
                    kinds.iter().all(is_told)
                })
            },
        )
    }

    /// The names of all definitions.
    fn defined_kinds(&self) -> Result<Vec<String>, Error> {
        let names = ["get", "crds", "-o"];
        let output = self.kubectl(names, ["jsonpath={.items[*].metadata.name}"])?;
        let text = String::from_utf8_lossy(&output.stdout);
        Ok(text.split_whitespace().map(str::to_owned).collect())
    }

    /// KWOK takes one file; it gets the stages whose kinds this plane serves.
    fn write_stages(&self) -> Result<(), Error> {
        let served = if self.options.crds.is_empty() {
            Vec::new()
        } else {
            self.defined_kinds()?
        };
        let directory = sources::stages();
        let mut documents = Vec::new();
        for file in components::kwok_stages(&directory, &served)
            .map_err(FileError::of("read", directory))?
        {
            documents.push(fs::read_to_string(&file).map_err(FileError::of("read", file))?);
        }
        write_file(self.layout.kwok_configuration(), &documents.join("---\n"))?;
        Ok(())
    }

    /// Ready is: pods can be created (they need their service account) and get a node that runs them.
    fn wait_for_node(&mut self) -> Result<(), Error> {
        let condition = r#"{.status.conditions[?(@.type=="Ready")].status}"#;
        self.wait_until("the node was not ready", Program::Kwok, |supervisor| {
            supervisor
                .kubectl(
                    ["get", "nodes/node-0", "-o"],
                    [format!("jsonpath={condition}")],
                )
                .is_ok_and(|output| output.stdout == b"True")
        })?;
        self.wait_until(
            "the default service account was not created",
            Program::KubeControllerManager,
            |supervisor| {
                let account = ["--namespace=default", "serviceaccounts/default"];
                supervisor.kubectl(["get"], account).is_ok()
            },
        )
    }

    /// Asks again and again, and looks after the components in between.
    fn wait_until(
        &mut self,
        failure: &'static str,
        responsible: Program,
        condition: impl Fn(&Self) -> bool,
    ) -> Result<(), Error> {
        let deadline = Instant::now() + LIMIT;
        while !condition(self) {
            self.look_around()?;
            if Instant::now() > deadline {
                let log = self.layout.log(responsible.name());
                return Err(Error::Late {
                    what: failure,
                    limit: LIMIT,
                    tail: super::tail(&log, 15),
                    log,
                });
            }
            thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }

    /// Runs kubectl as `admin` and returns its output if it succeeds.
    fn kubectl<const N: usize, I, S>(&self, words: [&str; N], arguments: I) -> Result<Output, Error>
    where
        I: IntoIterator<Item = S>,
        S: AsRef<OsStr>,
    {
        let output = self
            .launcher
            .bound_command(&self.assets.program(Program::Kubectl))
            .args(words)
            .args(arguments)
            .arg("--request-timeout=60s")
            .env("KUBECONFIG", self.layout.kubeconfig())
            .env("KUBECACHEDIR", self.layout.kubectl_cache())
            .stdin(Stdio::null())
            .output()
            .map_err(|source| Error::Spawn {
                program: Program::Kubectl.name(),
                source,
            })?;
        successful(&format!("kubectl {}", words.join(" ")), output)
    }
}

fn write_file(path: PathBuf, text: &str) -> Result<(), FileError> {
    fs::write(&path, text).map_err(FileError::of("write", path))
}

fn successful(command: &str, output: Output) -> Result<Output, Error> {
    if output.status.success() {
        return Ok(output);
    }
    Err(Error::Step {
        command: command.to_owned(),
        status: output.status,
        output: String::from_utf8_lossy(&output.stderr).trim().to_owned(),
    })
}
