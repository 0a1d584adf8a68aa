//! Real control planes: side by side, killed, and started under difficulties.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "clippy.toml allows these in tests, but not in the functions that tests share"
)]

use std::{
    fs,
    io::Write,
    os::unix::fs::{PermissionsExt, symlink},
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    thread,
    time::{Duration, Instant},
};

use mainstay_control_plane::{
    Assets, Launcher, Layout, PlaneOptions, Status,
    assets::Program,
    definitions, halt, launch, launch_bound,
    state::{Phase, State},
    status, stop,
};

const DEPLOYMENT: &str = "
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replicas: 2
  selector:
    matchLabels:
      app: web
  template:
    metadata:
      labels:
        app: web
    spec:
      containers:
      - name: web
        image: registry.example/web:1
        volumeMounts:
        - name: data
          mountPath: /data
      volumes:
      - name: data
        persistentVolumeClaim:
          claimName: data
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata:
  name: data
spec:
  accessModes:
  - ReadWriteMany
  resources:
    requests:
      storage: 1Gi
---
apiVersion: batch/v1
kind: Job
metadata:
  name: once
spec:
  template:
    spec:
      restartPolicy: Never
      containers:
      - name: once
        image: registry.example/once:1
";

fn directory(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

fn launcher() -> Launcher {
    Launcher::program(env!("CARGO_BIN_EXE_mainstay-control-plane"))
}

fn assets() -> Assets {
    Assets::find_or_build(&|line| eprintln!("{line}")).unwrap()
}

fn kubectl(layout: &Layout, arguments: &[&str], input: &str) -> Output {
    let mut child = Command::new(assets().program(Program::Kubectl))
        .args(arguments)
        .env("KUBECONFIG", layout.kubeconfig())
        .env("KUBECACHEDIR", layout.kubectl_cache())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(input.as_bytes())
        .unwrap();
    child.wait_with_output().unwrap()
}

/// What kubectl prints, if it succeeds.
fn text(layout: &Layout, arguments: &[&str], input: &str) -> String {
    let output = kubectl(layout, arguments, input);
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// The running processes that name the directory on their command line. A zombie has no command line.
fn processes(layout: &Layout) -> Vec<String> {
    let directory = layout.directory().to_string_lossy().into_owned();
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").unwrap() {
        let Ok(command) = fs::read(entry.unwrap().path().join("cmdline")) else {
            continue;
        };
        let command = String::from_utf8_lossy(&command).replace('\0', " ");
        if command.contains(&directory) {
            found.push(command);
        }
    }
    found
}

fn assert_no_process_left(layout: &Layout) {
    until(
        || processes(layout).is_empty(),
        || format!("left: {:#?}", processes(layout)),
    );
}

/// Waits until something holds; complains if it never does.
fn until(holds: impl Fn() -> bool, complaint: impl Fn() -> String) {
    let deadline = Instant::now() + Duration::from_mins(1);
    while !holds() {
        assert!(Instant::now() < deadline, "{}", complaint());
        thread::sleep(Duration::from_millis(20));
    }
}

fn running(layout: &Layout) -> State {
    match status(layout).unwrap() {
        Status::Running(state) => state,
        other => panic!("not running: {other:?}"),
    }
}

/// Kills by id, as `kill -9` would.
fn kill(pid: u32) {
    let killed = Command::new("kill")
        .args(["-9", &pid.to_string()])
        .status()
        .unwrap();
    assert!(killed.success());
}

fn assert_runs_workloads(layout: &Layout) {
    text(layout, &["apply", "-f", "-"], DEPLOYMENT);
    for [condition, object] in [
        ["--for=condition=Available", "deployments/web"],
        ["--for=condition=Complete", "jobs/once"],
    ] {
        text(layout, &["wait", "--timeout=60s", condition, object], "");
    }
    // Garbage collection is what the real controller manager is there for.
    text(layout, &["delete", "deployments/web"], "");
    let gone = [
        "wait",
        "--for=delete",
        "--timeout=60s",
        "pods",
        "-l=app=web",
    ];
    text(layout, &gone, "");
}

#[test]
fn two_planes_live_side_by_side_and_leave_nothing_behind() {
    let vanilla = PlaneOptions::new(&directory("vanilla")).unwrap();
    let openshift = PlaneOptions::new(&directory("openshift"))
        .unwrap()
        .crds(definitions::route().unwrap())
        .client("somebody:some-group");
    let started = Instant::now();
    let mut planes = [&vanilla, &openshift].map(|options| {
        stop(&options.layout).unwrap();
        launch(options, &assets(), &launcher()).unwrap()
    });
    for plane in &mut planes {
        assert_eq!(plane.wait_until_ready().unwrap().phase, Phase::Ready);
    }
    eprintln!("two planes ready after {:?}", started.elapsed());

    assert_eq!(processes(&vanilla.layout).len(), 6);
    let again = launch(&vanilla, &assets(), &launcher()).unwrap();
    assert!(again.was_running());
    assert_runs_workloads(&vanilla.layout);
    assert_runs_workloads(&openshift.layout);
    assert_serves_what_was_asked_for(&vanilla.layout, &openshift.layout);

    // One end is sudden, the other orderly.
    kill(running(&vanilla.layout).supervisor);
    assert_no_process_left(&vanilla.layout);
    assert!(matches!(status(&vanilla.layout), Ok(Status::Ended(_))));
    assert!(stop(&openshift.layout).unwrap());
    assert_no_process_left(&openshift.layout);
    assert!(!stop(&openshift.layout).unwrap());
}

fn assert_serves_what_was_asked_for(vanilla: &Layout, openshift: &Layout) {
    let routes = ["get", "routes.route.openshift.io", "-A"];
    assert!(!kubectl(vanilla, &routes, "").status.success());
    assert!(kubectl(openshift, &routes, "").status.success());

    let kubeconfig = openshift.client_kubeconfig("somebody");
    let flag = format!("--kubeconfig={}", kubeconfig.display());
    let identity = text(openshift, &["auth", "whoami", &flag], "");
    assert!(identity.contains("some-group"), "{identity}");

    // The server answers before it logs.
    let audit = || fs::read_to_string(openshift.audit_log()).unwrap();
    until(|| audit().contains(r#""username":"somebody""#), audit);
    assert!(!audit().contains("RequestReceived"));
}

#[test]
fn a_bound_plane_ends_with_its_value_and_a_broken_one_says_why() {
    let options = PlaneOptions::new(&directory("bound")).unwrap();
    let mut plane = launch_bound(&options, &assets(), &launcher()).unwrap();
    plane.wait_until_ready().unwrap();
    drop(plane);
    assert_no_process_left(&options.layout);

    let mut plane = launch_bound(&options, &assets(), &launcher()).unwrap();
    plane.wait_until_ready().unwrap();
    let state = running(&options.layout);
    let scheduler = state
        .components
        .iter()
        .find(|component| component.name == "kube-scheduler")
        .unwrap();
    kill(scheduler.pid);
    let ended = loop {
        if let Some(state) = plane.ended().unwrap() {
            break state;
        }
        thread::sleep(Duration::from_millis(20));
    };
    let Phase::Failed { message } = ended.phase else {
        panic!("{:?}", ended.phase);
    };
    assert!(message.starts_with("kube-scheduler ended unexpectedly (signal: 9"));
    assert!(message.contains("logs/kube-scheduler.log"), "{message}");
    assert_no_process_left(&options.layout);
}

#[test]
fn a_halted_component_is_away_until_it_is_resumed_and_the_plane_lasts() {
    let options = PlaneOptions::new(&directory("halted")).unwrap();
    let mut plane = launch_bound(&options, &assets(), &launcher()).unwrap();
    plane.wait_until_ready().unwrap();
    let layout = &options.layout;
    let answers = || {
        let ready = ["get", "--raw", "/readyz", "--request-timeout=5s"];
        kubectl(layout, &ready, "").stdout == b"ok"
    };
    text(layout, &["create", "namespace", "before"], "");
    halt::halt(layout, Program::KubeApiserver).unwrap();
    assert!(!answers());
    assert_eq!(processes(layout).len(), 5);
    halt::resume(layout, Program::KubeApiserver).unwrap();
    until(answers, || "the API server did not come back".to_owned());
    text(layout, &["get", "namespaces/before"], "");
    assert_runs_workloads(layout);
    assert!(plane.ended().unwrap().is_none());
}

#[test]
fn refuses_a_directory_that_is_not_its_own_and_crds_that_are_not_there() {
    let foreign = directory("foreign");
    fs::create_dir_all(&foreign).unwrap();
    fs::write(foreign.join("thesis.txt"), "important").unwrap();
    let options = PlaneOptions::new(&foreign).unwrap();
    let error = launch(&options, &assets(), &launcher()).unwrap_err();
    assert!(
        error
            .to_string()
            .ends_with("not the directory of a control plane")
    );

    let options = PlaneOptions::new(&directory("no-crds"))
        .unwrap()
        .crds(["/nonexistent/crds"]);
    let error = launch(&options, &assets(), &launcher()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "`/nonexistent/crds` is neither a file nor a directory"
    );
}

/// The real programs, but with a script in the place of etcd. In the script, `$REAL` is the real one.
fn assets_with_etcd(name: &str, script: &str) -> Assets {
    let real = assets();
    let directory = directory(name);
    let _ = fs::remove_dir_all(&directory);
    fs::create_dir_all(&directory).unwrap();
    for program in Program::ALL {
        if program != Program::Etcd {
            symlink(real.program(program), directory.join(program.name())).unwrap();
        }
    }
    let etcd = directory.join(Program::Etcd.name());
    let path = real.program(Program::Etcd);
    fs::write(
        &etcd,
        format!("#!/bin/sh\nREAL='{}'\n{script}\n", path.display()),
    )
    .unwrap();
    fs::set_permissions(&etcd, fs::Permissions::from_mode(0o755)).unwrap();
    Assets::in_directory(&directory).unwrap()
}

#[test]
fn starts_over_when_another_process_took_a_port() {
    let script = r#"
flag=$(dirname "$0")/once
if [ ! -e "$flag" ]; then
  touch "$flag"
  echo "listen tcp 127.0.0.1:1: bind: address already in use"
  exit 1
fi
exec "$REAL" "$@""#;
    let assets = assets_with_etcd("assets-port", script);
    let options = PlaneOptions::new(&directory("port")).unwrap();
    let mut plane = launch_bound(&options, &assets, &launcher()).unwrap();
    assert_eq!(plane.wait_until_ready().unwrap().phase, Phase::Ready);
    assert!(assets.directory().join("once").exists());
}

#[test]
fn names_the_component_that_does_not_start_and_its_last_words() {
    let assets = assets_with_etcd("assets-broken", "echo 'no space left on device'; exit 3");
    let options = PlaneOptions::new(&directory("broken")).unwrap();
    let mut plane = launch_bound(&options, &assets, &launcher()).unwrap();
    let message = plane.wait_until_ready().unwrap_err().to_string();
    assert!(
        message.starts_with("etcd ended unexpectedly (exit status: 3)"),
        "{message}"
    );
    assert!(message.ends_with("no space left on device"), "{message}");
    assert!(message.contains("logs/etcd.log"), "{message}");
}
