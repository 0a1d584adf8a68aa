//! The services around a Puppet server as a program: `LISTEN` says where, and the first line of output where it really is.
//!
//! The other variables are those of [`Settings::from_variables`], and `CLASSIFICATIONS_FILE` with a YAML mapping of
//! classifications.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::print_stdout, reason = "whoever starts it reads the address")]
#![expect(clippy::print_stderr, reason = "a file that cannot be read is told")]

use mainstay_testkit::puppet::{Services, Settings};
use mainstay_yaml::{Limits, SourceName, from_value, parse_bytes};

fn main() {
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let mut settings = Settings::from_variables(variable);
    if let Some(path) = variable("CLASSIFICATIONS_FILE") {
        match std::fs::read(&path) {
            Ok(text) => {
                let source = SourceName::new(&path);
                let documents = parse_bytes(&text, &source, &Limits::default()).unwrap();
                if let Some(document) = documents.first() {
                    settings.classifications = from_value(document).unwrap();
                }
            }
            Err(error) => eprintln!("warning: could not read {path}: {error}"),
        }
    }
    let listen = variable("LISTEN").unwrap_or_else(|| "0.0.0.0:8080".to_owned());
    let services = Services::start_at(&listen, None, settings);
    println!("{}", services.address());
    loop {
        std::thread::park();
    }
}
