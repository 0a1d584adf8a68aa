//! `cluster parity`: rendered trees against expected ones.

use std::{collections::BTreeSet, fs, path::Path};

use anyhow::Context as _;
use mainstay_gitops::Overlay;
use mainstay_opencenter::{
    config::Purpose,
    overlay::{
        Contents,
        parity::{Difference, Inventory, compare},
    },
};
use mainstay_terminal::printer;
use serde_json::{Value, json};

use crate::{
    args::{OutputForm, ParityArgs, SecretsMode, TreeArgs},
    load,
    locate::Located,
    report::{self, Answer, Stop, code},
    session::Session,
    tree::{self, Target},
    write,
};

/// The differences that are known and wanted.
const INVENTORY: &str = "parity-canonicalization.yaml";

pub(super) fn run(session: &Session, arguments: &ParityArgs) -> Answer {
    if arguments.update && !session.yes && !session.dry_run {
        let message = "`--update` replaces the expected trees: confirm with --yes";
        return Err(Stop::Usage(message.to_owned()));
    }
    let inventory = inventory(&arguments.fixtures)?;
    let mut is_different = false;
    let mut values = Vec::new();
    for located in configs(arguments)? {
        let cluster = Fixture::render(session, &arguments.fixtures, &located)?;
        let expected = tree::contents(&cluster.overlay)?;
        let differences = compare(&cluster.name, &cluster.actual, &expected, &inventory);
        is_different |= !differences.is_empty();
        if arguments.update && !session.dry_run {
            cluster.update(&expected)?;
        }
        if session.output == OutputForm::Text {
            printer::to_stdout(&text(&cluster.name, &differences))?;
        } else {
            let differences = serde_json::to_value(&differences).map_err(anyhow::Error::new)?;
            values.push(json!({ "cluster": cluster.name, "differences": differences }));
        }
    }
    if session.output != OutputForm::Text {
        report::show(&Value::Array(values), session.output)?;
    }
    Ok(if is_different && !arguments.update {
        code::DIFFERENT
    } else {
        code::SUCCESS
    })
}

/// A rendered tree, and the place of the expected one.
struct Fixture {
    name: String,
    actual: Contents,
    overlay: Overlay,
}

impl Fixture {
    fn render(session: &Session, fixtures: &Path, located: &Located) -> Answer<Self> {
        let arguments = TreeArgs {
            output_dir: Some(fixtures.to_owned()),
            ..TreeArgs::default()
        };
        let mut options = load::options(session, Purpose::Render);
        options.allow_missing_secrets = true;
        let cluster = load::located(session, located, &options)?;
        let target = Target::new(session, &cluster.config, &arguments, SecretsMode::Plaintext)?;
        let rendered = target.render(&cluster.config, &session.registry()?)?;
        Ok(Self {
            name: cluster.config.cluster_name().to_owned(),
            actual: rendered.tree.contents(),
            overlay: target.overlay,
        })
    }

    /// Makes the rendered tree the expected one. Fixtures are files of the project, so no ledger is kept.
    fn update(&self, expected: &Contents) -> Answer<()> {
        let directory = self.overlay.directory();
        let owned: BTreeSet<String> = self
            .overlay
            .owned_files()
            .map_err(write::stop)?
            .into_iter()
            .collect();
        for path in expected.keys().filter(|path| owned.contains(*path)) {
            if !self.actual.contains_key(path) {
                let file = directory.join(path);
                fs::remove_file(&file)
                    .with_context(|| format!("could not remove `{}`", file.display()))?;
            }
        }
        for (path, bytes) in &self.actual {
            let text = String::from_utf8_lossy(bytes);
            mainstay_terminal::output_files::file(&directory, path, &text)?;
        }
        Ok(())
    }
}

/// The configs of the fixtures, or those that were named.
fn configs(arguments: &ParityArgs) -> Answer<Vec<Located>> {
    let could_not = || {
        format!(
            "could not read directory `{}`",
            arguments.fixtures.display()
        )
    };
    let mut found = Vec::new();
    for entry in fs::read_dir(&arguments.fixtures).with_context(could_not)? {
        let path = entry.with_context(could_not)?.path();
        let name = path
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default();
        if let Some(cluster) = name.strip_suffix("-config.yaml") {
            let id = cluster.trim_start_matches('.').to_owned();
            found.push(Located { id, path });
        }
    }
    found.sort_unstable();
    if let Some(unknown) = arguments
        .clusters
        .iter()
        .find(|name| !found.iter().any(|located| located.id == **name))
    {
        return Err(Stop::Usage(format!(
            "there is no config of `{unknown}` in the fixtures"
        )));
    }
    found.retain(|located| {
        arguments.clusters.is_empty() || arguments.clusters.contains(&located.id)
    });
    Ok(found)
}

fn inventory(fixtures: &Path) -> Answer<Inventory> {
    let path = fixtures.join(INVENTORY);
    let text = fs::read_to_string(&path)
        .with_context(|| format!("could not read `{}`", path.display()))?;
    let parsed = Inventory::parse(&path.display().to_string(), &text);
    Ok(parsed.map_err(anyhow::Error::new)?)
}

fn text(cluster: &str, differences: &[Difference]) -> String {
    let mut text = format!("{cluster}: {} differences\n", differences.len());
    for difference in differences {
        let line = match difference {
            Difference::Missing { path } => format!("  missing {path}\n"),
            Difference::Unexpected { path } => format!("  unexpected {path}\n"),
            Difference::Collision { path } => format!("  several files stand for {path}\n"),
            Difference::Unreadable { path } => format!("  unreadable {path}\n"),
            Difference::Content {
                path,
                document,
                fields,
            } => {
                let fields: Vec<&str> = fields.iter().map(|field| field.pointer.as_str()).collect();
                format!(
                    "  differs {path} (document {document}): {}\n",
                    fields.join(", ")
                )
            }
        };
        text.push_str(&line);
    }
    text
}
