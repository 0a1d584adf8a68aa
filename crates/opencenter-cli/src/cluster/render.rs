//! `cluster render`: one tree, or the trees of all clusters.

mod all;

use std::{collections::BTreeSet, fmt::Write as _, fs, path::Path, time::SystemTime};

use anyhow::Context as _;
use jiff::Timestamp;
use mainstay_gitops::{Desired, Overlay, Plan, Preparation, Prepared, Watcher, WriteOptions};
use mainstay_opencenter::{
    descriptor::Registry,
    finding::{self, Finding},
    overlay::Adoption,
    render::Report,
};
use mainstay_terminal::printer;
use serde_json::{Map, Value, json};

use super::{adoption, plan, watch};
use crate::{
    args::{OutputForm, RenderTreeArgs, SecretsMode},
    interrupt::Interrupt,
    load::{self, Cluster},
    locate::{self, Located},
    memory::{Memory, Note, Recalled},
    report::{self, Answer, code},
    session::Session,
    tree::{self, Target},
    write,
};

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

impl From<Recalled> for Done {
    fn from(recalled: Recalled) -> Self {
        Self {
            cluster: recalled.cluster,
            plan: recalled.plan,
            warnings: recalled.warnings,
            recovered: false,
            exposed: false,
        }
    }
}

/// What all renders of one run have in common.
#[derive(Clone, Copy)]
struct Run<'r> {
    session: &'r Session,
    arguments: &'r RenderTreeArgs,
    registry: &'r Registry,
    memory: Option<&'r Memory>,
}

pub(super) fn run(session: &Session, arguments: &RenderTreeArgs) -> Answer {
    let descriptors = session.descriptors()?;
    let memory = Memory::new(session, arguments, &descriptors);
    let interrupt = Interrupt::listen()?;
    if arguments.all {
        return all::run(session, arguments, descriptors, memory.as_ref(), &interrupt);
    }
    let located = locate::find(session, arguments.cluster.id.as_deref());
    let recalled = match (&memory, &located) {
        (Some(memory), Ok(located)) => memory.recall(located),
        _ => None,
    };
    let done = if let Some(recalled) = recalled {
        recalled.into()
    } else {
        let registry = Registry::with_user(&descriptors.0, descriptors.1)?;
        let located = located?;
        if arguments.watch {
            watch::run(session, arguments, &located, &interrupt);
            return Ok(code::SUCCESS);
        }
        let run = Run {
            session,
            arguments,
            registry: &registry,
            memory: memory.as_ref(),
        };
        Started::of(run, &located, &interrupt)?.sync_and_finish()?
    };
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
    let run = Run {
        session,
        arguments,
        registry,
        memory: None,
    };
    Started::new(run, cluster, None, watcher)?.sync_and_finish()
}

/// A cluster whose new files wait for the moment of the swap.
struct Started<'w> {
    done: Done,
    /// None if there is nothing to write.
    prepared: Option<Box<Prepared<'w>>>,
    overlay: Overlay,
    /// None if the outcome is not worth remembering.
    remembering: Option<Remembering<'w>>,
}

/// What it takes to remember a render once its files are in their places.
struct Remembering<'r> {
    memory: &'r Memory,
    note: Note,
    user_files: BTreeSet<String>,
    /// When all new files were written.
    staged: SystemTime,
}

impl<'w> Started<'w> {
    /// Loads a config and begins.
    fn of(run: Run<'w>, located: &Located, watcher: &'w dyn Watcher) -> Answer<Self> {
        let Run {
            session, arguments, ..
        } = run;
        let cluster = load::located(
            session,
            located,
            &tree::load_options(session, &arguments.tree),
        )?;
        let writes = !arguments.check && !session.dry_run;
        let noted = run.memory.filter(|_| writes).and_then(|memory| {
            let output_dir = arguments.tree.output_dir.as_deref();
            let repository = tree::repository(session, &cluster.config, output_dir);
            let note = memory.note(located, &cluster, &repository)?;
            Some((memory, note))
        });
        Self::new(run, cluster, noted, watcher)
    }

