//! The command line: `up`, `down`, `env`, `status`, and the two words behind which this crate starts itself again.

use std::{
    ffi::OsString,
    fmt,
    io::{self, Write},
    path::{Path, PathBuf},
    process::{Command, ExitCode},
    time::{Duration, Instant},
};

use lexopt::prelude::*;

use crate::{
    assets::{self, Assets, Program, human_duration},
    layout::Layout,
    plane::{self, PlaneOptions, SUPERVISE, Status},
    process::{EXEC_WITH_PARENT, Launcher, exec_with_parent},
    sources,
    state::{Phase, State},
    supervisor::{self, with_causes},
};

const HELP: &str = "\
A real Kubernetes API on loopback, without containers.

Usage: control-plane up [--dir DIR] [--crds PATH]... [--client NAME[:GROUP]]... [--foreground]
       control-plane down [--dir DIR]
       control-plane env [--dir DIR]
       control-plane status [--dir DIR]

  up      start etcd, kube-apiserver, kube-controller-manager, kube-scheduler and KWOK; does nothing if they run
  down    stop them; the logs stay
  env     print what a shell needs: eval \"$(cargo xtask control-plane env)\"
  status  print what runs; exit code 1 if nothing does

Options:
  --dir DIR               where the plane keeps everything (default: target/control-plane/default)
  --crds PATH             a file or directory with CRDs to serve from the start; repeatable
  --client NAME[:GROUP]   a further user, with a kubeconfig in DIR/kubeconfigs/NAME; repeatable
  --foreground            stay, and stop the plane on Ctrl-C or when this process ends
  -h, --help              print this

The programs come from KUBEBUILDER_ASSETS if it has all of them, else from ~/.cache/mainstay/control-plane, where they
are built from source once (needs Go).
";

/// How a command can fail.
#[derive(Debug)]
enum Failure {
    /// The command line makes no sense.
    Usage(String),
    Assets(assets::Error),
    Plane(plane::Error),
    Supervisor(supervisor::Error),
    Other(&'static str, io::Error),
    /// Not an error: the answer is no, and has been printed.
    Negative,
}

impl From<lexopt::Error> for Failure {
    fn from(error: lexopt::Error) -> Self {
        Self::Usage(error.to_string())
    }
}

impl From<assets::Error> for Failure {
    fn from(error: assets::Error) -> Self {
        Self::Assets(error)
    }
}

impl From<plane::Error> for Failure {
    fn from(error: plane::Error) -> Self {
        Self::Plane(error)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage(message) => write!(formatter, "{message}\n\nhint: see `--help`"),
            Self::Assets(error) => formatter.write_str(&with_causes(error)),
            Self::Plane(error) => formatter.write_str(&with_causes(error)),
            Self::Supervisor(error) => formatter.write_str(&with_causes(error)),
            Self::Other(action, error) => write!(formatter, "could not {action}: {error}"),
            Self::Negative => Ok(()),
        }
    }
}

/// The directory of the plane that is used when none is named: `target/control-plane/default`.
pub fn default_directory() -> PathBuf {
    sources::workspace().join("target/control-plane/default")
}

/// Runs the command line. Exit codes: 0 done, 1 no (`status`, `env`: nothing runs), 2 could not.
pub fn main(arguments: impl IntoIterator<Item = OsString>, launcher: &Launcher) -> ExitCode {
    match run(arguments, launcher) {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::Negative) => ExitCode::from(1),
        Err(failure) => {
            say(&format!("error: {failure}"));
            ExitCode::from(2)
        }
    }
}

/// What the options say, whatever the word.
struct Settings {
    word: String,
    directory: PathBuf,
    crds: Vec<PathBuf>,
    clients: Vec<String>,
    foreground: bool,
    assets: Option<PathBuf>,
    bound: bool,
}

fn run(arguments: impl IntoIterator<Item = OsString>, launcher: &Launcher) -> Result<(), Failure> {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    if let Some((word, rest)) = arguments.split_first()
        && word == EXEC_WITH_PARENT
    {
        return become_child(rest);
    }
    let Some(settings) = parse(arguments)? else {
        return print(HELP);
    };
    let layout = Layout::new(&settings.directory)
        .map_err(|error| Failure::Other("resolve the directory", error))?;
    match settings.word.as_str() {
        "up" => up(settings, &layout, launcher),
        "down" => down(&layout),
        "env" => env(&layout),
        "status" => status(&layout),
        SUPERVISE => supervise(settings, layout, launcher),
        word => Err(Failure::Usage(format!("unknown word `{word}`"))),
    }
}

