//! Programs that read what we write: they have to accept it.

use std::{
    fs,
    path::{Path, PathBuf},
};

use mainstay_control_plane::debian::{DebianProgram, find_or_fetch};
use mainstay_testkit::{
    Operator, Plane, Program,
    operator::{free_port, http_get_text},
    program::Ended,
};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::stage::{Stage, web_app};
use crate::{mainstay, run};

fn program(program: DebianProgram) -> PathBuf {
    find_or_fetch(program, &|_| {}).expect("Debian has the program")
}

/// The configurations of Caddy that are rendered from the golden cases, by case, object and key.
async fn caddy_configurations() -> Vec<(String, Value)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/clowder");
    let mut found = Vec::new();
    for case in fs::read_dir(root).unwrap() {
        let input = case.unwrap().path().join("input.yaml");
        let arguments = ["render", "-o", "json", "-f", input.to_str().unwrap()];
        let rendered = run(&arguments).run().await.success();
        let rendered: Value = serde_json::from_str(&rendered).unwrap();
        for object in rendered["items"].as_array().unwrap() {
            let data = object["data"].as_object().into_iter().flatten();
            for (key, text) in data.filter(|_| object["kind"] == "ConfigMap") {
                if matches!(key.as_str(), "caddy.json" | "Caddyfile.json") {
                    let name = format!("{} {} {key}", input.display(), object["metadata"]["name"]);
                    let text = text.as_str().unwrap();
                    found.push((name, serde_json::from_str(text).unwrap()));
                }
            }
        }
    }
    found
}

/// Certificate and key are where the pod would have them mounted.
fn with_certificate(configuration: &mut Value, certificate: &Path, key: &Path) {
    let file = &mut configuration["apps"]["tls"]["certificates"]["load_files"][0];
    assert_eq!(file["certificate"], "/certs/tls.crt");
    assert_eq!(file["key"], "/certs/tls.key");
    file["certificate"] = json!(certificate);
    file["key"] = json!(key);
}

/// Debian's Caddy is older than that of the gateway's image: the module of the image is taken out, and two settings are
/// written as they were before 2.8, authorities and the names of loggers. Everything else is validated as it is.
fn with_stock_modules(configuration: &mut Value, authorities: &Path) {
    let Some(server) = configuration.pointer_mut("/apps/http/servers/srv0") else {
        return;
    };
    let routes = server.pointer_mut("/routes/0/handle/0/routes").unwrap();
    let authentication = routes.as_array_mut().unwrap().remove(0);
    assert_eq!(authentication["handle"][0]["handler"], "crcauth");
    let policy = &mut server["tls_connection_policies"][0]["client_authentication"];
    assert_eq!(
        policy["ca"],
        json!({"provider": "file", "pem_files": ["/cas/ca.pem"]})
    );
    *policy = json!({"mode": policy["mode"], "trusted_ca_certs_pem_files": [authorities]});
    let loggers = server["logs"]["logger_names"].as_object_mut().unwrap();
    for names in loggers.values_mut() {
        *names = names[0].take();
    }
}

async fn validate(configuration: &Value, directory: &TempDir) -> Ended {
    let file = directory.path().join("configuration.json");
    fs::write(&file, configuration.to_string()).unwrap();
    let caddy = program(DebianProgram::Caddy);
    let arguments = ["validate", "--config", file.to_str().unwrap()];
    let caddy = Program::new(caddy, arguments).environment("HOME", directory.path());
    caddy.in_directory(directory.path()).run().await
}

#[tokio::test]
async fn caddy_accepts_what_sidecars_and_gateways_are_told() {
    let plane = Plane::clowder().await;
    let keys = plane.kubeconfig().parent().unwrap().join("pki");
    let (certificate, key) = (keys.join("apiserver.crt"), keys.join("apiserver.key"));
    let directory = TempDir::new().unwrap();
    let configurations = caddy_configurations().await;
    let names: Vec<&String> = configurations.iter().map(|(name, _)| name).collect();
    let gateways = names.iter().filter(|name| name.ends_with("Caddyfile.json"));
    assert_eq!((gateways.count(), names.len()), (2, 4), "{names:?}");
    for (name, mut configuration) in configurations {
        with_certificate(&mut configuration, &certificate, &key);
        with_stock_modules(&mut configuration, &keys.join("ca.crt"));
        let ended = validate(&configuration, &directory).await;
        assert_eq!(ended.code, Some(0), "{name}: {ended}");
        assert!(
            ended.stdout.contains("Valid configuration"),
            "{name}: {ended}"
        );
    }
    // A configuration that says nonsense is noticed.
    let nonsense = json!({"apps": {"http": {"servers": {"srv0": {"listens": [":1"]}}}}});
    let ended = validate(&nonsense, &directory).await;
    assert_eq!(ended.code, Some(1), "{ended}");
}

/// A configuration with which everything is counted.
fn counting(directory: &TempDir) -> PathBuf {
    let path = directory.path().join("clowder_config.json");
    let features = json!({
        "disableWebhooks": true, "perProviderMetrics": true, "reconciliationMetrics": true,
        "enableDependencyMetrics": true,
    });
    fs::write(&path, json!({"features": features}).to_string()).unwrap();
    path
}

#[tokio::test]
async fn promtool_accepts_the_metrics_of_the_operator() {
    let stage = Stage::alone("metrics").await;
    let directory = TempDir::new().unwrap();
    let (config, address) = (counting(&directory), format!("127.0.0.1:{}", free_port()));
    let arguments = ["--systems", "clowder,kaoto", "--leader-election=false"];
    let arguments = [&arguments[..], &["--metrics-bind-address", &address]].concat();
    let variables = [("CLOWDER_CONFIG_PATH", config.as_path())];
    let kubeconfig = stage.plane.kubeconfig();
    let mut operator = Operator::start_in(mainstay(), &kubeconfig, &arguments, &variables);
    operator.ready().await;
    stage.ready_environment(json!({})).await;
    stage.create_app("shop", web_app()).await;
    stage.app_ready("shop").await;
    let answer = http_get_text(&address, "/metrics").await.unwrap();
    let (head, metrics) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.contains("text/plain; version=0.0.4"), "{head}");
    assert!(!head.contains("chunked"), "{head}");
    for family in ["controller_runtime_reconcile_total", "clowder_"] {
        assert!(metrics.contains(family), "{metrics}");
    }
    let check = async |metrics: String| {
        let promtool = program(DebianProgram::Promtool);
        let promtool = Program::new(promtool, ["check", "metrics"]);
        promtool.input(metrics).run().await
    };
    let ended = check(metrics.to_owned()).await;
    // Parity: the name of this counter is the original's.
    let known = "clowder_reconcile_requests counter metrics should have \"_total\" suffix";
    let unexpected = ended.stderr.lines().filter(|line| *line != known);
    assert_eq!(unexpected.collect::<Vec<_>>(), [""; 0], "{ended}");
    // Text that is no exposition is noticed.
    let ended = check(format!("{metrics}{{}} nonsense\n")).await;
    assert_ne!(ended.code, Some(0), "{ended}");
}
