//! A thread of its own for what must never wait for a reconcile: lease, probes, metrics.

use std::{io, thread};

use tokio::{
    runtime::{Builder, Handle},
    sync::oneshot,
};

/// The thread and its runtime; both end when this is dropped.
#[derive(Debug)]
pub(crate) struct Control {
    handle: Handle,
    _stop: oneshot::Sender<()>,
}

impl Control {
    /// Starts the thread.
    pub(crate) fn start() -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let handle = runtime.handle().clone();
        let (stop, stopped) = oneshot::channel::<()>();
        thread::Builder::new()
            .name("control".to_owned())
            .spawn(move || {
                // An error means that the other end was dropped, which is the stop.
                let _ = runtime.block_on(stopped);
            })?;
        Ok(Self {
            handle,
            _stop: stop,
        })
    }

    /// Where tasks are spawned. What they use of the network has to be made inside of them: connections belong to the
    /// runtime on which they were opened.
    pub(crate) const fn handle(&self) -> &Handle {
        &self.handle
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test]
    async fn its_tasks_run_while_everything_else_is_blocked() {
        let control = Control::start().unwrap();
        let (sender, receiver) = std::sync::mpsc::channel();
        control.handle().spawn(async move {
            for beat in 0..3 {
                tokio::time::sleep(Duration::from_millis(10)).await;
                sender.send(beat).unwrap();
            }
        });
        // Blocks the runtime of the test on purpose.
        let beats: Vec<i32> = receiver.iter().collect();
        assert_eq!(beats, [0, 1, 2]);
    }
}
