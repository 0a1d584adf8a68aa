//! Files of the server program: HOCON, service lists and `logback.xml`.

use mainstay_api::openvox::{
    CertificateAuthoritySpec, ConfigSpec,
    config::{LoggingSpec, MetricsSpec, PuppetServerSpec},
};

use super::{Lines, number_or, or};
use crate::quote;

/// Revocation list of a server that is no authority: a Secret that is fetched again and again.
pub const CRL: &str = "/etc/puppetlabs/puppet/crl/ca_crl.pem";
/// Revocation list of an authority: its own file.
pub const AUTHORITY_CRL: &str = "/etc/puppetlabs/puppet/ssl/crl.pem";

/// `product.conf`.
pub const PRODUCT_CONF: &str = "product: {\n    check-for-updates: false\n}\n";

/// Services of a server that is an authority.
pub const CA_ENABLED: &str = "\
puppetlabs.services.ca.certificate-authority-service/certificate-authority-service
puppetlabs.trapperkeeper.services.watcher.filesystem-watch-service/filesystem-watch-service
";

/// Services of a server that is none.
pub const CA_DISABLED: &str = "\
puppetlabs.services.ca.certificate-authority-disabled-service/certificate-authority-disabled-service
puppetlabs.trapperkeeper.services.watcher.filesystem-watch-service/filesystem-watch-service
";

/// `webserver.conf`.
pub fn webserver_conf(config: &ConfigSpec, revocation_list: &str) -> String {
    let client_auth = or(config.puppetserver.client_auth.as_str(), "want");
    format!(
        "\
webserver: {{
    client-auth: {client_auth}
    ssl-host: 0.0.0.0
    ssl-port: 8140
    ssl-cert: /etc/puppetlabs/puppet/ssl/certs/puppet.pem
    ssl-key: /etc/puppetlabs/puppet/ssl/private_keys/puppet.pem
    ssl-ca-cert: /etc/puppetlabs/puppet/ssl/certs/ca.pem
    ssl-crl-path: {revocation_list}
}}
"
    )
}

/// `puppetserver.conf`.
pub fn puppetserver_conf(server: &PuppetServerSpec) -> String {
    let requests = server.max_requests_per_instance;
    let borrow = number_or(server.borrow_timeout, 1_200_000);
    let compile = or(server.compile_mode.as_str(), "off");
    let mut client = Lines::default();
    let timeouts = [
        (
            "connect-timeout-milliseconds",
            server.http_client.connect_timeout_ms,
        ),
        (
            "idle-timeout-milliseconds",
            server.http_client.idle_timeout_ms,
        ),
    ];
    for (key, timeout) in timeouts {
        if let Some(timeout) = timeout {
            client.line(format!("    {key}: {timeout}"));
        }
    }
    let client = client.0;
    format!(
        "\
jruby-puppet: {{
    ruby-load-path: [/opt/puppetlabs/puppet/lib/ruby/vendor_ruby]
    gem-home: /opt/puppetlabs/server/data/puppetserver/jruby-gems
    gem-path: [${{jruby-puppet.gem-home}}, \"/opt/puppetlabs/server/data/puppetserver/vendored-jruby-gems\", \"/opt/puppetlabs/puppet/lib/ruby/vendor_gems\"]
    server-conf-dir: /etc/puppetlabs/puppet
    server-code-dir: /etc/puppetlabs/code
    server-var-dir: /run/puppetserver
    server-run-dir: /run/puppetserver/run
    server-log-dir: /var/log/puppetlabs/puppetserver
    max-active-instances: 1
    max-requests-per-instance: {requests}
    borrow-timeout: {borrow}
    compile-mode: {compile}
}}

http-client: {{
{client}}}

profiler: {{
}}

dropsonde: {{
    enabled: false
}}
"
    )
}

/// `ca.conf`. Without an authority everything is allowed.
pub fn ca_conf(authority: Option<&CertificateAuthoritySpec>) -> String {
    let allows = |field: fn(&CertificateAuthoritySpec) -> bool| authority.is_none_or(field);
    let names = allows(|authority| authority.allow_subject_alt_names);
    let extensions = allows(|authority| authority.allow_authorization_extensions);
    let infra = allows(|authority| authority.enable_infra_crl);
    let renewal = allows(|authority| authority.allow_auto_renewal);
    let lifetime = authority.map_or("", |authority| authority.auto_renewal_cert_ttl.as_str());
    let lifetime = or(lifetime, "90d");
    format!(
        "\
certificate-authority: {{
    allow-subject-alt-names: {names}
    allow-authorization-extensions: {extensions}
    enable-infra-crl: {infra}
    allow-auto-renewal: {renewal}
    auto-renewal-cert-ttl: {lifetime}
}}
"
    )
}

/// `logback.xml`.
pub fn logback_xml(logging: &LoggingSpec) -> String {
    let mut lines = Lines::default();
    lines.line(r#"<configuration scan="true">"#);
    lines.line(r#"    <appender name="STDOUT" class="ch.qos.logback.core.ConsoleAppender">"#);
    lines.line("        <encoder>");
    lines.line("            <pattern>%d %-5p [%t] [%c{2}] %m%n</pattern>");
    lines.line("        </encoder>");
    lines.line("    </appender>");
    lines.line("");
    for (name, level) in &logging.loggers {
        let (name, level) = (quote::xml(name), quote::xml(level));
        lines.line(format!("    <logger name={name} level={level} />"));
    }
    if !logging.loggers.is_empty() {
        lines.line("");
    }
    let level = or(logging.level.as_str(), "INFO");
    lines.line(format!("    <root level={}>", quote::xml(level)));
    lines.line(r#"        <appender-ref ref="STDOUT" />"#);
    lines.line("    </root>");
    lines.line("</configuration>");
    lines.0
}

/// `metrics.conf`.
pub fn metrics_conf(metrics: &MetricsSpec) -> String {
    let mut lines = Lines::default();
    lines.line("metrics: {");
    lines.line("    server-id: localhost");
    if metrics.enabled {
        lines.line("    registries: {");
        lines.line("        puppetserver: {");
        reporters(metrics, &mut lines);
        lines.line("        }");
        lines.line("    }");
    }
    lines.line("}");
    lines.0
}

fn reporters(metrics: &MetricsSpec, lines: &mut Lines) {
    let graphite = &metrics.graphite;
    if !metrics.jmx.enabled && !graphite.enabled {
        return;
    }
    lines.line("            reporters: {");
    if metrics.jmx.enabled {
        lines.line("                jmx: {");
        lines.line("                    enabled: true");
        lines.line("                }");
    }
    if graphite.enabled {
        let interval = number_or(graphite.update_interval_seconds, 60);
        lines.line("                graphite: {");
        lines.line("                    enabled: true");
        lines.line(format!(
            "                    host: {}",
            quote::go(&graphite.host)
        ));
        lines.line(format!(
            "                    port: {}",
            number_or(graphite.port, 2003)
        ));
        lines.line(format!(
            "                    update-interval-seconds: {interval}"
        ));
        lines.line("                }");
    }
    lines.line("            }");
}
