//! What is told while objects are written: a line on stdout for each, and on stderr how far it is.

use std::{
    io::{self, IsTerminal as _},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use mainstay_manifest::{Object, apply::Observer, client::ClientError};

use super::args::When;
use crate::printer;

/// Pause between two words about the progress, and before the first.
const PAUSE: Duration = Duration::from_secs(1);

/// Tells what becomes of each object.
#[derive(Debug)]
pub(super) struct Progress {
    total: usize,
    done: AtomicUsize,
    told: Mutex<Instant>,
    when: When,
    is_terminal: bool,
    /// What happens, as a word: `applied`.
    word: &'static str,
}

impl Progress {
    pub(super) fn new(total: usize, when: When, word: &'static str) -> Self {
        Self {
            total,
            done: AtomicUsize::new(0),
            told: Mutex::new(Instant::now()),
            when,
            is_terminal: io::stderr().is_terminal(),
            word,
        }
    }

    /// Whether something is to be said now.
    fn is_due(&self, done: usize) -> bool {
        match self.when {
            When::Never => return false,
            When::Auto if !self.is_terminal => return false,
            // Whoever asks for it also wants the last word.
            When::Always if done == self.total => return true,
            _ => {}
        }
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        let is_due = told.elapsed() >= PAUSE;
        if is_due {
            *told = Instant::now();
        }
        is_due
    }
}

impl Observer for Progress {
    fn done(&self, object: &Object, result: Result<&str, &ClientError>) {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        if let Ok(word) = result {
            // A reader that is gone is noticed at the end.
            let _ = printer::to_stdout(&format!("{object} {word}\n"));
        }
        if self.is_due(done) {
            let (total, word) = (self.total, self.word);
            printer::to_stderr(&format!("{done} of {total} {word}\n"));
        }
    }
}
