//! Taking one component of a running plane away, and giving it back: an outage on purpose.

use std::{
    fs, io, thread,
    time::{Duration, Instant},
};

use crate::{
    FileError, Layout,
    assets::Program,
    plane::Error,
    state::{self, State},
};

/// How long the supervisor may take to do what it was asked for.
const LIMIT: Duration = Duration::from_secs(30);

/// Kills a component, as if its machine had lost power, and keeps it away until [`resume`].
pub fn halt(layout: &Layout, program: Program) -> Result<(), Error> {
    let request = layout.halt_request(program.name());
    let directory = layout.halt_requests();
    fs::create_dir_all(&directory).map_err(FileError::of("create", directory))?;
    fs::write(&request, "").map_err(FileError::of("write", &request))?;
    wait(layout, program, false)
}

/// Starts a component that was halted. It is starting when this returns.
pub fn resume(layout: &Layout, program: Program) -> Result<(), Error> {
    let request = layout.halt_request(program.name());
    match fs::remove_file(&request) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(FileError::of("remove", request)(error).into())
        }
        _ => wait(layout, program, true),
    }
}

fn wait(layout: &Layout, program: Program, present: bool) -> Result<(), Error> {
    let name = program.name();
    let deadline = Instant::now() + LIMIT;
    loop {
        let state = State::read(layout).map_err(FileError::of("read", layout.state()))?;
        let mut components = state.iter().flat_map(|state| &state.components);
        if components.any(|component| component.name == name) == present {
            return Ok(());
        }
        let runs = state::is_running(layout);
        if !runs.map_err(FileError::of("look into", layout.lock()))? || Instant::now() > deadline {
            let what = if present { "start" } else { "halt" };
            return Err(Error::Failed(format!("no supervisor did {what} {name}")));
        }
        thread::sleep(Duration::from_millis(20));
    }
}
