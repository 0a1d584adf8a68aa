//! The helpers against servers that answer well, badly or not at all.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod enc;
mod report;

use std::{fs, path::Path};

use mainstay_openvox_helpers::{Helper, Outcome};
use tempfile::TempDir;

/// A directory with a configuration.
struct Home(TempDir);

impl Home {
    fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).display().to_string()
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.0.path().join(name), content).unwrap();
    }

    fn read(&self, name: &str) -> Option<String> {
        fs::read_to_string(Path::new(&self.path(name))).ok()
    }

    /// Runs a helper with a configuration.
    fn run(&self, helper: Helper, config: &str, arguments: &[&str], mut input: &[u8]) -> Outcome {
        self.write("config.yaml", config);
        let config = self.path("config.yaml");
        let all = ["--config", &config].into_iter();
        let all = all.chain(arguments.iter().copied()).map(Into::into);
        helper.run(all, &mut input)
    }
}

/// The text that a program printed.
fn output(outcome: &Outcome) -> &str {
    std::str::from_utf8(&outcome.output).unwrap()
}
