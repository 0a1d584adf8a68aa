//! Crashes: the operator is killed around its writes and at random moments. Its lives together end where an undisturbed
//! one does.

use std::{
    future::Future,
    sync::{Arc, Mutex},
    time::Duration,
};

use futures::{StreamExt as _, stream};

use super::{Campaign, End, Stage, Workload, carried_out};
use crate::{
    Plane,
    audit::Mark,
    fault::{Blow, Fault, Seen},
    operator::{http_get, kill_by_id},
    proxy::Proxy,
    random::mixed,
    wait::eventually,
};

/// More lives than any workload has writes.
const MOST_LIVES: u32 = 300;

/// Cases at the same time where each has a stage of its own.
const CASES_AT_ONCE: usize = 4;

/// When the process dies of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// Before the request is sent, which is lost with it.
    BeforeSend,
    /// The request is carried out, its answer is lost.
    AfterSend,
    /// It has heard the answer, and does nothing any more.
    AfterAnswer,
}

impl Moment {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::BeforeSend, Self::AfterSend, Self::AfterAnswer];

    /// The moment whose turn it is at a write.
    fn in_turn(number: u32) -> Self {
        match number % 3 {
            0 => Self::AfterSend,
            1 => Self::AfterAnswer,
            _ => Self::BeforeSend,
        }
    }
}

/// A process that is to die, and of what.
#[derive(Clone, Copy, Debug)]
struct Aim {
    victim: u32,
    moment: Moment,
    /// Writes that pass before.
    pass: u32,
    struck: bool,
}

/// A way to the API server on which an operator dies of one of its writes.
#[derive(Debug)]
struct CrashPoint {
    aim: Arc<Mutex<Option<Aim>>>,
    proxy: Proxy,
}

impl CrashPoint {
    async fn start(plane: &Plane) -> Self {
        let aim = Arc::new(Mutex::new(None));
        let proxy = Proxy::start(plane, {
            let aim = aim.clone();
            move |seen: &Seen| decide(&aim, seen)
        })
        .await;
        Self { aim, proxy }
    }

    /// From now on the process dies of a write, after so many others.
    fn arm(&self, victim: u32, moment: Moment, pass: u32) {
        *self.aim.lock().unwrap() = Some(Aim {
            victim,
            moment,
            pass,
            struck: false,
        });
    }

    /// From now on everybody lives.
    fn disarm(&self) {
        *self.aim.lock().unwrap() = None;
    }

    fn has_struck(&self) -> bool {
        self.aim.lock().unwrap().is_some_and(|aim| aim.struck)
    }
}

fn decide(aim: &Mutex<Option<Aim>>, seen: &Seen) -> Fault {
    let mut aim = aim.lock().unwrap();
    let Some(aim) = aim.as_mut() else {
        return Fault::None;
    };
    // An event that is lost is lost.
    if !seen.is_write() || seen.resource().ends_with("/events") {
        return Fault::None;
    }
    // What else was on its way dies with the process.
    if aim.struck {
        return Fault::Drop;
    }
    if aim.pass > 0 {
        aim.pass -= 1;
        return Fault::None;
    }
    aim.struck = true;
    let victim = aim.victim;
    let kill = move || kill_by_id(victim);
    match aim.moment {
        Moment::BeforeSend => {
            kill();
            Fault::Drop
        }
        Moment::AfterSend => Fault::CutThen(Blow::new(kill)),
        Moment::AfterAnswer => Fault::AnswerThen(Blow::new(kill)),
    }
}

/// Which moments the writes of a workload are tried with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moments {
    /// One for each write, in turn.
    InTurn,
    /// Every one for each write.
    All,
}

impl Moments {
    /// What the turn begins with, once for each time that the workload is played.
    fn turns(self) -> std::ops::Range<u32> {
        match self {
            Self::InTurn => 0..1,
            Self::All => 0..3,
        }
    }
}

