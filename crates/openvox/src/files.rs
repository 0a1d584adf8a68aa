//! Configuration files: settings in, text out. The same settings give the same bytes as the original, so that its hash
//! annotations stay what they are and no pod restarts when the operator changes.

pub mod auth_conf;
pub mod autosign;
pub mod database;
pub mod endpoint;
pub mod puppet_conf;
pub mod server;

use std::collections::BTreeMap;

use mainstay_api::openvox::{CertificateAuthoritySpec, ConfigSpec};

/// What the files of a Config are made from.
#[derive(Clone, Copy, Debug)]
pub struct Settings<'input> {
    /// The Config.
    pub config: &'input ConfigSpec,
    /// Its authority with its name, if there is one.
    pub authority: Option<(&'input str, &'input CertificateAuthoritySpec)>,
    /// Address of its database; empty if that has none yet.
    pub database_url: Option<&'input str>,
    /// Whether reports go to an endpoint.
    pub has_report_processors: bool,
}

impl Settings<'_> {
    /// Name of the authority that the operator administers: one of this cluster.
    fn administered_authority(&self) -> Option<&str> {
        let (name, authority) = self.authority?;
        authority.external.is_none().then_some(name)
    }
}

/// The twelve files of a Config. Fails only if the authority's lifetime cannot be read.
pub fn config_files(settings: &Settings<'_>) -> Result<BTreeMap<&'static str, String>, String> {
    let puppet_conf = puppet_conf::puppet_conf(settings)
        .map_err(|error| format!("rendering puppet.conf: {error}"))?;
    let config = settings.config;
    Ok(BTreeMap::from([
        ("puppet.conf", puppet_conf),
        ("puppetdb.conf", puppet_conf::puppetdb_conf(settings)),
        (
            "webserver.conf",
            server::webserver_conf(config, server::CRL),
        ),
        (
            "webserver-ca.conf",
            server::webserver_conf(config, server::AUTHORITY_CRL),
        ),
        (
            "puppetserver.conf",
            server::puppetserver_conf(&config.puppetserver),
        ),
        (
            "auth.conf",
            auth_conf::auth_conf(
                &config.puppetserver.authorization_rules,
                settings.administered_authority(),
            ),
        ),
        (
            "ca.conf",
            server::ca_conf(settings.authority.map(|(_, authority)| authority)),
        ),
        ("product.conf", server::PRODUCT_CONF.to_owned()),
        ("logback.xml", server::logback_xml(&config.logging)),
        ("metrics.conf", server::metrics_conf(&config.metrics)),
        ("ca-enabled.cfg", server::CA_ENABLED.to_owned()),
        ("ca-disabled.cfg", server::CA_DISABLED.to_owned()),
    ]))
}

/// What a text holds, or else.
fn or<'text>(text: &'text str, fallback: &'text str) -> &'text str {
    if text.is_empty() { fallback } else { text }
}

/// A number that is not zero, or else.
fn number_or(number: i32, fallback: i32) -> i32 {
    if number == 0 { fallback } else { number }
}

/// Lines of text.
#[derive(Debug, Default)]
struct Lines(String);

impl Lines {
    fn line(&mut self, line: impl AsRef<str>) {
        self.0.push_str(line.as_ref());
        self.0.push('\n');
    }

    fn setting(&mut self, key: &str, value: impl std::fmt::Display) {
        self.line(format!("{key} = {value}"));
    }

    fn setting_if_any(&mut self, key: &str, value: &str) {
        if !value.is_empty() {
            self.setting(key, value);
        }
    }

    fn settings(&mut self, settings: &BTreeMap<String, String>) {
        for (key, value) in settings {
            self.setting(key, value);
        }
    }
}

#[cfg(test)]
mod tests;
