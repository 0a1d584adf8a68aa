//! `cluster render`: one tree, or the trees of all clusters.

use std::{
    collections::BTreeSet,
    fmt::Write as _,
    fs,
    num::NonZero,
    path::Path,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use anyhow::Context as _;
use jiff::Timestamp;
use mainstay_gitops::{Plan, Preparation, Prepared, Watcher, WriteOptions};
use mainstay_opencenter::{
    descriptor::Registry,
    finding::{self, Finding},
    render::Report,
};
use serde_json::{Map, Value, json};

use super::{
    args::{OutputForm, RenderTreeArgs, SecretsMode},
    interrupt::Interrupt,
    load::{self, Cluster},
    locate::{self, Located},
    plan,
    report::{self, Answer, Stop, code},
    session::Session,
    tree::{self, Target},
    watch, write,
};
use crate::printer;

/// Trees that a worker prepares before it swaps them in.
const BATCH: usize = 16;

/// What became of one cluster.
#[derive(Debug)]
pub(super) struct Done {
    pub(super) cluster: String,
    pub(super) plan: Plan,
    warnings: Vec<Finding>,
    recovered: bool,
    /// Real secrets were written in plain text.
    exposed: bool,
}

pub(super) fn run(session: &Session, arguments: &RenderTreeArgs) -> Answer {
    let registry = session.registry()?;
    let interrupt = Interrupt::listen()?;
    if arguments.all {
        return all(session, arguments, &registry, &interrupt);
    }
    let located = locate::find(session, arguments.cluster.id.as_deref())?;
    if arguments.watch {
        watch::run(session, arguments, &located, &registry, &interrupt);
        return Ok(code::SUCCESS);
    }
    let cluster = load::located(&located, &tree::load_options(session, &arguments.tree))?;
    let done = one(session, arguments, cluster, &registry, &interrupt)?;
    show(session, arguments, &done)?;
    Ok(exit_code(arguments, &done.plan))
}

/// Renders one cluster and writes its tree, or finds out what would be written.
pub(super) fn one(
    session: &Session,
    arguments: &RenderTreeArgs,
    cluster: Cluster,
    registry: &Registry,
    watcher: &dyn Watcher,
) -> Answer<Done> {
    let started = Started::new(session, arguments, cluster, registry, watcher)?;
    let synced = match &started.prepared {
        Some(prepared) => prepared.sync(),
        None => Ok(()),
    };
    started.finish(synced)
}

/// A cluster whose new files wait for the moment of the swap.
struct Started<'w> {
    done: Done,
    /// None if there is nothing to write.
    prepared: Option<Box<Prepared<'w>>>,
}

impl<'w> Started<'w> {
    fn new(
        session: &Session,
        arguments: &RenderTreeArgs,
        cluster: Cluster,
        registry: &Registry,
        watcher: &'w dyn Watcher,
    ) -> Answer<Self> {
        let writes = !arguments.check && !session.dry_run;
        let config = &cluster.config;
        let target = Target::new(session, config, &arguments.tree, arguments.secrets_mode)?;
        if let Some(path) = &arguments.plan {
            plan::check(path, &cluster, registry, &target.options)?;
        }
        let is_plaintext = arguments.secrets_mode == SecretsMode::Plaintext;
        let exposed = writes && is_plaintext && tree::confirm_plaintext(session, config)?;
        let recovered = writes && target.overlay.recover(watcher).map_err(write::stop)?;
        let rendered = target.render(config, registry)?;
        let mut warnings = cluster.warnings;
        warnings.extend(rendered.warnings.iter().cloned());
        finding::sort(&mut warnings);
        warnings.dedup();
        if let Some(path) = &arguments.diagnostics {
            write_diagnostics(path, &rendered.report)?;
        }
        let desired = target.seal(session, config, rendered)?;
        let (plan, prepared) = if writes {
            let options = WriteOptions {
                adopt: arguments.adopt,
                backup: arguments.backup,
                backup_name: Timestamp::now().strftime("%Y-%m-%dT%H-%M-%SZ").to_string(),
            };
            let preparation = target.overlay.prepare(&desired, &options, watcher);
            match preparation.map_err(write::stop)? {
                Preparation::Done(outcome) => (outcome.plan, None),
                Preparation::Ready(prepared) => (Plan::default(), Some(prepared)),
            }
        } else {
            let plan = target
                .overlay
                .plan(&desired, arguments.adopt)
                .map_err(write::stop)?;
            if !plan.refused.is_empty() {
                return Err(write::stop(mainstay_gitops::Error::Refused(plan.refused)));
            }
            (plan, None)
        };
        let done = Done {
            cluster: config.cluster_name().to_owned(),
            plan,
            warnings,
            recovered,
            exposed,
        };
        Ok(Self { done, prepared })
    }

