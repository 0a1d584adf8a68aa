//! The operator of Clowder as it is deployed: its namespace, its flags, and the `ConfigMap` that its pods mount.

use k8s_openapi::api::{
    apps::v1::Deployment,
    core::v1::{ConfigMap, Container, PodSpec},
};
use kube::{Api, Client, ResourceExt, api::ListParams};
use mainstay_clowder::{
    package,
    settings::{DEFAULT_PATH, OperatorConfig, PATH_VARIABLE},
};
use mainstay_cluster::error::causes;

/// Labels of the Deployment, in every form of installation, and in the original's.
const SELECTOR: &str = "control-plane=controller-manager,operator-name=clowder";
const SUFFIX_FLAG: &str = "--clowder-suffixed-config-secret";

/// What was found.
#[derive(Debug)]
pub(super) enum Deployed {
    /// An operator.
    Found(Operator),
    /// There is none.
    Nowhere,
    /// It cannot be told, for this reason.
    Unreadable(String),
}

/// An operator in the cluster.
#[derive(Debug)]
pub(super) struct Operator {
    pub(super) namespace: String,
    pub(super) suffixed_config_secret: bool,
    name: String,
    file: ConfigFile,
}

/// Where the operator reads its configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Source {
    config_map: String,
    key: String,
}

#[derive(Debug)]
enum ConfigFile {
    /// No volume brings one.
    NotMounted,
    /// The `ConfigMap` or its key does not exist.
    Missing(Source),
    Text(Source, String),
}

impl Operator {
    /// The configuration. Parity: one that is missing or not valid counts as empty.
    pub(super) fn config(&self) -> (OperatorConfig, Option<String>) {
        match &self.file {
            ConfigFile::NotMounted | ConfigFile::Missing(_) => (OperatorConfig::absent(), None),
            ConfigFile::Text(_, text) => match OperatorConfig::parse(text) {
                Ok(config) => (config, None),
                Err(error) => {
                    let warning = format!(
                        "{} is not valid ({error}), and counts as empty, as it does for the operator",
                        self.place()
                    );
                    (OperatorConfig::absent(), Some(warning))
                }
            },
        }
    }

    /// Where the configuration comes from, in words.
    pub(super) fn origin(&self) -> String {
        let operator = format!("the operator {}/{}", self.namespace, self.name);
        match &self.file {
            ConfigFile::NotMounted => format!("defaults, because {operator} mounts no file"),
            ConfigFile::Missing(_) => {
                format!(
                    "defaults, because {} of {operator} does not exist",
                    self.place()
                )
            }
            ConfigFile::Text(..) => format!("{} of {operator}", self.place()),
        }
    }

    fn place(&self) -> String {
        match &self.file {
            ConfigFile::NotMounted => String::new(),
            ConfigFile::Missing(source) | ConfigFile::Text(source, _) => {
                format!("ConfigMap {}/{}", self.namespace, source.config_map)
            }
        }
    }
}

/// Looks for the operator: everywhere, or where it is installed by default if not everything may be looked at.
pub(super) async fn find(client: &Client) -> anyhow::Result<Deployed> {
    let list = ListParams::default().labels(SELECTOR);
    let everywhere: Api<Deployment> = Api::all(client.clone());
    let mut found = match everywhere.list(&list).await {
        Ok(found) => found.items,
        Err(kube::Error::Api(answer)) if answer.is_forbidden() => {
            let at_home: Api<Deployment> = Api::namespaced(client.clone(), package::NAMESPACE);
            match at_home.list(&list).await {
                Ok(found) => found.items,
                Err(error) => return unreadable(error),
            }
        }
        Err(error) => return unreadable(error),
    };
    // Of several the one that is meant to run, then the one in the usual place.
    found.sort_by_key(|deployment| {
        let namespace = deployment.namespace().unwrap_or_default();
        let stopped = deployment.spec.as_ref().and_then(|spec| spec.replicas) == Some(0);
        (stopped, namespace != package::NAMESPACE, namespace)
    });
    let Some(deployment) = found.into_iter().next() else {
        return Ok(Deployed::Nowhere);
    };
    let namespace = deployment.namespace().unwrap_or_default();
    let name = deployment.name_any();
    let pod = deployment.spec.and_then(|spec| spec.template.spec);
    let pod = pod.unwrap_or_default();
    let file = match source(&pod) {
        None => ConfigFile::NotMounted,
        Some(source) => {
            let maps: Api<ConfigMap> = Api::namespaced(client.clone(), &namespace);
            match maps.get_opt(&source.config_map).await {
                Ok(map) => file(source, map),
                Err(error) => return unreadable(error),
            }
        }
    };
    Ok(Deployed::Found(Operator {
        namespace,
        suffixed_config_secret: container(&pod).is_some_and(is_suffixed),
        name,
        file,
    }))
}

/// A missing right is no reason to show nothing; a cluster that does not answer is.
fn unreadable(error: kube::Error) -> anyhow::Result<Deployed> {
    match error {
        kube::Error::Api(_) => Ok(Deployed::Unreadable(causes(&error).join(": "))),
        error => Err(anyhow::Error::new(error).context("could not look for the operator")),
    }
}

