//! The operator as a process, started and ended as an init system or a crash would.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    sync::atomic::{AtomicU32, Ordering},
    time::Duration,
};

pub use rustix::process::Signal;
use rustix::process::{Pid, kill_process};
use tempfile::TempDir;

use crate::{ends_with_test::EndsWithTest, wait::eventually};

/// Flag of the address of Clowder's webhooks; without it a test has none.
pub const WEBHOOK_ADDRESS: &str = "--clowder-webhook-address";

/// A running operator; killed when dropped.
#[derive(Debug)]
pub struct Operator {
    child: Child,
    _ends_with_test: EndsWithTest,
    directory: TempDir,
    probe: String,
}

impl Operator {
    /// Starts `binary run` against a kubeconfig, without election, with probes on a free port.
    pub fn start(binary: &Path, kubeconfig: &Path, arguments: &[&str]) -> Self {
        let mut all = vec!["--leader-election=false"];
        all.extend(arguments);
        Self::start_with(binary, kubeconfig, &all)
    }

    /// The same with exactly these further flags.
    pub fn start_with(binary: &Path, kubeconfig: &Path, arguments: &[&str]) -> Self {
        Self::start_in(binary, kubeconfig, arguments, &[])
    }

    /// The same with variables in its environment.
    pub fn start_in(
        binary: &Path,
        kubeconfig: &Path,
        arguments: &[&str],
        variables: &[(&str, &Path)],
    ) -> Self {
        let directory = TempDir::new().unwrap();
        let log = File::create(directory.path().join("log")).unwrap();
        let probe = format!("127.0.0.1:{}", free_port());
        let mut own = vec!["--health-probe-bind-address", &probe];
        // Whatever lies around on the machine at hand must not decide a test.
        for address in ["--metrics-bind-address", WEBHOOK_ADDRESS] {
            if !arguments.contains(&address) {
                own.extend([address, "0"]);
            }
        }
        let child = Command::new(binary)
            .arg("run")
            .args(own)
            .args(arguments)
            .env("KUBECONFIG", kubeconfig)
            .envs(variables.iter().copied())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .unwrap();
        Self {
            _ends_with_test: EndsWithTest::of(&child),
            child,
            directory,
            probe,
        }
    }

    /// Waits until the caches are filled.
    pub async fn ready(&mut self) {
        let probe = self.probe.clone();
        let log = self.log_path();
        eventually(
            &format!("the operator is ready, see {}", log.display()),
            || {
                let probe = probe.clone();
                async move { (http_get(&probe, "/readyz").await? == 200).then_some(()) }
            },
        )
        .await;
    }

    /// Address of its probes.
    pub fn probe(&self) -> &str {
        &self.probe
    }

    /// Resident memory in KiB, as the kernel counts it.
    pub fn memory(&self) -> u64 {
        self.kibibytes("VmRSS:")
    }

    /// The most memory that it ever had, in KiB.
    pub fn peak_memory(&self) -> u64 {
        self.kibibytes("VmHWM:")
    }

    fn kibibytes(&self, field: &str) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with(field));
        let number = line.and_then(|line| line.split_whitespace().nth(1));
        number.unwrap().parse().unwrap()
    }

    /// Process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Ends it as a crash would.
    pub fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Asks it to stop and waits for the end.
    pub async fn terminate(&mut self) -> ExitStatus {
        self.signal(Signal::TERM);
        self.ended().await
    }

    /// Sends a signal.
    pub fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Waits until the process has ended by itself.
    pub async fn ended(&mut self) -> ExitStatus {
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// Whether it still runs.
    pub fn is_running(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    /// Its log so far.
    pub fn log(&self) -> String {
        fs::read_to_string(self.log_path()).unwrap()
    }

    fn log_path(&self) -> PathBuf {
        self.directory.path().join("log")
    }
}

impl AsMut<Self> for Operator {
    fn as_mut(&mut self) -> &mut Self {
        self
    }
}

impl Drop for Operator {
    fn drop(&mut self) {
        self.kill();
        if std::thread::panicking() {
            eprintln!("log of the operator:\n{}", self.log());
        }
    }
}

/// Ends a process as a crash would; for those who know only its id. One that is gone already stays gone.
pub fn kill_by_id(id: u32) {
    let id = i32::try_from(id).ok().and_then(Pid::from_raw);
    let _ = kill_process(id.unwrap(), Signal::KILL);
}

/// A port that was free a moment ago. It lies below those that the kernel hands out, so that no connection takes it
/// meanwhile, and no other test of this process gets it.
pub fn free_port() -> u16 {
    static OFFSET: AtomicU32 = AtomicU32::new(0);
    loop {
        let offset = OFFSET.fetch_add(1, Ordering::Relaxed);
        let port = 10_000 + (std::process::id() * 61 + offset) % 20_000;
        let port = u16::try_from(port).unwrap();
        if std::net::TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}

/// An address of the loopback interface that refuses every connection for as long as this is held: bound, so that nobody
/// else gets it, and not listened on.
#[derive(Debug)]
pub struct ClosedPort {
    port: u16,
    _socket: tokio::net::TcpSocket,
}

impl ClosedPort {
    /// Takes a port that the kernel hands out.
    pub fn take() -> Self {
        let socket = tokio::net::TcpSocket::new_v4().unwrap();
        socket
            .bind((std::net::Ipv4Addr::LOCALHOST, 0).into())
            .unwrap();
        let port = socket.local_addr().unwrap().port();
        Self {
            port,
            _socket: socket,
        }
    }

    /// Where nobody listens, as `host:port`.
    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }
}

/// Status code of a GET; `None` if nobody answers.
pub async fn http_get(address: &str, path: &str) -> Option<u16> {
    let answer = http_get_text(address, path).await?;
    answer.split_whitespace().nth(1)?.parse().ok()
}

/// The whole answer to a POST of JSON, head and body.
pub(crate) async fn http_post(address: &str, path: &str, body: &str) -> String {
    // The older version has no chunks in its answers.
    let request = format!(
        "POST {path} HTTP/1.0\r\nHost: {address}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    http_ask(address, &request).await.unwrap()
}

/// The whole answer to a GET, head and body.
pub async fn http_get_text(address: &str, path: &str) -> Option<String> {
    let request = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    http_ask(address, &request).await
}

async fn http_ask(address: &str, request: &str) -> Option<String> {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let mut stream = tokio::net::TcpStream::connect(address).await.ok()?;
    stream.write_all(request.as_bytes()).await.ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.ok()?;
    Some(answer)
}
