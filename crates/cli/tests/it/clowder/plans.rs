//! A plan shows all that follows, and what the server would say to it.

use std::time::Duration;

use mainstay_testkit::{
    audit::Mark,
    fault::{Fault, Seen},
    program::Ended,
    proxy::Proxy,
};
use serde_json::{Value, json};

use super::stage::{Stage, deployment, merge, web_app};
use crate::run;

const GROUP_VERSION: &str = "cloud.redhat.com/v1alpha1";

fn file(documents: &[Value]) -> String {
    let texts = documents.iter().map(ToString::to_string);
    texts.collect::<Vec<_>>().join("\n---\n")
}

fn app(stage: &Stage, name: &str, mut spec: Value) -> Value {
    spec["envName"] = json!(stage.environment);
    json!({
        "apiVersion": GROUP_VERSION, "kind": "ClowdApp",
        "metadata": {"name": name, "namespace": stage.namespace.name}, "spec": spec,
    })
}

async fn mainstay(stage: &Stage, arguments: &[&str], input: &str) -> Ended {
    let program = run(arguments).kubeconfig(&stage.plane.kubeconfig());
    program.input(input).run().await
}

async fn rows(stage: &Stage, flags: &[&str], input: &str) -> Vec<Value> {
    let arguments = [&["plan", "-f", "-", "-o", "json"], flags].concat();
    let ended = mainstay(stage, &arguments, input).await;
    serde_json::from_str(&ended.stdout).unwrap_or_else(|_| panic!("{ended}"))
}

/// `action Kind name` of the rows that are no custom resources, sorted.
fn deeds(rows: &[Value], follows: bool) -> Vec<String> {
    let rows = rows.iter().filter(|row| row["follows"] == follows);
    let words = rows.map(|row| {
        let text = |field: &str| row[field].as_str().unwrap().to_owned();
        format!("{} {} {}", text("action"), text("kind"), text("name"))
    });
    let mut words: Vec<String> = words.filter(|word| !word.contains(" Clowd")).collect();
    words.sort();
    words
}

#[tokio::test]
async fn a_changed_environment_shows_what_follows_for_apps_that_are_not_in_the_files() {
    const APPS: [&str; 4] = ["cart", "prices", "shop", "stock"];
    let stage = Stage::alone("follows").await;
    let operator = stage.operator(&[]).await;
    let config = operator.config_path();
    let config = ["--clowder-config", &config];
    let mut documents = vec![stage.environment_with(&json!({}))];
    documents.extend(APPS.map(|name| app(&stage, name, web_app())));
    let apply = [&["apply", "-f", "-", "--wait"], &config[..]].concat();
    mainstay(&stage, &apply, &file(&documents)).await.success();
    for name in APPS {
        stage.app_ready(name).await;
    }
    let change = json!({"providers": {"web": {"port": 8001}}});
    let text = file(&[stage.environment_with(&change)]);
    let here = &stage.namespace.name;
    let mark = Mark::quiet(stage.plane.audit_log(), here).await;

    let shown = mainstay(&stage, &[&["plan", "-f", "-"], &config[..]].concat(), &text).await;
    assert!(
        shown
            .stdout
            .contains("spec.providers.web.port: 8000 -> 8001"),
        "{shown}"
    );
    assert!(
        shown
            .stdout
            .contains("what follows for 4 custom resources that are not in the files:"),
        "{shown}"
    );
    let planned = rows(&stage, &config, &text).await;
    let following = deeds(&planned, true);
    let expected = APPS.iter().flat_map(|name| {
        [
            format!("update Deployment {name}-web"),
            format!("update Secret {name}"),
            format!("update Service {name}-web"),
        ]
    });
    let mut expected: Vec<String> = expected.collect();
    expected.sort();
    assert_eq!(following, expected, "{shown}");

    stage.patch_environment(json!({"spec": change})).await;
    stage
        .config_when("stock", "has the new port", |config| {
            config["publicPort"] == 8001
        })
        .await;
    mark.settled(here).await;
    let mut written = mark.carried_out(here);
    written.retain(|write| !write.contains("/status ") && !write.contains(" events "));
    let mut announced: Vec<String> = following
        .iter()
        .map(|change| {
            let (kind, name) = change
                .trim_start_matches("update ")
                .split_once(' ')
                .unwrap();
            format!("patch {}s {name}", kind.to_lowercase())
        })
        .collect();
    announced.sort();
    written.dedup();
    assert_eq!(written, announced);
}

