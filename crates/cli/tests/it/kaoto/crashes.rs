//! Crashes: the operator is killed before and after every single write, and at random moments. A second life ends where
//! an undisturbed one does, and both lives together write exactly what an undisturbed one writes.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use futures::{StreamExt, stream};
use mainstay_testkit::{
    Namespace, Operator, Plane,
    audit::Mark,
    fault::{Blow, Fault, Seen},
    operator::kill_by_id,
    proxy::Proxy,
    snapshot::portable_kaoto_state,
};
use serde_json::{Value, json};

use crate::{mainstay, random::mixed};

/// Part of a Kaoto's life.
#[derive(Clone, Copy, Debug)]
enum Phase {
    Creation,
    Update,
    Deletion,
}

/// When the process dies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moment {
    /// The request is lost with it.
    Before,
    /// The request is carried out, its answer is lost.
    After,
}

/// What a phase comes to.
#[derive(Debug, PartialEq)]
struct End {
    state: Value,
    writes: Vec<String>,
}

impl Phase {
    /// Brings about what the phase starts from.
    async fn prepare(self, namespace: &Namespace) {
        if !matches!(self, Self::Creation) {
            Self::Creation.change(namespace).await;
            Self::Creation.ended(namespace).await;
            namespace.deployment_at_rest("studio").await;
        }
    }

    /// The user's change that starts the phase.
    async fn change(self, namespace: &Namespace) {
        match self {
            Self::Creation => {
                let spec = json!({"ingress": {"host": "studio.test"}});
                namespace.create_kaoto("studio", spec).await;
            }
            Self::Update => {
                let patch = json!({"spec": {"image": "registry.test/app:2", "ingress": null}});
                namespace.patch_kaoto("studio", patch).await;
            }
            Self::Deletion => namespace.delete_kaoto("studio").await,
        }
    }

    async fn ended(self, namespace: &Namespace) {
        match self {
            Self::Creation | Self::Update => {
                namespace.kaoto_ready("studio").await;
            }
            Self::Deletion => namespace.kaoto_gone("studio").await,
        }
    }
}

/// Kills an operator at its n-th write; unarmed at first.
#[derive(Debug, Default)]
pub(crate) struct KillAtWrite {
    /// Writes to let pass before the blow, plus one; zero means that nothing happens.
    countdown: AtomicU32,
    victim: AtomicU32,
}

impl KillAtWrite {
    /// Sets it on a process, at the write with this index.
    pub(crate) fn arm(&self, victim: u32, index: u32) {
        self.victim.store(victim, Ordering::SeqCst);
        self.countdown.store(index + 1, Ordering::SeqCst);
    }

    pub(crate) fn decide(&self, seen: &Seen, moment: Moment) -> Fault {
        let step = |count: u32| count.checked_sub(1);
        if !seen.is_write()
            || self
                .countdown
                .fetch_update(Ordering::SeqCst, Ordering::SeqCst, step)
                != Ok(1)
        {
            return Fault::None;
        }
        let victim = self.victim.load(Ordering::SeqCst);
        match moment {
            Moment::Before => {
                kill_by_id(victim);
                Fault::Drop
            }
            Moment::After => Fault::CutThen(Blow::new(move || kill_by_id(victim))),
        }
    }
}

fn start(namespace: &Namespace, proxy: &Proxy) -> Operator {
    let arguments = ["--watch-namespace", &namespace.name];
    Operator::start(mainstay(), &proxy.kubeconfig(), &arguments)
}

