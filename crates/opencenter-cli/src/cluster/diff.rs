//! `cluster diff`: the tree on disk against what would be rendered. Secrets are compared, never shown.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    sync::Arc,
};

use mainstay_gitops::{Overlay, Plan};
use mainstay_opencenter::overlay::{
    Contents, FileChange, FluxEffect, OverlayFile, OverlayTree, TreeChange, semantic_diff,
};
use mainstay_sops::{Cleartext, Settings};
use mainstay_terminal::printer::{self, painted, style};
use serde_json::{Value, json};
use similar::TextDiff;

use super::adoption;
use crate::{
    args::{DiffArgs, OutputForm, SecretsMode},
    keys::Keys,
    load,
    report::{self, Answer, code},
    seal::Sealer,
    session::Session,
    tree::{self, Target},
    write,
};

/// Lines around a change.
const CONTEXT: usize = 3;

/// What stands for a secret in compared texts.
const SECRET: &str = "<secret>";

/// The difference of one file.
#[derive(Debug)]
struct FileDiff {
    path: String,
    kind: &'static str,
    unified: String,
    added_lines: usize,
    removed_lines: usize,
    /// Paths of secrets that differ.
    secrets: Vec<String>,
}

pub(super) fn run(session: &Session, arguments: &DiffArgs) -> Answer {
    session.refuse_dry_run("cluster diff")?;
    let options = tree::load_options(session, &arguments.tree);
    let cluster = load::with_options(session, arguments.cluster.id.as_deref(), &options)?;
    let registry = session.registry()?;
    let target = Target::new(
        session,
        &cluster.config,
        &arguments.tree,
        SecretsMode::Encrypt,
    )?;
    let rendered = target.render(&cluster.config, &registry)?;
    if arguments.adopt {
        return show_effects(
            session,
            &adoption::effects(&target.overlay, &rendered.tree)?,
        );
    }
    let clear = rendered.tree.clone();
    let secrets = Arc::clone(&rendered.secrets);
    let desired = target.seal(session, &cluster.config, rendered)?;
    let plan = target.overlay.compare(&desired).map_err(write::stop)?;
    let is_sensitive = clear.files.values().any(|file| file.sensitivity.is_some());
    let sealer = if is_sensitive {
        Some(Sealer::new(
            &cluster.config,
            &secrets,
            &target.overlay,
            &session.config_dir,
        )?)
    } else {
        None
    };
    let differ = Differ {
        overlay: &target.overlay,
        clear: &clear,
        keys: Keys::of(Some(&cluster.config))?,
        sealer,
    };
    let diffs = differ.all(&plan)?;
    let changes = differ.semantic(&plan)?;
    let unknown = if arguments.unknown {
        let mut unknown = target.overlay.unknown().map_err(write::stop)?;
        unknown.extend(plan.candidates.iter().cloned());
        unknown.sort_unstable();
        unknown
    } else {
        Vec::new()
    };
    show(
        session,
        arguments,
        &Shown {
            diffs: &diffs,
            changes: &changes,
            unknown: &unknown,
        },
    )?;
    Ok(if diffs.is_empty() {
        code::SUCCESS
    } else {
        code::DIFFERENT
    })
}

/// Prints what Flux will do.
fn show_effects(session: &Session, effects: &[FluxEffect]) -> Answer {
    if session.output == OutputForm::Text {
        let lines = effects.iter().map(|effect| format!("{effect}\n"));
        printer::to_stdout(&lines.collect::<String>())?;
    } else {
        report::show(&json!({ "flux": effects }), session.output)?;
    }
    Ok(if effects.is_empty() {
        code::SUCCESS
    } else {
        code::DIFFERENT
    })
}

struct Differ<'a> {
    overlay: &'a Overlay,
    clear: &'a OverlayTree,
    keys: Keys,
    /// None if no file of the tree is secret.
    sealer: Option<Sealer<'a>>,
}

