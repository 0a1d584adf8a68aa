//! Who may write: one Lease, compatible with client-go's leader election.
//!
//! A standby follows the Lease by watch, so a released lease is taken at once and not at the next poll. Whoever loses the
//! lease stands for election again.

use std::{error::Error, future::Future, time::Duration};

use futures::StreamExt;
use k8s_openapi::{
    api::{
        coordination::v1::{Lease, LeaseSpec},
        core::v1::ObjectReference,
    },
    apimachinery::pkg::apis::meta::v1::MicroTime,
    jiff::Timestamp,
};
use kube::{
    Api, Client,
    api::{ObjectMeta, PostParams},
    runtime::{WatchStreamExt, watcher},
};
use mainstay_cluster::{error::causes, fence::Permit};
use tokio::{sync::watch, time::Instant};

use crate::pulse::Pulse;

/// Pause between two tries while the API server does not answer.
const AWAY_RETRY: Duration = Duration::from_secs(1);
/// Why a lease is not renewed although it could be.
const STUCK: &str = "The workers make no progress, so the lease is left to others";
/// Shortest pause between two tries.
const FIRST_RETRY: Duration = Duration::from_millis(50);

/// Names and times of an election.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Election {
    /// Namespace of the Lease.
    pub namespace: String,
    /// Name of the Lease.
    pub name: String,
    /// Who we are: `<hostname>_<uuid>`.
    pub identity: String,
    /// Give the lease back on a clean stop.
    pub release: bool,
    /// Others may take over this long after the last renewal.
    pub lease_duration: Duration,
    /// We give up this long after the last successful renewal.
    pub renew_deadline: Duration,
    /// Pause between tries.
    pub retry_period: Duration,
}

impl Election {
    /// An election with the usual times of 15, 10 and 2 seconds.
    pub fn new(namespace: String, name: String, identity: String, release: bool) -> Self {
        Self {
            namespace,
            name,
            identity,
            release,
            lease_duration: Duration::from_secs(15),
            renew_deadline: Duration::from_secs(10),
            retry_period: Duration::from_secs(2),
        }
    }
}

/// The lease as last seen, and when we saw it change: clocks of other machines are not trusted.
struct Seen {
    lease: Lease,
    at: Instant,
}

/// Candidate for leadership.
pub struct Candidate {
    api: Api<Lease>,
    election: Election,
    permit: watch::Sender<Permit>,
    /// Of the workers: who leads without working keeps others from it.
    pulse: Pulse,
    seen: Option<Seen>,
    /// Until when nobody else may lead, because of our last renewal.
    leads_until: Option<Instant>,
    /// Since when there is no lease, as far as we know.
    absent_since: Option<Instant>,
    /// What was logged last, so that a state is logged once.
    complaint: Option<String>,
}

impl std::fmt::Debug for Candidate {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Candidate")
            .field("election", &self.election)
            .finish_non_exhaustive()
    }
}

impl Candidate {
    /// A candidate that has not tried yet. It says through the permit how long it leads.
    pub fn new(
        client: Client,
        election: Election,
        permit: watch::Sender<Permit>,
        pulse: Pulse,
    ) -> Self {
        Self {
            api: Api::namespaced(client, &election.namespace),
            election,
            permit,
            pulse,
            seen: None,
            leads_until: None,
            absent_since: None,
            complaint: None,
        }
    }

    /// Waits until we lead.
    pub async fn acquire(&mut self) {
        let fields = format!("metadata.name={}", self.election.name);
        let config = watcher::Config::default().fields(&fields).timeout(200);
        let mut changes = watcher::watcher(self.api.clone(), config)
            .default_backoff()
            .boxed();
        loop {
            // A server that never answers must not hold up the next try for long.
            let try_hold = tokio::time::timeout(self.election.renew_deadline / 2, self.try_hold());
            if try_hold.await.unwrap_or(false) {
                return;
            }
            tokio::select! {
                () = tokio::time::sleep(self.pause()) => {}
                event = changes.next() => if let Some(Ok(watcher::Event::Apply(lease))) = event {
                    let free = holder(&lease).is_empty();
                    self.observe(lease);
                    if !free {
                        tokio::time::sleep(Duration::from_millis(50)).await;
                    }
                }
            }
        }
    }

    /// The lease as events refer to it.
    pub fn reference(&self) -> ObjectReference {
        let lease = self.seen.as_ref().map(|seen| &seen.lease.metadata);
        ObjectReference {
            api_version: Some("coordination.k8s.io/v1".to_owned()),
            kind: Some("Lease".to_owned()),
            name: Some(self.election.name.clone()),
            namespace: Some(self.election.namespace.clone()),
            uid: lease.and_then(|metadata| metadata.uid.clone()),
            ..ObjectReference::default()
        }
    }