    /// Moves the new files in, once they are on the medium.
    fn finish(mut self, synced: Result<(), mainstay_gitops::Error>) -> Answer<Done> {
        let Some(prepared) = self.prepared else {
            return Ok(self.done);
        };
        let outcome = match synced {
            Ok(()) => prepared.commit(),
            Err(error) => Err(prepared.abandon(error)),
        };
        let outcome = outcome.map_err(write::stop)?;
        self.done.recovered |= outcome.recovered;
        self.done.plan = outcome.plan;
        Ok(self.done)
    }
}

fn write_diagnostics(path: &Path, report: &Report) -> Answer<()> {
    let value = serde_json::to_value(report).map_err(anyhow::Error::new)?;
    fs::write(path, format!("{value:#}\n"))
        .with_context(|| format!("could not write `{}`", path.display()))?;
    Ok(())
}

fn exit_code(arguments: &RenderTreeArgs, plan: &Plan) -> u8 {
    if arguments.check && !plan.is_empty() {
        code::DIFFERENT
    } else {
        code::SUCCESS
    }
}

/// Prints what was done.
pub(super) fn show(session: &Session, arguments: &RenderTreeArgs, done: &Done) -> Answer<()> {
    if session.output != OutputForm::Text {
        report::show(&value(done), session.output)?;
        return Ok(());
    }
    load::tell_warnings(session, &done.warnings);
    if session.chats() && done.recovered {
        printer::to_stderr("An interrupted render was undone first\n");
    }
    if session.chats() && done.exposed {
        printer::to_stderr("The tree holds secrets in plain text: do not commit it\n");
    }
    if !session.quiet {
        let verb = if arguments.check || session.dry_run {
            "Would render"
        } else {
            "Rendered"
        };
        let mut text = String::new();
        for (mark, files) in [
            ('+', &done.plan.added),
            ('~', &done.plan.changed),
            ('-', &done.plan.deleted),
            ('?', &done.plan.candidates),
        ] {
            for file in files {
                let _ = writeln!(text, "{mark} {file}");
            }
        }
        let _ = writeln!(text, "{verb} {}: {}", done.cluster, write::line(&done.plan));
        printer::to_stdout(&text)?;
    }
    Ok(())
}

fn value(done: &Done) -> Value {
    let mut report = match finding::to_json(&done.warnings) {
        Value::Object(report) => report,
        _ => Map::new(),
    };
    report.insert("cluster".to_owned(), json!(done.cluster));
    report.insert("render".to_owned(), write::summary(&done.plan));
    report.insert("committable".to_owned(), json!(!done.exposed));
    Value::Object(report)
}

/// Renders every cluster, as many at once as there are processors.
///
/// Each worker prepares a few trees, syncs once for all of them, then swaps them in: waiting for the medium costs the
/// same for one file and for a thousand.
fn all(
    session: &Session,
    arguments: &RenderTreeArgs,
    registry: &Registry,
    interrupt: &Interrupt,
) -> Answer {
    let clusters = locate::all(session)?;
    let next = AtomicUsize::new(0);
    let results: Mutex<Vec<(usize, Answer<Done>)>> = Mutex::new(Vec::new());
    let workers = thread::available_parallelism().map_or(1, NonZero::get);
    let batch = BATCH.min(clusters.len().div_ceil(workers)).max(1);
    let start = |located: &Located| {
        let options = tree::load_options(session, &arguments.tree);
        load::located(located, &options)
            .and_then(|cluster| Started::new(session, arguments, cluster, registry, interrupt))
    };
    let work = || {
        while !interrupt.is_raised() {
            let first = next.fetch_add(batch, Ordering::Relaxed);
            let taken: Vec<_> = clusters
                .iter()
                .enumerate()
                .skip(first)
                .take(batch)
                .collect();
            if taken.is_empty() {
                break;
            }
            let started: Vec<_> = taken
                .into_iter()
                .map(|(index, located)| (index, start(located)))
                .collect();
            let finished = finish_all(started);
            if let Ok(mut results) = results.lock() {
                results.extend(finished);
            }
        }
    };
    thread::scope(|scope| {
        for _ in 1..workers.min(clusters.len()) {
            scope.spawn(work);
        }
        work();
    });
    let mut results = results.into_inner().unwrap_or_default();
    results.sort_unstable_by_key(|(index, _)| *index);
    summarise(session, arguments, &clusters, results, interrupt)
}

/// Syncs each file system once, then finishes every tree.
fn finish_all(started: Vec<(usize, Answer<Started<'_>>)>) -> Vec<(usize, Answer<Done>)> {
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
    arguments: &RenderTreeArgs,
    clusters: &[Located],
    results: Vec<(usize, Answer<Done>)>,
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
            Ok(done) => exit_code(arguments, &done.plan),
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
                Ok(done) if session.quiet => drop(done),
                Ok(done) => {
                    let line = format!("{id}: {}\n", write::line(&done.plan));
                    printer::to_stdout(&line)?;
                }
                Err(stop) => {
                    report::conclude(Err(stop), session.output);
                }
            }
        } else {
            let mut object = match result {
                Ok(done) => value(&done),
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
