//! `cluster service`: the services of a cluster.

use mainstay_opencenter::edit::{self, Action, Assignment, DisableRequest, Edited, EnableRequest};
use mainstay_terminal::printer;
use serde_json::{Value, json};

use super::{catalog, options, render, set};
use crate::{
    args::{
        ClusterIdArgs, OutputForm, RenderTreeArgs, SecretsMode, ServiceCommand, ServiceDisableArgs,
        ServiceEnableArgs, TreeArgs,
    },
    interrupt::Interrupt,
    load,
    locate::{self, Located},
    report::{self, Answer, code},
    session::Session,
    tree, write,
};

pub(super) fn run(session: &Session, command: &ServiceCommand) -> Answer {
    match command {
        ServiceCommand::List(arguments) => catalog::list(session, arguments),
        ServiceCommand::Status(arguments) => catalog::status(session, arguments.id.as_deref()),
        ServiceCommand::Enable(arguments) => enable(session, arguments),
        ServiceCommand::Disable(arguments) => disable(session, arguments),
        ServiceCommand::Options(arguments) => options::options(session, arguments),
        ServiceCommand::Secrets(arguments) => options::secrets(session, arguments),
    }
}

fn enable(session: &Session, arguments: &ServiceEnableArgs) -> Answer {
    let located = locate::find(session, arguments.cluster.as_deref())?;
    let assignments = |texts: &[String]| -> Answer<Vec<Assignment>> {
        texts.iter().map(|text| set::assignment(text)).collect()
    };
    let request = EnableRequest {
        service: arguments.service.clone(),
        managed: arguments.managed,
        parameters: assignments(&arguments.param)?,
        secrets: assignments(&arguments.secret)?,
        force: arguments.force,
        with_dependencies: arguments.with_deps,
        allow_unregistered: arguments.allow_unregistered,
    };
    let edited = set::change(session, &located, |file| edit::enable(file, &request))?;
    let change = Change {
        session,
        located: &located,
        service: &arguments.service,
        managed: arguments.managed,
    };
    change.carry_out(
        &edited,
        arguments.render.then(|| TreeArgs {
            service: Some(arguments.service.clone()),
            managed: arguments.managed,
            output_dir: arguments.output_dir.clone(),
            ..TreeArgs::default()
        }),
    )
}

fn disable(session: &Session, arguments: &ServiceDisableArgs) -> Answer {
    let located = locate::find(session, arguments.cluster.as_deref())?;
    let request = DisableRequest {
        service: arguments.service.clone(),
        managed: arguments.managed,
        cascade: arguments.cascade,
    };
    let edited = set::change(session, &located, |file| edit::disable(file, &request))?;
    let change = Change {
        session,
        located: &located,
        service: &arguments.service,
        managed: arguments.managed,
    };
    // A disabled service leaves holes in the lists of others, so all of the tree is rendered.
    change.carry_out(
        &edited,
        arguments.render.then(|| TreeArgs {
            output_dir: arguments.output_dir.clone(),
            ..TreeArgs::default()
        }),
    )
}

/// A change of one service, on its way from text to disk.
struct Change<'a> {
    session: &'a Session,
    located: &'a Located,
    service: &'a str,
    managed: bool,
}

impl Change<'_> {
    fn carry_out(&self, edited: &Edited, render: Option<TreeArgs>) -> Answer {
        let session = self.session;
        let kind = if self.managed {
            "managed service"
        } else {
            "service"
        };
        let (doing, done) = match edited.action {
            Action::Enabled => ("Enabling", "Enabled"),
            Action::ReEnabled => ("Re-enabling", "Enabled"),
            Action::Updated | Action::Set => ("Updating", "Updated"),
            Action::Disabled => ("Disabling", "Disabled"),
        };
        if session.chats() {
            load::tell_warnings(session, &edited.findings);
            let line = format!("{doing} {kind} {} in {}\n", self.service, self.located.id);
            printer::to_stderr(&line);
        }
        set::save(session, self.located, edited)?;
        if session.chats() {
            let done = if session.dry_run {
                "Nothing was written"
            } else {
                done
            };
            printer::to_stderr(&format!("{done}: {}\n", self.service));
            for (word, names) in [
                ("Also enabled", &edited.enabled_dependencies),
                ("Also disabled", &edited.disabled_dependants),
            ] {
                if !names.is_empty() {
                    printer::to_stderr(&format!("{word}: {}\n", names.join(", ")));
                }
            }
        }
        let rendered = match render {
            Some(tree) if !session.dry_run => Some(self.render(tree)?),
            _ => None,
        };
        self.show(edited, rendered.as_ref())
    }

    fn render(&self, tree: TreeArgs) -> Answer<mainstay_gitops::Plan> {
        let arguments = RenderTreeArgs {
            cluster: ClusterIdArgs::default(),
            tree,
            secrets_mode: SecretsMode::Encrypt,
            backup: false,
            adopt: false,
            accept_pruning: false,
            finish_adoption: false,
            check: false,
            diagnostics: None,
            plan: None,
            all: false,
            watch: false,
        };
        let options = tree::load_options(self.session, &arguments.tree);
        let cluster = load::located(self.session, self.located, &options)?;
        let registry = self.session.registry()?;
        let interrupt = Interrupt::listen()?;
        let done = render::one(self.session, &arguments, cluster, &registry, &interrupt)?;
        Ok(done.plan)
    }

    fn show(&self, edited: &Edited, rendered: Option<&mainstay_gitops::Plan>) -> Answer {
        if self.session.output == OutputForm::Text {
            if let Some(plan) = rendered.filter(|_| !self.session.quiet) {
                printer::to_stdout(&format!("Rendered: {}\n", write::line(plan)))?;
            }
            return Ok(code::SUCCESS);
        }
        let mut value = json!({
            "cluster": self.located.id,
            "service": self.service,
            "managed": self.managed,
            "action": edited.action.as_str(),
            "changed_fields": edited.changed_fields,
            "enabled_dependencies": edited.enabled_dependencies,
            "disabled_dependants": edited.disabled_dependants,
        });
        if let (Some(plan), Value::Object(fields)) = (rendered, &mut value) {
            fields.insert(
                "render".to_owned(),
                json!({
                    "added": plan.added.len(),
                    "changed": plan.changed.len(),
                    "deleted": plan.deleted.len(),
                    "unchanged": plan.kept.len(),
                }),
            );
        }
        report::show(&value, self.session.output)?;
        Ok(code::SUCCESS)
    }
}