#[tokio::test]
async fn what_the_operator_writes_while_a_plan_is_made_hides_nothing_of_it() {
    let stage = Stage::alone("moment").await;
    let operator = stage.operator(&[]).await;
    let config = operator.config_path();
    let config = ["--clowder-config", &config];
    let documents = [
        stage.environment_with(&json!({})),
        app(&stage, "shop", web_app()),
    ];
    let apply = [&["apply", "-f", "-", "--wait"], &config[..]].concat();
    mainstay(&stage, &apply, &file(&documents)).await.success();
    let change = json!({"providers": {"web": {"port": 8001}}});
    let text = file(&[stage.environment_with(&change)]);

    // Reads of single objects take their time, and the environment never stands still.
    let slow_reads = |seen: &Seen| {
        let is_slow = seen.method == http::Method::GET && seen.path.contains("/secrets/");
        if is_slow {
            Fault::Delay(Duration::from_secs(1))
        } else {
            Fault::None
        }
    };
    let proxy = Proxy::start(&stage.plane, slow_reads).await;
    let arguments = [&["plan", "-f", "-", "-o", "json"], &config[..]].concat();
    let planned = run(&arguments)
        .kubeconfig(&proxy.kubeconfig())
        .input(text)
        .run();
    let restless = async {
        for number in 0.. {
            let label = json!({"metadata": {"labels": {"seen": format!("{number}")}}});
            stage.patch_environment(label).await;
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    let planned = tokio::select! {
        planned = planned => planned,
        () = restless => unreachable!("it goes on for ever"),
    };
    let rows: Vec<Value> = serde_json::from_str(&planned.stdout).unwrap();
    let expected = [
        "update Deployment shop-web",
        "update Secret shop",
        "update Service shop-web",
    ];
    assert_eq!(deeds(&rows, true), expected, "{planned}");
}

#[tokio::test]
async fn a_changed_secret_shows_the_pods_that_restart() {
    let stage = Stage::alone("restarts").await;
    let operator = stage.operator(&[]).await;
    let config = operator.config_path();
    let config = ["--clowder-config", &config];
    stage.ready_environment(json!({})).await;
    let restarting = json!({"qontract.recycle": "true"});
    let secret = |value: &str| {
        file(&[json!({
            "apiVersion": "v1", "kind": "Secret", "stringData": {"password": value},
            "metadata": {"name": "login", "namespace": stage.namespace.name, "annotations": restarting},
        })])
    };
    let apply = [&["apply", "-f", "-"], &config[..]].concat();
    mainstay(&stage, &apply, &secret("one")).await.success();
    let mut spec = web_app();
    spec["deployments"][0]["podSpec"]["volumes"] =
        json!([{"name": "login", "secret": {"secretName": "login"}}]);
    stage.create_app("shop", spec).await;
    stage.create_app("stock", web_app()).await;
    stage.app_ready("shop").await;
    stage.app_ready("stock").await;
    let same = rows(&stage, &config, &secret("one")).await;
    assert_eq!(deeds(&same, true), Vec::<String>::new());
    let planned = rows(&stage, &config, &secret("two")).await;
    assert_eq!(deeds(&planned, false), ["update Secret login"]);
    assert_eq!(
        deeds(&planned, true),
        ["update Deployment shop-web", "update Secret shop"]
    );
    let shown = serde_json::to_string(&planned).unwrap();
    assert!(!shown.contains("dHdv"), "{shown}");
}

#[tokio::test]
async fn an_app_is_planned_against_the_environment_of_the_same_files() {
    let stage = Stage::alone("together").await;
    let providers = json!({"providers": {"db": {"mode": "local"}}});
    let environment = stage.environment_with(&providers);
    // There, but nobody has looked at it.
    super::stage::create(&stage.environments(), environment.clone()).await;
    let mut needy = web_app();
    merge(&mut needy, &json!({"dependencies": ["shop"]}));
    let documents = [
        environment,
        app(&stage, "aaa", needy),
        app(&stage, "shop", web_app()),
    ];
    let planned = rows(&stage, &[], &file(&documents)).await;
    let waiting = planned.iter().filter(|row| row["action"] == "waiting");
    assert_eq!(waiting.count(), 0, "{planned:#?}");
    let words = deeds(&planned, false);
    for expected in ["create Deployment aaa-web", "create Deployment shop-web"] {
        assert!(words.iter().any(|word| word == expected), "{words:?}");
    }
    let account = format!("create ServiceAccount iqe-{}", stage.environment);
    let shared = words.iter().filter(|word| **word == account);
    assert_eq!(shared.count(), 1, "what apps share counts once: {words:?}");
}

#[tokio::test]
async fn what_the_server_would_refuse_stands_in_the_plan_with_its_words() {
    let stage = Stage::alone("refused").await;
    let quota = json!({
        "apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "no-services"},
        "spec": {"hard": {"count/services": "0"}},
    });
    let quotas = stage.namespace.api("v1", "ResourceQuota", "resourcequotas");
    super::stage::create(&quotas, quota).await;
    mainstay_testkit::namespace::object_when(&quotas, "no-services", "counts", |quota| {
        quota["status"]["hard"]["count/services"] == "0"
    })
    .await;
    let job = json!({"name": "sweep", "schedule": "61 * * * *", "podSpec": {"image": "x"}});
    let spec = json!({"deployments": [deployment("web")], "jobs": [job]});
    let text = file(&[
        stage.environment_with(&json!({})),
        app(&stage, "shop", spec),
    ]);
    let planned = rows(&stage, &[], &text).await;
    let refused = |kind: &str| {
        let mut rows = planned.iter();
        let row = rows.find(|row| row["kind"] == kind).unwrap();
        assert_eq!(row["action"], "refused", "{row}");
        row["because"].as_str().unwrap().to_owned()
    };
    assert!(refused("CronJob").contains("spec.schedule: Invalid value"));
    assert!(refused("Service").contains("exceeded quota: no-services"));
    let untouched = planned.iter().find(|row| row["kind"] == "Deployment");
    assert_eq!(untouched.unwrap()["action"], "create");

    let mark = Mark::quiet(stage.plane.audit_log(), &stage.namespace.name).await;
    let unasked = rows(&stage, &["--no-dry-run"], &text).await;
    assert!(unasked.iter().all(|row| row["action"] != "refused"));
    let sent = mark.settled(&stage.namespace.name).await;
    assert!(
        sent.iter()
            .all(|entry| entry.resource != "cronjobs" || entry.verb != "patch"),
        "{sent:?}"
    );
}

#[tokio::test]
async fn a_namespace_that_nobody_makes_stands_in_the_plan() {
    let stage = Stage::alone("nowhere").await;
    let mut lost = app(&stage, "shop", web_app());
    lost["metadata"]["namespace"] = json!("never-made");
    let text = file(&[stage.environment_with(&json!({})), lost.clone()]);
    let planned = rows(&stage, &[], &text).await;
    let own = planned
        .iter()
        .find(|row| row["kind"] == "ClowdApp")
        .unwrap();
    assert_eq!(own["action"], "refused", "{own}");
    let because = own["because"].as_str().unwrap();
    assert!(
        because.contains("namespaces \"never-made\" not found"),
        "{own}"
    );

    let namespace =
        json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "never-made"}});
    let text = file(&[namespace, stage.environment_with(&json!({})), lost]);
    let told = mainstay(&stage, &["plan", "-f", "-"], &text).await;
    assert!(!told.stdout.contains("refused"), "{told}");
    let quiet = "not tried on the server: their namespace is only planned";
    assert!(told.stdout.contains(quiet), "{told}");
}

