//! How a node is classified: `openvox-enc [--config PATH] CERTNAME` asks a classifier and prints its answer in the form
//! that a Puppet server reads.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use mainstay_http::StatusCode;
use serde::Deserialize;

use crate::{
    Outcome,
    arguments::Usage,
    config::{self, Auth, Ssl, or_default, seconds, text},
    delivery::{Delivery, Failure},
};

mod cache;
mod classification;
mod facts;

use cache::Cache;
use classification::Format;

const USAGE: Usage = Usage {
    program: "openvox-enc",
    about: "Path to ENC config YAML",
    default_path: "/etc/puppetlabs/puppet/enc.yaml",
};

const ACCEPT: &str = "application/json, application/yaml, text/yaml";

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Config {
    #[serde(deserialize_with = "text")]
    url: String,
    #[serde(deserialize_with = "text")]
    method: String,
    #[serde(deserialize_with = "text")]
    path: String,
    #[serde(deserialize_with = "text")]
    body: String,
    #[serde(deserialize_with = "text")]
    response_format: String,
    #[serde(deserialize_with = "seconds")]
    timeout_seconds: Option<Duration>,
    #[serde(deserialize_with = "or_default")]
    auth: Auth,
    #[serde(deserialize_with = "or_default")]
    cache: Cache,
    #[serde(deserialize_with = "or_default")]
    ssl: Ssl,
}

/// Why a node is not classified.
#[derive(Debug, thiserror::Error)]
enum Error {
    #[error("node not found: {0}")]
    NotFound(String),
    #[error(transparent)]
    Delivery(#[from] Failure),
    #[error(transparent)]
    Classification(#[from] classification::Error),
}

/// Where facts of nodes are, most likely place first: the directory that the server is told to use, and the one that its
/// image names.
const FACTS: [&str; 2] = [
    "/run/puppetserver/yaml/facts",
    "/opt/puppetlabs/server/data/puppetserver/yaml/facts",
];

/// Runs the program.
pub fn run(arguments: &[String]) -> Outcome {
    run_with(arguments, &FACTS.map(PathBuf::from))
}

/// The same with facts elsewhere.
pub fn run_with(arguments: &[String], facts: &[PathBuf]) -> Outcome {
    let arguments = match USAGE.parse(arguments) {
        Ok(arguments) => arguments,
        Err(outcome) => return outcome,
    };
    let Some(certname) = arguments.positional else {
        return Outcome::failure(2, "certname argument is required");
    };
    let path = arguments.config.unwrap_or(USAGE.default_path);
    let config: Config = match config::read(Path::new(path)) {
        Ok(config) => config,
        Err(failure) => return Outcome::failure(2, failure.about("ENC")),
    };
    // The name becomes part of paths, also of that of the cache.
    if !is_certname(certname) {
        let message = format!("invalid certname {certname:?}: must match [a-zA-Z0-9._-]+");
        return Outcome::failure(2, message);
    }
    match config.classify(certname, facts) {
        Ok(classification) => {
            config.cache.store(certname, &classification);
            Outcome::success(classification)
        }
        Err(error) => match config.cache.load(certname) {
            Some(classification) => Outcome::success(classification),
            None => Outcome::failure(
                if matches!(error, Error::NotFound(_)) {
                    1
                } else {
                    2
                },
                error,
            ),
        },
    }
}

fn is_certname(name: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    !name.is_empty() && name.bytes().all(is_allowed)
}

impl Config {
    fn classify(&self, certname: &str, facts: &[PathBuf]) -> Result<String, Error> {
        let or =
            |text: &str, default: &str| if text.is_empty() { default } else { text }.to_owned();
        let method = or(&self.method, "GET");
        let url = format!("{}{}", self.url, self.path).replace("{certname}", certname);
        let mut headers = vec![("Accept", ACCEPT)];
        let mut body = Vec::new();
        if method == "POST" && !self.body.is_empty() {
            headers.push(("Content-Type", "application/json"));
            body = facts::body(&self.body, certname, facts);
        }
        let answer = Delivery {
            method: &method,
            url: &url,
            headers,
            final_headers: Vec::new(),
            body: body.into(),
            timeout: self.timeout_seconds.unwrap_or(Duration::from_secs(10)),
            auth: &self.auth,
            ssl: &self.ssl,
        }
        .send()?;
        if answer.status == StatusCode::NOT_FOUND {
            return Err(Error::NotFound(certname.to_owned()));
        }
        let body = answer.accepted()?;
        let format: Format = or(&self.response_format, "yaml").parse()?;
        Ok(classification::normalise(format, &body)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_made_of_letters_digits_and_three_signs() {
        for name in ["n1.vale.test", "A_b-c", "..", "-x"] {
            assert!(is_certname(name), "{name}");
        }
        for name in ["", "a/b", "a b", "../x", "ü", "a\n", "a\0"] {
            assert!(!is_certname(name), "{name:?}");
        }
    }

    #[test]
    fn a_name_that_is_none_reaches_neither_the_classifier_nor_the_cache() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        std::fs::create_dir(at("cache")).unwrap();
        std::fs::write(at("x.yaml"), "classes: {stolen: {}}\n").unwrap();
        let cache = at("cache");
        let config = format!(
            "url: nowhere\ncache: {{enabled: true, directory: {}}}\n",
            cache.display()
        );
        std::fs::write(at("enc.yaml"), config).unwrap();
        let config = at("enc.yaml").display().to_string();
        let outcome = run(&["--config".to_owned(), config, "../x".to_owned()]);
        assert_eq!(outcome.status, 2);
        assert_eq!(
            outcome.errors,
            "error: invalid certname \"../x\": must match [a-zA-Z0-9._-]+\n"
        );
        assert!(outcome.output.is_empty());
    }
}