    /// Renews the lease beside the work, until the work ends (true) or the lease is lost (false). The work is dropped
    /// at once in that case: what it would send now is no longer ours to send.
    pub async fn keep(&mut self, work: impl Future<Output = ()>) -> bool {
        let kept = tokio::select! {
            () = work => true,
            () = self.renew() => false,
        };
        self.permit.send_replace(Permit::Denied);
        self.leads_until = None;
        kept
    }

    /// Time until the next try of somebody who does not lead.
    fn pause(&self) -> Duration {
        match self.absent_since {
            Some(since) => self
                .patience_for_absence()
                .saturating_sub(since.elapsed())
                .max(FIRST_RETRY),
            // Nobody answered: the next try is the one that notices when somebody does.
            None if self.complaint.is_some() => self.election.retry_period.min(AWAY_RETRY),
            None => self.election.retry_period,
        }
    }

    async fn renew(&mut self) {
        let mut renewed = Instant::now();
        loop {
            tokio::time::sleep(self.election.retry_period).await;
            let try_hold = tokio::time::timeout(self.election.retry_period, self.try_hold());
            if try_hold.await.unwrap_or(false) {
                renewed = Instant::now();
            } else if renewed.elapsed() >= self.election.renew_deadline || self.is_held_by_other() {
                return;
            }
        }
    }

