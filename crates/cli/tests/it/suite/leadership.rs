//! Leadership: at most one replica writes, a clean stop hands over at once, and whoever loses the lease stands for
//! election again.

use std::{
    fs,
    path::Path,
    sync::{Arc, Mutex},
    time::{Duration, Instant, SystemTime},
};

use k8s_openapi::jiff::Timestamp;
use kube::{
    Api,
    api::{DeleteParams, DynamicObject, ListParams, Patch, PatchParams},
};
use mainstay_testkit::{
    Namespace, Operator, Plane,
    audit::Mark,
    fault::{Fault, Seen},
    operator::{Signal, http_get},
    proxy::Proxy,
    wait::eventually,
};
use serde_json::{Value, json};

use crate::under_the_name;

const LEASE: &str = "election";

/// What happens on the way of one replica.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Way {
    #[default]
    Open,
    /// Every connection breaks.
    Closed,
    /// Nobody answers.
    Silent,
    /// Deployments take this long.
    SlowDeployments(Duration),
}

/// The way of one replica to the API server: tells its writes from those of the other.
#[derive(Debug, Default)]
struct Wire {
    way: Mutex<Way>,
    /// Writes to objects, without the lease and events about it, with their time.
    writes: Mutex<Vec<(Instant, String)>>,
}

impl Wire {
    fn decide(&self, seen: &Seen) -> Fault {
        let about_lease = seen.path.contains("/leases") || seen.path.contains("/events");
        if seen.is_write() && !about_lease {
            let word = format!("{} {}", seen.method, seen.resource());
            self.writes.lock().unwrap().push((Instant::now(), word));
        }
        match *self.way.lock().unwrap() {
            Way::SlowDeployments(pause)
                if seen.is_write() && seen.path.contains("/deployments") =>
            {
                Fault::Delay(pause)
            }
            Way::Closed => Fault::Drop,
            Way::Silent => Fault::Delay(Duration::from_mins(1)),
            Way::Open | Way::SlowDeployments(_) => Fault::None,
        }
    }

    fn set(&self, way: Way) {
        *self.way.lock().unwrap() = way;
    }

    fn count(&self) -> usize {
        self.writes.lock().unwrap().len()
    }

    /// Waits until this replica works, which it shows on an object of its own.
    async fn took_over(&self, namespace: &Namespace) {
        namespace.create_kaoto("probe", json!({})).await;
        self.first_write().await;
        namespace.kaoto_ready("probe").await;
    }

    /// Waits for the first write and says when it was.
    async fn first_write(&self) -> Instant {
        eventually("the replica writes", || async {
            self.writes.lock().unwrap().first().map(|(at, _)| *at)
        })
        .await
    }
}

/// One of several operators.
struct Replica {
    operator: Operator,
    wire: Arc<Wire>,
    _proxy: Proxy,
}

impl Replica {
    /// Starts one under the name of the original, whose exit codes others rely on.
    async fn start(plane: &Plane, namespace: &Namespace, binary: &Path) -> Self {
        let wire = Arc::new(Wire::default());
        let proxy = Proxy::start(plane, {
            let wire = wire.clone();
            move |seen| wire.decide(seen)
        })
        .await;
        let name = namespace.name.as_str();
        let arguments = [
            "--watch-namespace",
            name,
            "--leader-election-namespace",
            name,
            "--leader-election-id",
            LEASE,
        ];
        let mut operator = Operator::start_with(binary, &proxy.kubeconfig(), &arguments);
        operator.ready().await;
        Self {
            operator,
            wire,
            _proxy: proxy,
        }
    }
}

/// Waits until a replica knows that it no longer leads, and how often it has led until then.
async fn lost(replica: &Replica) -> usize {
    eventually("the replica has lost the lease", || async {
        let log = replica.operator.log();
        log.contains("Lost the lease").then_some(())
    })
    .await;
    terms(replica)
}

/// How often a replica became leader.
fn terms(replica: &Replica) -> usize {
    replica.operator.log().matches("Became leader").count()
}

fn leases(namespace: &Namespace) -> Api<DynamicObject> {
    namespace.api("coordination.k8s.io/v1", "Lease", "leases")
}

async fn lease(namespace: &Namespace) -> Value {
    let lease = leases(namespace).get(LEASE).await.unwrap();
    lease.data["spec"].clone()
}

/// When the lease was renewed last, as its holder says.
async fn renewed(namespace: &Namespace) -> Instant {
    let text = lease(namespace).await["renewTime"].clone();
    let renewed: Timestamp = text.as_str().unwrap().parse().unwrap();
    let since = SystemTime::now().duration_since(renewed.into()).unwrap();
    Instant::now().checked_sub(since).unwrap()
}

