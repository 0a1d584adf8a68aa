//! Ctrl-C: the writer rolls back at its next step instead of dying in the middle.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use anyhow::Context as _;
use mainstay_gitops::{Operation, Verdict, Watcher};
use tokio::signal::unix::{SignalKind, signal};

/// Whether the user asked to stop.
#[derive(Clone, Debug, Default)]
pub(crate) struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Begins to listen for SIGINT and SIGTERM.
    pub(crate) fn listen() -> anyhow::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .build()
            .context("could not listen for signals")?;
        let entered = runtime.enter();
        let mut interrupt =
            signal(SignalKind::interrupt()).context("could not listen for SIGINT")?;
        let mut terminate =
            signal(SignalKind::terminate()).context("could not listen for SIGTERM")?;
        drop(entered);
        let flag = Self::default();
        let raised = flag.clone();
        thread::spawn(move || {
            runtime.block_on(async move {
                loop {
                    tokio::select! {
                        _ = interrupt.recv() => {}
                        _ = terminate.recv() => {}
                    }
                    raised.0.store(true, Ordering::Relaxed);
                }
            });
        });
        Ok(flag)
    }

    /// Whether the user asked to stop.
    pub(crate) fn is_raised(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl Watcher for Interrupt {
    fn before(&self, _: Operation) -> Verdict {
        if self.is_raised() {
            Verdict::Interrupt
        } else {
            Verdict::Proceed
        }
    }
}
