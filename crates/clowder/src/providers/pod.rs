//! Pods of apps: what Deployments, CronJobs and Jobs make of the `podSpec` that an app gives them.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::{
    api::core::v1::{
        Affinity, ConfigMapVolumeSource, Container, ContainerPort, EnvVar, PodAffinityTerm,
        PodAntiAffinity, PodSpec, ResourceRequirements, SecretVolumeSource, Toleration, Volume,
        VolumeMount, WeightedPodAffinityTerm,
    },
    apimachinery::pkg::{api::resource::Quantity, apis::meta::v1::LabelSelector},
};
use mainstay_api::clowder::app::pod::{InitContainer, PodSpec as AppPodSpec};

use crate::{
    names::{self, Labels},
    providers::provider::ProviderError,
};

pub mod probe;

/// Pulls an image unless the node has it.
pub const IF_NOT_PRESENT: &str = "IfNotPresent";
/// Volume of the service CA.
const CA_VOLUME: &str = "tls-ca";
/// ConfigMap of the service CA, which the platform fills.
const CA_CONFIG_MAP: &str = "openshift-service-ca.crt";
/// What kube-linter is told about pods of jobs.
const NO_PROBES: &str = "probes not required on Job pods";

/// Annotations of job-like objects and their pods.
pub fn job_annotations() -> Labels {
    ["no-liveness-probe", "no-readiness-probe"]
        .map(|check| {
            let name = format!("ignore-check.kube-linter.io/{check}");
            (name, NO_PROBES.to_owned())
        })
        .into()
}

/// The main container: what all workloads have in common. Probes, ports, life cycle and pull policy are for the caller.
pub fn main_container(name: &str, pod: &AppPodSpec, defaults: &ResourceRequirements) -> Container {
    let mut mounts: Vec<VolumeMount> = pod.volume_mounts.iter().map(stored_mount).collect();
    mounts.push(config_mount());
    with_termination(Container {
        name: name.to_owned(),
        image: filled(&pod.image),
        command: listed(&pod.command),
        args: listed(&pod.args),
        env: Some(last_of_each_name(
            pod.env
                .iter()
                .map(stored_variable)
                .chain([config_variable()]),
        )),
        resources: Some(resources(&pod.resources, defaults)),
        volume_mounts: Some(mounts),
        ..Container::default()
    })
}

/// The container with the places of its last words.
pub fn with_termination(container: Container) -> Container {
    Container {
        termination_message_path: Some(names::TERMINATION_PATH.to_owned()),
        termination_message_policy: Some("File".to_owned()),
        ..container
    }
}

/// Init containers: they share resources, mounts and pull policy with the main container.
pub fn init_containers(
    wanted: &[InitContainer],
    main: &Container,
) -> Result<Option<Vec<Container>>, ProviderError> {
    if wanted.len() > 1 && wanted.iter().any(|container| container.name.is_empty()) {
        return Err(ProviderError::Failed(
            "multiple init containers must have name".to_owned(),
        ));
    }
    let containers: Vec<Container> = wanted
        .iter()
        .map(|container| init_container(container, main))
        .collect();
    Ok(listed(&containers))
}

fn init_container(wanted: &InitContainer, main: &Container) -> Container {
    let base = Some(wanted.name.as_str())
        .filter(|name| !name.is_empty())
        .unwrap_or(&main.name);
    let own = wanted.env.iter().map(stored_variable);
    let inherited = main.env.iter().flatten();
    let variables = if wanted.inherit_env {
        let names: BTreeSet<&str> = wanted.env.iter().map(|own| own.name.as_str()).collect();
        let others = inherited.filter(|variable| !names.contains(variable.name.as_str()));
        last_of_each_name(own.chain(others.cloned()))
    } else {
        last_of_each_name([config_variable()].into_iter().chain(own))
    };
    with_termination(Container {
        name: format!("{base}-init"),
        image: filled(&wanted.image).or_else(|| main.image.clone()),
        command: listed(&wanted.command),
        args: listed(&wanted.args),
        env: Some(variables),
        resources: main.resources.clone(),
        volume_mounts: main.volume_mounts.clone(),
        image_pull_policy: main.image_pull_policy.clone(),
        ..Container::default()
    })
}

