//! How each component is called, and the files that it reads. Pure, apart from reading stage files.

use std::{
    ffi::OsString,
    fs, io,
    path::{Path, PathBuf},
};

use crate::{assets::Program, layout::Layout, ports::Ports};

/// Users with a certificate of their own beside `admin`, so that the audit log tells components and tests apart.
pub(crate) const COMPONENT_CLIENTS: [&str; 3] =
    ["kube-controller-manager", "kube-scheduler", "kwok"];

/// Requests in the audit log, one line each, when they are answered.
pub(crate) const AUDIT_POLICY: &str = "\
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages:
- RequestReceived
rules:
- level: Metadata
";

/// The arguments of a component that keeps running. `pki` and `kubectl` have none: they are called as needed.
pub(crate) fn arguments(program: Program, layout: &Layout, ports: &Ports) -> Vec<OsString> {
    let flags = match program {
        Program::Etcd => etcd(layout, ports),
        Program::KubeApiserver => apiserver(layout, ports),
        Program::KubeControllerManager => controller_manager(layout, ports),
        Program::KubeScheduler => scheduler(layout, ports),
        Program::Kwok => kwok(layout, ports),
        Program::Pki | Program::Kubectl => Vec::new(),
    };
    flags.into_iter().map(OsString::from).collect()
}

fn etcd(layout: &Layout, ports: &Ports) -> Vec<String> {
    let client = format!("http://127.0.0.1:{}", ports.etcd);
    let peer = format!("http://127.0.0.1:{}", ports.etcd_peer);
    vec![
        format!("--data-dir={}", layout.etcd_data().display()),
        // The data does not outlive the plane.
        "--unsafe-no-fsync".into(),
        format!("--listen-client-urls={client}"),
        format!("--advertise-client-urls={client}"),
        format!("--listen-peer-urls={peer}"),
        format!("--initial-advertise-peer-urls={peer}"),
        format!("--initial-cluster=default={peer}"),
    ]
}

fn apiserver(layout: &Layout, ports: &Ports) -> Vec<String> {
    let file = |name: &str| layout.pki_file(name).display().to_string();
    vec![
        format!("--etcd-servers=http://127.0.0.1:{}", ports.etcd),
        format!("--secure-port={}", ports.apiserver),
        "--bind-address=127.0.0.1".into(),
        "--advertise-address=127.0.0.1".into(),
        // There is nothing at the other end of the service "kubernetes".
        "--endpoint-reconciler-type=none".into(),
        "--service-cluster-ip-range=10.0.0.0/16".into(),
        format!("--cert-dir={}", layout.pki().display()),
        format!("--tls-cert-file={}", file("apiserver.crt")),
        format!("--tls-private-key-file={}", file("apiserver.key")),
        format!("--client-ca-file={}", file("ca.crt")),
        format!("--service-account-key-file={}", file("sa.key")),
        format!("--service-account-signing-key-file={}", file("sa.key")),
        "--service-account-issuer=https://kubernetes.default.svc".into(),
        "--authorization-mode=RBAC".into(),
        "--allow-privileged=true".into(),
        // It would taint the node until the node lifecycle controller, which does not run, removes the taint.
        "--disable-admission-plugins=TaintNodesByCondition".into(),
        // OpenShift has it: who names an owner that is not to go before needs the right to its finalizers.
        "--enable-admission-plugins=OwnerReferencesPermissionEnforcement".into(),
        format!("--audit-policy-file={}", layout.audit_policy().display()),
        format!("--audit-log-path={}", layout.audit_log().display()),
        // In megabytes; by default the file would be rotated under those who read it.
        "--audit-log-maxsize=10000".into(),
    ]
}

fn controller_manager(layout: &Layout, ports: &Ports) -> Vec<String> {
    let mut flags = vec![
        format!("--secure-port={}", ports.controller_manager),
        format!(
            "--service-account-private-key-file={}",
            layout.pki_file("sa.key").display()
        ),
        format!("--root-ca-file={}", layout.pki_file("ca.crt").display()),
        // Each controller shows under its own name in the audit log, with its own rights.
        "--use-service-account-credentials=true".into(),
        // Only KWOK knows how the node is.
        "--controllers=*,-nodelifecycle".into(),
        "--concurrent-gc-syncs=20".into(),
        "--concurrent-deployment-syncs=20".into(),
        "--concurrent-replicaset-syncs=20".into(),
    ];
    flags.extend(client_flags("kube-controller-manager", layout));
    flags
}

fn scheduler(layout: &Layout, ports: &Ports) -> Vec<String> {
    let mut flags = vec![format!("--secure-port={}", ports.scheduler)];
    flags.extend(client_flags("kube-scheduler", layout));
    flags
}

/// What the two built-in clients have in common: one instance, no throttle, certificates of its own in memory.
fn client_flags(client: &str, layout: &Layout) -> [String; 6] {
    [
        format!(
            "--kubeconfig={}",
            layout.client_kubeconfig(client).display()
        ),
        "--bind-address=127.0.0.1".into(),
        "--leader-elect=false".into(),
        "--kube-api-qps=2000".into(),
        "--kube-api-burst=4000".into(),
        // Nobody asks their health port for more than health; saves reading a ConfigMap at the start.
        "--authentication-skip-lookup=true".into(),
    ]
}

