//! Whether this process may write, and until when.

use std::time::Duration;

use tokio::{
    sync::watch::{self, Receiver, Sender},
    time::Instant,
};

/// Permission to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Permit {
    /// Somebody else may be writing.
    Denied,
    /// Nobody else writes before this instant. A process that was stopped or starved finds it passed when it goes on,
    /// before it has learned that somebody else leads.
    Until(Instant),
    /// There is nobody else.
    Granted,
}

/// Asked before each request that changes something.
#[derive(Clone, Debug)]
pub struct Fence {
    permit: Receiver<Permit>,
}

impl Fence {
    /// A fence that its owner opens and closes.
    pub fn new(permit: Permit) -> (Sender<Permit>, Self) {
        let (sender, permit) = watch::channel(permit);
        (sender, Self { permit })
    }

    /// Ends when it is closed. That its time has run out nobody tells, so it is looked at.
    pub async fn closed(&self) {
        while self.is_open() {
            tokio::time::sleep(Duration::from_millis(250)).await;
        }
    }

    /// A fence that is always open, for a process that has no rivals.
    pub fn open() -> Self {
        let (_, fence) = Self::new(Permit::Granted);
        fence
    }

    /// Whether a write may be sent now.
    pub fn is_open(&self) -> bool {
        match *self.permit.borrow() {
            Permit::Denied => false,
            Permit::Until(end) => Instant::now() < end,
            Permit::Granted => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_permit_ends_by_itself() {
        let (permit, fence) = Fence::new(Permit::Denied);
        assert!(!fence.is_open());
        permit.send_replace(Permit::Until(Instant::now() + Duration::from_mins(1)));
        assert!(fence.is_open());
        permit.send_replace(Permit::Until(Instant::now()));
        assert!(!fence.is_open(), "nobody had to close it");
    }

    #[test]
    fn without_rivals_it_stays_open() {
        assert!(Fence::open().is_open());
    }
}