impl Differ<'_> {
    fn all(&self, plan: &Plan) -> Answer<Vec<FileDiff>> {
        let mut diffs = BTreeMap::new();
        for (kind, files) in [
            ("added", &plan.added),
            ("changed", &plan.changed),
            ("deleted", &plan.deleted),
        ] {
            for path in files {
                diffs.insert(path.clone(), self.file(path, kind)?);
            }
        }
        Ok(diffs.into_values().collect())
    }

    /// The same differences by meaning.
    fn semantic(&self, plan: &Plan) -> Answer<Vec<TreeChange>> {
        let touched: BTreeSet<&String> = plan
            .added
            .iter()
            .chain(&plan.changed)
            .chain(&plan.deleted)
            .collect();
        let mut before = Contents::new();
        for path in &touched {
            if let Some(bytes) = self.overlay.read(path).map_err(write::stop)? {
                let opened = mainstay_sops::decrypt(&bytes, &self.keys.identities);
                let clear = opened.map(|clear| clear.expose().as_bytes().to_vec());
                before.insert((*path).clone(), clear.unwrap_or(bytes));
            }
        }
        let mut after = self.clear.clone();
        after.files.retain(|path, _| touched.contains(path));
        Ok(semantic_diff(&before, &after))
    }

    fn file(&self, path: &str, kind: &'static str) -> Answer<FileDiff> {
        let present = self.overlay.read(path).map_err(write::stop)?;
        let wanted = self.clear.files.get(path);
        let (old, new, secrets) = self.texts(path, present.as_deref(), wanted)?;
        let diff = TextDiff::from_lines(&old, &new);
        let count = |tag| {
            diff.iter_all_changes()
                .filter(|change| change.tag() == tag)
                .count()
        };
        let unified = diff
            .unified_diff()
            .context_radius(CONTEXT)
            .header(
                &if present.is_some() {
                    format!("a/{path}")
                } else {
                    "/dev/null".to_owned()
                },
                &if wanted.is_some() {
                    format!("b/{path}")
                } else {
                    "/dev/null".to_owned()
                },
            )
            .to_string();
        Ok(FileDiff {
            path: path.to_owned(),
            kind,
            added_lines: count(similar::ChangeTag::Insert),
            removed_lines: count(similar::ChangeTag::Delete),
            unified,
            secrets,
        })
    }

    /// Both versions without secrets, and the paths of the secrets that differ.
    fn texts(
        &self,
        path: &str,
        present: Option<&[u8]>,
        wanted: Option<&OverlayFile>,
    ) -> Answer<(String, String, Vec<String>)> {
        let text = |bytes: Option<&[u8]>| {
            let text = bytes.map(|bytes| String::from_utf8_lossy(bytes).into_owned());
            text.unwrap_or_default()
        };
        let wanted_bytes = wanted.map(|file| file.bytes.as_slice());
        let is_encrypted = present.is_some_and(load::looks_encrypted);
        let sensitive = wanted.and_then(|file| Some((file, file.sensitivity?)));
        let settings = match (sensitive, &self.sealer) {
            (Some((file, sensitivity)), Some(sealer)) => {
                Some(sealer.settings(path, file.kind, sensitivity)?)
            }
            _ if is_encrypted => None,
            _ => return Ok((text(present), text(wanted_bytes), Vec::new())),
        };
        Ok(self.secret_texts(present, wanted_bytes, settings.as_ref()))
    }

    fn secret_texts(
        &self,
        present: Option<&[u8]>,
        wanted: Option<&[u8]>,
        settings: Option<&Settings>,
    ) -> (String, String, Vec<String>) {
        let scope = settings.map_or_else(mainstay_sops::Scope::default_suffix, |settings| {
            settings.scope.clone()
        });
        let old = present.map(|bytes| {
            let opened = mainstay_sops::decrypt(bytes, &self.keys.identities);
            // What is not encrypted is compared as it is; what does not open has no cleartext.
            opened.or_else(|error| match error {
                mainstay_sops::Error::NotEncrypted => Cleartext::parse(bytes),
                other => Err(other),
            })
        });
        let new = wanted.map(Cleartext::parse).transpose().ok().flatten();
        let redact = |side: Option<&Cleartext>| {
            let text = side.map(|side| side.redacted(&scope, SECRET));
            text.transpose().ok().flatten().unwrap_or_default()
        };
        let secrets = match (&old, &new) {
            (Some(Ok(old)), Some(new)) => {
                let changed = old.changed_secrets(new, &scope).unwrap_or_default();
                changed.into_iter().collect()
            }
            (Some(Err(_)), _) => vec!["<cannot be compared without the secret key>".to_owned()],
            _ => Vec::new(),
        };
        let old = old.and_then(Result::ok);
        (redact(old.as_ref()), redact(new.as_ref()), secrets)
    }
}

