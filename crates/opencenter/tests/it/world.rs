//! A small config that tests add services to, and a look at single fields of what it gives.

use mainstay_opencenter::{
    config::{LoadOptions, NoSurroundings, load},
    finding::Finding,
    overlay::OverlayTree,
    render::Rendered,
};
use mainstay_yaml::{Limits, SourceName, parse_bytes};
use serde_json::Value;

use crate::fixture::{must_render, try_render};

/// A config in the making: services, and whatever else a test is about.
#[derive(Clone, Debug)]
pub(crate) struct Config {
    provider: &'static str,
    gitops: Vec<String>,
    cluster: Vec<String>,
    infrastructure: Vec<String>,
    services: Vec<String>,
    managed: Vec<String>,
    secrets: Vec<String>,
}

impl Config {
    pub(crate) fn new() -> Self {
        Self {
            provider: "openstack",
            gitops: Vec::new(),
            cluster: Vec::new(),
            infrastructure: Vec::new(),
            services: Vec::new(),
            managed: Vec::new(),
            secrets: Vec::new(),
        }
    }

    pub(crate) fn provider(mut self, provider: &'static str) -> Self {
        self.provider = provider;
        self
    }

    /// An active service with these settings, in flow form such as `namespace: x, base_only: true`.
    pub(crate) fn service(mut self, name: &str, settings: &str) -> Self {
        self.services
            .push(format!("    {name}: {{enabled: true, {settings}}}\n"));
        self
    }

    /// Services that somebody else runs.
    pub(crate) fn external(self, names: &[&str]) -> Self {
        names.iter().fold(self, |config, name| {
            config.service(name, "adoption_mode: external")
        })
    }

    pub(crate) fn managed(mut self, name: &str, settings: &str) -> Self {
        self.managed
            .push(format!("    {name}: {{enabled: true, {settings}}}\n"));
        self
    }

    /// Lines below `opencenter.gitops`, in flow form.
    pub(crate) fn gitops(mut self, line: &str) -> Self {
        self.gitops.push(format!("    {line}\n"));
        self
    }

    /// Lines below `opencenter.cluster`, in flow form.
    pub(crate) fn cluster(mut self, line: &str) -> Self {
        self.cluster.push(format!("    {line}\n"));
        self
    }

    /// Lines below `opencenter.infrastructure`, in flow form.
    pub(crate) fn infrastructure(mut self, line: &str) -> Self {
        self.infrastructure.push(format!("    {line}\n"));
        self
    }

    /// Lines below `secrets`, in flow form.
    pub(crate) fn secrets(mut self, line: &str) -> Self {
        self.secrets.push(format!("  {line}\n"));
        self
    }

    /// Keycloak, with everything that it needs run by somebody else.
    pub(crate) fn keycloak(self, settings: &str) -> Self {
        self.external(&[
            "cert-manager",
            "gateway",
            "gateway-api",
            "olm",
            "postgres-operator",
            "rbac-manager",
        ])
        .service("keycloak", settings)
        .secrets("keycloak: {client_secret: example-client, admin_password: example-admin}")
    }

    pub(crate) fn text(&self) -> String {
        let section = |name: &str, lines: &[String]| {
            if lines.is_empty() {
                String::new()
            } else {
                format!("{name}:\n{}", lines.concat())
            }
        };
        format!(
            "\
schema_version: \"2.0\"
opencenter:
  meta: {{name: sample, organization: example-org, env: qa, region: reg1}}
  cluster:
    base_domain: example.org
    cluster_fqdn: sample.example.org
{}  infrastructure:
    provider: {}
{}  gitops:
    repository: {{url: 'https://git.example.org/fleet/clusters.git'}}
    base_repo: {{url: 'https://git.example.org/platform/base.git', release: '2026.01'}}
{}{}{}{}",
            self.cluster.concat(),
            self.provider,
            self.infrastructure.concat(),
            self.gitops.concat(),
            section("  services", &self.services),
            section("  managed_services", &self.managed),
            section("secrets", &self.secrets),
        )
    }

    #[track_caller]
    pub(crate) fn render(&self) -> Tree {
        let text = self.text();
        let loaded = load(
            text.as_bytes(),
            &SourceName::new("config.yaml"),
            &NoSurroundings,
            &LoadOptions::default(),
        );
        Tree {
            rendered: must_render(&text),
            config_findings: loaded.findings,
        }
    }

    pub(crate) fn refused(&self) -> Vec<Finding> {
        try_render(&self.text()).expect_err("the config is refused")
    }
}

/// What a config gave.
#[derive(Debug)]
pub(crate) struct Tree {
    pub(crate) rendered: Rendered,
    config_findings: Vec<Finding>,
}

impl Tree {
    pub(crate) fn tree(&self) -> &OverlayTree {
        &self.rendered.tree
    }

    pub(crate) fn has(&self, path: &str) -> bool {
        self.tree().files.contains_key(path)
    }

    #[track_caller]
    pub(crate) fn documents(&self, path: &str) -> Vec<Value> {
        let Some(bytes) = self.tree().bytes(path) else {
            panic!(
                "`{path}` is missing: {:?}",
                self.tree().files.keys().collect::<Vec<_>>()
            );
        };
        let documents = parse_bytes(bytes, &SourceName::new(path), &Limits::default())
            .expect("rendered files are YAML");
        documents
            .into_iter()
            .map(|document| document.value)
            .collect()
    }

    /// The only document of a file.
    #[track_caller]
    pub(crate) fn one(&self, path: &str) -> Value {
        let mut documents = self.documents(path);
        assert_eq!(documents.len(), 1, "{path}");
        documents.remove(0)
    }

    /// The Flux unit of a name, wherever it stands.
    #[track_caller]
    pub(crate) fn unit(&self, name: &str) -> Value {
        let files = self.tree().files.keys();
        let documents = files
            .filter(|path| path.contains("/fluxcd/"))
            .flat_map(|path| self.documents(path));
        let mut found = documents.filter(|document| {
            document["metadata"]["name"] == name && document["kind"] == "Kustomization"
        });
        found.next().unwrap_or_else(|| panic!("no unit `{name}`"))
    }

    /// The names of the units that a unit waits for.
    #[track_caller]
    pub(crate) fn waits_for(&self, unit: &str) -> Vec<String> {
        let unit = self.unit(unit);
        let dependencies = unit["spec"]["dependsOn"].as_array();
        dependencies
            .into_iter()
            .flatten()
            .map(|entry| entry["name"].as_str().expect("it has a name").to_owned())
            .collect()
    }

    /// The codes of everything that was worth a warning.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let warnings = self.config_findings.iter().chain(&self.rendered.warnings);
        warnings.map(|finding| finding.code.to_string()).collect()
    }
}