/// `None` means that help was asked for.
fn parse(arguments: Vec<OsString>) -> Result<Option<Settings>, Failure> {
    let mut settings = Settings {
        word: String::new(),
        directory: default_directory(),
        crds: Vec::new(),
        clients: Vec::new(),
        foreground: false,
        assets: None,
        bound: false,
    };
    let mut parser = lexopt::Parser::from_args(arguments);
    while let Some(argument) = parser.next()? {
        match argument {
            Long("dir") => settings.directory = parser.value()?.into(),
            Long("crds") => settings.crds.push(parser.value()?.into()),
            Long("client") => settings.clients.push(parser.value()?.string()?),
            Long("foreground") => settings.foreground = true,
            Long("assets") => settings.assets = Some(parser.value()?.into()),
            Long("bound") => settings.bound = true,
            Long("help") | Short('h') => return Ok(None),
            Value(word) if settings.word.is_empty() => settings.word = word.string()?,
            other => return Err(other.unexpected().into()),
        }
    }
    if settings.word.is_empty() {
        return Err(Failure::Usage(
            "one of up, down, env, status expected".into(),
        ));
    }
    Ok(Some(settings))
}

fn become_child(arguments: &[OsString]) -> Result<(), Failure> {
    if let [parent, separator, program, arguments @ ..] = arguments
        && separator == "--"
        && let Some(parent) = parent.to_str().and_then(|parent| parent.parse().ok())
    {
        let error = exec_with_parent(parent, program, arguments);
        return Err(Failure::Other("become the program", error));
    }
    Err(Failure::Usage(
        "PARENT -- PROGRAM [ARGUMENT]... expected".into(),
    ))
}

fn supervise(settings: Settings, layout: Layout, launcher: &Launcher) -> Result<(), Failure> {
    let directory = settings.assets.unwrap_or_default();
    let assets = Assets::in_directory(&directory)
        .map_err(|_| Failure::Usage("`--assets` with every program expected".into()))?;
    let options = PlaneOptions {
        layout,
        crds: settings.crds,
        clients: settings.clients,
    };
    supervisor::supervise(options, assets, launcher.clone(), settings.bound)
        .map_err(Failure::Supervisor)
}

fn up(settings: Settings, layout: &Layout, launcher: &Launcher) -> Result<(), Failure> {
    let assets = Assets::find_or_build(&say)?;
    let options = PlaneOptions {
        layout: layout.clone(),
        crds: settings.crds,
        clients: settings.clients,
    };
    let started = Instant::now();
    if settings.foreground {
        let mut plane = plane::launch_bound(&options, &assets, launcher)?;
        plane.wait_until_ready()?;
        say_ready(layout, started.elapsed());
        loop {
            if let Some(state) = plane.ended()? {
                return match state.phase {
                    Phase::Failed { message } => Err(plane::Error::Failed(message).into()),
                    Phase::Starting | Phase::Ready | Phase::Stopped => Ok(()),
                };
            }
            std::thread::sleep(Duration::from_millis(200));
        }
    }
    let mut plane = plane::launch(&options, &assets, launcher)?;
    plane.wait_until_ready()?;
    if plane.was_running() {
        let directory = layout.directory().display();
        say(&format!("the control plane in `{directory}` runs already"));
    } else {
        say_ready(layout, started.elapsed());
    }
    Ok(())
}

fn say_ready(layout: &Layout, elapsed: Duration) {
    say(&format!(
        "control plane ready in {}: `export KUBECONFIG={}`",
        human_duration(elapsed),
        layout.kubeconfig().display()
    ));
}

fn down(layout: &Layout) -> Result<(), Failure> {
    let directory = layout.directory().display();
    if plane::stop(layout)? {
        say(&format!("stopped the control plane in `{directory}`"));
    } else {
        say(&format!("no control plane runs in `{directory}`"));
    }
    Ok(())
}

fn env(layout: &Layout) -> Result<(), Failure> {
    match plane::status(layout)? {
        Status::Running(state) => print(&environment(layout, &state.assets)),
        Status::Absent | Status::Ended(_) => {
            say(&format!(
                "no control plane runs in `{}`; start one with `cargo xtask control-plane up`",
                layout.directory().display()
            ));
            Err(Failure::Negative)
        }
    }
}

/// The lines that `env` prints, for `eval` in a POSIX shell.
fn environment(layout: &Layout, assets: &Path) -> String {
    let export = |name: &str, path: &Path| format!("export {name}={}\n", shell_quoted(path));
    [
        export("KUBECONFIG", &layout.kubeconfig()),
        export("KUBECACHEDIR", &layout.kubectl_cache()),
        export("MAINSTAY_AUDIT_LOG", &layout.audit_log()),
        format!("export PATH={}:\"$PATH\"\n", shell_quoted(assets)),
    ]
    .concat()
}

