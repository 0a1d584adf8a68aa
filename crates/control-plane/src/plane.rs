//! Starting, watching and stopping a plane from outside.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    process::{Child, ChildStdin, Stdio},
    thread,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};

use crate::{
    FileError,
    assets::Assets,
    layout::Layout,
    process::{Launcher, tail},
    state::{self, Phase, State},
};

/// The word of [`crate::command`] behind which the supervisor is found.
pub(crate) const SUPERVISE: &str = "supervise";

/// How long [`stop`] waits for a supervisor before it kills it.
const STOP_LIMIT: Duration = Duration::from_secs(15);

/// What a plane is to be.
#[derive(Clone, Debug)]
pub struct PlaneOptions {
    /// Its directory.
    pub layout: Layout,
    /// Files and directories with CRDs to serve from the start. None means a vanilla cluster.
    pub crds: Vec<PathBuf>,
    /// Further users, as `NAME[:GROUP]`; each gets a kubeconfig, see [`Layout::client_kubeconfig`].
    pub clients: Vec<String>,
}

impl PlaneOptions {
    /// A vanilla plane in `directory`.
    pub fn new(directory: &Path) -> io::Result<Self> {
        Ok(Self {
            layout: Layout::new(directory)?,
            crds: Vec::new(),
            clients: Vec::new(),
        })
    }

    /// The same plane with the CRDs of these files and directories.
    #[must_use]
    pub fn crds<P: Into<PathBuf>>(mut self, paths: impl IntoIterator<Item = P>) -> Self {
        self.crds.extend(paths.into_iter().map(Into::into));
        self
    }

    /// The same plane with a further user, as `NAME[:GROUP]`.
    #[must_use]
    pub fn client(mut self, client: impl Into<String>) -> Self {
        self.clients.push(client.into());
        self
    }
}

/// Why a plane could not be started, watched or stopped.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file or directory could not be used.
    #[error(transparent)]
    File(#[from] FileError),
    /// A CRD file that was asked for is not there.
    #[error("`{0}` is neither a file nor a directory")]
    NoSuchCrds(PathBuf),
    /// The directory has contents of another kind. A plane removes files of its own by name, so better not.
    #[error("`{0}` is not empty and not the directory of a control plane")]
    ForeignDirectory(PathBuf),
    /// A plane runs there already, but with other CRDs.
    #[error("a control plane with other CRDs runs in `{0}`; stop it first")]
    OtherCrds(PathBuf),
    /// The supervisor process could not be started.
    #[error("could not start the supervisor")]
    Supervisor(#[source] io::Error),
    /// The plane did not become ready, or has ended.
    #[error("{0}")]
    Failed(String),
}

/// What is in a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Status {
    /// No plane has ever been there.
    Absent,
    /// A plane was there.
    Ended(State),
    /// A plane is starting or ready.
    Running(State),
}

/// What is in the directory of `layout`, checked against the supervisor's lock.
pub fn status(layout: &Layout) -> Result<Status, Error> {
    let running =
        state::is_running(layout).map_err(FileError::of("look into", layout.directory()))?;
    let state = State::read(layout).map_err(FileError::of("read", layout.state()))?;
    Ok(match state {
        None => Status::Absent,
        Some(state) if running => Status::Running(state),
        Some(state) => Status::Ended(state),
    })
}

/// A plane that outlives this process.
#[derive(Debug)]
pub struct DetachedPlane {
    layout: Layout,
    supervisor: Option<Child>,
}

impl DetachedPlane {
    /// Whether the plane was there before.
    pub const fn was_running(&self) -> bool {
        self.supervisor.is_none()
    }

    /// The process id of the supervisor that was started for this value, while it lives.
    fn living_supervisor(&mut self) -> Result<Option<u32>, Error> {
        let Some(supervisor) = &mut self.supervisor else {
            return Ok(None);
        };
        let ended = supervisor.try_wait().map_err(Error::Supervisor)?;
        Ok(ended.is_none().then(|| supervisor.id()))
    }

    /// Waits until the plane is ready. The supervisor has its own time limits, so this ends.
    pub fn wait_until_ready(&mut self) -> Result<State, Error> {
        loop {
            // In this order: a supervisor that ends between the two has written its last state before.
            let living = self.living_supervisor()?;
            match status(&self.layout)? {
                // While our supervisor lives, a state of another is a left-over. If ours found that another came
                // first, it has ended; then that plane is as good as ours.
                Status::Running(state)
                    if state.phase == Phase::Ready
                        && living.is_none_or(|pid| pid == state.supervisor) =>
                {
                    return Ok(state);
                }
                Status::Running(_) => {}
                Status::Ended(_) | Status::Absent if living.is_some() => {}
                Status::Ended(State {
                    phase: Phase::Failed { message },
                    ..
                }) => return Err(Error::Failed(message)),
                Status::Ended(_) | Status::Absent => {
                    return Err(Error::Failed(format!(
                        "the supervisor ended while the plane started:\n{}",
                        tail(&self.layout.supervisor_log(), 15)
                    )));
                }
            }
            thread::sleep(Duration::from_millis(20));
        }
    }
}

/// A plane that ends with this value, and with this process, however that ends.
#[derive(Debug)]
pub struct BoundPlane {
    plane: DetachedPlane,
    lifeline: Option<ChildStdin>,
}