    fn new(
        run: Run<'w>,
        cluster: Cluster,
        noted: Option<(&'w Memory, Note)>,
        watcher: &'w dyn Watcher,
    ) -> Answer<Self> {
        let Run {
            session,
            arguments,
            registry,
            ..
        } = run;
        let writes = !arguments.check && !session.dry_run;
        let config = &cluster.config;
        let mut target = Target::new(session, config, &arguments.tree, arguments.secrets_mode)?;
        if arguments.finish_adoption {
            target.options.adoption = Adoption::default();
        }
        let planned = match &arguments.plan {
            Some(path) => {
                let artifact = plan::check(path, &cluster, registry, &target.options)?;
                Some((path, artifact))
            }
            None => None,
        };
        let is_plaintext = arguments.secrets_mode == SecretsMode::Plaintext;
        let exposed = writes && is_plaintext && tree::confirm_plaintext(session, config)?;
        let recovered = writes && target.overlay.recover(watcher).map_err(write::stop)?;
        let mut rendered = target.render(config, registry)?;
        if let Some((path, artifact)) = planned {
            let holds = artifact.verify_tree(&rendered.tree);
            holds.map_err(|error| plan::stale(path, error.to_string()))?;
        }
        let mut warnings = cluster.warnings;
        if arguments.adopt {
            let first = adoption::check(&target.overlay, &rendered.tree, arguments.accept_pruning)?;
            warnings.extend(first.findings);
            if !first.held.is_empty() {
                target.options.adoption = first.held;
                rendered = target.render(config, registry)?;
            }
        }
        warnings.extend(rendered.warnings.iter().cloned());
        finding::sort(&mut warnings);
        warnings.dedup();
        if let Some(path) = &arguments.diagnostics {
            write_diagnostics(path, &rendered.report)?;
        }
        let desired = target.seal(session, config, rendered)?;
        let (plan, prepared) = if writes {
            prepare(arguments, &target, &desired, watcher)?
        } else {
            (look_ahead(arguments, &target, &desired)?, None)
        };
        let done = Done {
            cluster: config.cluster_name().to_owned(),
            plan,
            warnings,
            recovered,
            exposed,
        };
        let started = Self {
            done,
            prepared,
            overlay: target.overlay,
            remembering: None,
        };
        Ok(match noted.filter(|_| !exposed) {
            Some((memory, note)) => started.remember(memory, note, target.options.user_files),
            None => started,
        })
    }

    /// Remembers what came of it, now or once the files are in their places.
    fn remember(mut self, memory: &'w Memory, note: Note, user_files: BTreeSet<String>) -> Self {
        if self.prepared.is_some() {
            self.remembering = Some(Remembering {
                memory,
                note,
                user_files,
                staged: SystemTime::now(),
            });
        } else {
            let Done { plan, warnings, .. } = &self.done;
            memory.keep_unchanged(note, plan, warnings, &user_files);
        }
        self
    }

    /// Waits for the medium, then moves the new files in.
    fn sync_and_finish(self) -> Answer<Done> {
        let synced = match &self.prepared {
            Some(prepared) => prepared.sync(),
            None => Ok(()),
        };
        self.finish(synced)
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
        let seeded = self.overlay.seed_custom(&outcome.plan);
        seeded.map_err(write::stop)?;
        self.done.recovered |= outcome.recovered;
        self.done.plan = outcome.plan;
        if let Some(remembering) = self.remembering {
            let Remembering {
                memory,
                note,
                user_files,
                staged,
            } = remembering;
            let Done { plan, warnings, .. } = &self.done;
            memory.keep_first(&note, staged, plan, warnings, &user_files);
        }
        Ok(self.done)
    }
}

/// Puts the new files beside the tree; none of them if it is as it shall be.
fn prepare<'w>(
    arguments: &RenderTreeArgs,
    target: &Target,
    desired: &Desired,
    watcher: &'w dyn Watcher,
) -> Answer<(Plan, Option<Box<Prepared<'w>>>)> {
    let options = WriteOptions {
        adopt: arguments.adopt,
        backup: arguments.backup,
        backup_name: Timestamp::now().strftime("%Y-%m-%dT%H-%M-%SZ").to_string(),
    };
    let preparation = target.overlay.prepare(desired, &options, watcher);
    Ok(match preparation.map_err(write::stop)? {
        Preparation::Done(outcome) => (outcome.plan, None),
        Preparation::Ready(prepared) => (Plan::default(), Some(prepared)),
    })
}

/// What would be written.
fn look_ahead(arguments: &RenderTreeArgs, target: &Target, desired: &Desired) -> Answer<Plan> {
    let plan = target.overlay.plan(desired, arguments.adopt);
    let plan = plan.map_err(write::stop)?;
    if plan.refused.is_empty() {
        Ok(plan)
    } else {
        Err(write::stop(mainstay_gitops::Error::Refused(plan.refused)))
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
