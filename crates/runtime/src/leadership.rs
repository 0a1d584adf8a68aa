//! Who may write: one Lease, compatible with client-go's leader election.
//!
//! A standby follows the Lease by watch, so a released lease is taken at once and not at the next poll.

use std::{future::Future, time::Duration};

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
use mainstay_cluster::fence::Permit;
use tokio::{sync::watch, time::Instant};

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
    seen: Option<Seen>,
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
    pub fn new(client: Client, election: Election, permit: watch::Sender<Permit>) -> Self {
        Self {
            api: Api::namespaced(client, &election.namespace),
            election,
            permit,
            seen: None,
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
            if self.try_hold().await {
                return;
            }
            tokio::select! {
                () = tokio::time::sleep(self.election.retry_period) => {}
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
        kept
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

    /// One try to take or renew the lease.
    async fn try_hold(&mut self) -> bool {
        // Others count from when they see the renewal, which is later than this.
        let asked = Instant::now();
        let current = match self.current().await {
            Ok(current) => current,
            Err(error) => {
                tracing::warn!(
                    error = &error as &dyn std::error::Error,
                    "Could not read the lease"
                );
                return false;
            }
        };
        let written = match current {
            None => {
                self.api
                    .create(&PostParams::default(), &self.first_lease())
                    .await
            }
            Some(lease) => {
                let ours = holder(&lease) == self.election.identity;
                if !ours && !self.is_expired(&lease) {
                    return false;
                }
                let lease = self.next_lease(lease, ours);
                self.api
                    .replace(&self.election.name, &PostParams::default(), &lease)
                    .await
            }
        };
        match written {
            Ok(lease) => {
                self.observe(lease);
                let end = asked + self.election.renew_deadline;
                self.permit.send_replace(Permit::Until(end));
                true
            }
            Err(kube::Error::Api(status)) if changed_meanwhile(&status) => {
                self.seen = None;
                // Who leads now is found out at once: every moment until then is one with two leaders.
                if let Err(error) = self.current().await {
                    tracing::warn!(
                        error = &error as &dyn std::error::Error,
                        "Could not read the lease"
                    );
                }
                false
            }
            Err(error) => {
                tracing::warn!(
                    error = &error as &dyn std::error::Error,
                    "Could not write the lease"
                );
                false
            }
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
        if let Some(lease) = &found {
            self.observe(lease.clone());
        }
        Ok(found)
    }

    fn observe(&mut self, lease: Lease) {
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
