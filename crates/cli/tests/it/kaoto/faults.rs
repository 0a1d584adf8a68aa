//! Faults between operator and API server: whatever share of the requests fails, and however, the end is the same.

mod single;

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use mainstay_testkit::{
    Namespace, Operator, Plane,
    fault::{Fault, Seen},
    proxy::Proxy,
    snapshot::portable_kaoto_state,
};
use serde_json::{Value, json};
use tokio::sync::OnceCell;

use crate::{mainstay, random::mixed};

/// Kinds of faults that a request may meet.
const KINDS: [Fault; 6] = [
    Fault::Refuse(500),
    Fault::Refuse(503),
    Fault::Refuse(429),
    Fault::Refuse(409),
    Fault::Drop,
    Fault::Cut,
];

/// Faults for a share of all requests, the same in every run for the same order of requests.
#[derive(Debug, Default)]
pub(crate) struct FaultSchedule {
    seed: u64,
    percent: AtomicU64,
    requests: AtomicU64,
    met: AtomicU64,
}

impl FaultSchedule {
    /// A schedule in which this share of the requests meets a fault.
    pub(crate) fn new(percent: u64, seed: u64) -> Self {
        Self {
            seed,
            percent: AtomicU64::new(percent),
            ..Self::default()
        }
    }

    /// Ends it, and says how many requests met a fault.
    pub(crate) fn clear_up(&self) -> u64 {
        self.percent.store(0, Ordering::SeqCst);
        self.met.load(Ordering::SeqCst)
    }

    pub(crate) fn decide(&self, seen: &Seen) -> Fault {
        let number = self.requests.fetch_add(1, Ordering::SeqCst);
        let percent = self.percent.load(Ordering::SeqCst);
        if percent == 0 || asks_what_is_served(seen) {
            return Fault::None;
        }
        let dice = mixed(self.seed, number);
        if dice % 100 >= percent {
            // Watches live long, so a share of their requests would say little: none of them lives longer than this.
            return if seen.is_watch() {
                Fault::Break(Duration::from_millis(300 + dice % 1500))
            } else {
                Fault::None
            };
        }
        self.met.fetch_add(1, Ordering::SeqCst);
        if seen.is_watch() && dice.is_multiple_of(2) {
            return Fault::Refuse(410);
        }
        let kind = usize::try_from(dice / 100 % 7).unwrap();
        let delay = Fault::Delay(Duration::from_millis(dice / 1000 % 80));
        KINDS.get(kind).cloned().unwrap_or(delay)
    }
}

/// Whether the request asks what kinds a group has. That is asked once, and its failure ends the process on purpose.
fn asks_what_is_served(seen: &Seen) -> bool {
    let resource = seen.resource();
    resource.starts_with("/apis/") && resource.split('/').count() == 4
}

fn name(number: usize) -> String {
    format!("studio-{number}")
}

/// What users do: ten Kaotos are created, changed in every way, and three of them deleted.
async fn script(namespace: &Namespace) {
    let exposed = |number: usize| json!({"ingress": {"host": format!("{}.test", name(number))}});
    for number in 0..10 {
        let spec = if number % 2 == 0 {
            exposed(number)
        } else {
            json!({})
        };
        namespace.create_kaoto(&name(number), spec).await;
    }
    let changes = [
        (1, json!({"image": "registry.test/app:1"})),
        (2, json!({"ingress": null})),
        (3, exposed(3)),
        (4, json!({"ingress": {"host": "other.test"}})),
        (3, json!({"image": "registry.test/app:3"})),
        (8, json!({"ingress": null, "image": "registry.test/app:8"})),
        (2, json!({"ingress": {"path": "/again"}})),
        (3, json!({"ingress": null})),
    ];
    for (number, spec) in changes {
        tokio::time::sleep(Duration::from_millis(150)).await;
        namespace
            .patch_kaoto(&name(number), json!({"spec": spec}))
            .await;
    }
    for number in 7..10 {
        namespace.delete_kaoto(&name(number)).await;
    }
}

/// Waits for the end of the script.
async fn ended(namespace: &Namespace) {
    for number in 0..7 {
        namespace.kaoto_ready(&name(number)).await;
    }
    for number in 7..10 {
        namespace.kaoto_gone(&name(number)).await;
    }
}

/// The end of the script in good schedule; the same for all tests.
async fn undisturbed(plane: &Plane) -> &'static Value {
    static STATE: OnceCell<Value> = OnceCell::const_new();
    let state = STATE.get_or_init(|| async {
        let (end, _) = through(plane, 0, 0).await;
        end
    });
    state.await
}

/// Plays the script through the schedule, which lasts to the end; says how many requests met a fault.
async fn through(plane: &Plane, percent: u64, seed: u64) -> (Value, u64) {
    let namespace = Namespace::create(&plane.client().await, "faults").await;
    let schedule = Arc::new(FaultSchedule::new(percent, seed));
    let proxy = Proxy::start(plane, {
        let schedule = schedule.clone();
        move |seen| schedule.decide(seen)
    })
    .await;
    let arguments = ["--watch-namespace", &namespace.name];
    let mut operator = Operator::start(mainstay(), &proxy.kubeconfig(), &arguments);
    operator.ready().await;
    script(&namespace).await;
    ended(&namespace).await;
    let met = schedule.clear_up();
    assert!(operator.is_running(), "a fault ended the operator");
    (portable_kaoto_state(&namespace, false).await, met)
}

/// Compares the end behind faults with the undisturbed one, and says how many faults there were.
async fn ends_as_undisturbed(percent: u64, seed: u64) -> u64 {
    let plane = Plane::vanilla().await;
    let expected = undisturbed(&plane).await;
    let (end, met) = through(&plane, percent, seed).await;
    assert_eq!(end, *expected);
    assert_eq!(
        expected["Deployment"].as_object().unwrap().len(),
        7,
        "three of ten were deleted"
    );
    met
}

#[tokio::test]
async fn one_failing_request_in_a_hundred_changes_nothing() {
    // A seed with faults of four kinds among the first requests: a hundredth of a short run may be none at all.
    let met = ends_as_undisturbed(1, 2116).await;
    println!("{met} requests met a fault");
    assert!(met >= 2, "only {met} requests met a fault");
}

#[tokio::test]
async fn one_failing_request_in_ten_changes_nothing() {
    let met = ends_as_undisturbed(10, 10).await;
    println!("{met} requests met a fault");
    assert!(met >= 5, "only {met} requests met a fault");
}

#[tokio::test]
async fn every_second_request_failing_changes_nothing() {
    let met = ends_as_undisturbed(50, 50).await;
    println!("{met} requests met a fault");
    assert!(met >= 15, "only {met} requests met a fault");
}
