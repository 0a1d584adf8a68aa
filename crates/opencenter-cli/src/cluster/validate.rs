//! `cluster validate`: the config, the tree, and secrets that should not be there.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context as _, ensure};
use mainstay_opencenter::{
    config::{ClusterConfig, Purpose},
    finding::{self, Code, Finding},
    overlay::{self, BootstrapState, Contents, TreeCheck},
    scan,
};
use mainstay_terminal::printer;
use serde_json::{Value, json};

use crate::{
    args::{OutputForm, SecretsMode, TreeArgs, ValidateArgs, ValidationMode},
    load, locate,
    report::{self, Answer},
    session::{Session, files_below},
    tree::{self, Target},
    write,
};

/// Longest file that is searched for secrets.
const LONGEST_SCANNED: u64 = 16 * 1024 * 1024;

pub(super) fn run(session: &Session, arguments: &ValidateArgs) -> Answer {
    session.refuse_dry_run("cluster validate")?;
    if arguments.mode == ValidationMode::Online {
        let message = "nothing is validated against live systems here";
        return Err(Finding::new(Code::Oc6099, "", message).into());
    }
    let located = locate::find(session, arguments.cluster.id.as_deref())?;
    let bytes = load::read(&located.path)?;
    let purpose = if arguments.for_deploy {
        Purpose::Deploy
    } else {
        Purpose::Validate
    };
    let loaded = load::parse(
        session,
        &located.path,
        &bytes,
        &load::options(session, purpose),
    );
    let mut findings = loaded.findings;
    let mut bootstrap = None;
    if let Some(config) = &loaded.config {
        let repository = tree::repository(session, config, arguments.output_dir.as_deref());
        if arguments.security_only {
            findings.clear();
        }
        if arguments.tree && !arguments.security_only && !finding::has_errors(&findings) {
            let check = check_tree(session, arguments, config)?;
            findings.extend(check.findings);
            bootstrap = Some(check.state);
        }
        if arguments.tree || arguments.security_only || arguments.staged {
            findings.extend(scan_repository(&repository, arguments.staged)?);
        }
    }
    finding::sort(&mut findings);
    findings.dedup();
    show(session, &findings, bootstrap)?;
    Ok(report::exit_code(&findings))
}

fn show(session: &Session, findings: &[Finding], bootstrap: Option<BootstrapState>) -> Answer<()> {
    if session.output != OutputForm::Text {
        let mut value = finding::to_json(findings);
        if let (Some(state), Value::Object(report)) = (bootstrap, &mut value) {
            report.insert("tree".to_owned(), json!({ "state": state.as_str() }));
        }
        report::show(&value, session.output)?;
        return Ok(());
    }
    report::tell(findings);
    if !session.quiet {
        let errors = findings
            .iter()
            .filter(|finding| finding.severity == finding::Severity::Error)
            .count();
        let others = findings.len() - errors;
        let state = match bootstrap {
            Some(BootstrapState::RendererParity) => {
                "the tree waits for `flux bootstrap`: flux-system/ is missing or incomplete\n"
            }
            Some(BootstrapState::BootstrapComplete) => "the tree is bootstrapped\n",
            None => "",
        };
        printer::to_stdout(&format!("{state}{errors} errors, {others} warnings\n"))?;
    }
    Ok(())
}

/// Checks the tree on disk against itself, and against what would be rendered.
fn check_tree(
    session: &Session,
    arguments: &ValidateArgs,
    config: &ClusterConfig,
) -> Answer<TreeCheck> {
    let tree_arguments = TreeArgs {
        output_dir: arguments.output_dir.clone(),
        allow_missing_secrets: true,
        ..TreeArgs::default()
    };
    let target = Target::new(session, config, &tree_arguments, SecretsMode::Encrypt)?;
    let contents = tree::contents(&target.overlay)?;
    let mut check = overlay::check_tree(config.cluster_name(), &contents);
    if let Some(snapshot) = &arguments.base_snapshot {
        let base = read_base(snapshot)?;
        let presumed = overlay::check_base(config.cluster_name(), &contents, &base);
        check.findings.extend(presumed);
    }
    let rendered = target.render(config, &session.registry()?)?;
    let desired = target.seal(session, config, rendered)?;
    let plan = target.overlay.compare(&desired).map_err(write::stop)?;
    if !plan.is_empty() {
        let message = format!(
            "the tree differs from what would be rendered: {}",
            write::line(&plan)
        );
        check.findings.push(Finding::new(Code::Oc7020, "", message));
    }
    Ok(check)
}

/// The bases of a copy of the base repository, by path in it.
fn read_base(snapshot: &Path) -> Answer<Contents> {
    let root = snapshot.join(overlay::BASE_ROOT);
    let mut base = Contents::new();
    for path in files_below(&root)? {
        let file = root.join(&path);
        let bytes =
            fs::read(&file).with_context(|| format!("could not read `{}`", file.display()))?;
        base.insert(format!("{}{path}", overlay::BASE_ROOT), bytes);
    }
    Ok(base)
}

/// Looks through the files of a repository, or of its index.
fn scan_repository(repository: &Path, staged: bool) -> Answer<Vec<Finding>> {
    if staged {
        let export = export_index(repository)?;
        return Ok(scan_directory(export.path())?);
    }
    Ok(scan_directory(repository)?)
}

fn scan_directory(root: &Path) -> anyhow::Result<Vec<Finding>> {
    let mut findings = Vec::new();
    let mut open = vec![PathBuf::new()];
    while let Some(directory) = open.pop() {
        let path = root.join(&directory);
        let could_not = || format!("could not read directory `{}`", path.display());
        let entries = match fs::read_dir(&path) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error).with_context(could_not),
        };
        for entry in entries {
            let entry = entry.with_context(could_not)?;
            let relative = directory.join(entry.file_name());
            let kind = entry.file_type().with_context(could_not)?;
            let name = entry.file_name();
            let is_skipped = scan::SKIPPED_DIRECTORIES
                .iter()
                .any(|skipped| name == **skipped);
            if kind.is_dir() && !is_skipped {
                open.push(relative);
            } else if kind.is_file()
                && entry.metadata().with_context(could_not)?.len() <= LONGEST_SCANNED
            {
                let file = root.join(&relative);
                let bytes = fs::read(&file)
                    .with_context(|| format!("could not read `{}`", file.display()))?;
                findings.extend(scan::scan(&relative.to_string_lossy(), &bytes));
            }
        }
    }
    Ok(findings)
}

/// A directory that only the user can read, and that goes away.
struct Export(PathBuf);

impl Export {
    fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Export {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Writes what is staged in Git to a directory outside the repository.
fn export_index(repository: &Path) -> anyhow::Result<Export> {
    use std::os::unix::fs::DirBuilderExt as _;
    let directory = std::env::temp_dir().join(format!("mainstay-staged-{}", std::process::id()));
    fs::DirBuilder::new()
        .mode(0o700)
        .create(&directory)
        .with_context(|| format!("could not create `{}`", directory.display()))?;
    let export = Export(directory);
    let output = Command::new("git")
        .arg("-C")
        .arg(repository)
        .args(["checkout-index", "--all", "--force"])
        .arg(format!("--prefix={}/", export.path().display()))
        .output()
        .context("could not run `git`")?;
    ensure!(
        output.status.success(),
        "`git checkout-index` failed: {}",
        String::from_utf8_lossy(&output.stderr).trim()
    );
    Ok(export)
}
