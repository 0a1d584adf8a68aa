//! The program run once, as a user or a script would run it.

use std::{
    ffi::OsStr,
    fmt,
    path::Path,
    process::{Output, Stdio},
};

use tokio::{io::AsyncWriteExt, process::Command};

/// A command line before it runs. It knows no cluster unless it is told one.
#[derive(Debug)]
pub struct Program {
    command: Command,
    input: Option<String>,
}

impl Program {
    /// A program with these arguments.
    pub fn new(
        binary: impl AsRef<OsStr>,
        arguments: impl IntoIterator<Item = impl AsRef<OsStr>>,
    ) -> Self {
        let mut command = Command::new(binary);
        command
            .args(arguments)
            // What the machine at hand happens to set must not decide a test.
            .env_remove("KUBECONFIG")
            .env_remove("KUBERNETES_SERVICE_HOST")
            .env_remove("KAOTO_APP_IMAGE")
            .env("HOME", "/nonexistent")
            .env("NO_COLOR", "1")
            .stdin(Stdio::null())
            .kill_on_drop(true);
        Self {
            command,
            input: None,
        }
    }

    /// With this cluster.
    #[must_use]
    pub fn kubeconfig(self, path: &Path) -> Self {
        self.environment("KUBECONFIG", path)
    }

    /// With a variable of the environment.
    #[must_use]
    pub fn environment(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// In a directory.
    #[must_use]
    pub fn in_directory(mut self, directory: &Path) -> Self {
        self.command.current_dir(directory);
        self
    }

    /// With a text on stdin.
    #[must_use]
    pub fn input(mut self, text: impl Into<String>) -> Self {
        self.input = Some(text.into());
        self
    }

    /// Runs it to its end.
    pub async fn run(mut self) -> Ended {
        if self.input.is_some() {
            self.command.stdin(Stdio::piped());
        }
        self.command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = self.command.spawn().unwrap();
        let stdin = child.stdin.take();
        let feed = async {
            if let (Some(mut stdin), Some(text)) = (stdin, &self.input) {
                // A program may end without having read everything.
                let _ = stdin.write_all(text.as_bytes()).await;
            }
        };
        let ((), output) = tokio::join!(feed, child.wait_with_output());
        output.unwrap().into()
    }
}

/// What a program left behind. Its display is what snapshots hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// Exit code; `None` if a signal ended it.
    pub code: Option<i32>,
    /// What it printed.
    pub stdout: String,
    /// What it said.
    pub stderr: String,
}

impl From<Output> for Ended {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Ended {
    /// The same with texts replaced that differ from run to run.
    #[must_use]
    pub fn replacing(mut self, texts: &[(&str, &str)]) -> Self {
        for (from, to) in texts {
            self.stdout = self.stdout.replace(from, to);
            self.stderr = self.stderr.replace(from, to);
        }
        self
    }

    /// What it printed, if it ended well.
    ///
    /// # Panics
    /// If it did not.
    #[track_caller]
    pub fn success(self) -> String {
        assert_eq!(self.code, Some(0), "{self}");
        self.stdout
    }
}

impl fmt::Display for Ended {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.code {
            Some(code) => writeln!(formatter, "exit code: {code}")?,
            None => writeln!(formatter, "ended by a signal")?,
        }
        write!(
            formatter,
            "----- stdout -----\n{}----- stderr -----\n{}",
            self.stdout, self.stderr
        )
    }
}
