//! The process that is the parent of all components of one plane.
//!
//! It starts them in order, says in `plane.json` how far it is, ends the plane when it is asked to, when its starter
//! goes (a *bound* plane) or when a component ends by itself. If it is killed, the kernel kills the components.

use std::{
    fs::{self, File},
    io::{self, Read},
    path::PathBuf,
    process::{Child, ExitStatus, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use rustix::process::setsid;

use crate::{
    FileError,
    assets::{Assets, Program},
    components,
    layout::Layout,
    plane::PlaneOptions,
    ports::Ports,
    process::{Launcher, ask_to_end, tail, wait_or_kill},
    state::{self, Phase, RunningComponent, State},
};

mod bring_up;
mod halts;

/// How often the supervisor looks after its children and for the request to stop.
const TICK: Duration = Duration::from_millis(50);
/// How long components may take to end by themselves. Their data is thrown away, so there is little to wait for.
const GRACE: Duration = Duration::from_secs(2);
/// How often a plane starts over because another process took one of its ports.
const ATTEMPTS: u32 = 4;

/// Why a plane ended.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("another supervisor runs in `{0}`")]
    AlreadyRunning(PathBuf),
    #[error(transparent)]
    File(#[from] FileError),
    #[error("could not start {program}")]
    Spawn {
        program: &'static str,
        #[source]
        source: io::Error,
    },
    #[error("could not choose ports")]
    Ports(#[source] io::Error),
    #[error("{component} ended unexpectedly ({status}), see `{log}`:\n{tail}")]
    ComponentEnded {
        component: &'static str,
        status: ExitStatus,
        log: PathBuf,
        tail: String,
    },
    #[error("`{command}` failed ({status}): {output}")]
    Step {
        command: String,
        status: ExitStatus,
        output: String,
    },
    #[error("{what} within {} s, see `{log}`:\n{tail}", limit.as_secs())]
    Late {
        what: &'static str,
        limit: Duration,
        log: PathBuf,
        tail: String,
    },
    #[error("the plane was asked to stop while it started")]
    Stopped,
}

impl Error {
    /// Whether new ports may help.
    fn is_port_conflict(&self) -> bool {
        matches!(self, Self::ComponentEnded { log, .. }
            if fs::read_to_string(log).is_ok_and(|text| text.contains("address already in use")))
    }
}

/// A component and its process.
struct Component {
    program: Program,
    child: Child,
}

/// Everything the supervisor knows while it runs.
struct Supervisor {
    layout: Layout,
    assets: Assets,
    options: PlaneOptions,
    launcher: Launcher,
    components: Vec<Component>,
    /// Those that are kept away.
    halted: Vec<Program>,
    stop: Arc<AtomicBool>,
    state: State,
}

/// Runs a plane until its end. Returns when no component is left.
pub(crate) fn supervise(
    options: PlaneOptions,
    assets: Assets,
    launcher: Launcher,
    bound: bool,
) -> Result<(), Error> {
    // Away from the terminal's process group: Ctrl-C there is the starter's to handle. Fails if already a leader,
    // which is as good.
    let _ = setsid();
    let layout = options.layout.clone();
    let _lock = lock(&layout)?;
    clear(&layout)?;
    let stop = Arc::new(AtomicBool::new(false));
    if bound {
        stop_at_end_of_input(Arc::clone(&stop));
    }
    let state = State {
        supervisor: std::process::id(),
        phase: Phase::Starting,
        started_at: state::now().as_secs(),
        ready_after_milliseconds: None,
        assets: assets.directory().to_owned(),
        crds: options.crds.clone(),
        ports: None,
        components: Vec::new(),
    };
    let mut supervisor = Supervisor {
        layout,
        assets,
        options,
        launcher,
        components: Vec::new(),
        halted: Vec::new(),
        stop,
        state,
    };
    let result = supervisor.run();
    supervisor.end_components();
    supervisor.finish(&result)?;
    match result {
        Err(Error::Stopped) => Ok(()),
        result => result,
    }
}

/// Takes the lock of the directory. Those who only ask whether a plane runs hold it for a moment, hence the retries.
fn lock(layout: &Layout) -> Result<File, Error> {
    for _ in 0..10 {
        if let Some(lock) = state::try_lock(layout).map_err(FileError::of("lock", layout.lock()))? {
            return Ok(lock);
        }
        thread::sleep(TICK);
    }
    Err(Error::AlreadyRunning(layout.directory().to_owned()))
}

/// Removes what an earlier plane left. Only names that a plane uses: the directory was chosen by a person. The state
/// stays, to be replaced: there is never a moment without one.
fn clear(layout: &Layout) -> Result<(), Error> {
    for directory in [
        layout.pki(),
        layout.etcd_data(),
        layout.logs(),
        layout.client_kubeconfigs(),
        layout.kubectl_cache(),
        layout.halt_requests(),
    ] {
        absent_is_fine(fs::remove_dir_all(&directory))
            .map_err(FileError::of("remove", directory))?;
    }
    for file in [
        layout.stop_request(),
        layout.kubeconfig(),
        layout.audit_log(),
        layout.audit_policy(),
        layout.kwok_configuration(),
    ] {
        absent_is_fine(fs::remove_file(&file)).map_err(FileError::of("remove", file))?;
    }
    Ok(())
}

fn absent_is_fine(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        result => result,
    }
}

/// The starter holds the other end of standard input; the kernel closes it when the starter ends, however it ends.
fn stop_at_end_of_input(stop: Arc<AtomicBool>) {
    thread::spawn(move || {
        let mut buffer = [0; 64];
        while io::stdin().read(&mut buffer).is_ok_and(|count| count > 0) {}
        stop.store(true, Ordering::Relaxed);
    });
}

impl Supervisor {
    /// Starts everything, then waits for a reason to end.
    fn run(&mut self) -> Result<(), Error> {
        let started = Instant::now();
        self.write_state()?;
        let mut attempt = 1;
        while let Err(error) = self.bring_up() {
            if attempt == ATTEMPTS || !error.is_port_conflict() {
                return Err(error);
            }
            attempt += 1;
            self.end_components();
            clear(&self.layout)?;
        }
        self.state.phase = Phase::Ready;
        let elapsed = started.elapsed().as_millis();
        self.state.ready_after_milliseconds = u64::try_from(elapsed).ok();
        self.write_state()?;
        loop {
            self.look_around()?;
            self.halt_and_resume()?;
            thread::sleep(TICK);
        }
    }

    /// An error if there is a reason to end: the request to stop, or a component that has ended.
    fn look_around(&mut self) -> Result<(), Error> {
        if self.stop.load(Ordering::Relaxed) || self.layout.stop_request().exists() {
            return Err(Error::Stopped);
        }
        for component in &mut self.components {
            let name = component.program.name();
            let ended = component.child.try_wait().map_err(|source| Error::Spawn {
                program: name,
                source,
            })?;
            if let Some(status) = ended {
                let log = self.layout.log(name);
                return Err(Error::ComponentEnded {
                    component: name,
                    status,
                    tail: tail(&log, 15),
                    log,
                });
            }
        }
        Ok(())
    }

    /// Starts a component that keeps running.
    fn start(&mut self, program: Program, ports: &Ports) -> Result<(), Error> {
        let name = program.name();
        let log = self.layout.log(name);
        // A component that was halted has a log already; that of an earlier plane is gone.
        let mut options = File::options();
        let output = options.create(true).append(true).open(&log);
        let output = output.map_err(FileError::of("create", &log))?;
        let errors = output.try_clone().map_err(FileError::of("open", &log))?;
        let child = self
            .launcher
            .bound_command(&self.assets.program(program))
            .args(components::arguments(program, &self.layout, ports))
            .current_dir(self.layout.directory())
            .stdin(Stdio::null())
            .stdout(output)
            .stderr(errors)
            .spawn()
            .map_err(|source| Error::Spawn {
                program: name,
                source,
            })?;
        self.state.components.push(RunningComponent {
            name: name.to_owned(),
            pid: child.id(),
            log,
        });
        self.components.push(Component { program, child });
        self.write_state()?;
        Ok(())
    }

    /// Ends every component, last started first, and waits until each is gone.
    fn end_components(&mut self) {
        for component in self.components.iter().rev() {
            ask_to_end(&component.child);
        }
        let deadline = Instant::now() + GRACE;
        for component in self.components.iter_mut().rev() {
            wait_or_kill(&mut component.child, deadline);
        }
        self.components.clear();
        self.state.components.clear();
    }

    /// Says in the state how it ended. The logs stay, for whoever wants to know; the data does not.
    fn finish(&mut self, result: &Result<(), Error>) -> Result<(), Error> {
        self.state.phase = match result {
            Ok(()) | Err(Error::Stopped) => Phase::Stopped,
            Err(error) => Phase::Failed {
                message: with_causes(error),
            },
        };
        let data = self.layout.etcd_data();
        absent_is_fine(fs::remove_dir_all(&data)).map_err(FileError::of("remove", data))?;
        let request = self.layout.stop_request();
        absent_is_fine(fs::remove_file(&request)).map_err(FileError::of("remove", request))?;
        self.write_state()?;
        Ok(())
    }

    fn write_state(&self) -> Result<(), FileError> {
        self.state
            .write(&self.layout)
            .map_err(FileError::of("write", self.layout.state()))
    }
}

/// An error and its causes in one line; the state file has room for text only.
pub(crate) fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}
