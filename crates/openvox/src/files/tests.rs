use mainstay_api::openvox::{config::AuthorizationRule, database::PostgresSpec};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::*;

fn of<T: DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).unwrap()
}

fn settings(config: &ConfigSpec) -> Settings<'_> {
    Settings {
        config,
        authority: None,
        database_url: None,
        has_report_processors: false,
    }
}

/// What the API server makes of `puppet: {}`.
fn defaulted() -> Value {
    json!({
        "environmentPath": "/etc/puppetlabs/code/environments",
        "hieraConfig": "$confdir/hiera.yaml",
        "storeconfigs": true,
        "storeBackend": "puppetdb",
        "reports": "puppetdb",
    })
}

#[test]
fn a_config_has_exactly_twelve_files_that_end_with_one_newline() {
    let config = ConfigSpec::default();
    let files = config_files(&settings(&config)).unwrap();
    assert_eq!(files.len(), 12);
    for (name, text) in files {
        assert!(text.ends_with('\n') && !text.ends_with("\n\n"), "{name}");
        assert!(!text.contains('\r'), "{name}");
    }
}

#[test]
fn without_settings_puppet_conf_has_directories_and_nothing_else() {
    let config = ConfigSpec::default();
    let expected = "\
[main]
confdir = /etc/puppetlabs/puppet
vardir = /opt/puppetlabs/puppet/cache
logdir = /var/log/puppetlabs/puppet
codedir = /etc/puppetlabs/code
rundir = /var/run/puppetlabs
manage_internal_file_permissions = false

[server]
";
    assert_eq!(
        puppet_conf::puppet_conf(&settings(&config)).unwrap(),
        expected
    );
}

#[test]
fn puppet_conf_knows_authority_reports_and_classifier() {
    let config: ConfigSpec = of(json!({
        "puppet": defaulted(),
        "nodeClassifierRef": "enc",
    }));
    let authority: CertificateAuthoritySpec = of(json!({"ttl": "5y"}));
    let text = puppet_conf::puppet_conf(&Settings {
        authority: Some(("prod-ca", &authority)),
        has_report_processors: true,
        ..settings(&config)
    })
    .unwrap();
    let (_, server) = text.split_once("\n\n").unwrap();
    assert_eq!(
        server,
        "\
[server]
storeconfigs = true
storeconfigs_backend = puppetdb
reports = puppetdb,webhook
ca_ttl = 157680000
autosign = /usr/local/bin/openvox-autosign
node_terminus = exec
external_nodes = /usr/local/bin/openvox-enc
"
    );
}

#[test]
fn further_settings_are_sorted_and_the_agent_has_a_section_only_if_it_has_some() {
    let config: ConfigSpec = of(json!({"puppet": {"extraConfig": {
        "main": {"strict": "warning", "certname": "puppet"},
        "server": {"b": "2", "a": "1"},
        "agent": {"splay": "true"},
    }}}));
    let text = puppet_conf::puppet_conf(&settings(&config)).unwrap();
    assert!(
        text.contains("= false\ncertname = puppet\nstrict = warning\n\n[server]\na = 1\nb = 2\n")
    );
    assert!(text.ends_with("\n\n[agent]\nsplay = true\n"));
}

#[test]
fn the_webhook_is_named_once_and_only_if_somebody_listens() {
    for (reports, expected) in [
        ("", "webhook"),
        ("store", "store,webhook"),
        ("webhook,log", "webhook,log"),
    ] {
        let config: ConfigSpec = of(json!({"puppet": {"reports": reports}}));
        let text = puppet_conf::puppet_conf(&Settings {
            has_report_processors: true,
            ..settings(&config)
        });
        assert!(text.unwrap().ends_with(&format!("reports = {expected}\n")));
    }
}

#[test]
fn a_lifetime_that_cannot_be_read_is_an_error_and_none_is_left_out() {
    let config = ConfigSpec::default();
    let text = |ttl: &str| {
        let authority: CertificateAuthoritySpec = of(json!({"ttl": ttl}));
        config_files(&Settings {
            authority: Some(("ca", &authority)),
            ..settings(&config)
        })
        .map(|files| files["puppet.conf"].clone())
    };
    assert_eq!(
        text("soon").unwrap_err(),
        "rendering puppet.conf: parsing CA TTL: invalid duration: \"soon\""
    );
    assert!(!text("").unwrap().contains("ca_ttl"));
    assert!(!text("-5d").unwrap().contains("ca_ttl"));
}

