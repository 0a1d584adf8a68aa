//! What a plane says about itself, in `plane.json`, and whether it is true.

use std::{
    fmt,
    fs::{self, File, TryLockError},
    io,
    path::PathBuf,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use serde::{Deserialize, Serialize};

use crate::{layout::Layout, ports::Ports};

/// The contents of `plane.json`. Written by the supervisor alone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct State {
    /// Process id of the supervisor.
    pub supervisor: u32,
    /// How far the plane has come.
    pub phase: Phase,
    /// When the supervisor started, in seconds since 1970.
    pub started_at: u64,
    /// How long it took until the plane was ready.
    pub ready_after_milliseconds: Option<u64>,
    /// Where the programs were taken from.
    pub assets: PathBuf,
    /// The CRD files and directories that were asked for.
    pub crds: Vec<PathBuf>,
    /// Ports, once chosen.
    pub ports: Option<Ports>,
    /// Running components, in starting order.
    pub components: Vec<RunningComponent>,
}

/// How far a plane has come.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "name")]
pub enum Phase {
    /// Components are being started.
    Starting,
    /// Everything runs, the node is ready.
    Ready,
    /// Ended on request.
    Stopped,
    /// Ended because something went wrong.
    Failed {
        /// What went wrong, with the last lines of the log that tells more.
        message: String,
    },
}

impl fmt::Display for Phase {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Starting => formatter.write_str("starting"),
            Self::Ready => formatter.write_str("ready"),
            Self::Stopped => formatter.write_str("stopped"),
            Self::Failed { message } => write!(formatter, "failed: {message}"),
        }
    }
}

/// One component process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunningComponent {
    /// Name of the program.
    pub name: String,
    /// Its process id.
    pub pid: u32,
    /// Its output.
    pub log: PathBuf,
}

impl State {
    /// Reads the state of a plane; `None` if there has never been one in this directory.
    pub fn read(layout: &Layout) -> io::Result<Option<Self>> {
        let text = match fs::read(layout.state()) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        Ok(Some(serde_json::from_slice(&text)?))
    }

    /// Writes the state so that a reader sees the old or the new one, never a part.
    pub fn write(&self, layout: &Layout) -> io::Result<()> {
        let partial = layout.state().with_extension("json.partial");
        fs::write(&partial, serde_json::to_vec_pretty(self)?)?;
        fs::rename(partial, layout.state())
    }

    /// Time since the supervisor started.
    pub fn uptime(&self) -> Duration {
        now().saturating_sub(Duration::from_secs(self.started_at))
    }
}

/// Time since 1970.
pub(crate) fn now() -> Duration {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default()
}

/// Opens the lock file of a plane's directory, and creates it if need be.
pub(crate) fn open_lock(layout: &Layout) -> io::Result<File> {
    File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(layout.lock())
}

/// Takes the lock of a plane's directory; `None` if a supervisor lives.
pub(crate) fn try_lock(layout: &Layout) -> io::Result<Option<File>> {
    let file = open_lock(layout)?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Whether a supervisor lives in this directory.
///
/// The kernel releases the lock with the process, whatever ended it, so a stale state file cannot mislead.
pub fn is_running(layout: &Layout) -> io::Result<bool> {
    if !layout.lock().exists() {
        return Ok(false);
    }
    Ok(try_lock(layout)?.is_none())
}