impl<W: Workload> Campaign<W> {
    /// Plays the workload with an operator that dies of every one of its writes, until there is nothing left to write:
    /// the cluster after a write is the cluster before the next one, so these are all the moments that a crash can leave
    /// behind. Every step ends as the undisturbed one does.
    ///
    /// # Panics
    /// If it does not, or if there were fewer crashes than `least`.
    pub async fn survives_a_crash_at_every_write(&self, moments: Moments, least: u32) {
        let expected = self.undisturbed().await;
        for turn in moments.turns() {
            let stage = self.prepared("crashes").await;
            let crash_point = CrashPoint::start(stage.plane()).await;
            let mark = Mark::now(stage.plane().audit_log());
            let mut crashes = 0;
            for (&step, end) in self.workload.steps().iter().zip(expected) {
                let change = self.workload.change(step, &stage);
                let ended = || self.ended(step, &mark, &stage, &end.state);
                crashes += lives(&stage, &crash_point, turn + crashes, change, ended).await;
            }
            self.workload.check_writes(&mark, &stage);
            println!("{crashes} crashes");
            assert!(crashes >= least, "only {crashes} crashes");
        }
    }

    /// Plays each write of the last step on a stage of its own: the operator dies of it once, and its second life writes
    /// what is left and nothing twice.
    ///
    /// # Panics
    /// If the ends or the writes differ, or if there are not so many writes.
    pub async fn survives_a_crash_at_any_write(&self, moments: Moments, writes: usize) {
        let undisturbed = self.undisturbed().await;
        let (Some(expected), [step]) = (undisturbed.last(), self.workload.steps()) else {
            panic!("a workload with one step expected, and the others in its preparation");
        };
        assert_eq!(expected.writes.len(), writes, "{:?}", expected.writes);
        let indices = 0..u32::try_from(writes).unwrap();
        let cases = moments
            .turns()
            .flat_map(|turn| indices.clone().map(move |index| (turn, index)))
            .map(|(turn, index)| async move {
                let case = (index, Moment::in_turn(index + turn));
                (case, self.crash_once(*step, case).await)
            });
        let mut ends = stream::iter(cases).buffer_unordered(CASES_AT_ONCE);
        while let Some((case, end)) = ends.next().await {
            assert_eq!(end, *expected, "{step:?}, crash at write {case:?}");
        }
    }

    async fn crash_once(&self, step: W::Step, (index, moment): (u32, Moment)) -> End {
        let stage = self.prepared("crash").await;
        let crash_point = CrashPoint::start(stage.plane()).await;
        let kubeconfig = crash_point.proxy.kubeconfig();
        let mut operator = stage.start(&kubeconfig);
        operator.as_mut().ready().await;
        let mark = Mark::now(stage.plane().audit_log());
        crash_point.arm(operator.as_mut().id(), moment, index);
        self.workload.change(step, &stage).await;
        let ended = operator.as_mut().ended();
        let ended = tokio::time::timeout(Duration::from_mins(1), ended).await;
        assert!(
            ended.is_ok_and(|status| status.code().is_none()),
            "{step:?} {index} {moment:?}: killed"
        );
        crash_point.disarm();
        let _operator = stage.start(&kubeconfig);
        self.workload.ended(step, &stage).await;
        let state = self.rest(&mark, &stage).await;
        let writes = carried_out(&mark, &stage);
        End { state, writes }
    }