/// Everything that is printed.
struct Shown<'a> {
    diffs: &'a [FileDiff],
    changes: &'a [TreeChange],
    unknown: &'a [String],
}

fn show(session: &Session, arguments: &DiffArgs, shown: &Shown<'_>) -> Answer<()> {
    if session.output != OutputForm::Text {
        let files: Vec<Value> = shown.diffs.iter().map(FileDiff::value).collect();
        let value = json!({
            "different": !shown.diffs.is_empty(),
            "files": files,
            "objects": shown.changes,
            "unknown": shown.unknown,
        });
        report::show(&value, session.output)?;
        return Ok(());
    }
    let mut text = String::new();
    if arguments.semantic {
        write_semantic(shown.changes, &mut text);
    }
    for diff in shown.diffs.iter().filter(|_| !arguments.semantic) {
        if arguments.name_only {
            let _ = writeln!(text, "{}", diff.path);
        } else if arguments.stat {
            let secrets = if diff.secrets.is_empty() {
                ""
            } else {
                " (secrets)"
            };
            let (added, removed) = (diff.added_lines, diff.removed_lines);
            let _ = writeln!(text, "{} | +{added} -{removed}{secrets}", diff.path);
        } else {
            diff.write(&mut text);
        }
    }
    let mut sensitive = shown
        .changes
        .iter()
        .filter(|change| change.security_sensitive)
        .peekable();
    if !arguments.name_only && !arguments.stat && sensitive.peek().is_some() {
        let _ = writeln!(text, "{}", painted(style::WARNING, "security-sensitive:"));
        for change in sensitive {
            let _ = writeln!(text, "  {}", change.path);
        }
    }
    for path in shown.unknown {
        let _ = writeln!(text, "? {path}");
    }
    printer::to_stdout(&text)?;
    Ok(())
}

/// Objects and their fields.
fn write_semantic(changes: &[TreeChange], text: &mut String) {
    for change in changes {
        let mark = match change.change {
            FileChange::Added => '+',
            FileChange::Deleted => '-',
            FileChange::Changed => '~',
        };
        let _ = writeln!(text, "{mark} {}", change.path);
        for document in &change.documents {
            let _ = writeln!(text, "  {}", document.object);
            for field in &document.fields {
                let side = |value: &Option<Value>| {
                    value
                        .as_ref()
                        .map_or_else(|| "nothing".to_owned(), Value::to_string)
                };
                let (before, after) = (side(&field.before), side(&field.after));
                let _ = writeln!(text, "    {}: {before} -> {after}", field.pointer);
            }
        }
    }
}

impl FileDiff {
    fn write(&self, text: &mut String) {
        for line in self.unified.lines() {
            let line = match line.as_bytes().first() {
                Some(b'+') => painted(style::OK, line),
                Some(b'-') => painted(style::ERROR, line),
                Some(b'@') => painted(style::NAME, line),
                _ => line.to_owned(),
            };
            let _ = writeln!(text, "{line}");
        }
        if self.unified.is_empty() {
            let _ = writeln!(text, "--- a/{0}\n+++ b/{0}", self.path);
        }
        for secret in &self.secrets {
            let _ = writeln!(text, "  {secret}: <secret changed>");
        }
    }

    fn value(&self) -> Value {
        json!({
            "path": self.path,
            "change": self.kind,
            "added_lines": self.added_lines,
            "removed_lines": self.removed_lines,
            "changed_secrets": self.secrets,
            "diff": self.unified,
        })
    }
}
