//! Against a PostgreSQL server of the machine, in a temporary directory.

use std::{
    fs,
    net::{Ipv4Addr, SocketAddr, TcpListener},
    os::unix::fs::chown,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};

use mainstay_clowder::errand::{Errand, Hidden};
use mainstay_clowder_ports::{Ports, Resolve};
use tempfile::TempDir;
use tokio::net::TcpStream;
use tokio_postgres::{Config, NoTls};

const PASSWORD: &str = "it's \"secret\"";
/// The server refuses to run as root; this is `nobody` everywhere.
const NOBODY: u32 = 65534;

struct Server {
    process: Child,
    address: SocketAddr,
    _directory: TempDir,
}

impl Drop for Server {
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
    let found = places
        .into_iter()
        .map(|place| place.join(name))
        .find(|place| place.is_file());
    found.unwrap_or_else(|| panic!("no `{name}` on this machine: install the package `postgresql`"))
}

fn is_root(directory: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    fs::metadata(directory).unwrap().uid() == 0
}

fn as_somebody(name: &str, root: bool) -> Command {
    let program = program(name);
    if !root {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    command
        .args([
            &format!("--reuid={NOBODY}"),
            &format!("--regid={NOBODY}"),
            "--clear-groups",
        ])
        .arg(program);
    command
}

impl Server {
    async fn start() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let root = is_root(directory.path());
        let password = directory.path().join("password");
        fs::write(&password, PASSWORD).unwrap();
        if root {
            chown(directory.path(), Some(NOBODY), Some(NOBODY)).unwrap();
            chown(&password, Some(NOBODY), Some(NOBODY)).unwrap();
        }
        let data = directory.path().join("data");
        let made = as_somebody("initdb", root)
            .current_dir(directory.path())
            .args([
                "--username=postgres",
                "--auth=scram-sha-256",
                "--no-sync",
                "--encoding=UTF8",
                "--locale=C",
            ])
            .arg("--pwfile")
            .arg(&password)
            .arg(&data)
            .output()
            .unwrap();
        assert!(
            made.status.success(),
            "{}",
            String::from_utf8_lossy(&made.stderr)
        );
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
            .unwrap()
            .local_addr()
            .unwrap()
            .port();
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
            process,
            address: (Ipv4Addr::LOCALHOST, port).into(),
            _directory: directory,
        };
        server.wait().await;
        server
    }

    async fn wait(&self) {
        for _ in 0..300 {
            if self
                .ports()
                .carry_out(&errand("postgres", "postgres"))
                .await
                .is_ok()
            {
                return;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("the server did not come up");
    }

    /// Ports that reach the server by a name that no one else knows.
    fn ports(&self) -> Ports {
        Ports::new(Resolve::parse(&format!("stage-db-v15.stage.svc={}", self.address)).unwrap())
    }

    async fn execute(&self, statement: &str) {
        let stream = TcpStream::connect(self.address).await.unwrap();
        let mut config = Config::new();
        config
            .user("postgres")
            .password(PASSWORD)
            .dbname("postgres");
        let (client, connection) = config.connect_raw(stream, NoTls).await.unwrap();
        tokio::spawn(connection);
        client.batch_execute(statement).await.unwrap();
    }

    async fn databases(&self) -> Vec<(String, String)> {
        let stream = TcpStream::connect(self.address).await.unwrap();
        let mut config = Config::new();
        config
            .user("postgres")
            .password(PASSWORD)
            .dbname("postgres");
        let (client, connection) = config.connect_raw(stream, NoTls).await.unwrap();
        tokio::spawn(connection);
        let query = "SELECT datname::text, rolname::text FROM pg_database JOIN pg_roles ON pg_roles.oid = datdba \
            WHERE NOT datistemplate AND datname <> 'postgres' ORDER BY 1";
        let rows = client.query(query, &[]).await.unwrap();
        rows.iter().map(|row| (row.get(0), row.get(1))).collect()
    }
}

fn errand(name: &str, maintenance: &str) -> Errand {
    Errand::Database {
        host: "stage-db-v15.stage.svc".to_owned(),
        port: 5432,
        admin_password: Hidden(PASSWORD.to_owned()),
        maintenance: maintenance.to_owned(),
        name: name.to_owned(),
        owner: "App User".to_owned(),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_is_made_once_for_its_owner_whatever_it_is_called() {
    let server = Server::start().await;
    server.execute("CREATE ROLE \"App User\"").await;
    let hostile = "orders\"; DROP ROLE \"App User\"; --";
    let ports = server.ports();
    for name in ["orders", hostile, "orders", hostile] {
        assert_eq!(
            ports.carry_out(&errand(name, "postgres")).await,
            Ok(String::new()),
            "{name}"
        );
    }
    let owner = || "App User".to_owned();
    assert_eq!(
        server.databases().await,
        [
            ("orders".to_owned(), owner()),
            (hostile.to_owned(), owner())
        ]
    );

    let same = errand("raced", "orders");
    let (a, b, c, d) = tokio::join!(
        ports.carry_out(&same),
        ports.carry_out(&same),
        ports.carry_out(&same),
        ports.carry_out(&same)
    );
    assert_eq!([a, b, c, d], [const { Ok(String::new()) }; 4]);
    assert_eq!(server.databases().await.len(), 3);

    let absent = ports
        .carry_out(&errand("other", "nowhere"))
        .await
        .unwrap_err();
    assert_eq!(absent, "database \"nowhere\" does not exist");
    let Errand::Database {
        host,
        port,
        maintenance,
        name,
        owner,
        ..
    } = errand("orders", "postgres")
    else {
        unreachable!()
    };
    let wrong = Errand::Database {
        host,
        port,
        admin_password: Hidden("wrong".to_owned()),
        maintenance,
        name,
        owner,
    };
    let refused = ports.carry_out(&wrong).await.unwrap_err();
    assert_eq!(
        refused,
        "pq: password authentication failed for user \"postgres\""
    );
}

#[tokio::test]
async fn a_server_that_is_not_there_is_named() {
    let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let ports =
        Ports::new(Resolve::parse(&format!("stage-db-v15.stage.svc=127.0.0.1:{port}")).unwrap());
    let failure = ports
        .carry_out(&errand("orders", "postgres"))
        .await
        .unwrap_err();
    assert!(
        failure.starts_with(&format!("dial tcp 127.0.0.1:{port}: ")),
        "{failure}"
    );
    assert!(!failure.contains("secret"), "{failure}");
}
