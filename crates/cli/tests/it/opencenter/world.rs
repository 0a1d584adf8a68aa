//! A user with a home, a config and a repository.

use std::{
    collections::BTreeMap,
    fmt, fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use mainstay_sops::{OperatingSystem, age::Identity};
use serde_json::Value;
use tempfile::TempDir;

/// Secrets of [`config`]; none of them may ever be seen.
pub(crate) const SECRETS: [&str; 4] = [
    "grafana-admin-3141592",
    "AKIAEXAMPLEEXAMPLE00",
    "aws-secret-key-2718281",
    "loki-secret-key-161803",
];

/// Files of a directory by path.
pub(crate) type Files = BTreeMap<String, Vec<u8>>;

/// A config with a few services, some of which have secrets.
pub(crate) fn config(name: &str) -> String {
    let [grafana, access, secret, loki] = SECRETS;
    format!(
        "\
---
# The cluster of the tests.
schema_version: \"2.0\"
opencenter:
  meta:
    name: {name}
    organization: acme
    env: dev # where people try things
    region: ord1
  cluster:
    cluster_fqdn: {name}.ord1.example.net
  gitops:
    repository:
      url: https://git.example.net/acme/clusters.git
      local_dir: repository
    base_repo:
      url: https://git.example.net/platform/base.git
      release: \"2026.01\"
    auth:
      token:
        provider: gitea
  services:
    # Metrics come first.
    kube-prometheus-stack:
      enabled: true
    loki:
      enabled: true
      storage_type: s3
    cert-manager:
      enabled: true
      email: ops@example.net
    sealed-secrets:
      enabled: false
secrets:
  sops:
    age_key_file: ~/age-key.txt
  grafana:
    admin_password: {grafana}
  loki:
    s3_access_key_id: {access}
    s3_secret_access_key: {loki}
  cert_manager:
    aws:
      main:
        enabled: true
        aws_access_key: {access}
        aws_secret_access_key: {secret}
        region: us-east-1
        dns_zones: [example.net]
"
    )
}

/// A home directory with a config of the cluster `demo`, an age key, and a repository.
pub(crate) struct World {
    pub(crate) home: TempDir,
    pub(crate) identity: Identity,
}

impl World {
    pub(crate) fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let identity = Identity::generate(&mut OperatingSystem).unwrap();
        let world = Self { home, identity };
        let key = format!(
            "# public key: {}\n{}\n",
            world.identity.recipient(),
            *world.identity.expose()
        );
        fs::write(world.path("age-key.txt"), key).unwrap();
        let private = fs::Permissions::from_mode(0o600);
        fs::set_permissions(world.path("age-key.txt"), private).unwrap();
        world.save("demo", &config("demo"));
        world
    }

    pub(crate) fn path(&self, relative: &str) -> PathBuf {
        self.home.path().join(relative)
    }

    /// Where configs are looked up.
    pub(crate) fn config_path(&self, cluster: &str) -> PathBuf {
        self.path(&format!("config/clusters/acme/.{cluster}-config.yaml"))
    }

    pub(crate) fn save(&self, cluster: &str, text: &str) {
        let path = self.config_path(cluster);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn config_text(&self) -> String {
        fs::read_to_string(self.config_path("demo")).unwrap()
    }

    /// Replaces a part of the config, which has to be there.
    pub(crate) fn change(&self, from: &str, to: &str) {
        let text = self.config_text();
        assert!(text.contains(from), "{from}");
        self.save("demo", &text.replace(from, to));
    }

    pub(crate) fn repository(&self) -> PathBuf {
        self.path("config/repository")
    }

    pub(crate) fn overlay(&self, file: &str) -> PathBuf {
        self.repository()
            .join("applications/overlays/demo")
            .join(file)
    }

    pub(crate) fn put(&self, file: &str, content: &str) {
        let path = self.overlay(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    pub(crate) fn get(&self, file: &str) -> String {
        let path = self.overlay(file);
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// Every file of the repository.
    pub(crate) fn files(&self) -> Files {
        files_below(&self.repository())
    }

    /// The program with a home of its own, and nothing else from this machine.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mainstay"));
        command
            .args(arguments)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("HOME", self.home.path())
            .env("OPENCENTER_CONFIG_DIR", self.path("config"))
            .env("NO_COLOR", "1")
            .current_dir(self.home.path())
            .stdin(Stdio::null());
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Ended {
        ended(&mut self.command(arguments))
    }

    /// Runs a command that has to succeed, and gives what it printed.
    #[track_caller]
    pub(crate) fn success(&self, arguments: &[&str]) -> String {
        let ended = self.run(arguments);
        assert_eq!(ended.code, 0, "{arguments:?}\n{ended}");
        ended.stdout
    }

    /// Runs a command with JSON output that has to succeed.
    #[track_caller]
    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        let mut with_form = arguments.to_vec();
        with_form.extend(["-o", "json"]);
        serde_json::from_str(&self.success(&with_form)).unwrap()
    }

    /// Runs a command that has to fail with this exit code and this code of a finding.
    #[track_caller]
    pub(crate) fn refused(&self, arguments: &[&str], exit: i32, code: &str) -> Ended {
        let ended = self.run(arguments);
        assert_eq!(ended.code, exit, "{arguments:?}\n{ended}");
        assert!(ended.stderr.contains(&format!("error[{code}]")), "{ended}");
        assert!(ended.stderr.contains("help: "), "{ended}");
        ended
    }

    #[track_caller]
    pub(crate) fn render(&self) -> String {
        self.success(&["cluster", "render", "demo"])
    }
}

/// How a program ended, and what it said.
pub(crate) struct Ended {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl fmt::Display for Ended {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            code,
            stdout,
            stderr,
        } = self;
        write!(
            formatter,
            "exit code {code}\n--- stdout\n{stdout}\n--- stderr\n{stderr}"
        )
    }
}

impl From<Output> for Ended {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

pub(crate) fn ended(command: &mut Command) -> Ended {
    command.output().unwrap().into()
}

pub(crate) fn files_below(root: &Path) -> Files {
    let mut found = Files::new();
    let mut open = vec![root.to_owned()];
    while let Some(directory) = open.pop() {
        let Ok(entries) = fs::read_dir(&directory) else {
            continue;
        };
        for entry in entries {
            let path = entry.unwrap().path();
            if path.is_dir() && !path.is_symlink() {
                open.push(path);
            } else if !path.is_symlink() {
                let relative = path.strip_prefix(root).unwrap().to_str().unwrap();
                found.insert(relative.to_owned(), fs::read(&path).unwrap());
            }
        }
    }
    found
}
