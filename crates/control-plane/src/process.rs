//! Processes that do not outlive their parent, without unsafe code.
//!
//! A child is started through this same program (`exec-with-parent`), which asks the kernel for the parent-death
//! signal and then becomes the real program. The kernel means the *thread* that forked when it says parent, so the
//! supervisor starts all its children from its main thread.

use std::{
    ffi::{OsStr, OsString},
    fs, io,
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Child, Command},
    thread,
    time::{Duration, Instant},
};

use rustix::process::{
    Pid, Signal, getpid, getppid, kill_process, set_parent_process_death_signal,
};

/// The word of [`crate::command`] behind which [`exec_with_parent`] is found.
pub(crate) const EXEC_WITH_PARENT: &str = "exec-with-parent";

/// How to start this crate's command line ([`crate::command`]) in a new process.
#[derive(Clone, Debug)]
pub struct Launcher {
    program: PathBuf,
    arguments: Vec<OsString>,
}

impl Launcher {
    /// The running program, which serves [`crate::command`] behind the given leading arguments.
    pub fn this_program<I, S>(arguments: I) -> Self
    where
        I: IntoIterator<Item = S>,
        S: Into<OsString>,
    {
        Self {
            // Not `current_exe`: a rebuild may replace the file while the supervisor still runs.
            program: PathBuf::from("/proc/self/exe"),
            arguments: arguments.into_iter().map(Into::into).collect(),
        }
    }

    /// Another program that serves [`crate::command`] directly.
    pub fn program(program: impl Into<PathBuf>) -> Self {
        Self {
            program: program.into(),
            arguments: Vec::new(),
        }
    }

    /// A command that runs this crate's command line with `word` as the first argument.
    pub(crate) fn command(&self, word: &str) -> Command {
        let mut command = Command::new(&self.program);
        command
            .arg0("mainstay-control-plane")
            .args(&self.arguments)
            .arg(word);
        command
    }

    /// A command that runs `program` and ends, at the latest, with the calling thread.
    pub fn bound_command(&self, program: &Path) -> Command {
        let mut command = self.command(EXEC_WITH_PARENT);
        command.arg(getpid().as_raw_pid().to_string());
        command.arg("--").arg(program);
        command
    }
}

/// Becomes `program`, which the kernel kills when the process `parent` ends. Returns only if that fails.
pub(crate) fn exec_with_parent(parent: i32, program: &OsStr, arguments: &[OsString]) -> io::Error {
    if let Err(error) = set_parent_process_death_signal(Some(Signal::KILL)) {
        return error.into();
    }
    // The parent may have ended before the line above; then no signal will ever come.
    if getppid() != Pid::from_raw(parent) {
        return io::Error::other("the supervisor has ended");
    }
    Command::new(program).args(arguments).exec()
}

/// Asks a child to end.
pub fn ask_to_end(child: &Child) {
    if let Some(pid) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        // The child is not reaped yet, so the id is its own; an error means that it has ended.
        let _ = kill_process(pid, Signal::TERM);
    }
}

/// Waits until a child has ended, and kills it if it has not at the deadline.
pub fn wait_or_kill(child: &mut Child, deadline: Instant) {
    while Instant::now() < deadline && matches!(child.try_wait(), Ok(None)) {
        thread::sleep(Duration::from_millis(10));
    }
    // An error means that it has ended meanwhile.
    let _ = child.kill();
    let _ = child.wait();
}

/// The last lines of a log, for a message.
pub fn tail(log: &Path, lines: usize) -> String {
    let Ok(text) = fs::read(log) else {
        return String::from("(no output)");
    };
    let text = String::from_utf8_lossy(&text);
    let all: Vec<&str> = text.lines().collect();
    let from = all.len().saturating_sub(lines);
    all.iter()
        .skip(from)
        .map(|line| format!("  {line}"))
        .collect::<Vec<_>>()
        .join("\n")
}
