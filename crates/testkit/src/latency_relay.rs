//! A relay in front of a control plane that holds up whatever passes, at random. Everybody who goes by the
//! plane's kubeconfig goes through it: the tests, the operator with its writes and watches, `kubectl`. A test that waits
//! for the facts it builds on does not notice; one that counts on being slower or faster than somebody else does.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
    thread,
    time::Duration,
};

use kube::config::Kubeconfig;
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

/// Unrest is asked for by this variable.
const VARIABLE: &str = "MAINSTAY_TEST_UNREST";

/// The kubeconfig of a plane: its own or, where unrest is asked for, one that leads through the relay.
pub(crate) fn kubeconfig(directory: &Path) -> PathBuf {
    static RELAYS: Mutex<BTreeMap<PathBuf, PathBuf>> = Mutex::new(BTreeMap::new());
    let own = directory.join("kubeconfig");
    if std::env::var_os(VARIABLE).is_none() {
        return own;
    }
    let mut relays = RELAYS.lock().unwrap_or_else(PoisonError::into_inner);
    let through = relays.entry(own.clone()).or_insert_with(|| {
        let path = directory.join(format!("kubeconfig-{}", std::process::id()));
        let file = Kubeconfig::read_from(&own).unwrap();
        let mut clusters = file.clusters.into_iter();
        let server = clusters.find_map(|named| named.cluster?.server).unwrap();
        let (_, address) = server.split_once("://").unwrap();
        let relay = format!("https://{}", start(address.to_owned()));
        let text = fs::read_to_string(&own).unwrap();
        fs::write(&path, text.replace(&server, &relay)).unwrap();
        path
    });
    through.clone()
}

/// Starts a relay to an address, for as long as the tests run, and says where it listens.
fn start(address: String) -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let here = listener.local_addr().unwrap().to_string();
    // Every test has a runtime of its own, which ends with it.
    thread::spawn(move || {
        let mut builder = tokio::runtime::Builder::new_current_thread();
        let runtime = builder.enable_all().build().unwrap();
        runtime.block_on(async {
            let listener = TcpListener::from_std(listener).unwrap();
            while let Ok((near, _)) = listener.accept().await {
                tokio::spawn(relay(near, address.clone()));
            }
        });
    });
    here
}

/// Relays one connection until either side ends it.
async fn relay(near: TcpStream, address: String) -> io::Result<()> {
    let far = TcpStream::connect(address).await?;
    let (from_near, to_near) = near.into_split();
    let (from_far, to_far) = far.into_split();
    tokio::select! {
        ended = carry(from_near, to_far) => ended,
        ended = carry(from_far, to_near) => ended,
    }
}

/// Carries what is read to the other side, in its order, and now and then late.
async fn carry(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
) -> io::Result<()> {
    let mut buffer = vec![0; 1 << 16];
    loop {
        let count = from.read(&mut buffer).await?;
        let Some(piece) = buffer.get(..count).filter(|piece| !piece.is_empty()) else {
            return Ok(());
        };
        tokio::time::sleep(delay()).await;
        to.write_all(piece).await?;
    }
}

/// Mostly none, often a little, seldom more than a second.
fn delay() -> Duration {
    let random = getrandom::u32().unwrap();
    let part = u64::from(random >> 16) * 1000 / 0xFFFF;
    Duration::from_millis(match random % 100 {
        0..70 => 0,
        70..90 => part / 10,
        90..98 => part / 2,
        _ => part * 3 / 2,
    })
}
