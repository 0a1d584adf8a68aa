//! The API server answers, and cannot do anything: etcd is away, or full, or everything takes its time.
#![expect(clippy::print_stdout, reason = "the figures are worth a look")]

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use kube::api::{DeleteParams, ListParams};
use mainstay_testkit::{
    Namespace, Operator,
    fault::{Fault, Seen},
    namespace::object_when,
    operator::http_get,
    plane::{OwnPlane, install_definitions},
    proxy::Proxy,
    wait::eventually,
};
use serde_json::json;

use crate::{CONVERGED, shared::program::mainstay};

const OUTAGE: Duration = Duration::from_mins(1);
/// The way to a server far away.
const LATENCY: Duration = Duration::from_millis(500);

/// Requests of the operator by method and resource, while they are counted.
#[derive(Debug, Default)]
struct Tries {
    counting: AtomicBool,
    counts: Mutex<BTreeMap<String, u64>>,
}

impl Tries {
    fn note(&self, seen: &Seen) {
        if self.counting.load(Ordering::SeqCst) {
            let what = format!("{} {}", seen.method, seen.resource());
            *self.counts.lock().unwrap().entry(what).or_default() += 1;
        }
    }
}

/// A leader on a plane of its own, whose requests are counted on their way.
struct Context {
    namespace: Namespace,
    operator: Operator,
    tries: Arc<Tries>,
    /// Ends before its plane does.
    _proxy: Proxy,
    plane: OwnPlane,
}

impl Context {
    async fn start(prefix: &str, latency: Duration) -> Self {
        let plane = OwnPlane::start(prefix);
        let client = plane.client().await;
        install_definitions(&client).await;
        let namespace = Namespace::create(&client, "outage").await;
        let tries = Arc::new(Tries::default());
        let counted = tries.clone();
        let proxy = Proxy::start(&plane, move |seen| {
            counted.note(seen);
            Fault::Delay(latency)
        })
        .await;
        let arguments = [
            "--systems",
            "kaoto",
            "--watch-namespace",
            &namespace.name,
            "--leader-election-namespace",
            &namespace.name,
        ];
        let mut operator = Operator::start_with(mainstay(), &proxy.kubeconfig(), &arguments);
        operator.ready().await;
        namespace.create_kaoto("before", json!({})).await;
        namespace.kaoto_ready("before").await;
        Self {
            namespace,
            operator,
            tries,
            _proxy: proxy,
            plane,
        }
    }

    /// Waits while nothing can be done. Nobody asks too often.
    async fn endure(&mut self) {
        self.tries.counting.store(true, Ordering::SeqCst);
        tokio::time::sleep(OUTAGE).await;
        self.tries.counting.store(false, Ordering::SeqCst);
        assert!(self.operator.is_running(), "the outage ended the operator");
        assert_eq!(http_get(self.operator.probe(), "/livez").await, Some(200));
        let counts = self.tries.counts.lock().unwrap().clone();
        println!("requests in {OUTAGE:?}: {counts:#?}");
        for (what, count) in counts {
            // What was under way when it began comes on top.
            assert!(count <= OUTAGE.as_secs() + 3, "{what}: {count}");
        }
    }

    /// What is asked for now is there soon.
    async fn converge(&self) {
        self.namespace.create_kaoto("after", json!({})).await;
        // A server that is ready may take its time to fill the caches from which it serves watches.
        let kaotos = self.namespace.kaotos();
        eventually("the server tells those who watch", || async {
            let cached = ListParams::default().match_any();
            let listed = kaotos.list(&cached).await.ok()?;
            let mut listed = listed.iter();
            listed.find(|kaoto| kaoto.metadata.name.as_deref() == Some("after"))?;
            Some(())
        })
        .await;
        let back = Instant::now();
        self.namespace.kaoto_ready("after").await;
        let took = back.elapsed();
        println!("converged after {took:?}");
        assert!(took < CONVERGED, "took {took:?}\n{}", self.operator.log());
    }
}

#[tokio::test]
async fn a_leader_outlives_a_minute_without_etcd_and_goes_on_within_seconds() {
    let mut scene = Context::start("tests-outage-etcd", Duration::ZERO).await;
    scene.plane.stop_etcd().await;
    scene.endure().await;
    scene.plane.start_etcd().await;
    scene.converge().await;
}

#[tokio::test]
async fn a_leader_outlives_an_etcd_that_is_full_and_goes_on_within_seconds() {
    let mut scene = Context::start("tests-outage-full", Duration::ZERO).await;
    scene.plane.fill_etcd().await;
    // What takes no room is still carried out, so there is work that fails.
    let deployments = scene.namespace.deployments();
    let params = DeleteParams::default();
    deployments.delete("before", &params).await.unwrap();
    scene.endure().await;
    assert!(deployments.get_opt("before").await.unwrap().is_none());
    scene.plane.empty_etcd().await;
    scene.converge().await;
    object_when(&deployments, "before", "is there again", |_| true).await;
}

#[tokio::test]
async fn a_server_that_is_half_a_second_away_costs_time_and_nothing_else() {
    let mut scene = Context::start("tests-outage-far", LATENCY).await;
    scene.endure().await;
    scene.namespace.create_kaoto("after", json!({})).await;
    let begun = Instant::now();
    scene.namespace.kaoto_ready("after").await;
    let took = begun.elapsed();
    println!("converged after {took:?}");
    // Finalizer, three objects side by side, status: each a way there and back.
    assert!(took < LATENCY * 10, "took {took:?}");
    let log = scene.operator.log();
    assert_eq!(log.matches("Became leader").count(), 1, "{log}");
    assert!(!log.contains("cannot be reached"), "{log}");
}
