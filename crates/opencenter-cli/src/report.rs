//! How commands of openCenter end: findings, exit codes, forms of output.

use std::io::IsTerminal as _;

use mainstay_opencenter::finding::{self, Code, Finding, Severity};
use mainstay_terminal::{
    exit::{self, ExitStatus, Told},
    printer::{self, painted, style},
};
use serde_json::Value;

use crate::{
    args::OutputForm,
    mask::{mask, mask_finding},
    outside,
};

/// Exit codes of openCenter.
pub(crate) mod code {
    pub(crate) const SUCCESS: u8 = 0;
    pub(crate) const FAILURE: u8 = 1;
    pub(crate) const USAGE: u8 = 2;
    pub(crate) const NOT_FOUND: u8 = 3;
    pub(crate) const DIFFERENT: u8 = 4;
    pub(crate) const SECURITY: u8 = 5;
    pub(crate) const INTERRUPTED: u8 = 130;
}

/// Why a command did not do what was asked.
#[derive(Debug)]
pub(crate) enum Stop {
    /// The input is at fault, or the tree.
    Findings(Vec<Finding>),
    /// The arguments do not fit together.
    Usage(String),
    /// Something outside failed.
    Error(anyhow::Error),
}

/// What a command answers: its exit code.
pub(crate) type Answer<T = u8> = Result<T, Stop>;

impl From<anyhow::Error> for Stop {
    fn from(error: anyhow::Error) -> Self {
        Self::Error(error)
    }
}

impl From<std::io::Error> for Stop {
    fn from(error: std::io::Error) -> Self {
        Self::Error(error.into())
    }
}

impl From<Vec<Finding>> for Stop {
    fn from(findings: Vec<Finding>) -> Self {
        Self::Findings(findings)
    }
}

impl From<Finding> for Stop {
    fn from(finding: Finding) -> Self {
        Self::Findings(vec![finding])
    }
}

/// Tells the user how it ended.
pub(crate) fn conclude(answer: Answer, form: OutputForm) -> ExitStatus {
    match answer.map_err(hidden) {
        Ok(number) => ExitStatus::Code(number),
        Err(Stop::Usage(message)) => {
            let error = painted(style::ERROR, "error:");
            printer::to_stderr(&format!("{error} {message}\n"));
            ExitStatus::Code(code::USAGE)
        }
        Err(Stop::Findings(findings)) => {
            let number = exit_code(&findings);
            match show_findings(&findings, form) {
                Ok(()) => ExitStatus::Code(number),
                Err(error) => failure(exit::conclude(Err(error.into()), Told::plainly)),
            }
        }
        Err(Stop::Error(error)) => failure(exit::conclude(Err(error), Told::plainly)),
    }
}

/// Why a command stopped, without what came from outside and what looks like a secret.
fn hidden(stop: Stop) -> Stop {
    let outside = outside::mask();
    let hide = |text: &str| match &outside {
        Some(outside) => mask(&outside.hide(text)),
        None => mask(text),
    };
    match stop {
        Stop::Findings(mut findings) => {
            if let Some(outside) = &outside {
                for finding in &mut findings {
                    outside.hide_in(finding);
                }
            }
            Stop::Findings(findings)
        }
        Stop::Usage(message) => Stop::Usage(hide(&message)),
        Stop::Error(error) => {
            let told: Vec<String> = error.chain().map(ToString::to_string).collect();
            let hidden: Vec<String> = told.iter().map(|text| hide(text)).collect();
            if hidden == told {
                return Stop::Error(error);
            }
            let mut causes = hidden.into_iter().rev();
            let innermost = anyhow::Error::msg(causes.next().unwrap_or_default());
            Stop::Error(causes.fold(innermost, anyhow::Error::context))
        }
    }
}

/// Here, 2 is for usage errors only.
fn failure(status: ExitStatus) -> ExitStatus {
    match status {
        ExitStatus::Failure | ExitStatus::Difference => ExitStatus::Code(code::FAILURE),
        other => other,
    }
}

/// The exit code that findings stand for.
pub(crate) fn exit_code(findings: &[Finding]) -> u8 {
    let mut errors = findings
        .iter()
        .filter(|finding| finding.severity == Severity::Error)
        .map(|finding| finding.code);
    let Some(first) = errors.clone().next() else {
        return code::SUCCESS;
    };
    if errors.any(is_security) {
        return code::SECURITY;
    }
    match first {
        Code::Oc1001 => code::NOT_FOUND,
        Code::Oc6046 => code::INTERRUPTED,
        _ => code::FAILURE,
    }
}

/// Codes that mean: refused, because a secret would leak or a path leads elsewhere.
fn is_security(code: Code) -> bool {
    matches!(
        code.number(),
        6013 | 6045 | 7010..=7019 | 8001 | 8005 | 8010
    )
}

/// Prints findings: text to stderr, everything else as one document to stdout.
pub(crate) fn show_findings(findings: &[Finding], form: OutputForm) -> std::io::Result<()> {
    if form == OutputForm::Text {
        tell(findings);
        Ok(())
    } else {
        let mut findings = findings.to_vec();
        findings.iter_mut().for_each(mask_finding);
        show(&finding::to_json(&findings), form)
    }
}

/// Tells the user findings on stderr.
pub(crate) fn tell(findings: &[Finding]) {
    if findings.is_empty() {
        return;
    }
    let mut findings = findings.to_vec();
    findings.iter_mut().for_each(mask_finding);
    let text = finding::to_text(&findings);
    let coloured: Vec<String> = text.lines().map(colour).collect();
    printer::to_stderr(&format!("{}\n", coloured.join("\n")));
}

/// Puts the first word of a finding in its colour.
fn colour(line: &str) -> String {
    for (word, word_style) in [
        ("error", style::ERROR),
        ("warning", style::WARNING),
        ("info", style::NAME),
    ] {
        if let Some(rest) = line.strip_prefix(word)
            && rest.starts_with('[')
            && let Some((head, tail)) = line.split_once(": ")
        {
            return format!("{} {tail}", painted(word_style, format!("{head}:")));
        }
    }
    line.to_owned()
}

/// Prints a value in one of the two forms for programs.
pub(crate) fn show(value: &Value, form: OutputForm) -> std::io::Result<()> {
    let text = match form {
        OutputForm::Yaml => mainstay_yaml::print(value),
        OutputForm::Json | OutputForm::Text => format!("{value:#}\n"),
    };
    printer::to_stdout(&text)
}

/// Asks a question that has to be answered with yes; without a terminal the answer is no.
pub(crate) fn confirm(question: &str) -> bool {
    if !std::io::stdin().is_terminal() {
        return false;
    }
    printer::to_stderr(&format!("{question} [y/N] "));
    let mut answer = String::new();
    let read = std::io::stdin().read_line(&mut answer);
    read.is_ok() && matches!(answer.trim(), "y" | "Y" | "yes")
}
