//! Where reports go: `openvox-report [--config PATH]` reads the report of an agent's run from standard input and sends it
//! to every endpoint, one after the other.

use std::{fmt::Write as _, io::Read, path::Path, time::Duration};

use mainstay_http::Bytes;
use serde::Deserialize;

use crate::{
    Outcome,
    arguments::Usage,
    config::{self, Auth, Ssl, or_default, seconds, text},
    delivery::{Delivery, Failure},
    files,
};

mod go_text;
mod puppetdb;

const USAGE: Usage = Usage {
    program: "openvox-report",
    about: "Path to report config YAML",
    default_path: "/etc/puppetlabs/puppet/report-webhook.yaml",
};

/// Largest report. It is kept in memory, for PuppetDB several times.
const LARGEST_REPORT: u64 = 64 * 1024 * 1024;

#[derive(Default, Deserialize)]
#[serde(default)]
struct Config {
    #[serde(deserialize_with = "or_default")]
    endpoints: Vec<Endpoint>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Endpoint {
    #[serde(deserialize_with = "text")]
    name: String,
    #[serde(deserialize_with = "text")]
    processor: String,
    #[serde(deserialize_with = "text")]
    url: String,
    #[serde(deserialize_with = "seconds")]
    timeout_seconds: Option<Duration>,
    #[serde(deserialize_with = "or_default")]
    auth: Auth,
    #[serde(deserialize_with = "or_default")]
    ssl: Ssl,
    #[serde(deserialize_with = "or_default")]
    headers: Vec<Header>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Header {
    #[serde(deserialize_with = "text")]
    name: String,
    #[serde(deserialize_with = "text")]
    value: String,
}

/// Why an endpoint does not have the report.
#[derive(Debug, thiserror::Error)]
enum Error {
    #[error("transforming to PuppetDB format: parsing report JSON: {0}")]
    Transformation(String),
    #[error(transparent)]
    Delivery(#[from] Failure),
}

/// Runs the program.
pub fn run(arguments: &[String], input: &mut dyn Read) -> Outcome {
    let arguments = match USAGE.parse(arguments) {
        Ok(arguments) => arguments,
        Err(outcome) => return outcome,
    };
    let path = arguments.config.unwrap_or(USAGE.default_path);
    let config: Config = match config::read(Path::new(path)) {
        Ok(config) => config,
        Err(failure) => return Outcome::failure(2, failure.about("report")),
    };
    let report = match files::read_all(input, LARGEST_REPORT) {
        Ok(report) if report.is_empty() => return Outcome::failure(2, "empty report received"),
        Ok(report) => Bytes::from(report),
        Err(error) => {
            return Outcome::failure(2, format!("reading report: {}", files::words(&error)));
        }
    };
    let mut errors = String::new();
    let mut forms = Forms::new(report);
    for endpoint in &config.endpoints {
        if let Err(error) = endpoint.deliver(&mut forms) {
            // Writing to a String cannot fail.
            let _ = writeln!(errors, "error: endpoint {}: {error}", endpoint.name);
        }
    }
    if !errors.is_empty() {
        return Outcome {
            status: 2,
            errors,
            ..Outcome::default()
        };
    }
    let count = config.endpoints.len();
    Outcome::success(format!("report forwarded to {count} endpoint(s)\n"))
}

/// The report in the forms that endpoints want; each is made once.
struct Forms {
    report: Bytes,
    command: Option<Result<Bytes, String>>,
}

impl Forms {
    fn new(report: Bytes) -> Self {
        Self {
            report,
            command: None,
        }
    }

    fn command(&mut self) -> Result<Bytes, Error> {
        let report = &self.report;
        let made = self.command.get_or_insert_with(|| {
            let now = jiff::Timestamp::now();
            puppetdb::command(report, now).map(Bytes::from)
        });
        made.clone().map_err(Error::Transformation)
    }
}

impl Endpoint {
    fn deliver(&self, forms: &mut Forms) -> Result<(), Error> {
        let (url, body) = if self.processor == "puppetdb" {
            let url = format!("{}/pdb/cmd/v1", self.url.trim_end_matches('/'));
            (url, forms.command()?)
        } else {
            (self.url.clone(), forms.report.clone())
        };
        let headers = self.headers.iter();
        let answer = Delivery {
            method: "POST",
            url: &url,
            headers: vec![
                ("Content-Type", "application/json"),
                ("Accept", "application/json"),
            ],
            final_headers: headers
                .map(|header| (header.name.as_str(), header.value.as_str()))
                .collect(),
            body,
            timeout: self.timeout_seconds.unwrap_or(Duration::from_secs(30)),
            auth: &self.auth,
            ssl: &self.ssl,
        }
        .send()?;
        answer.accepted()?;
        Ok(())
    }
}