fn file(source: Source, map: Option<ConfigMap>) -> ConfigFile {
    let data = map.and_then(|map| map.data).unwrap_or_default();
    match data.get(&source.key) {
        Some(text) => ConfigFile::Text(source, text.clone()),
        None => ConfigFile::Missing(source),
    }
}

/// The container that the operator runs in.
fn container(pod: &PodSpec) -> Option<&Container> {
    let mut all = pod.containers.iter();
    let named = all.find(|container| container.name == "manager");
    named.or_else(|| pod.containers.first())
}

fn is_suffixed(container: &Container) -> bool {
    let args = container.args.iter().flatten();
    let commands = container.command.iter().flatten();
    let mut values = commands.chain(args).filter_map(|argument| {
        let rest = argument.strip_prefix(SUFFIX_FLAG)?;
        Some(rest.is_empty() || rest == "=true")
    });
    values.next_back().unwrap_or_default()
}

/// The `ConfigMap` and key behind the path of the configuration file.
fn source(pod: &PodSpec) -> Option<Source> {
    let container = container(pod)?;
    let mut variables = container.env.iter().flatten();
    let path = variables
        .find(|variable| variable.name == PATH_VARIABLE)
        .and_then(|variable| variable.value.as_deref())
        .filter(|path| !path.is_empty())
        .unwrap_or(DEFAULT_PATH);
    let mounts = container.volume_mounts.iter().flatten();
    let below = |mount: &str| {
        let rest = path.strip_prefix(mount.trim_end_matches('/'))?;
        rest.is_empty()
            .then_some("")
            .or_else(|| rest.strip_prefix('/'))
    };
    let mount = mounts
        .filter(|mount| below(&mount.mount_path).is_some())
        .max_by_key(|mount| mount.mount_path.len())?;
    let inside = below(&mount.mount_path)?;
    let file = match mount.sub_path.as_deref().filter(|path| !path.is_empty()) {
        Some(part) if inside.is_empty() => part.to_owned(),
        Some(part) => format!("{part}/{inside}"),
        None => inside.to_owned(),
    };
    let mut volumes = pod.volumes.iter().flatten();
    let volume = volumes.find(|volume| volume.name == mount.name)?;
    let map = volume.config_map.as_ref()?;
    let items = map.items.iter().flatten();
    let mut key = items
        .filter(|item| item.path == file)
        .map(|item| item.key.clone());
    Some(Source {
        config_map: map.name.clone(),
        key: key.next_back().unwrap_or(file),
    })
}

#[cfg(test)]
mod tests {
    use mainstay_clowder::package::{Admission, installation};
    use serde_json::{Value, json};

    use super::*;

    fn shipped() -> Value {
        let objects = installation("example.test/operator:1", Admission::Webhooks);
        let mut deployments = objects.into_iter();
        let deployment = deployments.find(|object| object["kind"] == "Deployment");
        deployment.unwrap()["spec"]["template"]["spec"].take()
    }

    fn found(pod: Value) -> Option<(String, String)> {
        let source = source(&serde_json::from_value(pod).unwrap())?;
        Some((source.config_map, source.key))
    }

    fn pair(map: &str, key: &str) -> (String, String) {
        (map.to_owned(), key.to_owned())
    }

    #[test]
    fn the_file_is_found_as_the_shipped_installation_mounts_it() {
        assert_eq!(
            found(shipped()),
            Some(pair("clowder-config", "clowder_config.json"))
        );
    }

    #[test]
    fn the_file_is_found_wherever_an_installation_moves_it() {
        let mut pod = shipped();
        let container = &mut pod["containers"][0];
        container["env"] = json!([{"name": PATH_VARIABLE, "value": "/etc/clowder/own.json"}]);
        assert_eq!(found(pod.clone()), None, "nothing is mounted there");
        pod["containers"][0]["volumeMounts"][0] =
            json!({"name": "config", "mountPath": "/etc/clowder"});
        assert_eq!(found(pod.clone()), Some(pair("clowder-config", "own.json")));
        pod["volumes"][0]["configMap"]["items"] = json!([{"key": "settings", "path": "own.json"}]);
        assert_eq!(found(pod.clone()), Some(pair("clowder-config", "settings")));
        pod["containers"][0]["volumeMounts"][0] = json!({
            "name": "config", "mountPath": "/etc/clowder/own.json", "subPath": "other.json",
        });
        assert_eq!(found(pod), Some(pair("clowder-config", "other.json")));
    }

    #[test]
    fn the_flag_counts_as_the_last_one_says() {
        let judge = |arguments: &[&str]| {
            is_suffixed(&Container {
                args: Some(arguments.iter().map(|&text| text.to_owned()).collect()),
                ..Container::default()
            })
        };
        assert!(!judge(&["--leader-elect"]));
        assert!(judge(&[SUFFIX_FLAG]));
        assert!(!judge(&[
            SUFFIX_FLAG,
            "--clowder-suffixed-config-secret=false"
        ]));
    }
}
