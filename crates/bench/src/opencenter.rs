//! openCenter: trees of files, against copying the same trees.

use std::{
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, ensure};

use crate::{
    output::say,
    report::{Figure, Section},
    statistics::{median, number},
    usage,
};

/// Catalog services of a measured cluster.
const CATALOG: [&str; 25] = [
    "cert-manager",
    "etcd-backup",
    "external-snapshotter",
    "gateway",
    "gateway-api",
    "harbor",
    "headlamp",
    "kafka-cluster",
    "keycloak",
    "kube-prometheus-stack",
    "kyverno",
    "loki",
    "longhorn",
    "metallb",
    "mimir",
    "olm",
    "openstack-ccm",
    "openstack-csi",
    "opentelemetry-kube-stack",
    "postgres-operator",
    "rbac-manager",
    "sealed-secrets",
    "tempo",
    "velero",
    "weave-gitops",
];

/// Clusters, services in each, how often it is measured, and the most that rendering may take, in seconds.
const SCALES: [(usize, usize, usize, Option<f64>); 4] = [
    (1, 25, 9, None),
    (10, 25, 5, None),
    (100, 25, 3, Some(1.0)),
    (1000, 100, 1, None),
];

/// How often the memory of a running process is looked at.
const LOOK: Duration = Duration::from_millis(1);

/// Renders trees of growing number and size.
pub(crate) fn measure(binary: &Path) -> anyhow::Result<Vec<Section>> {
    let mut figures = Vec::new();
    // Nothing is removed before everything is measured: ext4 makes files slowly while it reconciles over those that were
    // deleted in the last minutes.
    let mut worlds = Vec::new();
    for (clusters, services, samples, most) in SCALES {
        say(&format!(
            "opencenter: {clusters} clusters with {services} services"
        ));
        let world = World::new(binary, clusters, services)?;
        let label = format!("{clusters} × {services}");
        let (first, copy) = world.first_renders(samples)?;
        figures.push(
            Figure::milliseconds(format!("{label}, first render"), first.seconds)
                .against("cp -r", copy)
                .at_most_times(2.0),
        );
        if let Some(most) = most {
            let figure =
                Figure::milliseconds(format!("{label}, first render, in all"), first.seconds);
            figures.push(figure.at_most(most * 1000.0));
        }
        figures.push(Figure::count(
            format!("{label}, files"),
            number(world.files()?),
        ));
        figures.push(Figure::bytes(format!("{label}, peak memory"), first.peak));
        let again = world.render(&["--secrets-mode", "plaintext"])?;
        let figure = Figure::milliseconds(format!("{label}, nothing changed"), again.seconds);
        figures.push(if clusters == 100 {
            figure.at_most(100.0)
        } else {
            figure
        });
        if clusters == 1 {
            figures.push(world.one_change()?);
            figures.extend(world.encrypted()?);
        }
        worlds.push(world);
    }
    Ok(vec![Section {
        title: "opencenter".to_owned(),
        notes: vec![
            "A cold process that renders every cluster, writes the trees and waits for the medium; the floor copies \
             the same trees with `cp -r`, which does not wait. Medians over fresh repositories, of fewer the larger they are."
                .to_owned(),
            "Up to 25 services are those of the catalog, the others have the generic form.".to_owned(),
        ],
        figures,
    }])
}

/// What one run cost.
struct Run {
    seconds: f64,
    peak: u64,
}

/// Configs and a repository in a directory that goes away.
struct World {
    binary: PathBuf,
    directory: PathBuf,
}

impl Drop for World {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.directory);
    }
}

