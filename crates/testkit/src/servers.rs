//! Real servers outside the cluster: PostgreSQL of the machine and an S3 server that checks signatures.

use std::{
    fs,
    io::{BufRead as _, BufReader},
    net::{Ipv4Addr, SocketAddr},
    os::unix::fs::{MetadataExt as _, chown},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex},
    thread,
};

use mainstay_control_plane::tools::{Tool, Tools};
use tempfile::TempDir;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpListener,
};

use crate::{ends_with_test::EndsWithTest, wait::eventually};

/// The server refuses to run as root; this is `nobody` everywhere.
const NOBODY: u32 = 65534;

/// A PostgreSQL server in a temporary directory; gone when dropped.
#[derive(Debug)]
pub struct Postgres {
    process: Child,
    _ends_with_test: EndsWithTest,
    port: u16,
    password: String,
    _directory: TempDir,
}

impl Postgres {
    /// Starts one on a port of the loopback interface. The password belongs to the role `postgres`.
    pub async fn start(port: u16, password: &str) -> Self {
        let directory = TempDir::new().unwrap();
        let root = fs::metadata(directory.path()).unwrap().uid() == 0;
        let password_file = directory.path().join("password");
        fs::write(&password_file, password).unwrap();
        if root {
            chown(directory.path(), Some(NOBODY), Some(NOBODY)).unwrap();
            chown(&password_file, Some(NOBODY), Some(NOBODY)).unwrap();
        }
        let data = directory.path().join("data");
        let made = as_somebody("initdb", root)
            .current_dir(directory.path())
            .args(["--username=postgres", "--auth=scram-sha-256", "--no-sync"])
            .args(["--encoding=UTF8", "--locale=C", "--pwfile"])
            .arg(&password_file)
            .arg(&data)
            .output()
            .unwrap();
        let complaint = String::from_utf8_lossy(&made.stderr);
        assert!(made.status.success(), "{complaint}");
        let process = as_somebody("postgres", root)
            .current_dir(directory.path())
            .arg("-D")
            .arg(&data)
            .args(["-p", &port.to_string(), "-c", "listen_addresses=127.0.0.1"])
            .args(["-c", "unix_socket_directories=", "-c", "fsync=off"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let server = Self {
            _ends_with_test: EndsWithTest::of(&process),
            process,
            port,
            password: password.to_owned(),
            _directory: directory,
        };
        eventually("PostgreSQL answers", || async {
            server.try_ask("postgres", "SELECT 1")
        })
        .await;
        server
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        (Ipv4Addr::LOCALHOST, self.port).into()
    }

    /// The answer to a statement in a database, one line for each row, as the role `postgres`.
    pub fn ask(&self, database: &str, statement: &str) -> String {
        let answer = self.try_ask(database, statement);
        assert!(answer.is_some(), "PostgreSQL refused {statement}");
        answer.unwrap()
    }

    fn try_ask(&self, database: &str, statement: &str) -> Option<String> {
        let output = Command::new(program("psql"))
            .args(["--no-psqlrc", "--tuples-only", "--no-align"])
            .args(["--host", "127.0.0.1", "--port", &self.port.to_string()])
            .args(["--username", "postgres", "--dbname", database])
            .args(["--command", statement])
            .env("PGPASSWORD", &self.password)
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        output.status.success().then(|| text.trim().to_owned())
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Debian keeps the programs out of the path.
fn program(name: &str) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut places: Vec<PathBuf> = std::env::split_paths(&path).collect();
    if let Ok(versions) = fs::read_dir("/usr/lib/postgresql") {
        places.extend(versions.flatten().map(|version| version.path().join("bin")));
    }
    let mut found = places.into_iter().map(|place| place.join(name));
    let found = found.find(|place| Path::is_file(place));
    assert!(
        found.is_some(),
        "no `{name}` on this machine: install the package `postgresql`"
    );
    found.unwrap()
}

fn as_somebody(name: &str, root: bool) -> Command {
    let program = program(name);
    if !root {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    let (user, group) = (format!("--reuid={NOBODY}"), format!("--regid={NOBODY}"));
    command.args([&user, &group, "--clear-groups"]).arg(program);
    command
}

/// An S3 server with buckets in memory; gone when dropped.
#[derive(Debug)]
pub struct S3 {
    process: Child,
    _ends_with_test: EndsWithTest,
    /// Where it listens.
    pub address: SocketAddr,
    buckets: Arc<Mutex<Vec<String>>>,
}

impl S3 {
    /// Starts one that accepts requests signed with this key.
    pub fn start(access_key: &str, secret_key: &str) -> Self {
        let tools = Tools::find_or_build(&|_| {}).expect("the tools can be built");
        let mut process = Command::new(tools.path(Tool::S3))
            .args(["--access-key", access_key, "--secret-key", secret_key])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let address = lines.next().unwrap().unwrap();
        let buckets = Arc::new(Mutex::new(Vec::new()));
        let made = buckets.clone();
        thread::spawn(move || {
            for bucket in lines.map_while(Result::ok) {
                made.lock().unwrap().push(bucket);
            }
        });
        Self {
            _ends_with_test: EndsWithTest::of(&process),
            process,
            address: address.parse().unwrap(),
            buckets,
        }
    }

    /// Waits until this many buckets were made, and names them in the order of their making.
    pub async fn buckets(&self, count: usize) -> Vec<String> {
        eventually(&format!("{count} buckets were made"), || async {
            let buckets = self.buckets.lock().unwrap().clone();
            (buckets.len() >= count).then_some(buckets)
        })
        .await
    }
}

impl Drop for S3 {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Serves one text over HTTP to everybody for as long as the runtime of the test lives, and says where.
pub async fn serve_text(text: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut request = [0; 4096];
            let _ = stream.read(&mut request).await;
            let length = text.len();
            let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n");
            let _ = stream.write_all(head.as_bytes()).await;
            let _ = stream.write_all(text.as_bytes()).await;
        }
    });
    format!("http://{address}")
}
