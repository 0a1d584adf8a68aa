//! `mainstay run` as a child process.

use std::{
    fs::File,
    io::{Read, Write},
    net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Child, ExitStatus, Stdio},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, bail};
use mainstay_control_plane::process::{ask_to_end, tail, wait_or_kill};

use super::Cluster;
use crate::{planes, printer::say, workspace};

/// How long the operators may take until their caches are filled.
const LIMIT: Duration = Duration::from_secs(30);

/// How long they may take to finish what they are doing when they are stopped.
const GRACE: Duration = Duration::from_secs(10);

/// The running operators. They end with this value, and with this process.
pub(crate) struct Operator {
    child: Child,
    log: PathBuf,
    health: SocketAddr,
}

impl Operator {
    pub(crate) fn start(cluster: &Cluster, binary: &Path) -> anyhow::Result<Self> {
        let log = workspace::path("target/xtask/mainstay.log");
        if let Some(directory) = log.parent() {
            std::fs::create_dir_all(directory)?;
        }
        let output =
            File::create(&log).with_context(|| format!("could not create {}", log.display()))?;
        let health = free_address()?;
        say(&format!("running mainstay, log in {}", log.display()));
        let child = planes::launcher()
            .bound_command(binary)
            .args(["run", "--leader-election=false", "--metrics-bind-address=0"])
            .arg(format!("--health-probe-bind-address={health}"))
            .env("KUBECONFIG", &cluster.kubeconfig)
            .stdin(Stdio::null())
            .stdout(output.try_clone()?)
            .stderr(output)
            .spawn()
            .context("could not start mainstay")?;
        Ok(Self { child, log, health })
    }

    /// Waits until `/readyz` says yes.
    pub(crate) fn wait_until_ready(&mut self) -> anyhow::Result<()> {
        let deadline = Instant::now() + LIMIT;
        while !is_ready(self.health) {
            if let Some(status) = self.ended()? {
                bail!("mainstay ended ({status})");
            }
            if Instant::now() > deadline {
                bail!("mainstay was not ready within {} s", LIMIT.as_secs());
            }
            thread::sleep(Duration::from_millis(50));
        }
        Ok(())
    }

    /// How the operators have ended, if they have.
    pub(crate) fn ended(&mut self) -> anyhow::Result<Option<ExitStatus>> {
        Ok(self.child.try_wait()?)
    }

    /// Shows the end of the log, which tells more than an error can.
    pub(crate) fn say_last_words(&self) {
        say(&format!("{}:\n{}", self.log.display(), tail(&self.log, 20)));
    }
}

impl Drop for Operator {
    fn drop(&mut self) {
        ask_to_end(&self.child);
        wait_or_kill(&mut self.child, Instant::now() + GRACE);
    }
}

fn free_address() -> anyhow::Result<SocketAddr> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?)
}

fn is_ready(address: SocketAddr) -> bool {
    let ask = || -> std::io::Result<String> {
        let mut stream = TcpStream::connect(address)?;
        stream.set_read_timeout(Some(Duration::from_secs(5)))?;
        stream
            .write_all(b"GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        Ok(answer)
    };
    ask().is_ok_and(|answer| answer.starts_with("HTTP/1.1 200"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Answers one request with `status`.
    fn serve_once(status: &'static str) -> SocketAddr {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = [0; 512];
            let count = stream.read(&mut request).unwrap();
            assert!(request.get(..count).unwrap().starts_with(b"GET /readyz "));
            write!(stream, "HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n").unwrap();
        });
        address
    }

    #[test]
    fn is_ready_only_when_the_answer_is_yes() {
        assert!(is_ready(serve_once("200 OK")));
        assert!(!is_ready(serve_once("503 Service Unavailable")));
        assert!(!is_ready(free_address().unwrap()));
    }
}
