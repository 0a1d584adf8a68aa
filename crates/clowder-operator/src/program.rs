//! The binary under the names `clowder` and `manager`, as the original operator's image starts it: `/manager --leader-elect`.

use clap::{ArgAction, Command};
use mainstay_system::operator::own_namespace;

const LEADER_ELECT: &str = "leader-elect";

/// Flags of ours from the command line of the original.
pub(crate) fn flags(command: &Command, arguments: &[String]) -> Vec<String> {
    // Outside a cluster there is no namespace for the Lease, and the original never stands for election at all.
    translated(command, arguments, own_namespace().is_some())
}

/// What a flag takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Takes {
    Nothing,
    /// A value that may be left out.
    Perhaps,
    Value,
}

/// What one of our own flags takes, by its name without dashes; `None` if there is none of that name.
fn takes(command: &Command, name: &str) -> Option<Takes> {
    let argument = command.get_arguments().find(|argument| {
        argument.get_long() == Some(name)
            || argument
                .get_short()
                .is_some_and(|short| short.to_string() == name)
    })?;
    Some(match argument.get_action() {
        ArgAction::Set | ArgAction::Append if argument.is_require_equals_set() => Takes::Perhaps,
        ArgAction::Set | ArgAction::Append => Takes::Value,
        _ => Takes::Nothing,
    })
}

/// The command line without what nobody knows. Parity: the original never looks at its command line, so nothing on it is
/// an error; what is known here counts, with one dash or with two, as the flags of programs in Go do.
fn translated(command: &Command, arguments: &[String], may_elect: bool) -> Vec<String> {
    let mut flags = Vec::new();
    let mut elect = None;
    let mut rest = arguments.iter().peekable();
    while let Some(argument) = rest.next() {
        let Some(name) = argument.strip_prefix('-') else {
            continue;
        };
        let name = name.strip_prefix('-').unwrap_or(name);
        let (name, value) = match name.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (name, None),
        };
        let dashes = if name.len() == 1 { "-" } else { "--" };
        match takes(command, name) {
            _ if name == LEADER_ELECT => {
                elect = Some(value.is_none_or(|value| {
                    matches!(value.as_str(), "1" | "t" | "T" | "true" | "TRUE" | "True")
                }));
            }
            Some(Takes::Nothing) => flags.push(format!("{dashes}{name}")),
            Some(Takes::Perhaps) => flags.push(match value {
                Some(value) => format!("{dashes}{name}={value}"),
                None => format!("{dashes}{name}"),
            }),
            Some(Takes::Value) => {
                let value = value.or_else(|| rest.next_if(|next| !next.starts_with('-')).cloned());
                if let Some(value) = value.filter(|value| !value.is_empty()) {
                    flags.push(format!("{dashes}{name}={value}"));
                }
            }
            None => {}
        }
    }
    let chosen = flags
        .iter()
        .any(|flag| flag.starts_with("--leader-election=") || flag == "--leader-election");
    if !chosen {
        flags.push(format!(
            "--leader-election={}",
            elect.unwrap_or_default() && may_elect
        ));
    }
    flags
}

#[cfg(test)]
mod tests {
    use clap::Args as _;

    use super::*;
    use crate::flags::ProcessArgs;

    /// A command with flags of every form.
    fn command() -> Command {
        let flag = |name: &'static str| clap::Arg::new(name).long(name);
        let switch = |name| {
            let flag: clap::Arg = flag(name);
            flag.num_args(0..=1).require_equals(true)
        };
        let mut command = ProcessArgs::augment_args(Command::new("clowder"))
            .version("1")
            .args([
                flag("metrics-bind-address"),
                flag("health-probe-bind-address"),
            ])
            .args([flag("kubeconfig"), flag("zap-log-level")])
            .args([switch("zap-devel"), switch("leader-election")])
            .arg(clap::Arg::new("verbosity").short('v'));
        command.build();
        command
    }

    fn flags(arguments: &str, may_elect: bool) -> String {
        let arguments: Vec<String> = arguments.split_whitespace().map(str::to_owned).collect();
        translated(&command(), &arguments, may_elect).join(" ")
    }

    #[test]
    fn known_flags_count_and_unknown_ones_do_no_harm() {
        assert_eq!(flags("--leader-elect", true), "--leader-election=true");
        assert_eq!(
            flags("-leader-elect=false extra --new=1", true),
            "--leader-election=false"
        );
        assert_eq!(flags("--leader-elect", false), "--leader-election=false");
        assert_eq!(
            flags(
                "-metrics-bind-address :9 --health-probe-bind-address=:8 --kubeconfig --unknown",
                true
            ),
            "--metrics-bind-address=:9 --health-probe-bind-address=:8 --leader-election=false"
        );
    }

    #[test]
    fn flags_of_our_own_count_too() {
        assert_eq!(
            flags(
                "--clowder-suffixed-config-secret -zap-log-level debug --zap-devel=false -v 3 -h",
                true
            ),
            "--clowder-suffixed-config-secret --zap-log-level=debug --zap-devel=false -v=3 -h \
             --leader-election=false"
        );
        for help in ["--help", "-help", "-h", "--version"] {
            let flags = translated(&command(), &[help.to_owned()], true);
            let flags = std::iter::once("clowder".to_owned()).chain(flags);
            let printed = command().try_get_matches_from(flags).unwrap_err();
            assert!(!printed.use_stderr(), "{help}");
        }
    }
}