/// Volumes of the app and the one with its configuration. Modes that nobody gave are stated, so that they are ours to
/// take away together with the rest of a source.
pub fn volumes(wanted: &[Volume], config_secret: &str) -> Vec<Volume> {
    let mut volumes: Vec<Volume> = wanted.iter().map(with_mode).collect();
    volumes.push(Volume {
        name: names::CONFIG_VOLUME.to_owned(),
        secret: Some(SecretVolumeSource {
            secret_name: Some(config_secret.to_owned()),
            default_mode: Some(names::VOLUME_MODE),
            ..SecretVolumeSource::default()
        }),
        ..Volume::default()
    });
    volumes
}

fn with_mode(volume: &Volume) -> Volume {
    let mut volume = volume.clone();
    let modes = [
        volume
            .config_map
            .as_mut()
            .map(|source| &mut source.default_mode),
        volume
            .secret
            .as_mut()
            .map(|source| &mut source.default_mode),
        volume
            .projected
            .as_mut()
            .map(|source| &mut source.default_mode),
        volume
            .downward_api
            .as_mut()
            .map(|source| &mut source.default_mode),
    ];
    for mode in modes.into_iter().flatten() {
        *mode = mode.filter(|mode| *mode != 0).or(Some(names::VOLUME_MODE));
    }
    volume
}

/// Adds the service CA to a container and to all init containers.
pub fn add_ca(pod: &mut PodSpec, container: &str) {
    pod.volumes.get_or_insert_default().push(Volume {
        name: CA_VOLUME.to_owned(),
        config_map: Some(ConfigMapVolumeSource {
            name: CA_CONFIG_MAP.to_owned(),
            ..ConfigMapVolumeSource::default()
        }),
        ..Volume::default()
    });
    let main = pod
        .containers
        .iter_mut()
        .filter(|candidate| candidate.name == container);
    for container in main.chain(pod.init_containers.iter_mut().flatten()) {
        let mounts = container.volume_mounts.get_or_insert_default();
        mounts.push(read_only_mount(CA_VOLUME, names::CA_MOUNT));
    }
}

/// A mount that cannot be written to.
pub fn read_only_mount(volume: &str, path: &str) -> VolumeMount {
    VolumeMount {
        name: volume.to_owned(),
        mount_path: path.to_owned(),
        read_only: Some(true),
        ..VolumeMount::default()
    }
}

/// A TCP port of a container.
pub fn port(name: &str, number: i32) -> ContainerPort {
    ContainerPort {
        name: Some(name.to_owned()),
        container_port: number,
        protocol: Some("TCP".to_owned()),
        ..ContainerPort::default()
    }
}

/// Nodes of a machine pool are tainted with its name.
pub fn tolerations(machine_pool: &str) -> Option<Vec<Toleration>> {
    let toleration = Toleration {
        key: Some(filled(machine_pool)?),
        operator: Some("Equal".to_owned()),
        value: Some("true".to_owned()),
        effect: Some("NoSchedule".to_owned()),
        ..Toleration::default()
    };
    Some(vec![toleration])
}

/// Pods with the same labels keep away from each other, first by zone, then by node.
pub fn affinity(labels: &Labels) -> Affinity {
    let places = [
        (100, "failure-domain.beta.kubernetes.io/zone"),
        (99, "kubernetes.io/hostname"),
    ];
    let terms = places.map(|(weight, topology)| WeightedPodAffinityTerm {
        weight,
        pod_affinity_term: PodAffinityTerm {
            label_selector: Some(LabelSelector {
                match_labels: Some(labels.clone()),
                match_expressions: None,
            }),
            topology_key: topology.to_owned(),
            ..PodAffinityTerm::default()
        },
    });
    Affinity {
        pod_anti_affinity: Some(PodAntiAffinity {
            preferred_during_scheduling_ignored_during_execution: Some(terms.into()),
            ..PodAntiAffinity::default()
        }),
        ..Affinity::default()
    }
}