/// Waits until the lease has a holder, and names it.
async fn leader(namespace: &Namespace) -> String {
    eventually("somebody leads", || async {
        let lease = leases(namespace).get_opt(LEASE).await.ok()??;
        let holder = lease.data["spec"]["holderIdentity"].as_str()?.to_owned();
        (!holder.is_empty()).then_some(holder)
    })
    .await
}

async fn fresh(prefix: &str) -> (Plane, Namespace) {
    let plane = Plane::vanilla().await;
    let namespace = Namespace::create(&plane.client().await, prefix).await;
    (plane, namespace)
}

#[tokio::test]
async fn only_the_leader_writes_and_a_clean_stop_hands_over_at_once() {
    let (plane, namespace) = fresh("handover").await;
    let (_directory, kaoto) = under_the_name("kaoto");
    let mut first = Replica::start(&plane, &namespace, &kaoto).await;
    let identity = leader(&namespace).await;
    let second = Replica::start(&plane, &namespace, &kaoto).await;

    assert_lease_of_client_go(&lease(&namespace).await, &identity);
    namespace.create_kaoto("one", json!({})).await;
    namespace.kaoto_ready("one").await;
    assert_eq!(first.wire.count(), 4, "finalizer, two objects, status");
    assert_eq!(second.wire.count(), 0, "a standby writes nothing");
    for path in ["/readyz", "/livez", "/healthz"] {
        let answer = http_get(second.operator.probe(), path).await;
        assert_eq!(answer, Some(200), "{path} of a standby");
    }
    assert_event(&namespace, &identity).await;

    let ended = first.operator.terminate().await;
    let end = Instant::now();
    assert_eq!(ended.code(), Some(0));
    namespace.create_kaoto("two", json!({})).await;
    let took = second.wire.first_write().await.duration_since(end);
    println!("the standby wrote {took:?} after the end of the leader");
    // Sooner than any lease that was not given back ends, on a machine that is busy with other tests.
    assert!(took < Duration::from_secs(10), "took {took:?}");
    namespace.kaoto_ready("two").await;
    let lease = lease(&namespace).await;
    assert_ne!(lease["holderIdentity"], json!(identity));
    assert_eq!(lease["leaseTransitions"], 1);
}

/// The fields that other candidates, written in Go, read.
fn assert_lease_of_client_go(lease: &Value, identity: &str) {
    let hostname = fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    let (host, id) = identity.split_once('_').unwrap();
    assert_eq!((host, id.len()), (hostname.trim(), 36), "{identity}");
    assert_eq!(lease["leaseDurationSeconds"], 15);
    assert_eq!(lease["leaseTransitions"], 0);
    for time in ["acquireTime", "renewTime"] {
        let text = lease[time].as_str().unwrap();
        assert!(
            text.len() == "2024-01-01T00:00:00.000000Z".len() && text.ends_with('Z'),
            "{time}: {text}"
        );
    }
    let fields: Vec<&String> = lease.as_object().unwrap().keys().collect();
    assert_eq!(fields.len(), 5, "{fields:?}");
}

async fn assert_event(namespace: &Namespace, identity: &str) {
    let events = namespace.api("v1", "Event", "events");
    let message = format!("{identity} became leader");
    eventually("the event is recorded", || async {
        let list = events.list(&ListParams::default()).await.ok()?;
        let found = list.items.iter().find(|event| {
            event.data["reason"] == "LeaderElection"
                && event.data["message"] == json!(message)
                && event.data["involvedObject"]["kind"] == "Lease"
                && event.data["involvedObject"]["name"] == LEASE
        });
        found.map(|_| ())
    })
    .await;
}

#[tokio::test]
async fn a_dead_leader_is_followed_when_its_lease_expires() {
    let (plane, namespace) = fresh("dead").await;
    let (_directory, kaoto) = under_the_name("kaoto");
    let mut first = Replica::start(&plane, &namespace, &kaoto).await;
    let identity = leader(&namespace).await;
    let second = Replica::start(&plane, &namespace, &kaoto).await;

    first.operator.kill();
    let end = Instant::now();
    let renewed = renewed(&namespace).await;
    namespace.create_kaoto("orphan", json!({})).await;
    let took = second.wire.first_write().await;
    let valid = took.duration_since(renewed);
    let took = took.duration_since(end);
    println!("the standby wrote {took:?} after the death of the leader");
    // The leader may have been late with its last renewal, so that only this one says when the lease is over.
    assert!(
        valid > Duration::from_secs(14),
        "not before the lease is over: {valid:?}"
    );
    assert!(took < Duration::from_secs(25), "{took:?}");
    namespace.kaoto_ready("orphan").await;
    assert_ne!(lease(&namespace).await["holderIdentity"], json!(identity));
}

