//! Certificates for servers on the loopback interface.

use std::{fs, path::Path, process::Command};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use kube::{Client, Config};
use tempfile::TempDir;

use crate::plane::Plane;

/// A certificate for `127.0.0.1` and the authority that vouches for it, both new.
#[derive(Debug)]
pub struct Certificates {
    directory: TempDir,
}

impl Certificates {
    /// Makes them, with the program that makes those of the plane.
    pub fn issue(plane: &Plane) -> Self {
        Self::issue_with(&plane.program("pki"))
    }

    /// Makes them with this program.
    pub fn issue_with(program: &Path) -> Self {
        let directory = TempDir::new().unwrap();
        let made = Command::new(program)
            .arg("--dir")
            .arg(directory.path())
            .status()
            .unwrap();
        assert!(made.success(), "certificates can be made");
        Self { directory }
    }

    /// The authority, in PEM form.
    pub fn authority(&self) -> String {
        fs::read_to_string(self.directory.path().join("ca.crt")).unwrap()
    }

    /// A client of a server on `127.0.0.1` that trusts the authority and asks once.
    pub fn client(&self, address: &str) -> Client {
        let mut config = Config::new(format!("https://{address}").parse().unwrap());
        let text = self.authority();
        let text: String = text.lines().filter(|line| !line.contains('-')).collect();
        config.root_cert = Some(vec![STANDARD.decode(text).unwrap()]);
        config.default_retry = false;
        Client::try_from(config).unwrap()
    }

    /// Writes certificate and key into a directory, as a Secret would be mounted. What is there is replaced, one file
    /// after the other.
    pub fn install(&self, target: &Path) {
        fs::create_dir_all(target).unwrap();
        for (from, to) in [("apiserver.crt", "tls.crt"), ("apiserver.key", "tls.key")] {
            fs::copy(self.directory.path().join(from), target.join(to)).unwrap();
        }
    }
}
