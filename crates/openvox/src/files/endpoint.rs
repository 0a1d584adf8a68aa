//! `enc.yaml` and `report-webhook.yaml`: endpoints that servers call, with their credentials.

use std::fmt;

use mainstay_api::openvox::{NodeClassifierSpec, ReportProcessorSpec};

use super::{Lines, number_or, or};
use crate::quote;

/// How to identify to an endpoint.
#[derive(Clone, Default, PartialEq, Eq)]
pub enum Credentials {
    /// Not at all.
    #[default]
    None,
    /// By the certificate of the server.
    Mtls,
    /// By a token in a header of its own.
    Token {
        /// The header.
        header: String,
        /// The token.
        token: String,
    },
    /// By a token in the usual header.
    Bearer {
        /// The token.
        token: String,
    },
    /// By user name and password.
    Basic {
        /// User name.
        username: String,
        /// Password.
        password: String,
    },
}

impl fmt::Debug for Credentials {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_tuple("Credentials")
            .field(&self.name())
            .finish()
    }
}

impl Credentials {
    fn name(&self) -> &'static str {
        match self {
            Self::None => "",
            Self::Mtls => "mtls",
            Self::Token { .. } => "token",
            Self::Bearer { .. } => "bearer",
            Self::Basic { .. } => "basic",
        }
    }

    /// Keys and values that are not empty.
    fn fields(&self) -> Vec<(&'static str, &str)> {
        let fields: Vec<(&'static str, &str)> = match self {
            Self::None | Self::Mtls => Vec::new(),
            Self::Token { header, token } => vec![("header", header), ("token", token)],
            Self::Bearer { token } => vec![("token", token)],
            Self::Basic { username, password } => {
                vec![("username", username), ("password", password)]
            }
        };
        let given = fields.into_iter().filter(|(_, value)| !value.is_empty());
        given.collect()
    }
}

/// A mapping while it is written, at an indentation.
struct Mapping<'lines> {
    lines: &'lines mut Lines,
    indentation: usize,
    /// What stands before the first key instead of blanks.
    dash: bool,
}

/// Blanks of one level.
const LEVEL: usize = 4;

impl<'lines> Mapping<'lines> {
    fn new(lines: &'lines mut Lines, indentation: usize) -> Self {
        Self {
            lines,
            indentation,
            dash: false,
        }
    }

    /// As an item of a list, whose dash stands two to the left.
    fn item(lines: &'lines mut Lines, indentation: usize) -> Self {
        Self {
            dash: true,
            ..Self::new(lines, indentation)
        }
    }

    fn raw(&mut self, key: &str, value: &str) {
        let margin = if self.dash {
            format!("{}- ", " ".repeat(self.indentation.saturating_sub(2)))
        } else {
            " ".repeat(self.indentation)
        };
        self.dash = false;
        let gap = if value.is_empty() { "" } else { " " };
        self.lines.line(format!("{margin}{key}:{gap}{value}"));
    }

    fn text(&mut self, key: &str, value: &str) {
        // Blocks are indented to the next multiple of a level.
        let inner = (self.indentation / LEVEL + 1) * LEVEL;
        self.raw(key, &quote::yaml(value, inner));
    }

    fn text_if_any(&mut self, key: &str, value: &str) {
        if !value.is_empty() {
            self.text(key, value);
        }
    }

    /// A mapping inside, indented to the next multiple of a level.
    fn inner(&mut self, key: &str) -> Mapping<'_> {
        self.raw(key, "");
        let inner = (self.indentation / LEVEL + 1) * LEVEL;
        Mapping::new(self.lines, inner)
    }

    fn credentials(&mut self, credentials: &Credentials) {
        let mut auth = self.inner("auth");
        auth.text("type", credentials.name());
        for (key, value) in credentials.fields() {
            auth.text(key, value);
        }
    }

    fn ssl(&mut self) {
        let mut ssl = self.inner("ssl");
        ssl.text("certFile", "/etc/puppetlabs/puppet/ssl/certs/puppet.pem");
        ssl.text(
            "keyFile",
            "/etc/puppetlabs/puppet/ssl/private_keys/puppet.pem",
        );
        ssl.text("caFile", "/etc/puppetlabs/puppet/ssl/certs/ca.pem");
    }
}

/// `enc.yaml`. Credentials are there exactly if the classifier names some.
pub fn enc(classifier: &NodeClassifierSpec, credentials: Option<&Credentials>) -> String {
    let mut lines = Lines::default();
    let mut file = Mapping::new(&mut lines, 0);
    file.text("url", &classifier.url);
    file.text("method", &classifier.request.method);
    file.text("path", &classifier.request.path);
    file.text_if_any("body", classifier.request.body.as_str());
    file.text("responseFormat", classifier.response.format.as_str());
    let timeout = number_or(classifier.timeout_seconds, 10);
    file.raw("timeoutSeconds", &timeout.to_string());
    if let Some(credentials) = credentials {
        file.credentials(credentials);
    }
    if classifier.cache.enabled {
        let directory = or(&classifier.cache.directory, "/var/cache/openvox-enc");
        let mut cache = file.inner("cache");
        cache.raw("enabled", "true");
        cache.text("directory", directory);
    }
    file.ssl();
    lines.0
}

/// An endpoint of reports with the values that come from elsewhere.
#[derive(Clone)]
pub struct ReportEndpoint<'processor> {
    /// Name of the processor.
    pub name: &'processor str,
    /// What it asks for.
    pub spec: &'processor ReportProcessorSpec,
    /// Credentials, if it names some.
    pub credentials: Option<Credentials>,
    /// Values of its headers, in order.
    pub headers: Vec<String>,
}

impl fmt::Debug for ReportEndpoint<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_tuple("ReportEndpoint")
            .field(&self.name)
            .finish()
    }
}

/// `report-webhook.yaml`.
pub fn report_webhook(endpoints: &[ReportEndpoint<'_>]) -> String {
    let mut lines = Lines::default();
    lines.line("endpoints:");
    for endpoint in endpoints {
        let spec = endpoint.spec;
        let mut item = Mapping::item(&mut lines, 6);
        item.text("name", endpoint.name);
        item.text_if_any("processor", spec.processor.as_str());
        item.text("url", &spec.url);
        let timeout = number_or(spec.timeout_seconds, 30);
        item.raw("timeoutSeconds", &timeout.to_string());
        if let Some(credentials) = &endpoint.credentials {
            item.credentials(credentials);
        }
        item.ssl();
        if spec.headers.is_empty() {
            continue;
        }
        item.raw("headers", "");
        for (header, value) in spec.headers.iter().zip(&endpoint.headers) {
            let mut item = Mapping::item(&mut lines, 10);
            item.text("name", &header.name);
            item.text("value", value);
        }
    }
    lines.0
}