impl BoundPlane {
    /// Waits until the plane is ready.
    pub fn wait_until_ready(&mut self) -> Result<State, Error> {
        self.plane.wait_until_ready()
    }

    /// Where the plane's files are.
    pub fn layout(&self) -> &Layout {
        &self.plane.layout
    }

    /// How the plane has ended by itself, if it has.
    pub fn ended(&self) -> Result<Option<State>, Error> {
        match status(&self.plane.layout)? {
            Status::Ended(state) => Ok(Some(state)),
            Status::Running(_) | Status::Absent => Ok(None),
        }
    }
}

impl Drop for BoundPlane {
    fn drop(&mut self) {
        self.lifeline = None;
        if let Some(supervisor) = &mut self.plane.supervisor {
            // Nothing more can be done about a failure here; the supervisor ends by itself.
            let _ = supervisor.wait();
        }
    }
}

/// Starts a plane that outlives this process, until [`stop`]. One that runs already is taken if it has the same CRDs.
pub fn launch(
    options: &PlaneOptions,
    assets: &Assets,
    launcher: &Launcher,
) -> Result<DetachedPlane, Error> {
    if let Status::Running(state) = status(&options.layout)? {
        if state.crds != absolute(&options.crds)? {
            return Err(Error::OtherCrds(options.layout.directory().to_owned()));
        }
        return Ok(DetachedPlane {
            layout: options.layout.clone(),
            supervisor: None,
        });
    }
    let supervisor = spawn(options, assets, launcher, false)?;
    Ok(DetachedPlane {
        layout: options.layout.clone(),
        supervisor: Some(supervisor),
    })
}

/// Starts a plane that ends with this process. One that runs in the directory already is stopped first: it belongs
/// to a run that was left behind.
pub fn launch_bound(
    options: &PlaneOptions,
    assets: &Assets,
    launcher: &Launcher,
) -> Result<BoundPlane, Error> {
    stop(&options.layout)?;
    let mut supervisor = spawn(options, assets, launcher, true)?;
    let lifeline = supervisor.stdin.take();
    let plane = DetachedPlane {
        layout: options.layout.clone(),
        supervisor: Some(supervisor),
    };
    Ok(BoundPlane { plane, lifeline })
}

/// Stops the plane in a directory and waits until nothing of it runs. Returns whether there was one.
pub fn stop(layout: &Layout) -> Result<bool, Error> {
    let running = || state::is_running(layout).map_err(FileError::of("look into", layout.lock()));
    if !running()? {
        return Ok(false);
    }
    let request = layout.stop_request();
    fs::write(&request, "").map_err(FileError::of("write", &request))?;
    let deadline = Instant::now() + STOP_LIMIT;
    while running()? {
        if Instant::now() > deadline {
            kill_supervisor(layout)?;
        }
        thread::sleep(Duration::from_millis(20));
    }
    Ok(true)
}

/// For a supervisor that hangs. Its lock is held, so the process id in the state is still its own.
fn kill_supervisor(layout: &Layout) -> Result<(), Error> {
    let state = State::read(layout).map_err(FileError::of("read", layout.state()))?;
    let pid = state
        .and_then(|state| i32::try_from(state.supervisor).ok())
        .and_then(Pid::from_raw);
    if let Some(pid) = pid {
        // An error means that it has ended meanwhile.
        let _ = kill_process(pid, Signal::KILL);
    }
    Ok(())
}

fn spawn(
    options: &PlaneOptions,
    assets: &Assets,
    launcher: &Launcher,
    bound: bool,
) -> Result<Child, Error> {
    let layout = &options.layout;
    let crds = absolute(&options.crds)?;
    if let Some(path) = crds.iter().find(|path| !path.exists()) {
        return Err(Error::NoSuchCrds(path.clone()));
    }
    prepare_directory(layout)?;
    let log = layout.supervisor_log();
    let output = File::create(&log).map_err(FileError::of("create", &log))?;
    let errors = output.try_clone().map_err(FileError::of("open", &log))?;
    let mut command = launcher.command(SUPERVISE);
    command.arg("--dir").arg(layout.directory());
    command.arg("--assets").arg(assets.directory());
    for path in crds {
        command.arg("--crds").arg(path);
    }
    for client in &options.clients {
        command.arg("--client").arg(client);
    }
    if bound {
        command.arg("--bound").stdin(Stdio::piped());
    } else {
        command.stdin(Stdio::null());
    }
    command
        .stdout(output)
        .stderr(errors)
        .spawn()
        .map_err(Error::Supervisor)
}

fn absolute(paths: &[PathBuf]) -> Result<Vec<PathBuf>, FileError> {
    paths
        .iter()
        .map(|path| std::path::absolute(path).map_err(FileError::of("resolve", path)))
        .collect()
}

/// Creates the directory, and with the lock file marks it as that of a plane.
fn prepare_directory(layout: &Layout) -> Result<(), Error> {
    let directory = layout.directory();
    fs::create_dir_all(directory).map_err(FileError::of("create", directory))?;
    let mut entries = fs::read_dir(directory).map_err(FileError::of("read", directory))?;
    if entries.next().is_some() && !layout.lock().exists() {
        return Err(Error::ForeignDirectory(directory.to_owned()));
    }
    state::open_lock(layout).map_err(FileError::of("create", layout.lock()))?;
    Ok(())
}
