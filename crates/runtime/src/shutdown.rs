//! Signals: the first asks for a drain, the second ends the process at once.

use tokio::{
    signal::unix::{Signal, SignalKind, signal},
    sync::watch,
};

/// Resolves when the process shall stop. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Shutdown {
    receiver: watch::Receiver<bool>,
}

/// Asks for the stop.
#[derive(Clone, Debug)]
pub struct Stopper {
    sender: watch::Sender<bool>,
}

impl Stopper {
    /// Begins the drain.
    pub fn stop(&self) {
        self.sender.send_replace(true);
    }
}

impl Shutdown {
    /// A shutdown and its trigger.
    pub fn new() -> (Stopper, Self) {
        let (sender, receiver) = watch::channel(false);
        (Stopper { sender }, Self { receiver })
    }

    /// Waits for the stop.
    pub async fn wait(&mut self) {
        // An error means that the trigger is gone, which is a stop as well.
        let _ = self.receiver.wait_for(|stop| *stop).await;
    }

    /// Whether the drain has begun.
    pub fn is_stopping(&self) -> bool {
        *self.receiver.borrow()
    }
}

/// Waits for SIGTERM or SIGINT.
#[derive(Debug)]
pub struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    /// Registers the handlers.
    pub fn listen() -> std::io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
        })
    }

    /// The next signal.
    pub async fn next(&mut self) -> &'static str {
        tokio::select! {
            _ = self.terminate.recv() => "SIGTERM",
            _ = self.interrupt.recv() => "SIGINT",
        }
    }
}