#[tokio::test]
async fn two_apps_of_one_name_are_warned_of_before_they_are_applied() {
    let stage = Stage::shared("twin").await;
    let other = stage.beside("twin-too").await;
    stage.ready_environment(json!({})).await;
    stage.create_app("shop", web_app()).await;
    stage.app_done("shop").await;
    let mut twin = app(&stage, "shop", web_app());
    let alone = rows(&stage, &[], &file(std::slice::from_ref(&twin))).await;
    let notes = |rows: &[Value]| {
        let root = rows.iter().find(|row| row["kind"] == "ClowdApp").unwrap();
        root["notes"].clone()
    };
    assert_eq!(notes(&alone), json!([]));

    twin["metadata"]["namespace"] = json!(other.namespace.name);
    let both = rows(&stage, &[], &file(&[twin])).await;
    let mut namespaces = [&stage.namespace.name, &other.namespace.name].map(String::as_str);
    namespaces.sort_by_key(|namespace| format!("shop-{namespace}"));
    let warning = format!(
        "warning: ClowdApp [shop] exists in namespaces [{}] of Clowder Environment [{}]; who depends on it is led to [{}]",
        namespaces.join(", "),
        stage.environment,
        namespaces[1]
    );
    assert_eq!(notes(&both), json!([warning]));
}
