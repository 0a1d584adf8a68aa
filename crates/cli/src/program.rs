//! The binary under the name of an original operator's program, as that operator's image starts it: `/kaoto run
//! --leader-election`, `/manager --leader-elect`.

use std::ffi::OsString;

use clap::{ArgMatches, Args, Command};
use mainstay_system::{ProgramForm, System};

use crate::{
    args::{ClusterArgs, LogArgs, ProcessArgs},
    commands::run,
    exit::{self, ExitStatus},
    settings,
    systems::{SYSTEMS, with_flags},
};

const RUN: &str = "run";

/// The system whose original has a program of this name.
pub(crate) fn system_of(name: &str) -> Option<&'static System> {
    let mut all = SYSTEMS.iter().copied();
    all.find(|system| system.operator.program.names.contains(&name))
}

/// Runs the operator of one system.
pub(crate) fn main(system: &'static System, arguments: &[OsString]) -> ExitStatus {
    let matches = match parse(system, arguments) {
        Ok(matches) => matches,
        // Parity: the originals end with 1 on any failure, a wrong flag included.
        Err(error) => return one_for_failure(exit::usage(&error)),
    };
    let flags = match system.operator.program.form {
        ProgramForm::Flags(_) => &matches,
        ProgramForm::RunCommand => match matches.subcommand_matches(RUN) {
            Some(flags) => flags,
            // Parity: without a subcommand the original prints nothing and ends well.
            None => return ExitStatus::Success,
        },
    };
    let result = settings::run(vec![system], flags).and_then(|settings| run::run(&settings));
    one_for_failure(exit::conclude(result))
}

fn one_for_failure(status: ExitStatus) -> ExitStatus {
    match status {
        ExitStatus::Failure => ExitStatus::Difference,
        other => other,
    }
}

/// All flags of an operator process. Those of other systems are accepted, so that one set of flags suits the whole program,
/// and not shown.
fn with_all_flags(command: Command, system: &System) -> Command {
    let others = SYSTEMS.iter().filter(|other| **other != system);
    let command = others.fold(command, |command, other| {
        with_flags(command, other.operator.flags)
    });
    let command = command.mut_args(|argument| argument.hide(true));
    let command = with_flags(command, system.operator.flags);
    let command = with_flags(command, ProcessArgs::augment_args);
    with_flags(command, ClusterArgs::augment_args)
}

fn command(system: &System) -> Command {
    let program = &system.operator.program;
    let name = program.names.first().copied().unwrap_or(system.name);
    let command = Command::new(name).about(program.about).max_term_width(100);
    match program.form {
        ProgramForm::RunCommand => {
            let run = Command::new(RUN).about("Run the operator");
            let run = with_all_flags(run, system);
            with_flags(command, LogArgs::augment_args).subcommand(run)
        }
        ProgramForm::Flags(_) => {
            let command = with_all_flags(command.version(env!("CARGO_PKG_VERSION")), system);
            with_flags(command, LogArgs::augment_args)
        }
    }
}

fn parse(system: &System, arguments: &[OsString]) -> Result<ArgMatches, clap::Error> {
    let command = command(system);
    let ProgramForm::Flags(translate) = system.operator.program.form else {
        return command.try_get_matches_from(arguments);
    };
    let texts = arguments.iter().skip(1).map(|text| text.to_string_lossy());
    let texts: Vec<String> = texts.map(std::borrow::Cow::into_owned).collect();
    let mut built = command.clone();
    built.build();
    let name = built.get_name().to_owned();
    let flags = translate(&built, &texts);
    command.try_get_matches_from(std::iter::once(name).chain(flags))
}

#[cfg(test)]
mod tests {
    use clap::FromArgMatches as _;

    use super::*;

    fn long_help(system: &System) -> String {
        let mut command = command(system);
        let help = match system.operator.program.form {
            ProgramForm::RunCommand => {
                let run = command.find_subcommand_mut(RUN).unwrap();
                run.render_long_help()
            }
            ProgramForm::Flags(_) => command.render_long_help(),
        };
        help.to_string().to_lowercase()
    }

    #[test]
    fn help_shows_no_flag_of_another_system_and_they_are_accepted_all_the_same() {
        let kaoto = system_of("kaoto").unwrap();
        let help = long_help(kaoto);
        assert!(help.contains("--leader-election"), "{help}");
        assert!(
            !help.contains("clowder") && !help.contains("--resolve"),
            "{help}"
        );
        let arguments = ["kaoto", "run", "--clowder-webhook-address=0"].map(OsString::from);
        assert!(parse(kaoto, &arguments).is_ok());
        assert!(long_help(system_of("manager").unwrap()).contains("--clowder-webhook-address"));
    }

    #[test]
    fn what_comes_out_of_a_translation_is_understood() {
        let arguments = ["manager", "--metrics-bind-address=:9", "--x"].map(OsString::from);
        let matches = parse(system_of("manager").unwrap(), &arguments).unwrap();
        let process = ProcessArgs::from_arg_matches(&matches).unwrap();
        assert_eq!(process.metrics_bind_address, ":9");
        assert!(!process.leader_election);
    }
}
