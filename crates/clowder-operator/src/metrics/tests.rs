use mainstay_engine::change_set::ChangeSet;
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

fn own_metrics(features: &Features) -> (Metrics, OperatorMetrics) {
    let metrics = Metrics::new();
    let views = Arc::new(Views::new(views::INDEXES));
    let own = OperatorMetrics::new(&metrics, features, views);
    (metrics, own)
}

fn app(own: &OperatorMetrics, name: &str, dependencies: &[&str], ready: bool) -> RootObject {
    let key = ObjectKey::new(kinds::CLOWD_APP, "team", name);
    let value = json!({
        "apiVersion": "cloud.redhat.com/v1alpha1", "kind": "ClowdApp",
        "metadata": {"name": name, "namespace": "team"},
        "spec": {"envName": "stage.one", "dependencies": dependencies},
        "status": {"ready": ready},
    });
    own.views.root_changed(&key, "1", Some(&value));
    RootObject::of(key, value)
}

fn environment(own: &OperatorMetrics, name: &str) -> RootObject {
    let key = ObjectKey::new(kinds::CLOWD_ENVIRONMENT, "", name);
    let value = json!({
        "apiVersion": "cloud.redhat.com/v1alpha1", "kind": "ClowdEnvironment",
        "metadata": {"name": name}, "spec": {"providers": {}, "resourceDefaults": {}},
    });
    own.views.root_changed(&key, "1", Some(&value));
    RootObject::of(key, value)
}

fn result(outcome: Outcome) -> ReconcileResult {
    ReconcileResult {
        again: None,
        outcome,
        changes: ChangeSet::default(),
        status_written: false,
        events: Vec::new(),
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
    let (metrics, own) = own_metrics(&features());
    app(&own, "store", &[], true);
    let shop = app(&own, "shop", &["store", "ghost"], false);
    let stage = environment(&own, "stage.one");
    own.began(&stage);
    own.ended(&stage.root.key, Some(&result(Outcome::Success)));
    own.began(&shop);
    own.began(&shop);
    own.time(&shop.root.key, "web", &mut || {});
    own.ended(&shop.root.key, Some(&result(Outcome::Success)));
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
    let (metrics, own) = own_metrics(&Features::default());
    let shop = app(&own, "shop", &["store"], false);
    own.began(&shop);
    own.ended(&shop.root.key, Some(&result(Outcome::Success)));
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
    let (metrics, own) = own_metrics(&features());
    let shop = app(&own, "shop", &[], false);
    own.began(&shop);
    let failed = Outcome::Transient { reason: "Failed" };
    own.ended(&shop.root.key, Some(&result(failed)));
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
    let (metrics, own) = own_metrics(&features());
    let shop = app(&own, "shop", &[], false);
    own.began(&shop);
    own.ended(&shop.root.key, Some(&result(Outcome::Success)));
    assert!(metrics.render().contains("\"shop\""));
    own.ended(&shop.root.key, None);
    let text = metrics.render();
    assert!(!text.contains("shop"), "{text}");
    assert_shown(
        &metrics,
        &["clowd_app_managed_apps 0", "clowd_app_present_apps 0"],
    );
}

#[test]
fn an_invocation_does_not_count_as_the_environment_of_its_name() {
    let (metrics, own) = own_metrics(&features());
    environment(&own, "nightly");
    let key = ObjectKey::new(kinds::CLOWD_JOB_INVOCATION, "team", "nightly");
    own.began(&RootObject::of(key.clone(), json!({})));
    own.ended(&key, Some(&result(Outcome::Success)));
    own.ended(&key, None);
    assert_shown(
        &metrics,
        &["clowd_env_present_envs 0", "clowd_env_managed_envs 0"],
    );
}