    /// Plays the workload with a crash at some moment after every change. All ends and all writes together are those of
    /// an undisturbed run.
    ///
    /// # Panics
    /// If they are not.
    pub async fn survives_crashes_at_random_moments(&self, seed: u64) {
        let expected = self.undisturbed().await;
        let stage = self.prepared("random").await;
        let kubeconfig = stage.plane().kubeconfig();
        let mut operator = stage.start(&kubeconfig);
        operator.as_mut().ready().await;
        let mark = Mark::now(stage.plane().audit_log());
        for (number, &step) in (0..).zip(self.workload.steps()) {
            self.workload.change(step, &stage).await;
            tokio::time::sleep(Duration::from_millis(mixed(seed, number) % 60)).await;
            operator.as_mut().kill();
            operator = stage.start(&kubeconfig);
            self.workload.ended(step, &stage).await;
        }
        let state = self.rest(&mark, &stage).await;
        assert_eq!(Some(&state), expected.last().map(|end| &end.state));
        let all = expected.iter().flat_map(|end| end.writes.iter().cloned());
        let mut all: Vec<String> = all.collect();
        all.sort();
        assert_eq!(carried_out(&mark, &stage), all);
    }
}

/// Starts an operator, lets users do something, and brings it back to life until the end comes. Says how often it died;
/// the moment of the first death is that of this turn.
async fn lives<S: Stage, E: Future<Output = ()>>(
    stage: &S,
    crash_point: &CrashPoint,
    turn: u32,
    change: impl Future<Output = ()>,
    end: impl Fn() -> E,
) -> u32 {
    let kubeconfig = crash_point.proxy.kubeconfig();
    crash_point.disarm();
    let mut operator = stage.start(&kubeconfig);
    operator.as_mut().ready().await;
    crash_point.arm(operator.as_mut().id(), Moment::in_turn(turn), 0);
    change.await;
    let mut deaths = 0;
    let probe = operator.as_mut().probe().to_owned();
    let mut coming = Box::pin(end_after_start(probe, end()));
    loop {
        tokio::select! {
            () = &mut coming => if !crash_point.has_struck() {
                return deaths;
            },
            _ = operator.as_mut().ended() => {}
        }
        // It may also have died of the write that brought the end about, and more of them may have died with it.
        operator.as_mut().ended().await;
        let before = Moment::in_turn(turn + deaths);
        deaths += 1;
        assert!(
            deaths < MOST_LIVES,
            "no end in sight: {}",
            operator.as_mut().log()
        );
        operator = stage.start(&kubeconfig);
        // A write that was lost comes again. It has had its turn.
        let pass = u32::from(before == Moment::BeforeSend);
        let moment = Moment::in_turn(turn + deaths);
        crash_point.arm(operator.as_mut().id(), moment, pass);
        let probe = operator.as_mut().probe().to_owned();
        coming = Box::pin(end_after_start(probe, end()));
    }
}

/// The end in the life of an operator: one that has not looked around yet may still find something to write.
async fn end_after_start(probe: String, end: impl Future<Output = ()>) {
    eventually("the operator is ready", || async {
        (http_get(&probe, "/readyz").await? == 200).then_some(())
    })
    .await;
    end.await;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_turns_bring_every_moment_to_every_write() {
        for write in 0..7 {
            let met = Moments::All
                .turns()
                .map(|turn| Moment::in_turn(write + turn));
            let met: Vec<Moment> = met.collect();
            assert!(Moment::ALL.iter().all(|moment| met.contains(moment)));
        }
        assert_eq!(Moments::InTurn.turns().count(), 1);
    }

    #[test]
    fn writes_pass_until_the_one_that_is_aimed_at_and_none_after_it() {
        let write = |path: &str| Seen {
            method: http::Method::PATCH,
            path: path.to_owned(),
        };
        let aim = Mutex::new(Some(Aim {
            victim: u32::MAX,
            moment: Moment::AfterSend,
            pass: 1,
            struck: false,
        }));
        assert_eq!(decide(&aim, &write("/api/v1/services/one")), Fault::None);
        assert_eq!(decide(&aim, &write("/api/v1/events")), Fault::None);
        let fault = decide(&aim, &write("/api/v1/services/two"));
        assert!(matches!(fault, Fault::CutThen(_)), "{fault:?}");
        assert_eq!(decide(&aim, &write("/api/v1/services/three")), Fault::Drop);
        assert_eq!(decide(&Mutex::new(None), &write("/api")), Fault::None);
    }
}