/// Walks through a phase, with a crash at a write if there is one, and says what it came to.
async fn walk(plane: &Plane, phase: Phase, crash: Option<(u32, Moment)>) -> End {
    let namespace = Namespace::create(&plane.client().await, "crash").await;
    let kill_at_write = Arc::new(KillAtWrite::default());
    let moment = crash.map_or(Moment::Before, |(_, moment)| moment);
    let proxy = Proxy::start(plane, {
        let kill_at_write = kill_at_write.clone();
        move |seen| kill_at_write.decide(seen, moment)
    })
    .await;
    let mut operator = start(&namespace, &proxy);
    operator.ready().await;
    let before = Mark::now(plane.audit_log());
    phase.prepare(&namespace).await;
    // A write is seen before the log tells of it.
    before.settled(&namespace.name).await;
    let mark = Mark::now(plane.audit_log());
    if let Some((index, _)) = crash {
        kill_at_write.arm(operator.id(), index);
    }
    phase.change(&namespace).await;
    if crash.is_some() {
        let ended = tokio::time::timeout(Duration::from_mins(1), operator.ended()).await;
        assert!(
            ended.is_ok_and(|status| status.code().is_none()),
            "{phase:?} {crash:?}: killed"
        );
        operator = start(&namespace, &proxy);
    }
    phase.ended(&namespace).await;
    mark.settled(&namespace.name).await;
    operator.kill();
    End {
        state: portable_kaoto_state(&namespace, false).await,
        writes: mark.carried_out(&namespace.name),
    }
}

/// Crashes at every write of a phase, a few cases at a time.
async fn campaign(phase: Phase, expected_writes: usize) {
    let plane = Plane::vanilla().await;
    let undisturbed = walk(&plane, phase, None).await;
    assert_eq!(
        undisturbed.writes.len(),
        expected_writes,
        "{:?}",
        undisturbed.writes
    );
    let indices = 0..u32::try_from(expected_writes).unwrap();
    let cases = indices.flat_map(|index| [(index, Moment::Before), (index, Moment::After)]);
    let walks = cases.map(|case| {
        let plane = &plane;
        async move { (case, walk(plane, phase, Some(case)).await) }
    });
    let mut ends = stream::iter(walks).buffer_unordered(4);
    while let Some((case, end)) = ends.next().await {
        assert_eq!(end, undisturbed, "{phase:?}, crash at write {case:?}");
    }
}

#[tokio::test]
async fn a_crash_at_any_write_of_a_creation_leaves_no_trace() {
    campaign(Phase::Creation, 5).await;
}

#[tokio::test]
async fn a_crash_at_any_write_of_an_update_leaves_no_trace() {
    campaign(Phase::Update, 3).await;
}

#[tokio::test]
async fn a_crash_at_any_write_of_a_deletion_leaves_no_trace() {
    campaign(Phase::Deletion, 4).await;
}

/// Changes of a user, one after the other; `between` runs after each. The last one leaves an exposed Kaoto behind.
async fn many_changes(namespace: &Namespace, mut between: impl AsyncFnMut(u64)) {
    for round in 0..23 {
        let phase = match round % 4 {
            0 => Phase::Creation,
            1 | 2 => Phase::Update,
            _ => Phase::Deletion,
        };
        if round % 4 == 1 {
            namespace.deployment_at_rest("studio").await;
        }
        if round % 4 == 2 {
            let patch = json!({"spec": {"ingress": {"path": "/editor"}}});
            namespace.patch_kaoto("studio", patch).await;
        } else {
            phase.change(namespace).await;
        }
        between(round).await;
        phase.ended(namespace).await;
    }
}

/// Makes the changes, with a crash at some moment after each or without.
async fn walk_all(plane: &Plane, crashing: bool) -> End {
    const SEED: u64 = 0x6b61_6f74;
    let namespace = Namespace::create(&plane.client().await, "random").await;
    let proxy = Proxy::start(plane, |_| Fault::None).await;
    let mut operator = start(&namespace, &proxy);
    operator.ready().await;
    let mark = Mark::now(plane.audit_log());
    many_changes(&namespace, async |round| {
        if crashing {
            tokio::time::sleep(Duration::from_millis(mixed(SEED, round) % 60)).await;
            operator.kill();
            operator = start(&namespace, &proxy);
        }
    })
    .await;
    mark.settled(&namespace.name).await;
    End {
        state: portable_kaoto_state(&namespace, false).await,
        writes: mark.carried_out(&namespace.name),
    }
}

#[tokio::test]
async fn crashes_at_random_moments_leave_no_trace() {
    let plane = Plane::vanilla().await;
    let (undisturbed, disturbed) = tokio::join!(walk_all(&plane, false), walk_all(&plane, true));
    assert_eq!(disturbed, undisturbed);
}
