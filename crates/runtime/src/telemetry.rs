//! Logs, in the two forms that operators of this family write: JSON lines or console, on stderr.

use std::{fmt, io, str::FromStr};

use jiff::Timestamp;
use serde_json::{Map, Value};
use tracing::{
    Event, Level, Subscriber,
    field::{Field, Visit},
    level_filters::LevelFilter,
};
use tracing_subscriber::{
    filter::filter_fn,
    fmt::{FmtContext, FormatEvent, FormatFields, format::Writer},
    layer::SubscriberExt as _,
    registry::LookupSpan,
};

use crate::panics;

/// JSON or console.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Encoder {
    /// One JSON object per line.
    #[default]
    Json,
    /// Tab-separated text for people.
    Console,
}

/// How a time is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TimeEncoding {
    /// Seconds since the epoch, with fraction.
    Epoch,
    /// Milliseconds since the epoch.
    Millis,
    /// Nanoseconds since the epoch.
    Nano,
    /// ISO 8601 with milliseconds.
    Iso8601,
    /// RFC 3339 in seconds.
    #[default]
    Rfc3339,
    /// RFC 3339 with nanoseconds.
    Rfc3339Nano,
}

/// A word that is none of the allowed ones.
#[derive(Debug, thiserror::Error)]
#[error("`{word}` is not one of {allowed}")]
pub struct UnknownWord {
    word: String,
    allowed: &'static str,
}

impl FromStr for Encoder {
    type Err = UnknownWord;

    fn from_str(word: &str) -> Result<Self, Self::Err> {
        match word {
            "json" => Ok(Self::Json),
            "console" => Ok(Self::Console),
            _ => Err(UnknownWord {
                word: word.to_owned(),
                allowed: "json, console",
            }),
        }
    }
}

impl FromStr for TimeEncoding {
    type Err = UnknownWord;

    fn from_str(word: &str) -> Result<Self, Self::Err> {
        Ok(match word {
            "epoch" => Self::Epoch,
            "millis" => Self::Millis,
            "nano" => Self::Nano,
            "iso8601" => Self::Iso8601,
            "rfc3339" => Self::Rfc3339,
            "rfc3339nano" => Self::Rfc3339Nano,
            _ => {
                return Err(UnknownWord {
                    word: word.to_owned(),
                    allowed: "epoch, millis, nano, iso8601, rfc3339, rfc3339nano",
                });
            }
        })
    }
}

/// Reads a log level: a word, or a number where 1 is debug and more is everything.
pub fn parse_level(word: &str) -> Result<LevelFilter, UnknownWord> {
    match word {
        "debug" => Ok(LevelFilter::DEBUG),
        "info" => Ok(LevelFilter::INFO),
        "warn" => Ok(LevelFilter::WARN),
        "error" | "panic" => Ok(LevelFilter::ERROR),
        number => match number.parse::<u32>() {
            Ok(0) | Err(_) => Err(UnknownWord {
                word: word.to_owned(),
                allowed: "debug, info, error, panic or a positive number",
            }),
            Ok(1) => Ok(LevelFilter::DEBUG),
            Ok(_) => Ok(LevelFilter::TRACE),
        },
    }
}

/// Choices for the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogSettings {
    /// Form of a line.
    pub encoder: Encoder,
    /// Form of the time.
    pub time: TimeEncoding,
    /// Lowest level that is written.
    pub level: LevelFilter,
}

/// Starts logging for the whole process.
pub fn start(settings: LogSettings) {
    let format = Format {
        encoder: settings.encoder,
        time: settings.time,
    };
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(settings.level)
        .with_writer(io::stderr)
        .event_format(format)
        .finish()
        .with(filter_fn(|metadata| {
            is_harmless(metadata.target(), *metadata.level())
        }));
    // A second call (tests in one process) keeps the first subscriber.
    let _ = tracing::subscriber::set_global_default(subscriber);
    panics::log_without_values();
}

/// Libraries know nothing of what must not be shown: the API client prints whole bodies that it cannot read, as a
/// warning, and those underneath print headers and frames at lower levels. Of them only what is worth telling anyway is
/// let through, whatever level was asked for; our own lines are all let through. That a request failed, without a word of
/// which, is said better by whoever sent it.
fn is_harmless(target: &str, level: Level) -> bool {
    let krate = target.split("::").next().unwrap_or_default();
    if krate == "mainstay" || krate.starts_with("mainstay_") {
        return true;
    }
    let tells_too_much = target == "kube_client::client";
    let repeats_ours = ["kube_client::client::builder", "kube_runtime::watcher"];
    let tells_too_little = repeats_ours.contains(&target);
    !tells_too_much && !tells_too_little && level <= Level::INFO
}

struct Format {
    encoder: Encoder,
    time: TimeEncoding,
}

