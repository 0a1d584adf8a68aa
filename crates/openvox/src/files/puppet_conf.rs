//! `puppet.conf` and `puppetdb.conf`.

use super::{Lines, Settings};
use crate::duration;

/// `puppet.conf`.
pub fn puppet_conf(settings: &Settings<'_>) -> Result<String, String> {
    let mut lines = Lines::default();
    main_section(settings, &mut lines);
    lines.line("");
    server_section(settings, &mut lines)?;
    let agent = &settings.config.puppet.extra_config.agent;
    if !agent.is_empty() {
        lines.line("");
        lines.line("[agent]");
        lines.settings(agent);
    }
    Ok(lines.0)
}

fn main_section(settings: &Settings<'_>, lines: &mut Lines) {
    let puppet = &settings.config.puppet;
    lines.line("[main]");
    lines.setting("confdir", "/etc/puppetlabs/puppet");
    lines.setting("vardir", "/opt/puppetlabs/puppet/cache");
    lines.setting("logdir", "/var/log/puppetlabs/puppet");
    lines.setting("codedir", "/etc/puppetlabs/code");
    lines.setting("rundir", "/var/run/puppetlabs");
    lines.setting("manage_internal_file_permissions", false);
    lines.setting_if_any("environmentpath", &puppet.environment_path);
    lines.setting_if_any("hiera_config", &puppet.hiera_config);
    lines.settings(&puppet.extra_config.main);
}

fn server_section(settings: &Settings<'_>, lines: &mut Lines) -> Result<(), String> {
    let config = settings.config;
    let puppet = &config.puppet;
    lines.line("[server]");
    lines.setting_if_any("environment_timeout", &puppet.environment_timeout);
    if puppet.storeconfigs {
        lines.setting("storeconfigs", true);
        lines.setting_if_any("storeconfigs_backend", &puppet.store_backend);
    }
    lines.setting_if_any("reports", &reports(settings));
    if let Some((_, authority)) = settings.authority {
        let lifetime = duration::parse(&authority.ttl);
        let lifetime = lifetime.map_err(|error| format!("parsing CA TTL: {error}"))?;
        if lifetime > 0 {
            lines.setting("ca_ttl", lifetime);
        }
        lines.setting("autosign", "/usr/local/bin/openvox-autosign");
    }
    // Whether the classifier exists does not matter: servers wait for its Secret.
    if !config.node_classifier_ref.is_empty() {
        lines.setting("node_terminus", "exec");
        lines.setting("external_nodes", "/usr/local/bin/openvox-enc");
    }
    lines.settings(&puppet.extra_config.server);
    Ok(())
}

fn reports(settings: &Settings<'_>) -> String {
    let reports = &settings.config.puppet.reports;
    if !settings.has_report_processors {
        return reports.clone();
    }
    // Parity: a handler whose name contains the word counts as it.
    match reports.as_str() {
        "" => "webhook".to_owned(),
        some if some.contains("webhook") => some.to_owned(),
        some => format!("{some},webhook"),
    }
}

/// `puppetdb.conf`.
pub fn puppetdb_conf(settings: &Settings<'_>) -> String {
    let mut lines = Lines::default();
    lines.line("[main]");
    let urls = match settings.database_url {
        Some(url) => url.to_owned(),
        None => settings.config.puppetdb.server_urls.join(","),
    };
    lines.setting_if_any("server_urls", &urls);
    lines.setting("soft_write_failure", true);
    lines.0
}
