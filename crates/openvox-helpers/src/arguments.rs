//! Command lines as Go's package `flag` reads them: one dash or two, the value after `=` or as the next argument, flags
//! before everything else.

use crate::Outcome;

/// What a program says of its one flag.
pub(crate) struct Usage {
    pub(crate) program: &'static str,
    /// What the file is.
    pub(crate) about: &'static str,
    /// Where it is looked for otherwise.
    pub(crate) default_path: &'static str,
}

/// A command line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Arguments<'a> {
    /// Path of the configuration, if it is given.
    pub(crate) config: Option<&'a str>,
    /// The first argument that is no flag; those after it have no meaning.
    pub(crate) positional: Option<&'a str>,
}

impl Usage {
    fn text(&self) -> String {
        let Self {
            program,
            about,
            default_path,
        } = self;
        format!(
            "Usage of {program}:\n  -config string\n    \t{about} (default \"{default_path}\")\n"
        )
    }

    fn refusal(&self, message: &str) -> Outcome {
        Outcome {
            status: 2,
            errors: format!("{message}\n{}", self.text()),
            ..Outcome::default()
        }
    }

    /// Reads the arguments; otherwise the outcome is what there is to say.
    pub(crate) fn parse<'a>(&self, arguments: &'a [String]) -> Result<Arguments<'a>, Outcome> {
        let mut rest = arguments.iter().map(String::as_str);
        let mut config = None;
        let positional = loop {
            let Some(argument) = rest.next() else {
                break None;
            };
            if argument == "--" {
                break rest.next();
            }
            let Some(flag) = argument
                .strip_prefix('-')
                .filter(|flag| !flag.is_empty())
                .map(|flag| flag.strip_prefix('-').unwrap_or(flag))
            else {
                break Some(argument);
            };
            if flag.starts_with(['-', '=']) {
                return Err(self.refusal(&format!("bad flag syntax: {argument}")));
            }
            let (name, value) = match flag.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (flag, None),
            };
            match name {
                "config" => match value.or_else(|| rest.next()) {
                    Some(path) => config = Some(path),
                    None => return Err(self.refusal("flag needs an argument: -config")),
                },
                "h" | "help" => {
                    return Err(Outcome {
                        errors: self.text(),
                        ..Outcome::default()
                    });
                }
                name => {
                    let message = format!("flag provided but not defined: -{name}");
                    return Err(self.refusal(&message));
                }
            }
        };
        Ok(Arguments { config, positional })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const USAGE: Usage = Usage {
        program: "tool",
        about: "Path to a file",
        default_path: "/etc/file",
    };

    fn parsed(arguments: &[&str]) -> Result<(Option<String>, Option<String>), Outcome> {
        let arguments: Vec<String> = arguments.iter().map(|&text| text.to_owned()).collect();
        let parsed = USAGE.parse(&arguments)?;
        let owned = |text: Option<&str>| text.map(str::to_owned);
        Ok((owned(parsed.config), owned(parsed.positional)))
    }

    #[test]
    fn flags_come_first_with_one_dash_or_two_and_their_value_in_either_place() {
        for (arguments, config, positional) in [
            (&["--config", "a", "n"][..], Some("a"), Some("n")),
            (&["-config=a", "n", "more"], Some("a"), Some("n")),
            (&["-config=", "n"], Some(""), Some("n")),
            (&["-config", "a", "-config", "b"], Some("b"), None),
            (&["n", "--config", "a"], None, Some("n")),
            (&["--", "-n"], None, Some("-n")),
            (&["--config", "--", "n"], Some("--"), Some("n")),
            (&["-"], None, Some("-")),
            (&[""], None, Some("")),
            (&[], None, None),
        ] {
            let expected = (config.map(str::to_owned), positional.map(str::to_owned));
            assert_eq!(parsed(arguments).unwrap(), expected, "{arguments:?}");
        }
    }

    #[test]
    fn help_is_success_and_a_flag_that_is_not_known_is_not() {
        let usage =
            "Usage of tool:\n  -config string\n    \tPath to a file (default \"/etc/file\")\n";
        for (argument, status, message) in [
            ("-h", 0, ""),
            ("--help", 0, ""),
            ("-x", 2, "flag provided but not defined: -x\n"),
            ("--x=1", 2, "flag provided but not defined: -x\n"),
            ("---x", 2, "bad flag syntax: ---x\n"),
            ("-=x", 2, "bad flag syntax: -=x\n"),
            ("--config", 2, "flag needs an argument: -config\n"),
        ] {
            let outcome = parsed(&[argument]).unwrap_err();
            assert_eq!(outcome.status, status, "{argument}");
            assert_eq!(outcome.errors, format!("{message}{usage}"));
            assert!(outcome.output.is_empty());
        }
    }
}
