//! `cluster graph`.

use mainstay_opencenter::graph::GraphFormat;
use mainstay_terminal::printer;

use crate::{
    args::{GraphArgs, GraphForm, OutputForm, SecretsMode, TreeArgs},
    load,
    report::{self, Answer, code},
    session::Session,
    tree::{self, Target},
};

pub(super) fn run(session: &Session, arguments: &GraphArgs) -> Answer {
    session.refuse_dry_run("cluster graph")?;
    let tree_arguments = TreeArgs {
        allow_missing_secrets: true,
        ..TreeArgs::default()
    };
    let options = tree::load_options(session, &tree_arguments);
    let cluster = load::with_options(session, arguments.cluster.id.as_deref(), &options)?;
    let target = Target::new(
        session,
        &cluster.config,
        &tree_arguments,
        SecretsMode::Encrypt,
    )?;
    let graph = target.render(&cluster.config, &session.registry()?)?.graph;
    let format = match arguments.format {
        GraphForm::Text if session.output != OutputForm::Text => {
            report::show(&graph.to_json(), session.output)?;
            return Ok(code::SUCCESS);
        }
        GraphForm::Text => GraphFormat::Text,
        GraphForm::Dot => GraphFormat::Dot,
        GraphForm::Json => GraphFormat::Json,
        GraphForm::Mermaid => GraphFormat::Mermaid,
    };
    printer::to_stdout(&graph.show(format))?;
    Ok(code::SUCCESS)
}
