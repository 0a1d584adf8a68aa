//! `cluster`: from a config file to an overlay tree.

mod adoption;
mod catalog;
mod choose;
mod diff;
mod edit;
mod export;
mod graph;
mod init;
mod options;
mod parity;
mod plan;
mod render;
mod schema;
mod service;
mod set;
mod validate;
mod watch;

use mainstay_terminal::exit::ExitStatus;

use crate::{
    args::{ClusterCommand, ClusterCommandArgs},
    report::{self, Answer},
    session::Session,
};

/// Runs a command about clusters.
pub(crate) fn run(arguments: &ClusterCommandArgs) -> ExitStatus {
    let answer =
        Session::new(&arguments.global).and_then(|session| dispatch(&session, &arguments.command));
    report::conclude(answer, arguments.global.output)
}

fn dispatch(session: &Session, command: &ClusterCommand) -> Answer {
    match command {
        ClusterCommand::Init(arguments) => init::run(session, arguments),
        ClusterCommand::List => choose::list(session),
        ClusterCommand::Use(arguments) => choose::set(session, &arguments.id),
        ClusterCommand::Active => choose::show(session),
        ClusterCommand::Render(arguments) => render::run(session, arguments),
        ClusterCommand::Diff(arguments) => diff::run(session, arguments),
        ClusterCommand::Plan(arguments) => plan::run(session, arguments),
        ClusterCommand::Validate(arguments) => validate::run(session, arguments),
        ClusterCommand::Edit(arguments) => edit::run(session, arguments),
        ClusterCommand::Set(arguments) => set::run(session, arguments),
        ClusterCommand::Schema(arguments) => schema::run(session, arguments),
        ClusterCommand::Export(arguments) => export::run(session, arguments),
        ClusterCommand::Service(arguments) => service::run(session, &arguments.command),
        ClusterCommand::Graph(arguments) => graph::run(session, arguments),
        ClusterCommand::Parity(arguments) => parity::run(session, arguments),
    }
}
