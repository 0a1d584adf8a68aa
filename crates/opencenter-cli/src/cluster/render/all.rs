//! `cluster render --all`: the trees of all clusters.

use std::{
    collections::BTreeSet,
    num::NonZero,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use mainstay_opencenter::{
    descriptor::{Registry, TemplateStore},
    finding,
};
use mainstay_terminal::printer;
use serde_json::{Value, json};

use super::{Done, Run, Started, exit_code, value};
use crate::{
    args::{OutputForm, RenderTreeArgs},
    interrupt::Interrupt,
    locate::{self, Located},
    memory::Memory,
    report::{self, Answer, Stop, code},
    session::Session,
    write,
};

/// Most trees that a worker prepares before it waits for the medium and swaps them in.
const LARGEST_BATCH: usize = 16;

/// Fewer trees than this are not worth a wait of their own, unless a processor would have nothing to do.
const SMALLEST_BATCH: usize = 4;

/// What became of a cluster, by its place in the list.
type Numbered<T> = (usize, T);

/// What is said of a cluster. Its plan names every file, so none is kept until the end.
struct Told {
    code: u8,
    line: String,
    /// None if people read it.
    value: Option<Value>,
}

impl Told {
    fn of(session: &Session, arguments: &RenderTreeArgs, done: &Done) -> Self {
        let for_programs = session.output != OutputForm::Text;
        Self {
            code: exit_code(arguments, &done.plan),
            line: write::line(&done.plan),
            value: for_programs.then(|| value(done)),
        }
    }
}

/// Renders every cluster.
///
/// Those that are known to be as they shall be are found first; if that is all of them, nothing else is read.
pub(super) fn run(
    session: &Session,
    arguments: &RenderTreeArgs,
    (texts, templates): (Vec<(String, String)>, TemplateStore),
    memory: Option<&Memory>,
    interrupt: &Interrupt,
) -> Answer {
    let clusters = locate::all(session)?;
    let tell = |done: &Done| Told::of(session, arguments, done);
    let mut results: Vec<Numbered<Answer<Told>>> = Vec::new();
    if let Some(memory) = memory {
        let recall = |(index, located): Numbered<&Located>| {
            let recalled = memory.recall(located)?;
            Some((index, Ok(tell(&recalled.into()))))
        };
        let all: Vec<_> = clusters.iter().enumerate().collect();
        results = in_batches(&all, interrupt, |batch| {
            batch.iter().copied().filter_map(recall).collect()
        });
    }
    let known: BTreeSet<usize> = results.iter().map(|(index, _)| *index).collect();
    let others: Vec<Numbered<&Located>> = clusters
        .iter()
        .enumerate()
        .filter(|(index, _)| !known.contains(index))
        .collect();
    // Descriptors that are wrong stop everything, also where there is nothing to render.
    if !others.is_empty() || clusters.is_empty() {
        let registry = Registry::with_user(&texts, templates)?;
        let run = Run {
            session,
            arguments,
            registry: &registry,
            memory,
        };
        results.extend(in_batches(&others, interrupt, |batch| {
            let started = batch
                .iter()
                .map(|(index, located)| (*index, Started::of(run, located, interrupt)));
            let finished = finish_all(started.collect()).into_iter();
            finished
                .map(|(index, done)| (index, done.map(|done| tell(&done))))
                .collect()
        }));
    }
    results.sort_unstable_by_key(|(index, _)| *index);
    summarise(session, &clusters, results, interrupt)
}

/// Works on all items in batches: one worker for each processor, and one more for the time that others wait for the
/// medium.
fn in_batches<T: Sync, R: Send>(
    items: &[T],
    interrupt: &Interrupt,
    work: impl Fn(&[T]) -> Vec<R> + Sync,
) -> Vec<R> {
    let processors = thread::available_parallelism().map_or(1, NonZero::get);
    let batches = batches(items, processors);
    let next = AtomicUsize::new(0);
    let results = Mutex::new(Vec::new());
    let worker = || {
        while !interrupt.is_raised() {
            let Some(batch) = batches.get(next.fetch_add(1, Ordering::Relaxed)) else {
                break;
            };
            let done = work(batch);
            if let Ok(mut results) = results.lock() {
                results.extend(done);
            }
        }
    };
    thread::scope(|scope| {
        for _ in 1..batches.len().min(processors + 1) {
            scope.spawn(worker);
        }
        worker();
    });
    results.into_inner().unwrap_or_default()
}

/// Batches that become smaller towards the end, so that all workers finish at about the same time.
fn batches<T>(items: &[T], processors: usize) -> Vec<&[T]> {
    let share = items.len().div_ceil(processors);
    let mut batches = Vec::new();
    let mut rest = items;
    while !rest.is_empty() {
        let size = rest.len().div_ceil(processors * 2);
        let size = size.clamp(SMALLEST_BATCH, LARGEST_BATCH).min(share);
        let (batch, others) = rest.split_at(size.min(rest.len()));
        batches.push(batch);
        rest = others;
    }
    batches
}

/// Syncs each file system once, then finishes every tree.
fn finish_all(started: Vec<Numbered<Answer<Started<'_>>>>) -> Vec<Numbered<Answer<Done>>> {
    let mut synced = BTreeSet::new();
    let mut finished = Vec::with_capacity(started.len());
    for (_, result) in &started {
        if let Ok(Started {
            prepared: Some(prepared),
            ..
        }) = result
            && !synced.contains(&prepared.file_system())
            && prepared.sync().is_ok()
        {
            synced.insert(prepared.file_system());
        }
    }
    for (index, result) in started {
        let done = result.and_then(|started| {
            let is_synced = match &started.prepared {
                Some(prepared) if !synced.contains(&prepared.file_system()) => prepared.sync(),
                _ => Ok(()),
            };
            started.finish(is_synced)
        });
        finished.push((index, done));
    }
    finished
}

fn summarise(
    session: &Session,
    clusters: &[Located],
    results: Vec<Numbered<Answer<Told>>>,
    interrupt: &Interrupt,
) -> Answer {
    let mut worst = code::SUCCESS;
    let mut values = Vec::new();
    for (index, result) in results {
        let id = clusters
            .get(index)
            .map(|located| located.id.clone())
            .unwrap_or_default();
        let number = match &result {
            Ok(told) => told.code,
            Err(Stop::Findings(findings)) => report::exit_code(findings),
            Err(Stop::Usage(_) | Stop::Error(_)) => code::FAILURE,
        };
        // A failure outranks a difference.
        worst = match (worst, number) {
            (code::SUCCESS, number) => number,
            (worst, code::SUCCESS | code::DIFFERENT) => worst,
            (code::DIFFERENT, number) => number,
            (worst, number) => worst.max(number),
        };
        if session.output == OutputForm::Text {
            match result {
                Ok(_) if session.quiet => {}
                Ok(told) => printer::to_stdout(&format!("{id}: {}\n", told.line))?,
                Err(stop) => {
                    report::conclude(Err(stop), session.output);
                }
            }
        } else {
            let mut object = match result {
                Ok(told) => told.value.unwrap_or_default(),
                Err(Stop::Findings(findings)) => finding::to_json(&findings),
                Err(Stop::Usage(message)) => json!({ "ok": false, "message": message }),
                Err(Stop::Error(error)) => json!({ "ok": false, "message": format!("{error:#}") }),
            };
            if let Value::Object(object) = &mut object {
                object.insert("id".to_owned(), json!(id));
            }
            values.push(object);
        }
    }
    if session.output != OutputForm::Text {
        report::show(&Value::Array(values), session.output)?;
    }
    if interrupt.is_raised() {
        return Ok(code::INTERRUPTED);
    }
    Ok(worst)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_cover_everything_in_order_and_leave_no_processor_idle() {
        for count in 0..200 {
            let items: Vec<usize> = (0..count).collect();
            for processors in 1..9 {
                let batches = batches(&items, processors);
                assert_eq!(batches.concat(), items);
                let sizes = batches.iter().map(|batch| batch.len());
                assert!(
                    sizes
                        .clone()
                        .all(|size| (1..=LARGEST_BATCH).contains(&size))
                );
                assert!(sizes.is_sorted_by(|left, right| left >= right));
                assert!(batches.len() >= processors.min(count).div_ceil(2));
            }
        }
        let hundred: Vec<usize> = (0..100).collect();
        let sizes: Vec<usize> = batches(&hundred, 2)
            .iter()
            .map(|batch| batch.len())
            .collect();
        assert_eq!(sizes, [16, 16, 16, 13, 10, 8, 6, 4, 4, 4, 3]);
    }
}