/// The pull policy of Deployments and invoked jobs.
///
/// Parity: only what stands between the first and the second colon counts as the tag, and the policy that is to be
/// omitted is none the less stated.
pub fn pull_policy(omit: bool, image: &str) -> &'static str {
    if omit && image.split(':').nth(1) == Some("latest") {
        "Always"
    } else {
        IF_NOT_PRESENT
    }
}

/// Memory and processor time: each quantity from the pod, else from the environment, else zero. Only the limit of
/// processor time may be missing. Everything else that a container could ask for is ignored.
pub fn resources(
    pod: &ResourceRequirements,
    environment: &ResourceRequirements,
) -> ResourceRequirements {
    let limit = |name| {
        quantity(pod.limits.as_ref(), name).or_else(|| quantity(environment.limits.as_ref(), name))
    };
    let request = |name| {
        quantity(pod.requests.as_ref(), name)
            .or_else(|| quantity(environment.requests.as_ref(), name))
    };
    let zero = || Quantity("0".to_owned());
    let mut limits = BTreeMap::from([("memory".to_owned(), limit("memory").unwrap_or_else(zero))]);
    if let Some(processor) = limit("cpu") {
        limits.insert("cpu".to_owned(), processor);
    }
    let requests =
        ["cpu", "memory"].map(|name| (name.to_owned(), request(name).unwrap_or_else(zero)));
    ResourceRequirements {
        limits: Some(limits),
        requests: Some(requests.into()),
        claims: None,
    }
}

fn quantity(quantities: Option<&BTreeMap<String, Quantity>>, name: &str) -> Option<Quantity> {
    quantities?.get(name).cloned()
}

/// Quantities by name.
pub fn quantities<const N: usize>(amounts: [(&str, &str); N]) -> BTreeMap<String, Quantity> {
    amounts
        .map(|(name, amount)| (name.to_owned(), Quantity(amount.to_owned())))
        .into()
}

/// Where the app finds its configuration.
pub fn config_variable() -> EnvVar {
    EnvVar {
        name: names::CONFIG_VARIABLE.to_owned(),
        value: Some(names::CONFIG_PATH.to_owned()),
        value_from: None,
    }
}

fn config_mount() -> VolumeMount {
    VolumeMount {
        name: names::CONFIG_VOLUME.to_owned(),
        mount_path: names::CONFIG_MOUNT.to_owned(),
        ..VolumeMount::default()
    }
}

/// A container with two variables of one name sees the last; server-side apply refuses the first.
pub fn last_of_each_name(variables: impl IntoIterator<Item = EnvVar>) -> Vec<EnvVar> {
    let variables: Vec<EnvVar> = variables.into_iter().collect();
    let mut seen = BTreeSet::new();
    let mut kept: Vec<EnvVar> = variables
        .into_iter()
        .rev()
        .filter(|variable| seen.insert(variable.name.clone()))
        .collect();
    kept.reverse();
    kept
}

/// The variable as the API server keeps it: it does not tell an empty value from none.
pub fn stored_variable(variable: &EnvVar) -> EnvVar {
    let mut variable = variable.clone();
    variable.value = variable.value.filter(|value| !value.is_empty());
    let field = variable
        .value_from
        .as_mut()
        .and_then(|source| source.field_ref.as_mut());
    if let Some(field) = field {
        field.api_version.take_if(|version| version.is_empty());
        field.api_version.get_or_insert_with(|| "v1".to_owned());
    }
    variable
}

/// The mount as the API server keeps it: it does not tell zero values from absent ones.
pub fn stored_mount(mount: &VolumeMount) -> VolumeMount {
    VolumeMount {
        read_only: mount.read_only.filter(|read_only| *read_only),
        sub_path: mount.sub_path.clone().filter(|path| !path.is_empty()),
        sub_path_expr: mount.sub_path_expr.clone().filter(|path| !path.is_empty()),
        ..mount.clone()
    }
}

/// A text, if it says something.
pub fn filled(text: &str) -> Option<String> {
    Some(text.to_owned()).filter(|text| !text.is_empty())
}

/// A list, if it has items.
pub fn listed<T: Clone>(items: &[T]) -> Option<Vec<T>> {
    Some(items.to_vec()).filter(|items| !items.is_empty())
}
