//! Requests that go out at their times over connections that stay, as an API server asks its webhooks.
//!
//! Threads that block, one for each connection: the timers of an async runtime tick in milliseconds, which is as long as
//! an answer may take. A connection takes the next turn whenever it is free, so turns wait only while all are busy.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, anyhow, ensure};
use rustls::{
    ClientConfig, ClientConnection, RootCertStore, StreamOwned,
    crypto::aws_lc_rs,
    pki_types::{CertificateDer, IpAddr, ServerName, pem::PemObject as _},
};

/// Connections that an API server keeps to one webhook.
const CONNECTIONS: usize = 25;
/// The first second is for warming up.
const WARM_UP: u32 = 1;

/// How often, and for how long.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    /// Requests in a second.
    pub(super) rate: u32,
    /// Seconds that count.
    pub(super) seconds: u32,
}

impl Pace {
    fn turns(self) -> u32 {
        self.rate * (WARM_UP + self.seconds)
    }

    /// When a turn is due.
    fn due(self, begun: Instant, turn: u32) -> Instant {
        begun + Duration::from_secs(1) * turn / self.rate
    }
}

/// A server on the loopback interface, and whom to trust.
#[derive(Clone, Debug)]
pub(super) struct Server {
    address: String,
    config: Arc<ClientConfig>,
}

impl Server {
    /// The server behind an address, vouched for by an authority in PEM form.
    pub(super) fn new(address: &str, authority: &str) -> anyhow::Result<Self> {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(authority.as_bytes())?)?;
        let config = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
            .with_safe_default_protocol_versions()?
            .with_root_certificates(roots)
            .with_no_client_auth();
        Ok(Self {
            address: address.to_owned(),
            config: Arc::new(config),
        })
    }

    /// Asks the same again and again, and returns how many seconds each answer took from when its request was due.
    pub(super) fn load(
        &self,
        pace: Pace,
        (path, expected): (&str, u16),
        body: &str,
    ) -> anyhow::Result<Vec<f64>> {
        let request = self.request(path, body);
        let connections: anyhow::Result<Vec<Connection>> =
            (0..CONNECTIONS).map(|_| Connection::open(self)).collect();
        let connections = connections.context("the webhooks cannot be reached")?;
        let (turns, begun) = (AtomicU32::new(0), Instant::now());
        thread::scope(|scope| {
            let (request, turns) = (request.as_bytes(), &turns);
            let workers = connections.into_iter().map(|mut connection| {
                scope.spawn(move || connection.take_turns(pace, (begun, turns), request, expected))
            });
            let workers: Vec<_> = workers.collect();
            let mut seconds = Vec::new();
            for worker in workers {
                let taken = worker
                    .join()
                    .map_err(|_| anyhow!("a connection panicked"))?;
                seconds.extend(taken?);
            }
            Ok(seconds)
        })
    }

    /// A request as an API server writes it.
    fn request(&self, path: &str, body: &str) -> String {
        let (address, length) = (&self.address, body.len());
        format!(
            "POST {path}?timeout=10s HTTP/1.1\r\nhost: {address}\r\naccept: application/json\r\n\
             content-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
        )
    }
}

/// A connection that stays.
struct Connection {
    stream: BufReader<StreamOwned<ClientConnection, TcpStream>>,
    line: String,
    body: Vec<u8>,
}

impl Connection {
    fn open(server: &Server) -> anyhow::Result<Self> {
        let stream = TcpStream::connect(&server.address)?;
        stream.set_nodelay(true)?;
        let name = ServerName::IpAddress(IpAddr::from(stream.peer_addr()?.ip()));
        let tls = ClientConnection::new(server.config.clone(), name)?;
        Ok(Self {
            stream: BufReader::new(StreamOwned::new(tls, stream)),
            line: String::new(),
            body: Vec::new(),
        })
    }

    fn take_turns(
        &mut self,
        pace: Pace,
        (begun, turns): (Instant, &AtomicU32),
        request: &[u8],
        expected: u16,
    ) -> anyhow::Result<Vec<f64>> {
        let mut seconds = Vec::new();
        loop {
            let turn = turns.fetch_add(1, Ordering::Relaxed);
            if turn >= pace.turns() {
                return Ok(seconds);
            }
            let due = pace.due(begun, turn);
            thread::sleep(due.saturating_duration_since(Instant::now()));
            let status = self.ask(request).context("a request was not answered")?;
            let waited = due.elapsed().as_secs_f64();
            ensure!(status == expected, "a request was answered with {status}");
            if turn >= WARM_UP * pace.rate {
                seconds.push(waited);
            }
        }
    }

    /// Sends a request, reads the whole answer and returns its status.
    fn ask(&mut self, request: &[u8]) -> anyhow::Result<u16> {
        self.stream.get_mut().write_all(request)?;
        let (mut status, mut length) = (None, 0);
        loop {
            self.line.clear();
            self.stream.read_line(&mut self.line)?;
            let line = self.line.trim_end();
            if status.is_none() {
                let word = line.split(' ').nth(1).context("no answer in HTTP")?;
                status = Some(word.parse()?);
            } else if let Some((name, value)) = line.split_once(':') {
                if name.eq_ignore_ascii_case("content-length") {
                    length = value.trim().parse()?;
                }
            } else {
                break;
            }
        }
        self.body.resize(length, 0);
        self.stream.read_exact(&mut self.body)?;
        status.context("no answer in HTTP")
    }
}
