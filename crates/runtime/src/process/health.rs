//! What the probes answer.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use mainstay_cluster::fence::Fence;
use tokio::sync::watch;

use crate::{
    pulse::Pulse,
    server::{Probe, Probes},
    work::Progress,
};

/// A process whose workers have been stuck for this long will not go on by itself.
const STUCK: Duration = Duration::from_secs(30);

/// A system as the probes see it: whether it leads, and how far it has come.
pub(super) type Probed = (Fence, watch::Receiver<Progress>);

#[derive(Default)]
struct Parts {
    /// `None` until it is known who takes part.
    systems: Option<Vec<Probed>>,
    further: Vec<Probe>,
}

/// What the probes look at.
#[derive(Clone, Default)]
pub(super) struct Health {
    parts: Arc<Mutex<Parts>>,
}

impl Health {
    /// It is known who takes part.
    pub(super) fn set(&self, systems: Vec<Probed>, further: Vec<Probe>) {
        *self.parts.lock().unwrap_or_else(PoisonError::into_inner) = Parts {
            systems: Some(systems),
            further,
        };
    }

    /// Ready is about the caches, live about the process; whether the API server can be reached is not asked: a restart
    /// would not help.
    pub(super) fn probes(&self, pulse: Pulse) -> Probes {
        let parts = self.parts.clone();
        let ready: Probe = Arc::new(move || {
            let parts = parts.lock().unwrap_or_else(PoisonError::into_inner);
            parts.waiting()
        });
        let live: Probe = Arc::new(move || match pulse.age() {
            age if age < STUCK => Ok(()),
            age => Err(format!(
                "the workers have made no progress for {} seconds",
                age.as_secs()
            )),
        });
        Probes { ready, live }
    }
}

impl Parts {
    /// A standby is ready as it is; a leader is ready when its caches are filled, as far as they can be.
    fn waiting(&self) -> Result<(), String> {
        let Some(systems) = &self.systems else {
            return Err("the cluster has not answered yet".to_owned());
        };
        for (_, progress) in systems.iter().filter(|(fence, _)| fence.is_open()) {
            let progress = progress.borrow();
            if progress.started {
                continue;
            }
            let mut states = progress.states.iter();
            match states.find(|(_, state)| !state.borrow().synced) {
                Some((kind, _)) => return Err(format!("the list of {kind} is not complete")),
                None => return Err("the watches have not started".to_owned()),
            }
        }
        self.further.iter().try_for_each(|probe| probe())
    }
}
