//! Files of a Database.

use std::collections::BTreeMap;

use mainstay_api::openvox::database::PostgresSpec;

use super::{
    Lines,
    auth_conf::{AuthConf, Permission, Rule},
    number_or, or,
};

/// Files that hold no secret.
pub fn files(certname: &str) -> BTreeMap<&'static str, String> {
    BTreeMap::from([
        ("jetty.ini", jetty_ini(certname)),
        ("config.ini", CONFIG_INI.to_owned()),
        ("auth.conf", auth_conf()),
    ])
}

const CONFIG_INI: &str = "\
[global]
vardir = /opt/puppetlabs/server/data/puppetdb
logging-config = /etc/puppetlabs/puppetdb/logback.xml
";

fn jetty_ini(certname: &str) -> String {
    let directory = "/etc/puppetlabs/puppetdb/ssl";
    let mut lines = Lines::default();
    lines.line("[jetty]");
    lines.setting("host", "127.0.0.1");
    lines.setting("port", 8080);
    lines.setting("ssl-host", "0.0.0.0");
    lines.setting("ssl-port", 8081);
    lines.setting(
        "ssl-key",
        format!("{directory}/private_keys/{certname}.pem"),
    );
    lines.setting("ssl-cert", format!("{directory}/certs/{certname}.pem"));
    lines.setting("ssl-ca-cert", format!("{directory}/certs/ca.pem"));
    lines.setting("client-auth", "need");
    lines.0
}

fn auth_conf() -> String {
    let rule = |path, methods, permission, name| Rule {
        path,
        kind: "path",
        methods,
        permission,
        sort_order: 500,
        name,
    };
    let everybody = Permission::Unauthenticated;
    let mut file = AuthConf::begin();
    file.rule(&rule(
        "/status/v1/services",
        &["get"],
        everybody,
        "puppetlabs status service - full",
    ));
    file.rule(&rule(
        "/status/v1/simple",
        &["get"],
        everybody,
        "puppetlabs status service - simple",
    ));
    file.rule(&rule(
        "/metrics",
        &["get", "post"],
        Permission::Allow("*"),
        "puppetlabs puppetdb metrics",
    ));
    file.end()
}

/// `database.ini`, which holds the password.
pub fn database_ini(postgres: &PostgresSpec, username: &str, password: &str) -> String {
    let host = &postgres.host;
    let port = number_or(postgres.port, 5432);
    let database = or(&postgres.database, "openvoxdb");
    let ssl_mode = or(postgres.ssl_mode.as_str(), "require");
    let mut lines = Lines::default();
    lines.line("[database]");
    lines.setting(
        "subname",
        format!("//{host}:{port}/{database}?sslmode={ssl_mode}"),
    );
    lines.setting("username", username);
    lines.setting("password", password);
    lines.0
}
