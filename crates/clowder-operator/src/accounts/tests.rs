use mainstay_engine::change_set::ChangeSet;
use mainstay_runtime::system::Router;
use serde_json::json;

use super::*;

fn features() -> Features {
    Features {
        per_provider_metrics: true,
        reconciliation_metrics: true,
        enable_dependency_metrics: true,
        ..Features::default()
    }
}

fn accounts(features: &Features) -> (Metrics, Accounts) {
    let metrics = Metrics::new();
    let neighbours = Arc::new(Neighbours::new(Arc::new(Router::default())));
    let accounts = Accounts::new(&metrics, features, neighbours);
    (metrics, accounts)
}

fn app(accounts: &Accounts, name: &str, dependencies: &[&str], ready: bool) -> ObjectKey {
    let key = ObjectKey::new(kinds::CLOWD_APP, "team", name);
    let value = json!({
        "apiVersion": "cloud.redhat.com/v1alpha1", "kind": "ClowdApp",
        "metadata": {"name": name, "namespace": "team"},
        "spec": {"envName": "stage.one", "dependencies": dependencies},
        "status": {"ready": ready},
    });
    accounts.neighbours.with(|index| index.learn(&key, &value));
    key
}

fn environment(accounts: &Accounts, name: &str) -> ObjectKey {
    let key = ObjectKey::new(kinds::CLOWD_ENVIRONMENT, "", name);
    let value = json!({
        "apiVersion": "cloud.redhat.com/v1alpha1", "kind": "ClowdEnvironment",
        "metadata": {"name": name}, "spec": {"providers": {}, "resourceDefaults": {}},
    });
    accounts.neighbours.with(|index| index.learn(&key, &value));
    key
}

fn result(outcome: Outcome) -> ReconcileResult {
    ReconcileResult {
        again: None,
        outcome,
        changes: ChangeSet::default(),
        status_written: false,
        notes: Vec::new(),
        regarding: None,
        related_events: None,
        error: None,
    }
}

fn assert_shown(metrics: &Metrics, series: &[&str]) {
    let text = metrics.render();
    for series in series {
        let shown = text.lines().any(|line| line == *series);
        assert!(shown, "{series} in\n{text}");
    }
}

#[test]
fn series_have_the_names_and_labels_of_the_original() {
    let (metrics, accounts) = accounts(&features());
    app(&accounts, "store", &[], true);
    let shop = app(&accounts, "shop", &["store", "ghost"], false);
    let stage = environment(&accounts, "stage.one");
    accounts.reconcile_looks(&stage);
    accounts.reconcile_ended(&stage, Some(&result(Outcome::Success)));
    accounts.reconcile_looks(&shop);
    accounts.reconcile_looks(&shop);
    accounts.watch_provider(&shop, "web", &mut || {});
    accounts.reconcile_ended(&shop, Some(&result(Outcome::Success)));
    assert_shown(
        &metrics,
        &[
            "# TYPE clowd_app_managed_apps gauge",
            "# TYPE clowder_app_reconciliation_time histogram",
            "clowd_app_managed_apps 1",
            "clowd_app_present_apps 1",
            "clowd_env_managed_envs 1",
            "clowd_env_present_envs 1",
            concat!(
                "clowder_version{version=\"v",
                env!("CARGO_PKG_VERSION"),
                "\"} 1"
            ),
            "clowder_provider_runtime_count{provider=\"web\",source=\"clowdapp\"} 1",
            "clowder_reconcile_requests{type=\"app\",name=\"stage.one.shop\"} 1",
            "clowder_reconcile_requests{type=\"env\",name=\"stage.one\"} 1",
            "clowder_app_reconciliation_time_count{app=\"shop\",env=\"stage.one\"} 1",
            "clowder_dependency_availability{app=\"shop\",dependency=\"store\"} 1",
        ],
    );
    let text = metrics.render();
    assert!(
        !text.contains("ghost"),
        "only dependencies that exist: {text}"
    );
    for bucket in ["0.005", "0.25", "10.0", "+Inf"] {
        let series = format!("clowder_provider_runtime_bucket{{le=\"{bucket}\",provider=\"web\"");
        assert!(text.contains(&series), "{series} in\n{text}");
    }
}

#[test]
fn what_the_configuration_does_not_ask_for_is_not_there() {
    let (metrics, accounts) = accounts(&Features::default());
    let shop = app(&accounts, "shop", &["store"], false);
    accounts.reconcile_looks(&shop);
    accounts.reconcile_ended(&shop, Some(&result(Outcome::Success)));
    let text = metrics.render();
    for name in [
        "clowder_reconcile_requests",
        "clowder_app_reconciliation_time",
        "clowder_dependency_availability",
    ] {
        assert!(!text.contains(name), "{name} in\n{text}");
    }
    assert_shown(&metrics, &["clowd_app_managed_apps 1"]);
}

#[test]
fn only_a_success_makes_an_app_managed_and_its_time_count() {
    let (metrics, accounts) = accounts(&features());
    let shop = app(&accounts, "shop", &[], false);
    accounts.reconcile_looks(&shop);
    let failed = Outcome::Transient { reason: "Failed" };
    accounts.reconcile_ended(&shop, Some(&result(failed)));
    assert_shown(
        &metrics,
        &["clowd_app_managed_apps 0", "clowd_app_present_apps 1"],
    );
    assert!(
        !metrics
            .render()
            .contains("clowder_app_reconciliation_time_count{")
    );
}

#[test]
fn who_is_gone_leaves_no_series_behind() {
    let (metrics, accounts) = accounts(&features());
    let shop = app(&accounts, "shop", &[], false);
    accounts.reconcile_looks(&shop);
    accounts.reconcile_ended(&shop, Some(&result(Outcome::Success)));
    assert!(metrics.render().contains("\"shop\""));
    accounts.reconcile_ended(&shop, None);
    let text = metrics.render();
    assert!(!text.contains("shop"), "{text}");
    assert_shown(
        &metrics,
        &["clowd_app_managed_apps 0", "clowd_app_present_apps 0"],
    );
}

#[test]
fn an_invocation_does_not_count_as_the_environment_of_its_name() {
    let (metrics, accounts) = accounts(&features());
    environment(&accounts, "nightly");
    let run = ObjectKey::new(kinds::CLOWD_JOB_INVOCATION, "team", "nightly");
    accounts.reconcile_looks(&run);
    accounts.reconcile_ended(&run, Some(&result(Outcome::Success)));
    accounts.reconcile_ended(&run, None);
    assert_shown(
        &metrics,
        &["clowd_env_present_envs 0", "clowd_env_managed_envs 0"],
    );
}