#[tokio::test]
async fn a_leader_whose_lease_was_taken_writes_no_more_and_stands_for_election_again() {
    let (plane, namespace) = fresh("taken").await;
    let (_directory, kaoto) = under_the_name("kaoto");
    let mut replica = Replica::start(&plane, &namespace, &kaoto).await;
    leader(&namespace).await;
    namespace.create_kaoto("busy", json!({})).await;
    namespace.kaoto_ready("busy").await;

    let mark = Mark::now(plane.audit_log());
    let thief = json!({"spec": {"holderIdentity": "thief_1"}});
    leases(&namespace)
        .patch(LEASE, &PatchParams::default(), &Patch::Merge(&thief))
        .await
        .unwrap();
    let theft = Instant::now();
    // Work that never ends, so that silence is the fence's doing.
    let work = async {
        for number in 0_u32.. {
            let image = format!("registry.test/app:{number}");
            namespace
                .patch_kaoto("busy", json!({"spec": {"image": image}}))
                .await;
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::pin!(work);
    tokio::select! {
        _ = lost(&replica) => {}
        () = &mut work => unreachable!("work never ends"),
    }
    let end = theft.elapsed();
    println!("the leader gave up {end:?} after the theft");
    assert!(end < Duration::from_secs(9), "took {end:?}");
    let written = replica.wire.count();
    let watched = tokio::time::timeout(Duration::from_secs(2), &mut work).await;
    assert!(watched.is_err(), "work never ends");
    assert_eq!(replica.wire.count(), written, "{:?}", replica.wire);
    assert!(replica.operator.is_running());
    // One renewal tells it, and it does not wait for its own deadline.
    let mut sent = mark.settled(&namespace.name).await;
    sent.retain(|entry| entry.resource == "leases" && entry.is_write() && entry.code == 409);
    assert_eq!(sent.len(), 1, "{sent:?}");
    assert_eq!(lease(&namespace).await["holderIdentity"], "thief_1");

    // The thief never renews, so the lease is free one day.
    eventually("it leads again", || async {
        (terms(&replica) == 2).then_some(())
    })
    .await;
    namespace.kaoto_ready("busy").await;
    assert!(replica.wire.count() > written);
}

#[tokio::test]
async fn a_leader_that_slept_through_its_lease_writes_nothing_when_it_wakes() {
    let (plane, namespace) = fresh("asleep").await;
    let (_directory, kaoto) = under_the_name("kaoto");
    let mut first = Replica::start(&plane, &namespace, &kaoto).await;
    leader(&namespace).await;
    let second = Replica::start(&plane, &namespace, &kaoto).await;
    let kaotos: Vec<String> = (0..10).map(|number| format!("busy-{number}")).collect();
    for kaoto in &kaotos {
        namespace.create_kaoto(kaoto, json!({})).await;
    }
    for kaoto in &kaotos {
        namespace.kaoto_ready(kaoto).await;
    }

    first.operator.signal(Signal::STOP);
    second.wire.took_over(&namespace).await;
    let written = first.wire.count();
    // What the sleeper finds in its inbox when it wakes.
    for kaoto in &kaotos {
        let patch = json!({"spec": {"image": "registry.test/app:2"}});
        namespace.patch_kaoto(kaoto, patch).await;
    }
    first.operator.signal(Signal::CONT);
    assert_eq!(lost(&first).await, 1);
    for kaoto in &kaotos {
        namespace.kaoto_ready(kaoto).await;
    }
    assert!(first.operator.is_running());
    assert_eq!(first.wire.count(), written, "{:?}", first.wire);
    for kaoto in &kaotos {
        namespace.kaoto_ready(kaoto).await;
    }
}

#[tokio::test]
async fn a_deleted_lease_is_made_anew_without_losing_the_lead() {
    let (plane, namespace) = fresh("deleted").await;
    let (_directory, kaoto) = under_the_name("kaoto");
    let mut replica = Replica::start(&plane, &namespace, &kaoto).await;
    let identity = leader(&namespace).await;
    leases(&namespace)
        .delete(LEASE, &DeleteParams::default())
        .await
        .unwrap();
    assert_eq!(leader(&namespace).await, identity);
    assert!(replica.operator.is_running());
}

#[tokio::test]
async fn a_deleted_lease_makes_no_second_leader() {
    let (plane, namespace) = fresh("two").await;
    let (_directory, kaoto) = under_the_name("kaoto");
    let first = Replica::start(&plane, &namespace, &kaoto).await;
    let identity = leader(&namespace).await;
    let second = Replica::start(&plane, &namespace, &kaoto).await;
    eventually("the standby has seen the lease", || async {
        let log = second.operator.log();
        log.contains("Waiting for the lease").then_some(())
    })
    .await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    // Whoever asks first after a deletion differs from time to time.
    for pause in [100, 600, 1100, 1600, 300] {
        leases(&namespace)
            .delete(LEASE, &DeleteParams::default())
            .await
            .unwrap();
        assert_eq!(leader(&namespace).await, identity);
        tokio::time::sleep(Duration::from_millis(pause)).await;
    }
    namespace.create_kaoto("one", json!({})).await;
    namespace.kaoto_ready("one").await;
    assert_eq!((terms(&first), terms(&second)), (1, 0));
    assert_eq!(second.wire.count(), 0, "{:?}", second.wire);
}

#[tokio::test]
async fn a_leader_without_an_api_server_gives_up_before_its_lease_ends_and_leads_again_with_it() {
    let (closed, silent) = tokio::join!(gives_up_behind(Way::Closed), gives_up_behind(Way::Silent));
    println!("the leader gave up {closed:?} after its connections broke, {silent:?} after silence");
}

/// Closes the way of a leader and says how long it counts itself as one.
async fn gives_up_behind(way: Way) -> Duration {
    let (plane, namespace) = fresh("alone").await;
    let (_directory, kaoto) = under_the_name("kaoto");
    let mut replica = Replica::start(&plane, &namespace, &kaoto).await;
    let identity = leader(&namespace).await;

    replica.wire.set(way);
    let closed = Instant::now();
    assert_eq!(lost(&replica).await, 1);
    let took = closed.elapsed();
    // It counts from its last renewal, with which it may have been late.
    let lived = renewed(&namespace).await.elapsed();
    assert!(lived > Duration::from_secs(9), "it kept trying: {lived:?}");
    assert!(took < Duration::from_secs(15), "{took:?}");
    for path in ["/livez", "/healthz"] {
        let answer = http_get(replica.operator.probe(), path).await;
        assert_eq!(answer, Some(200), "{path} without an API server");
    }

    replica.wire.set(Way::Open);
    namespace.create_kaoto("after", json!({})).await;
    namespace.kaoto_ready("after").await;
    assert!(replica.operator.is_running());
    assert_eq!(terms(&replica), 2);
    assert_eq!(leader(&namespace).await, identity);
    took
}

#[tokio::test]
async fn a_stop_lets_running_work_end_and_gives_the_lease_back() {
    let (plane, namespace) = fresh("drain").await;
    let (_directory, kaoto) = under_the_name("kaoto");
    let mut replica = Replica::start(&plane, &namespace, &kaoto).await;
    leader(&namespace).await;
    let pause = Duration::from_millis(1500);
    replica.wire.set(Way::SlowDeployments(pause));
    namespace.create_kaoto("slow", json!({})).await;
    replica.wire.first_write().await;
    tokio::time::sleep(Duration::from_millis(200)).await;

    replica.operator.signal(Signal::TERM);
    eventually("the replica has heard the signal", || async {
        replica.operator.log().contains("Stopping").then_some(())
    })
    .await;
    // Too late for this replica: it ends what it began and begins nothing.
    namespace.create_kaoto("late", json!({})).await;
    let ended = replica.operator.ended().await;
    assert_eq!(ended.code(), Some(0), "{}", replica.operator.log());
    let slow = namespace.kaotos().get("slow").await.unwrap();
    assert_eq!(slow.data["status"]["phase"], "Ready");
    let late = namespace.kaotos().get("late").await.unwrap();
    assert_eq!(late.metadata.finalizers, None, "not touched");
    let lease = lease(&namespace).await;
    assert_eq!(
        (&lease["holderIdentity"], &lease["leaseDurationSeconds"]),
        (&json!(""), &json!(1))
    );
}

#[tokio::test]
async fn a_second_signal_ends_at_once() {
    let (plane, namespace) = fresh("twice").await;
    let (_directory, kaoto) = under_the_name("kaoto");
    let mut replica = Replica::start(&plane, &namespace, &kaoto).await;
    leader(&namespace).await;
    replica
        .wire
        .set(Way::SlowDeployments(Duration::from_mins(1)));
    namespace.create_kaoto("slow", json!({})).await;
    replica.wire.first_write().await;
    tokio::time::sleep(Duration::from_millis(200)).await;

    replica.operator.signal(Signal::TERM);
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert!(replica.operator.is_running(), "it waits for its work");
    replica.operator.signal(Signal::INT);
    let second = Instant::now();
    let ended = replica.operator.ended().await;
    let took = second.elapsed();
    let log = replica.operator.log();
    assert_eq!(ended.code(), Some(1), "{log}");
    assert!(log.contains("stopped by a second signal"), "{log}");
    // Neither at the end of its work nor at that of the time for it.
    assert!(took < Duration::from_secs(9), "took {took:?}");
}