impl<S, N> FormatEvent<S, N> for Format
where
    S: Subscriber + for<'span> LookupSpan<'span>,
    N: for<'writer> FormatFields<'writer> + 'static,
{
    fn format_event(
        &self,
        _: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let mut fields = Fields::default();
        event.record(&mut fields);
        let level = level_word(*event.metadata().level());
        let time = stamp(self.time, Timestamp::now());
        match self.encoder {
            Encoder::Json => {
                let mut line = Map::new();
                line.insert("level".to_owned(), Value::from(level));
                line.insert("ts".to_owned(), time);
                line.insert("logger".to_owned(), Value::from(event.metadata().target()));
                line.insert("msg".to_owned(), Value::from(fields.message));
                line.extend(fields.rest);
                writeln!(writer, "{}", Value::Object(line))
            }
            Encoder::Console => {
                let time = time
                    .as_str()
                    .map_or_else(|| time.to_string(), str::to_owned);
                write!(
                    writer,
                    "{time}\t{}\t{}",
                    level.to_uppercase(),
                    fields.message
                )?;
                if !fields.rest.is_empty() {
                    write!(writer, "\t{}", Value::Object(fields.rest))?;
                }
                writeln!(writer)
            }
        }
    }
}

const fn level_word(level: Level) -> &'static str {
    match level {
        Level::ERROR => "error",
        Level::WARN => "warn",
        Level::INFO => "info",
        Level::DEBUG | Level::TRACE => "debug",
    }
}

fn stamp(encoding: TimeEncoding, now: Timestamp) -> Value {
    match encoding {
        TimeEncoding::Epoch => Value::from(now.as_duration().as_secs_f64()),
        TimeEncoding::Millis => Value::from(now.as_millisecond()),
        TimeEncoding::Nano => Value::from(i64::try_from(now.as_nanosecond()).unwrap_or(i64::MAX)),
        TimeEncoding::Iso8601 => Value::from(format!("{now:.3}")),
        TimeEncoding::Rfc3339 => Value::from(format!("{now:.0}")),
        TimeEncoding::Rfc3339Nano => Value::from(format!("{now:.9}")),
    }
}

/// Collects the fields of an event as JSON.
#[derive(Default)]
struct Fields {
    message: String,
    rest: Map<String, Value>,
}

impl Fields {
    fn put(&mut self, field: &Field, value: Value) {
        if field.name() == "message" {
            self.message = value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned);
        } else {
            self.rest.insert(field.name().to_owned(), value);
        }
    }
}

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.put(field, Value::from(format!("{value:?}")));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.put(field, Value::from(value));
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.put(field, Value::from(value));
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.put(field, Value::from(value));
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.put(field, Value::from(value));
    }

    fn record_error(&mut self, field: &Field, value: &(dyn std::error::Error + 'static)) {
        self.put(
            field,
            Value::from(mainstay_cluster::error::causes(value).join(": ")),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_as_asked() {
        let now = Timestamp::from_millisecond(1_700_000_000_123).unwrap();
        assert_eq!(stamp(TimeEncoding::Rfc3339, now), "2023-11-14T22:13:20Z");
        assert_eq!(
            stamp(TimeEncoding::Iso8601, now),
            "2023-11-14T22:13:20.123Z"
        );
        assert_eq!(
            stamp(TimeEncoding::Rfc3339Nano, now),
            "2023-11-14T22:13:20.123000000Z"
        );
        assert_eq!(stamp(TimeEncoding::Millis, now), 1_700_000_000_123_i64);
        assert_eq!(stamp(TimeEncoding::Epoch, now), 1_700_000_000.123);
    }

    #[test]
    fn libraries_do_not_print_bodies_and_headers_at_any_level() {
        for ours in ["mainstay::commands::run", "mainstay_runtime::reconcile"] {
            assert!(is_harmless(ours, Level::TRACE), "{ours}");
        }
        for level in [Level::ERROR, Level::WARN, Level::DEBUG, Level::TRACE] {
            for client in ["kube_client::client", "kube_client::client::builder"] {
                assert!(!is_harmless(client, level), "{client} {level}");
            }
        }
        for library in [
            "hyper::proto::h1::io",
            "h2::codec",
            "tower::buffer",
            "mainstays",
        ] {
            assert!(is_harmless(library, Level::WARN), "{library}");
            assert!(!is_harmless(library, Level::DEBUG), "{library}");
        }
        assert!(is_harmless("kube_client::client::tls", Level::WARN));
    }

    #[test]
    fn levels_are_words_or_positive_numbers() {
        assert_eq!(parse_level("debug").unwrap(), LevelFilter::DEBUG);
        assert_eq!(parse_level("panic").unwrap(), LevelFilter::ERROR);
        assert_eq!(parse_level("5").unwrap(), LevelFilter::TRACE);
        assert_eq!(
            parse_level("0").unwrap_err().to_string(),
            "`0` is not one of debug, info, error, panic or a positive number"
        );
        assert!("xml".parse::<Encoder>().is_err() && "noon".parse::<TimeEncoding>().is_err());
    }
}
