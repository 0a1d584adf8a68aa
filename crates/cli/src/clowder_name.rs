//! The binary under the names `clowder` and `manager`, as the original operator's image starts it: `/manager --leader-elect`.

use std::ffi::OsString;

use clap::Parser;

use crate::{
    args::{ClusterArgs, LogArgs, ProcessArgs, System},
    commands::run,
    exit::{self, ExitStatus},
    settings::{self, own_namespace},
};

/// Flags of the original that take a value and mean something here too.
const HONOURED: [&str; 3] = [
    "metrics-bind-address",
    "health-probe-bind-address",
    "kubeconfig",
];
const LEADER_ELECT: &str = "leader-elect";

/// What the flags are turned into.
#[derive(Debug, Parser)]
struct Clowder {
    #[command(flatten)]
    process: ProcessArgs,
    #[command(flatten)]
    cluster: ClusterArgs,
    #[command(flatten)]
    log: LogArgs,
}

pub(crate) fn main(arguments: &[OsString]) -> ExitStatus {
    let texts = arguments.iter().skip(1).map(|text| text.to_string_lossy());
    let texts: Vec<String> = texts.map(std::borrow::Cow::into_owned).collect();
    // Outside a cluster there is no namespace for the Lease, and the original never stands for election at all.
    let flags = translated(&texts, own_namespace().is_some());
    let result = Clowder::try_parse_from(flags)
        .map_err(anyhow::Error::from)
        .and_then(|clowder| {
            let systems = vec![System::Clowder];
            settings::run(systems, clowder.process, &clowder.log, clowder.cluster)
        })
        .and_then(|settings| run::run(&settings));
    match exit::conclude(result) {
        // The original ends with 1 on any failure.
        ExitStatus::Failure => ExitStatus::Difference,
        status => status,
    }
}

/// Our words for the original's flags. Parity: it never looks at its command line, so nothing on it is an error.
fn translated(arguments: &[String], may_elect: bool) -> Vec<String> {
    let mut flags = vec!["clowder".to_owned()];
    let mut elect = false;
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
        if name == LEADER_ELECT {
            elect = value.is_none_or(|value| {
                matches!(value.as_str(), "1" | "t" | "T" | "true" | "TRUE" | "True")
            });
        } else if HONOURED.contains(&name) {
            let value = value.or_else(|| rest.next_if(|next| !next.starts_with('-')).cloned());
            if let Some(value) = value.filter(|value| !value.is_empty()) {
                flags.push(format!("--{name}={value}"));
            }
        }
    }
    flags.push(format!("--leader-election={}", elect && may_elect));
    flags
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flags(arguments: &str, may_elect: bool) -> String {
        let arguments: Vec<String> = arguments.split_whitespace().map(str::to_owned).collect();
        translated(&arguments, may_elect)[1..].join(" ")
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
    fn what_comes_out_is_understood() {
        let flags = translated(
            &["--metrics-bind-address=:9".to_owned(), "--x".to_owned()],
            true,
        );
        let clowder = Clowder::try_parse_from(flags).unwrap();
        assert_eq!(clowder.process.metrics_bind_address, ":9");
        assert!(!clowder.process.leader_election);
    }
}
