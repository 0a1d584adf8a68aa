//! Whether a certificate request is signed: `openvox-autosign [--config PATH] CERTNAME`, with the request on standard
//! input.
//!
//! Policies stand side by side, one that matches is enough. What cannot be read, parsed or understood is denied.

use std::{io::Read, path::Path};

use crate::{Outcome, arguments::Usage, config, files};

pub mod extensions;
mod glob;
mod policy;
mod request;

use policy::Policies;
use request::CertificateRequest;

const USAGE: Usage = Usage {
    program: "openvox-autosign",
    about: "Path to autosign policy YAML config",
    default_path: "/etc/puppetlabs/puppet/autosign-policy.yaml",
};

/// The same policies in a directory that a Secret is mounted to. The file above is mounted by itself, and such a mount
/// never changes; whoever wants changed policies to count without a restart mounts the Secret here too.
pub const FOLLOWED_PATH: &str = "/etc/puppetlabs/puppet/autosign-policy/autosign-policy.yaml";

/// Largest certificate request; real ones have a few thousand bytes.
const LARGEST_REQUEST: u64 = 1024 * 1024;

/// Runs the program.
pub fn run(arguments: &[String], input: &mut dyn Read) -> Outcome {
    let arguments = match USAGE.parse(arguments) {
        Ok(arguments) => arguments,
        Err(outcome) => return outcome,
    };
    let Some(certname) = arguments.positional else {
        return Outcome::failure(1, "certname argument is required");
    };
    let path = Path::new(match arguments.config {
        Some(path) => path,
        None => default_path(),
    });
    let policies: Policies = match config::read(path) {
        Ok(policies) => policies,
        Err(failure) => return Outcome::failure(1, failure.about("policy")),
    };
    let request = match files::read_all(input, LARGEST_REQUEST) {
        Ok(request) => request,
        Err(error) => {
            let words = files::words(&error);
            return Outcome::failure(1, format!("reading CSR from stdin: {words}"));
        }
    };
    match CertificateRequest::from_pem(&request) {
        Ok(request) => Outcome::silent(u8::from(!policies.approve(certname, &request))),
        Err(cause) => Outcome {
            status: 1,
            errors: format!("error parsing CSR: {cause}\n"),
            ..Outcome::default()
        },
    }
}

fn default_path() -> &'static str {
    if Path::new(FOLLOWED_PATH).is_file() {
        FOLLOWED_PATH
    } else {
        USAGE.default_path
    }
}

#[cfg(test)]
mod tests;
