//! The report of a run as a command for PuppetDB: `store report`, version 8.

use jiff::{SignedDuration, Timestamp, fmt::temporal::DateTimeParser};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::go_text;

/// What is taken over under its own name, if it is there.
const COPIED: [&str; 13] = [
    "puppet_version",
    "report_format",
    "configuration_version",
    "environment",
    "transaction_uuid",
    "status",
    "noop",
    "noop_pending",
    "corrective_change",
    "catalog_uuid",
    "code_id",
    "cached_catalog_status",
    "job_id",
];

#[derive(Serialize)]
struct Envelope {
    command: &'static str,
    version: u8,
    payload: Map<String, Value>,
}

/// The command for a report; the error says why the report is none. Text that is not UTF-8 is mended instead of losing
/// the report.
pub(super) fn command(report: &[u8], now: Timestamp) -> Result<Vec<u8>, String> {
    let parsed = match std::str::from_utf8(report) {
        Ok(text) => serde_json::from_str(text),
        Err(_) => serde_json::from_str(&String::from_utf8_lossy(report)),
    };
    let report = match parsed {
        Ok(Value::Object(report)) => report,
        // The text `null` is a report without content to Go.
        Ok(Value::Null) => Map::new(),
        Ok(_) => return Err("an object is expected".to_owned()),
        Err(error) => return Err(error.to_string()),
    };
    let envelope = Envelope {
        command: "store report",
        version: 8,
        payload: payload(report, now),
    };
    serde_json::to_vec(&envelope).map_err(|error| error.to_string())
}

/// Values are moved, not copied: reports can be large.
fn payload(mut report: Map<String, Value>, now: Timestamp) -> Map<String, Value> {
    let mut payload = Map::new();
    for name in COPIED {
        if let Some(value) = report.remove(name) {
            payload.insert(name.to_owned(), value);
        }
    }
    let host = taken(&mut report, "host");
    let producer = match taken(&mut report, "server_used") {
        Value::String(server) if !server.is_empty() => Value::String(server),
        _ => host.clone(),
    };
    let time = taken(&mut report, "time");
    let metrics = taken(&mut report, "metrics");
    let end = match &time {
        Value::String(start) => {
            later(start, run_seconds(&metrics)).unwrap_or_else(|| start.clone())
        }
        _ => String::new(),
    };
    let statuses = match taken(&mut report, "resource_statuses") {
        Value::Object(statuses) => statuses,
        _ => Map::new(),
    };
    let resources = statuses
        .into_iter()
        .filter_map(|(_, status)| resource(status));
    for (name, value) in [
        ("certname", host),
        ("producer", producer),
        ("start_time", time),
        ("end_time", Value::String(end)),
        ("producer_timestamp", json!(now.to_string())),
        ("resources", resources.collect()),
        ("metrics", all_metrics(metrics)),
        ("logs", taken(&mut report, "logs")),
    ] {
        payload.insert(name.to_owned(), value);
    }
    payload
}

fn taken(map: &mut Map<String, Value>, name: &str) -> Value {
    map.get_mut(name).map_or(Value::Null, Value::take)
}

fn resource(status: Value) -> Option<Value> {
    let Value::Object(mut status) = status else {
        return None;
    };
    let mut take = |name| taken(&mut status, name);
    let events = match take("events") {
        Value::Array(events) => events.into_iter().filter_map(event).collect(),
        _ => json!([]),
    };
    Some(object([
        ("skipped", take("skipped")),
        ("timestamp", take("time")),
        ("resource_type", take("resource_type")),
        ("resource_title", text(take("title"))),
        ("file", take("file")),
        ("line", take("line")),
        ("containment_path", take("containment_path")),
        ("corrective_change", take("corrective_change")),
        ("events", events),
    ]))
}

fn event(event: Value) -> Option<Value> {
    let Value::Object(mut event) = event else {
        return None;
    };
    let mut take = |name| taken(&mut event, name);
    Some(object([
        ("status", take("status")),
        ("timestamp", take("time")),
        ("name", take("name")),
        ("property", take("property")),
        ("new_value", text(take("desired_value"))),
        ("old_value", text(take("previous_value"))),
        ("corrective_change", take("corrective_change")),
        ("message", take("message")),
    ]))
}

fn text(value: Value) -> Value {
    Value::String(go_text::text(value))
}

/// An object of values that are moved into it, which the macro would copy.
fn object<const N: usize>(fields: [(&str, Value); N]) -> Value {
    let fields = fields.into_iter();
    Value::Object(
        fields
            .map(|(name, value)| (name.to_owned(), value))
            .collect(),
    )
}

/// All metrics in one list. Parity: a mapping without any gives `null`, anything but a mapping an empty list.
fn all_metrics(metrics: Value) -> Value {
    let Value::Object(metrics) = metrics else {
        return json!([]);
    };
    let categories = metrics.into_iter().filter_map(|(_, metric)| match metric {
        Value::Object(metric) => Some(metric),
        _ => None,
    });
    let found: Vec<Value> = categories
        .flat_map(|mut metric| {
            let category = text_or_empty(taken(&mut metric, "name"));
            let tuples = match taken(&mut metric, "values") {
                Value::Array(tuples) => tuples,
                _ => Vec::new(),
            };
            let one = move |tuple| metric_of(&category, tuple);
            tuples.into_iter().filter_map(one)
        })
        .collect();
    if found.is_empty() {
        Value::Null
    } else {
        Value::Array(found)
    }
}

fn metric_of(category: &Value, tuple: Value) -> Option<Value> {
    let Value::Array(parts) = tuple else {
        return None;
    };
    let mut parts = parts.into_iter();
    let (name, _label, value) = (parts.next()?, parts.next()?, parts.next()?);
    Some(object([
        ("category", category.clone()),
        ("name", text_or_empty(name)),
        ("value", value),
    ]))
}

fn text_or_empty(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(text),
        _ => json!(""),
    }
}

/// How long the run took: the first total of the metric `time`.
fn run_seconds(metrics: &Value) -> f64 {
    let tuples = metrics.pointer("/time/values").and_then(Value::as_array);
    let mut totals = tuples.into_iter().flatten().filter_map(|tuple| {
        let is_total = tuple.get(0).is_some_and(|name| name == "total");
        tuple.get(2).filter(|_| is_total)
    });
    totals.next().and_then(Value::as_f64).unwrap_or(0.0)
}

/// A time of RFC 3339 some seconds later, in the same zone; none if it is no such time.
fn later(time: &str, seconds: f64) -> Option<String> {
    let pieces = DateTimeParser::new().parse_pieces(time).ok()?;
    let offset = pieces.to_numeric_offset()?;
    let start = pieces.date().to_datetime(pieces.time()?);
    #[expect(
        clippy::cast_possible_truncation,
        reason = "what is smaller than a nanosecond is left out, what is too large becomes the largest"
    )]
    let nanoseconds = (seconds * 1e9) as i64;
    let passed = SignedDuration::from_nanos(nanoseconds);
    let end = offset.to_timestamp(start).ok()?.checked_add(passed).ok()?;
    let local = offset.to_datetime(end);
    let minutes = offset.seconds() / 60;
    Some(if minutes == 0 {
        format!("{local}Z")
    } else {
        let sign = if minutes < 0 { '-' } else { '+' };
        let minutes = minutes.abs();
        format!("{local}{sign}{:02}:{:02}", minutes / 60, minutes % 60)
    })
}

#[cfg(test)]
mod tests;