impl World {
    fn new(binary: &Path, clusters: usize, services: usize) -> anyhow::Result<Self> {
        let name = format!(
            "mainstay-bench-{}-{clusters}-{services}",
            std::process::id()
        );
        let world = Self {
            binary: binary.to_owned(),
            directory: std::env::temp_dir().join(name),
        };
        let configs = world.directory.join("clusters/acme");
        fs::create_dir_all(&configs).context("could not create a directory")?;
        for number in 0..clusters {
            let name = format!("c{number}");
            let path = configs.join(format!(".{name}-config.yaml"));
            fs::write(&path, config(&name, services)).context("could not write a config")?;
        }
        Ok(world)
    }

    fn repository(&self) -> PathBuf {
        self.directory.join("repository")
    }

    /// Renders into an empty repository and copies the trees, again and again; what was made is put aside.
    fn first_renders(&self, samples: usize) -> anyhow::Result<(Run, f64)> {
        let (mut renders, mut copies, mut peak) = (Vec::new(), Vec::new(), 0);
        for number in 0..samples {
            if number > 0 {
                let former = self.directory.join(format!("former-{number}"));
                fs::rename(self.repository(), former).context("could not move the trees")?;
            }
            // Neither waits for what others have written.
            rustix::fs::sync();
            let run = self.render(&["--secrets-mode", "plaintext"])?;
            renders.push(run.seconds);
            peak = peak.max(run.peak);
            rustix::fs::sync();
            copies.push(self.copy(number)?);
        }
        let seconds = median(&renders);
        Ok((Run { seconds, peak }, median(&copies)))
    }

    fn render(&self, more: &[&str]) -> anyhow::Result<Run> {
        self.run(&["cluster", "render", "--all", "--quiet"], more)
    }

    fn run(&self, arguments: &[&str], more: &[&str]) -> anyhow::Result<Run> {
        let begun = Instant::now();
        let mut child = Command::new(&self.binary)
            .args(arguments)
            .args(more)
            .arg("--output-dir")
            .arg(self.repository())
            .env("OPENCENTER_CONFIG_DIR", &self.directory)
            .env("HOME", &self.directory)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .context("could not start the program")?;
        let mut peak = 0;
        let status = loop {
            if let Some(status) = child.try_wait().context("could not wait")? {
                break status;
            }
            // A process that has just ended has no memory to ask for.
            if let Ok(memory) = usage::memory(child.id()) {
                peak = peak.max(memory.peak);
            }
            thread::sleep(LOOK);
        };
        let seconds = begun.elapsed().as_secs_f64();
        ensure!(status.success(), "{arguments:?} failed");
        Ok(Run { seconds, peak })
    }

    /// Seconds to copy the trees.
    fn copy(&self, number: usize) -> anyhow::Result<f64> {
        let target = self.directory.join(format!("copy-{number}"));
        let begun = Instant::now();
        let status = Command::new("cp")
            .arg("-r")
            .arg(self.repository())
            .arg(&target)
            .status()
            .context("could not run cp")?;
        let seconds = begun.elapsed().as_secs_f64();
        ensure!(status.success(), "cp failed");
        Ok(seconds)
    }

    fn files(&self) -> anyhow::Result<usize> {
        let mut count = 0;
        let mut open = vec![self.repository()];
        while let Some(directory) = open.pop() {
            for entry in fs::read_dir(&directory).context("could not read a directory")? {
                let entry = entry.context("could not read a directory")?;
                if entry
                    .file_type()
                    .context("could not read a directory")?
                    .is_dir()
                {
                    open.push(entry.path());
                } else {
                    count += 1;
                }
            }
        }
        Ok(count)
    }

    /// Files that one changed value writes; the ledger is not counted.
    fn one_change(&self) -> anyhow::Result<Figure> {
        let path = self.directory.join("clusters/acme/.c0-config.yaml");
        let text = fs::read_to_string(&path).context("could not read the config")?;
        fs::write(&path, text.replace("ops@example.net", "noc@example.net"))
            .context("could not write the config")?;
        let before = self.times()?;
        self.render(&["--secrets-mode", "plaintext"])?;
        let after = self.times()?;
        let written = after.iter().filter(|entry| !before.contains(entry)).count();
        Ok(Figure::count("files written for one changed value", number(written)).at_most(1.0))
    }