fn shell_quoted(path: &Path) -> String {
    format!("'{}'", path.to_string_lossy().replace('\'', r"'\''"))
}

fn status(layout: &Layout) -> Result<(), Failure> {
    let directory = layout.directory().display();
    match plane::status(layout)? {
        Status::Absent => print(&format!("no control plane in `{directory}`\n"))?,
        Status::Ended(state) => {
            // A supervisor that ends by itself writes one of the other phases before.
            let how = match state.phase {
                Phase::Starting | Phase::Ready => "killed".into(),
                phase => phase.to_string(),
            };
            print(&format!("control plane in `{directory}`: {how}\n"))?;
        }
        Status::Running(state) => return print(&description(layout, &state)),
    }
    Err(Failure::Negative)
}

fn description(layout: &Layout, state: &State) -> String {
    let took = state
        .ready_after_milliseconds
        .map(|milliseconds| human_duration(Duration::from_millis(milliseconds)))
        .map_or_else(String::new, |took| format!(" (after {took})"));
    let mut lines = vec![
        format!("directory   {}", layout.directory().display()),
        format!("state       {}{took}", state.phase),
        format!("uptime      {}", human_duration(state.uptime())),
        format!("supervisor  pid {}", state.supervisor),
        format!("programs    {}", state.assets.display()),
    ];
    for program in [Program::KubeApiserver, Program::Etcd, Program::Kwok] {
        let version = version(&state.assets.join(program.name()));
        lines.push(format!("            {version}"));
    }
    if let Some(ports) = state.ports {
        lines.push(format!("API         https://127.0.0.1:{}", ports.apiserver));
        lines.push(format!("etcd        http://127.0.0.1:{}", ports.etcd));
    }
    for crds in &state.crds {
        lines.push(format!("CRDs        {}", crds.display()));
    }
    for component in &state.components {
        lines.push(format!(
            "{:<24} pid {:<8} {}",
            component.name,
            component.pid,
            component.log.display()
        ));
    }
    lines.join("\n") + "\n"
}

/// The first line of what a program says about itself.
fn version(program: &Path) -> String {
    Command::new(program)
        .arg("--version")
        .output()
        .ok()
        .and_then(|output| {
            let text = String::from_utf8_lossy(&output.stdout);
            text.lines().next().map(str::to_owned)
        })
        .unwrap_or_else(|| format!("{}: version unknown", program.display()))
}

/// Results go to standard output. A reader that closed its end has what it wanted.
fn print(text: &str) -> Result<(), Failure> {
    match io::stdout().lock().write_all(text.as_bytes()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::Other("write to standard output", error))
        }
        _ => Ok(()),
    }
}

/// Everything else goes to standard error, where a failure to write cannot be reported anywhere.
fn say(line: &str) {
    let _ = writeln!(io::stderr().lock(), "{line}");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        line.split_whitespace().map(OsString::from).collect()
    }

    #[test]
    fn prints_what_a_shell_can_evaluate() {
        let layout = Layout::new(Path::new("/it's here")).unwrap();
        let text = environment(&layout, Path::new("/assets dir"));
        let script = format!("{text}echo \"$KUBECONFIG|$MAINSTAY_AUDIT_LOG|${{PATH%%:*}}\"");
        let output = Command::new("sh").arg("-c").arg(script).output().unwrap();
        assert_eq!(
            String::from_utf8(output.stdout).unwrap(),
            "/it's here/kubeconfig|/it's here/audit.log|/assets dir\n"
        );
    }

    #[test]
    fn takes_repeated_crds_and_clients() {
        let settings = parse(words(
            "up --crds a --crds=b --client x:system:masters --dir d",
        ))
        .unwrap()
        .unwrap();
        assert_eq!(settings.crds, [PathBuf::from("a"), PathBuf::from("b")]);
        assert_eq!(settings.clients, ["x:system:masters"]);
        assert_eq!(settings.directory, PathBuf::from("d"));
        assert!(!settings.foreground);
    }

    #[test]
    fn refuses_words_and_options_that_it_does_not_know() {
        let launcher = Launcher::this_program(["control-plane"]);
        for line in ["", "up down", "up --what", "sideways"] {
            let result = run(words(line), &launcher);
            assert!(matches!(result, Err(Failure::Usage(_))), "{line}");
        }
    }
}