#[test]
fn a_named_database_wins_over_listed_ones() {
    let config: ConfigSpec = of(json!({"puppetdb": {"serverUrls": ["https://a", "https://b"]}}));
    let listed = puppet_conf::puppetdb_conf(&settings(&config));
    assert_eq!(
        listed,
        "[main]\nserver_urls = https://a,https://b\nsoft_write_failure = true\n"
    );
    let named = |url| {
        puppet_conf::puppetdb_conf(&Settings {
            database_url: Some(url),
            ..settings(&config)
        })
    };
    assert_eq!(
        named("https://db"),
        "[main]\nserver_urls = https://db\nsoft_write_failure = true\n"
    );
    assert_eq!(named(""), "[main]\nsoft_write_failure = true\n");
}

#[test]
fn the_operator_may_administer_an_authority_of_this_cluster_only() {
    let inside = auth_conf::auth_conf(&[], Some("ca"));
    assert_eq!(inside.matches("\"ca-operator\"").count(), 6);
    let outside = auth_conf::auth_conf(&[], None);
    assert_eq!(outside.matches("pp_cli_auth").count(), 6);
    assert!(!outside.contains("operator"));
    assert_eq!(outside.matches("sort-order: 500").count(), 26);
}

#[test]
fn rules_of_users_stand_before_the_last_one_in_their_own_order() {
    let rules: Vec<AuthorizationRule> = of(json!([
        {"name": "my api", "matchRequest": {"path": "/x", "method": ["get", "put"]}, "allow": "*", "sortOrder": 100},
        {"name": "open", "matchRequest": {"path": "/o", "type": "regex", "method": ["get"]}, "allowUnauthenticated": true, "allow": "no"},
        {"name": "silent", "matchRequest": {"path": "/s"}},
    ]));
    let text = auth_conf::auth_conf(&rules, None);
    let expected = "\
        {
            match-request: {
                path: \"/x\"
                type: path
                method: [get, put]
            }
            allow: \"*\"
            sort-order: 100
            name: \"my api\"
        },
        {
            match-request: {
                path: \"/o\"
                type: regex
                method: get
            }
            allow-unauthenticated: true
            sort-order: 500
            name: \"open\"
        },
        {
            match-request: {
                path: \"/s\"
                type: path
            }
            sort-order: 500
            name: \"silent\"
        },
        {
            match-request: {
                path: \"/\"
                type: path
            }
            deny: \"*\"
            sort-order: 999
            name: \"puppetlabs deny all\"
        }
    ]
}
";
    assert!(text.ends_with(expected), "{text}");
}

#[test]
fn loggers_are_sorted_and_cannot_break_the_file() {
    let config: ConfigSpec = of(json!({"logging": {"loggers": {"z": "WARN", "a\"b": "<x>"}}}));
    let text = server::logback_xml(&config.logging);
    let expected = "
    <logger name=\"a&quot;b\" level=\"&lt;x&gt;\" />
    <logger name=\"z\" level=\"WARN\" />

    <root level=\"INFO\">
";
    assert!(text.contains(expected), "{text}");
}

#[test]
fn metrics_have_reporters_only_if_one_is_on() {
    let text = |metrics: Value| {
        let config: ConfigSpec = of(json!({"metrics": metrics}));
        server::metrics_conf(&config.metrics)
    };
    assert_eq!(
        text(json!({"jmx": {"enabled": true}})),
        "metrics: {\n    server-id: localhost\n}\n"
    );
    assert!(!text(json!({"enabled": true})).contains("reporters"));
    let graphite = text(json!({"enabled": true, "graphite": {"enabled": true}}));
    assert!(graphite.contains("host: \"\"\n                    port: 2003\n                    update-interval-seconds: 60\n"));
}

#[test]
fn a_database_writes_its_password_into_one_file_only() {
    let files = database::files("db.example.org");
    assert_eq!(
        files.keys().collect::<Vec<_>>(),
        [&"auth.conf", &"config.ini", &"jetty.ini"]
    );
    assert!(
        files["jetty.ini"]
            .contains("ssl-key = /etc/puppetlabs/puppetdb/ssl/private_keys/db.example.org.pem\n")
    );
    assert_eq!(files["auth.conf"].matches("sort-order: 500").count(), 3);
    let postgres: PostgresSpec = of(json!({"host": "pg"}));
    assert_eq!(
        database::database_ini(&postgres, "app", "s3cret = #"),
        "[database]\nsubname = //pg:5432/openvoxdb?sslmode=require\nusername = app\npassword = s3cret = #\n"
    );
}
