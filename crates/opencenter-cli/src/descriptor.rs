//! `mainstay descriptor`: what the overlay units are made of.

use mainstay_opencenter::{
    descriptor::{Descriptor, Lifecycle, Origin, Owner, Registry},
    finding::{self, Code, Finding},
};
use mainstay_terminal::{exit::ExitStatus, printer};
use serde_json::{Value, json};

use crate::{
    args::{DescriptorCommand, DescriptorCommandArgs, OutputForm},
    report::{self, Answer, code},
    session::Session,
};

/// Runs a command about descriptors.
pub(crate) fn run(arguments: &DescriptorCommandArgs) -> ExitStatus {
    let answer = Session::new(&arguments.global).and_then(|session| {
        session.refuse_dry_run("descriptor")?;
        match &arguments.command {
            DescriptorCommand::List => list(&session),
            DescriptorCommand::Show { name } => show(&session, name),
            DescriptorCommand::Lint => lint(&session),
        }
    });
    report::conclude(answer, arguments.global.output)
}

fn list(session: &Session) -> Answer {
    let registry = session.registry()?;
    if session.output == OutputForm::Text {
        let width = registry
            .iter()
            .map(|entry| entry.name.len())
            .max()
            .unwrap_or(0);
        let lines = registry.iter().map(|entry| {
            format!(
                "{:width$}  {:16}  {}\n",
                entry.name,
                entry.layer.as_str(),
                entry.category
            )
        });
        printer::to_stdout(&lines.collect::<String>())?;
    } else {
        let values: Vec<Value> = registry.iter().map(value).collect();
        report::show(&Value::Array(values), session.output)?;
    }
    Ok(code::SUCCESS)
}

fn value(descriptor: &Descriptor) -> Value {
    let owner = match &descriptor.owner {
        Owner::Service(name) => json!({ "type": "service", "name": name }),
        Owner::ManagedService(name) => json!({ "type": "managed-service", "name": name }),
        Owner::Cluster => json!({ "type": "cluster" }),
    };
    json!({
        "name": descriptor.name,
        "type": descriptor.category,
        "layer": descriptor.layer.as_str(),
        "owner": owner,
        "lifecycle": match descriptor.lifecycle {
            Lifecycle::Rendered => "rendered",
            Lifecycle::Bootstrap => "bootstrap",
        },
        "origin": match descriptor.origin {
            Origin::User => "user",
            _ => "built-in",
        },
        "dependencies": descriptor.dependencies,
        "soft_dependencies": descriptor.soft_dependencies,
        "aggregate_targets": descriptor.aggregate_targets,
        "order": descriptor.order,
        "sources": descriptor.sources.iter().map(|source| &source.name).collect::<Vec<_>>(),
        "flux_units": descriptor.flux_units.iter().map(|unit| &unit.name).collect::<Vec<_>>(),
        "files": descriptor.files.iter().map(|file| &file.output).collect::<Vec<_>>(),
    })
}

fn show(session: &Session, name: &str) -> Answer {
    let registry = session.registry()?;
    let Some(descriptor) = registry.get(name) else {
        let finding = Finding::new(Code::Oc6002, "", format!("there is no descriptor `{name}`"));
        return Err(finding.help("list them with `descriptor list`").into());
    };
    if session.output == OutputForm::Text {
        printer::to_stdout(&source(&registry, &descriptor.name))?;
    } else {
        report::show(&value(descriptor), session.output)?;
    }
    Ok(code::SUCCESS)
}

/// The text that a descriptor was read from.
fn source(registry: &Registry, name: &str) -> String {
    let line = format!("name: {name}");
    let found = registry.texts().find_map(|(_, bytes)| {
        let text = str::from_utf8(bytes).ok()?;
        text.lines()
            .any(|found| found.trim_end() == line)
            .then(|| text.to_owned())
    });
    found.unwrap_or_default()
}

fn lint(session: &Session) -> Answer {
    let (texts, store) = session.descriptors()?;
    let (registry, findings) = Registry::lint(&texts, store);
    let number = report::exit_code(&findings);
    if session.output == OutputForm::Text {
        report::tell(&findings);
        if findings.is_empty() && !session.quiet {
            let count = registry.iter().count();
            printer::to_stdout(&format!("{count} descriptors, nothing wrong\n"))?;
        }
    } else {
        report::show(&finding::to_json(&findings), session.output)?;
    }
    Ok(number)
}
