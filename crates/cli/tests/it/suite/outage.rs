//! Short outages: the process outlives them, asks with patience, and goes on at once. Long ones have a program of their
//! own, see `cargo xtask test --outage`.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use mainstay_testkit::{
    Namespace, Operator, Plane,
    fault::{Fault, Seen},
    operator::{http_get, http_get_text},
    proxy::Proxy,
    wait::eventually,
};
use serde_json::json;

use crate::mainstay;

/// Long enough to tell one try a second from many.
const OUTAGE: Duration = Duration::from_secs(8);

/// The way to the API server, which can be closed.
#[derive(Debug, Default)]
struct Gate {
    closed: AtomicBool,
    /// Tries while it was closed, by resource.
    tries: Mutex<BTreeMap<String, u64>>,
}

impl Gate {
    fn closed() -> Arc<Self> {
        let gate = Self::default();
        gate.closed.store(true, Ordering::SeqCst);
        Arc::new(gate)
    }

    async fn proxy(self: &Arc<Self>, plane: &Plane) -> Proxy {
        let gate = self.clone();
        Proxy::start(plane, move |seen| gate.decide(seen)).await
    }

    fn decide(&self, seen: &Seen) -> Fault {
        if !self.closed.load(Ordering::SeqCst) {
            // Streams break at the beginning of an outage.
            return if seen.is_watch() {
                Fault::Break(Duration::from_secs(2))
            } else {
                Fault::None
            };
        }
        let mut tries = self.tries.lock().unwrap();
        *tries.entry(seen.resource().to_owned()).or_default() += 1;
        Fault::Drop
    }

    fn set(&self, closed: bool) {
        self.closed.store(closed, Ordering::SeqCst);
    }
}

#[tokio::test]
async fn after_an_outage_everything_is_as_declared_within_seconds_and_nobody_asked_too_often() {
    let plane = Plane::vanilla().await;
    let namespace = Namespace::create(&plane.client().await, "outage").await;
    let gate = Arc::new(Gate::default());
    let proxy = gate.proxy(&plane).await;
    let arguments = ["--systems", "kaoto", "--watch-namespace", &namespace.name];
    let mut operator = Operator::start(mainstay(), &proxy.kubeconfig(), &arguments);
    operator.ready().await;
    namespace.create_kaoto("before", json!({})).await;
    namespace.kaoto_ready("before").await;

    gate.set(true);
    // Seen by a watch that is still open, so there is work whose requests fail.
    let change = json!({"spec": {"image": "registry.test/app:2"}});
    namespace.patch_kaoto("before", change).await;
    tokio::time::sleep(OUTAGE).await;
    namespace.create_kaoto("meanwhile", json!({})).await;
    assert!(operator.is_running());
    for path in ["/livez", "/readyz"] {
        assert_eq!(http_get(operator.probe(), path).await, Some(200), "{path}");
    }
    let tries = gate.tries.lock().unwrap().clone();
    gate.set(false);
    let open = Instant::now();
    namespace.kaoto_ready("meanwhile").await;
    namespace.kaoto_ready("before").await;
    let took = open.elapsed();
    println!("converged {took:?} after the outage; tries {tries:?}");
    assert!(took < Duration::from_secs(5), "took {took:?}");
    assert!(tries.len() >= 4, "every kind is followed: {tries:?}");
    for (resource, count) in tries {
        // One for the stream that breaks, and what was under way.
        assert!(count <= OUTAGE.as_secs() + 3, "{resource}: {count}");
    }
    let log = operator.log();
    for line in ["cannot be reached", "answers again"] {
        assert_eq!(log.matches(line).count(), 1, "{line}: {log}");
    }
}

#[tokio::test]
async fn an_operator_that_starts_without_an_api_server_waits_for_it() {
    let plane = Plane::vanilla().await;
    let namespace = Namespace::create(&plane.client().await, "dawn").await;
    let gate = Gate::closed();
    let proxy = gate.proxy(&plane).await;
    let arguments = ["--systems", "kaoto", "--watch-namespace", &namespace.name];
    let mut operator = Operator::start(mainstay(), &proxy.kubeconfig(), &arguments);
    eventually("it has asked more than once", || async {
        let tries = gate.tries.lock().unwrap();
        tries.values().any(|count| *count > 2).then_some(())
    })
    .await;
    assert!(operator.is_running());
    assert_eq!(http_get(operator.probe(), "/livez").await, Some(200));
    let answer = http_get_text(operator.probe(), "/readyz").await.unwrap();
    assert!(
        answer.contains(" 503 ") && answer.ends_with("the cluster has not answered yet"),
        "{answer}"
    );
    gate.set(false);
    operator.ready().await;
    namespace.create_kaoto("studio", json!({})).await;
    namespace.kaoto_ready("studio").await;
}

#[tokio::test]
async fn an_operator_that_waits_for_an_api_server_can_be_stopped() {
    let plane = Plane::vanilla().await;
    let gate = Gate::closed();
    let proxy = gate.proxy(&plane).await;
    let mut operator = Operator::start(mainstay(), &proxy.kubeconfig(), &["--systems", "kaoto"]);
    eventually("it answers", || async {
        http_get(operator.probe(), "/livez").await
    })
    .await;
    assert_eq!(operator.terminate().await.code(), Some(0));
}