fn kwok(layout: &Layout, ports: &Ports) -> Vec<String> {
    vec![
        format!(
            "--kubeconfig={}",
            layout.client_kubeconfig("kwok").display()
        ),
        "--manage-all-nodes=true".into(),
        // Outside the service range, and with room for more pods than the default's 254.
        "--cidr=10.64.0.0/10".into(),
        // Without it pods have no host address.
        "--node-ip=10.32.0.1".into(),
        format!("--server-address=127.0.0.1:{}", ports.kwok),
        format!("--config={}", layout.kwok_configuration().display()),
    ]
}

/// The kubeconfig of one user. JSON strings are also YAML strings, so paths may contain anything.
pub(crate) fn kubeconfig(user: &str, layout: &Layout, ports: &Ports) -> String {
    let file = |name: String| {
        serde_json::Value::from(layout.pki_file(&name).to_string_lossy().into_owned())
    };
    format!(
        "\
apiVersion: v1
kind: Config
current-context: control-plane
clusters:
- name: control-plane
  cluster:
    server: https://127.0.0.1:{port}
    certificate-authority: {ca}
users:
- name: {user}
  user:
    client-certificate: {certificate}
    client-key: {key}
contexts:
- name: control-plane
  context:
    cluster: control-plane
    user: {user}
",
        port = ports.apiserver,
        ca = file("ca.crt".into()),
        certificate = file(format!("{user}.crt")),
        key = file(format!("{user}.key")),
    )
}

/// The stage files for a plane that serves the CRDs `served`.
///
/// KWOK ends when a stage names a kind that is not served. So a file that is named like a CRD, such as
/// `routes.route.openshift.io.yaml`, is taken only if that CRD is served; a file without a dot in its name is for
/// built-in kinds and is always taken.
pub fn kwok_stages(directory: &Path, served: &[String]) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        let is_yaml = path
            .extension()
            .is_some_and(|extension| extension == "yaml");
        let Some(name) = path.file_stem().and_then(|stem| stem.to_str()) else {
            continue;
        };
        if is_yaml && (!name.contains('.') || served.iter().any(|crd| crd == name)) {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definitions::{self, Edition};
    use crate::sources;

    fn ports() -> Ports {
        Ports {
            apiserver: 1,
            etcd: 2,
            etcd_peer: 3,
            controller_manager: 4,
            scheduler: 5,
            kwok: 6,
        }
    }

    #[test]
    fn listens_on_loopback_only() {
        let layout = Layout::new(Path::new("/plane")).unwrap();
        for program in [
            Program::KubeApiserver,
            Program::KubeControllerManager,
            Program::KubeScheduler,
        ] {
            let flags = arguments(program, &layout, &ports());
            assert!(
                flags.iter().any(|flag| flag == "--bind-address=127.0.0.1"),
                "{program:?}"
            );
        }
    }

    #[test]
    fn quotes_paths_in_the_kubeconfig() {
        let layout = Layout::new(Path::new("/a: \"b\"")).unwrap();
        let text = kubeconfig("admin", &layout, &ports());
        assert!(text.contains(r#"certificate-authority: "/a: \"b\"/pki/ca.crt""#));
        assert!(text.contains("server: https://127.0.0.1:1\n"));
    }

    #[test]
    fn takes_stages_of_custom_kinds_only_when_served() {
        let directory =
            std::env::temp_dir().join(format!("mainstay-stages-{}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        for name in [
            "pod.yaml",
            "tests.example.org.yaml",
            "others.example.org.yaml",
            "README.md",
        ] {
            fs::write(directory.join(name), "").unwrap();
        }
        let names = |served: &[String]| -> Vec<String> {
            kwok_stages(&directory, served)
                .unwrap()
                .iter()
                .map(|path| path.file_name().unwrap().to_string_lossy().into_owned())
                .collect()
        };
        assert_eq!(names(&[]), ["pod.yaml"]);
        assert_eq!(
            names(&["tests.example.org".into()]),
            ["pod.yaml", "tests.example.org.yaml"]
        );
        fs::remove_dir_all(&directory).unwrap();
    }

    #[test]
    fn every_stage_of_a_custom_kind_has_a_definition_to_play_on() {
        let of_modules = definitions::clowder(Edition::Current).unwrap();
        let stand_ins = fs::read_dir(sources::root().join("crds")).unwrap();
        let files = of_modules.into_iter().filter(|path| path.is_file());
        let definitions: Vec<String> = files
            .chain(stand_ins.map(|entry| entry.unwrap().path()))
            .map(|path| fs::read_to_string(path).unwrap())
            .collect();
        let all: Vec<String> = definitions
            .iter()
            .filter_map(|text| text.split("\n  name: ").nth(1)?.lines().next())
            .map(str::to_owned)
            .collect();
        let built_in = kwok_stages(&sources::stages(), &[]).unwrap();
        let played = kwok_stages(&sources::stages(), &all).unwrap();
        let files = fs::read_dir(sources::stages()).unwrap().count();
        assert!(played.len() > built_in.len());
        assert_eq!(played.len(), files, "a file that no plane ever loads");
    }
}