    fn times(&self) -> anyhow::Result<Vec<(PathBuf, std::time::SystemTime)>> {
        let mut found = Vec::new();
        let mut open = vec![self.repository().join("applications")];
        while let Some(directory) = open.pop() {
            for entry in fs::read_dir(&directory).context("could not read a directory")? {
                let path = entry.context("could not read a directory")?.path();
                if path.is_dir() {
                    open.push(path);
                } else {
                    let metadata = fs::metadata(&path).context("could not look at a file")?;
                    found.push((path, metadata.modified().context("there are no times")?));
                }
            }
        }
        Ok(found)
    }

    /// The same tree with every secret encrypted: first, and with nothing changed.
    fn encrypted(&self) -> anyhow::Result<Vec<Figure>> {
        fs::rename(self.repository(), self.directory.join("plain"))
            .context("could not move the trees")?;
        let first = self.render(&[])?;
        let again = self.render(&[])?;
        Ok(vec![
            Figure::milliseconds("1 × 25, encrypted, first render", first.seconds),
            Figure::milliseconds("1 × 25, encrypted, nothing changed", again.seconds),
        ])
    }
}

/// A config with this many services; every secret is a stand-in.
fn config(name: &str, services: usize) -> String {
    let mut text = format!(
        "\
schema_version: \"2.0\"
opencenter:
  meta: {{name: {name}, organization: acme, env: dev, region: ord1}}
  cluster: {{cluster_fqdn: {name}.ord1.example.net}}
  infrastructure:
    provider: openstack
    cloud:
      openstack:
        application_credential_id: PLACEHOLDER-ID
        application_credential_secret: PLACEHOLDER-SECRET
        project_name: acme
  gitops:
    repository: {{url: \"https://git.example.net/acme/clusters.git\"}}
    base_repo: {{release: \"2026.01\"}}
    auth: {{token: {{provider: gitea}}}}
    overlay_units:
      sops:
        enabled: true
        rules:
          - path_regex: .*
            age_recipients: [age15n3dugqfej2hk8cqz2kcx78v6lxwllk5gruu4ermz2hu539xrgwq0w7dyn]
  services:
"
    );
    for index in 0..services {
        // Writing to a String cannot fail.
        let _ = match CATALOG.get(index) {
            Some(name @ &"cert-manager") => {
                writeln!(
                    text,
                    "    {name}: {{enabled: true, email: ops@example.net}}"
                )
            }
            Some(name @ (&"loki" | &"tempo")) => {
                writeln!(text, "    {name}: {{enabled: true, storage_type: s3}}")
            }
            Some(name) => writeln!(text, "    {name}: {{enabled: true}}"),
            None => writeln!(
                text,
                "    extra-{index}: {{enabled: true, namespace: extra-{index}}}"
            ),
        };
    }
    text.push_str(
        "\
secrets:
  global: {aws: {application: {access_key: PLACEHOLDER-KEY, secret_access_key: PLACEHOLDER-SECRET}}}
  cert_manager:
    aws:
      main:
        enabled: true
        aws_access_key: PLACEHOLDER-KEY
        aws_secret_access_key: PLACEHOLDER-SECRET
        dns_zones: [example.net]
  keycloak: {client_secret: PLACEHOLDER-CLIENT, admin_password: PLACEHOLDER-ADMIN}
  headlamp: {oidc_client_secret: PLACEHOLDER-HEADLAMP}
  grafana: {admin_password: PLACEHOLDER-GRAFANA}
  weave_gitops: {password: PLACEHOLDER-WEAVE}
  harbor:
    admin_password: PLACEHOLDER-ADMIN
    registry_password: PLACEHOLDER-REGISTRY
    registry_htpasswd: PLACEHOLDER-HTPASSWD
    database_password: PLACEHOLDER-DATABASE
",
    );
    text
}
