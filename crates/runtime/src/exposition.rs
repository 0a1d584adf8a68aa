//! The texts that scrapers read: `OpenMetrics` for those that ask for it, the older format for everybody else.

use std::collections::BTreeSet;

const OPEN_METRICS: &str = "application/openmetrics-text";

/// The format of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exposition {
    /// `OpenMetrics` 1.0.
    OpenMetrics,
    /// Version 0.0.4 of Prometheus' own text format.
    Plain,
}

impl Exposition {
    /// The format for somebody who accepts this.
    pub fn accepted_by(accept: &str) -> Self {
        if accept.contains(OPEN_METRICS) {
            Self::OpenMetrics
        } else {
            Self::Plain
        }
    }

    /// Its media type.
    pub const fn content_type(self) -> &'static str {
        match self {
            Self::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
            Self::Plain => "text/plain; version=0.0.4; charset=utf-8",
        }
    }

    /// A text of `OpenMetrics` in this format.
    pub fn of(self, text: String) -> String {
        match self {
            Self::OpenMetrics => text,
            Self::Plain => plain(&text),
        }
    }
}

/// The older format has no units and no end, and calls a counter by the name of its series. What has no type is a counter
/// whose name does not end in `_total`, for which only the older format has a word.
fn plain(text: &str) -> String {
    let typed = text.lines().filter_map(|line| line.strip_prefix("# TYPE "));
    let counters: BTreeSet<&str> = typed
        .filter_map(|line| line.strip_suffix(" counter"))
        .collect();
    let mut plain = String::with_capacity(text.len());
    for line in text.lines() {
        let mut words = line.splitn(4, ' ');
        let comment = (words.next(), words.next(), words.next(), words.next());
        let (Some("#"), Some(word @ ("HELP" | "TYPE")), Some(name), rest) = comment else {
            if !line.starts_with('#') {
                plain.push_str(line);
                plain.push('\n');
            }
            continue;
        };
        let total = if counters.contains(name) {
            "_total"
        } else {
            ""
        };
        let rest = match rest.unwrap_or_default() {
            "unknown" if word == "TYPE" => "counter",
            rest => rest,
        };
        for part in ["# ", word, " ", name, total, " ", rest, "\n"] {
            plain.push_str(part);
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_does_not_ask_for_openmetrics_gets_the_older_text() {
        let modern = "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5";
        assert_eq!(Exposition::accepted_by(modern), Exposition::OpenMetrics);
        for accept in ["", "*/*", "text/plain;version=0.0.4"] {
            assert_eq!(Exposition::accepted_by(accept), Exposition::Plain);
        }
    }

    #[test]
    fn counters_are_called_by_the_name_of_their_series() {
        let text = "# HELP passes Passes, counted.\n# TYPE passes counter\npasses_total{a=\"# x\"} 2\n\
                    # HELP size_bytes Size.\n# TYPE size_bytes gauge\n# UNIT size_bytes bytes\nsize_bytes 1\n\
                    # HELP odd Odd.\n# TYPE odd unknown\nodd 3\n# EOF\n";
        let plain = "# HELP passes_total Passes, counted.\n# TYPE passes_total counter\npasses_total{a=\"# x\"} 2\n\
                     # HELP size_bytes Size.\n# TYPE size_bytes gauge\nsize_bytes 1\n\
                     # HELP odd Odd.\n# TYPE odd counter\nodd 3\n";
        assert_eq!(Exposition::Plain.of(text.to_owned()), plain);
        assert_eq!(Exposition::OpenMetrics.of(text.to_owned()), text);
    }
}