    /// Gives the lease back, so that a standby need not wait for it to expire.
    pub async fn release(&mut self) {
        if !self.election.release {
            return;
        }
        let Some(seen) = self.seen.take() else { return };
        if holder(&seen.lease) != self.election.identity {
            return;
        }
        let now = MicroTime(Timestamp::now());
        let mut lease = seen.lease;
        let transitions = lease.spec.as_ref().and_then(|spec| spec.lease_transitions);
        lease.spec = Some(LeaseSpec {
            holder_identity: Some(String::new()),
            lease_duration_seconds: Some(1),
            acquire_time: Some(now.clone()),
            renew_time: Some(now),
            lease_transitions: transitions,
            ..LeaseSpec::default()
        });
        if let Err(error) = self
            .api
            .replace(&self.election.name, &PostParams::default(), &lease)
            .await
        {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "Could not release the lease"
            );
        }
    }

    fn is_held_by_other(&self) -> bool {
        let other = |seen: &Seen| {
            !holder(&seen.lease).is_empty() && holder(&seen.lease) != self.election.identity
        };
        self.seen.as_ref().is_some_and(other)
    }

    /// Logs what went wrong with the lease, once for each thing that goes wrong.
    fn complain(&mut self, message: &'static str, error: &kube::Error) {
        let text = causes(error as &dyn Error).join(": ");
        if self.complaint.as_ref() != Some(&text) {
            tracing::warn!(lease = %self.election.name, error = text, "{message}");
            self.complaint = Some(text);
        }
    }

    /// How long there has to be no lease before somebody who never saw one makes it. Whoever leads while the lease is
    /// deleted makes it anew at the next renewal, which is sooner.
    fn patience_for_absence(&self) -> Duration {
        self.election.retry_period * 5 / 4
    }

    /// Whether a lease that does not exist may be made. Its holder may have been asked to go on as if nothing happened,
    /// so everybody else waits as long as if it were still there.
    fn may_create(&mut self) -> bool {
        let leads = |until: Instant| Instant::now() < until;
        if self.leads_until.is_some_and(leads) {
            return true;
        }
        if let Some(seen) = &self.seen {
            return self.is_expired(&seen.lease);
        }
        let since = *self.absent_since.get_or_insert_with(Instant::now);
        since.elapsed() >= self.patience_for_absence()
    }

    /// One try to take or renew the lease.
    async fn try_hold(&mut self) -> bool {
        let age = self.pulse.age();
        if age >= self.election.renew_deadline {
            if self.complaint.as_deref() != Some(STUCK) {
                tracing::warn!(lease = %self.election.name, seconds = age.as_secs(), "{STUCK}");
                self.complaint = Some(STUCK.to_owned());
            }
            return false;
        }
        // Others count from when they see the renewal, which is later than this.
        let asked = Instant::now();
        let current = match self.current().await {
            Ok(current) => current,
            Err(error) => {
                self.complain("Could not read the lease", &error);
                return false;
            }
        };
        let written = match current {
            None => {
                if !self.may_create() {
                    return false;
                }
                self.create().await
            }
            Some(lease) => {
                let ours = holder(&lease) == self.election.identity;
                if !ours && !self.is_expired(&lease) {
                    return false;
                }
                let lease = self.next_lease(lease, ours);
                self.replace(&lease).await
            }
        };
        match written {
            Ok(lease) => {
                self.complaint = None;
                self.observe(lease);
                let end = asked + self.election.renew_deadline;
                self.leads_until = Some(end);
                self.permit.send_replace(Permit::Until(end));
                true
            }
            Err(kube::Error::Api(status)) if changed_meanwhile(&status) => {
                self.seen = None;
                // Who leads now is found out at once: every moment until then is one with two leaders.
                if let Err(error) = self.current().await {
                    self.complain("Could not read the lease", &error);
                }
                false
            }
            Err(error) => {
                self.complain("Could not write the lease", &error);
                false
            }
        }
    }

    async fn create(&self) -> Result<Lease, kube::Error> {
        let params = PostParams::default();
        self.api.create(&params, &self.first_lease()).await
    }

    /// Writes the lease. One that somebody deleted under its leader is made anew at once, before others do it.
    async fn replace(&self, lease: &Lease) -> Result<Lease, kube::Error> {
        let params = PostParams::default();
        let leads = |until: Instant| Instant::now() < until;
        match self.api.replace(&self.election.name, &params, lease).await {
            Err(kube::Error::Api(status))
                if status.is_not_found() && self.leads_until.is_some_and(leads) =>
            {
                self.create().await
            }
            written => written,
        }
    }

    /// The holder renews from what it wrote last and asks only after a conflict; a candidate always asks.
    async fn current(&mut self) -> Result<Option<Lease>, kube::Error> {
        if let Some(seen) = &self.seen
            && holder(&seen.lease) == self.election.identity
        {
            return Ok(Some(seen.lease.clone()));
        }
        let found = self.api.get_opt(&self.election.name).await?;
        self.complaint = None;
        if let Some(lease) = &found {
            self.observe(lease.clone());
        }
        Ok(found)
    }

    fn observe(&mut self, lease: Lease) {
        self.absent_since = None;
        let same =
            |seen: &Seen| seen.lease.metadata.resource_version == lease.metadata.resource_version;
        if !self.seen.as_ref().is_some_and(same) {
            self.seen = Some(Seen {
                lease,
                at: Instant::now(),
            });
        }
    }

    fn is_expired(&self, lease: &Lease) -> bool {
        let seconds = lease
            .spec
            .as_ref()
            .and_then(|spec| spec.lease_duration_seconds)
            .unwrap_or_default();
        let duration = Duration::from_secs(u64::try_from(seconds).unwrap_or_default());
        holder(lease).is_empty()
            || self
                .seen
                .as_ref()
                .is_some_and(|seen| seen.at.elapsed() >= duration)
    }

    fn first_lease(&self) -> Lease {
        let lease = Lease {
            metadata: ObjectMeta {
                name: Some(self.election.name.clone()),
                namespace: Some(self.election.namespace.clone()),
                ..ObjectMeta::default()
            },
            spec: None,
        };
        self.next_lease(lease, false)
    }

    fn next_lease(&self, mut lease: Lease, ours: bool) -> Lease {
        let now = MicroTime(Timestamp::now());
        let old = lease.spec.take();
        let transitions = old.as_ref().and_then(|spec| spec.lease_transitions);
        let acquired = old
            .as_ref()
            .and_then(|spec| spec.acquire_time.clone())
            .filter(|_| ours);
        lease.spec = Some(LeaseSpec {
            holder_identity: Some(self.election.identity.clone()),
            lease_duration_seconds: i32::try_from(self.election.lease_duration.as_secs()).ok(),
            acquire_time: acquired.or_else(|| Some(now.clone())),
            renew_time: Some(now),
            lease_transitions: match (ours, old.is_some()) {
                (true, _) => transitions,
                (false, true) => Some(transitions.unwrap_or_default() + 1),
                (false, false) => Some(0),
            },
            ..LeaseSpec::default()
        });
        lease
    }
}

/// The lease is not what we wrote last: another holder, another edit, or none at all.
fn changed_meanwhile(status: &kube::core::Status) -> bool {
    status.is_conflict() || status.is_already_exists() || status.is_not_found()
}

fn holder(lease: &Lease) -> &str {
    lease
        .spec
        .as_ref()
        .and_then(|spec| spec.holder_identity.as_deref())
        .unwrap_or_default()
}

#[cfg(test)]
pub(crate) mod tests;
