//! Holds a value against the table of fields: unknown keys, wrong types, words, formats, bounds.
//!
//! What does not fit is reported and taken out, so that later steps see only what fits and can report the rest.

use mainstay_yaml::closest;
use serde_json::{Map, Value};

use super::{
    Common, ManagedServices, Services,
    draft::Draft,
    field::{Field, Kind, Section},
    format::is_dns_label,
    path::Trail,
    root::Root,
};
use crate::finding::{Code, Finding};

/// How much of a value a finding shows, in characters.
const SHOWN: usize = 60;

/// Checks a draft from top to bottom.
pub(crate) fn check(draft: &mut Draft) {
    let mut value = std::mem::take(&mut draft.value);
    match &mut value {
        Value::Object(fields) => Checker { draft }.section(Root::SECTION, fields, &Trail::Root),
        other => {
            draft.report(
                Finding::new(Code::Oc1103, "", "the config must be a mapping").got(shown(other)),
            );
            value = Value::Object(Map::new());
        }
    }
    draft.value = value;
}

struct Checker<'draft> {
    draft: &'draft mut Draft,
}

impl Checker<'_> {
    fn section(
        &mut self,
        section: &'static Section,
        fields: &mut Map<String, Value>,
        path: &Trail<'_>,
    ) {
        self.sections(&[section], fields, path);
    }

    /// Checks a mapping that may hold the fields of several sections.
    fn sections(
        &mut self,
        sections: &[&'static Section],
        fields: &mut Map<String, Value>,
        path: &Trail<'_>,
    ) {
        fields.retain(|key, value| {
            if value.is_null() {
                return false;
            }
            let place = path.key(key);
            match sections.iter().find_map(|section| section.field(key)) {
                Some(field) => self.field(field, value, &place),
                None if sections.iter().any(|section| section.open) => true,
                None => {
                    self.unknown(sections, key, &place);
                    false
                }
            }
        });
    }

    fn unknown(&mut self, sections: &[&'static Section], key: &str, place: &Trail<'_>) {
        let accepted: Vec<_> = sections
            .iter()
            .flat_map(|section| section.fields)
            .filter(|field| !field.deprecated)
            .map(|field| field.name)
            .collect();
        let finding = Finding::new(
            Code::Oc1102,
            place.path(),
            format!("field `{}` is unknown", one_line(key)),
        );
        self.draft.report_at_key(match closest(key, &accepted) {
            Some(name) => finding.help(format!("did you mean `{name}`?")),
            None if accepted.len() <= 12 => {
                finding.help(format!("known fields: {}", accepted.join(", ")))
            }
            None => finding,
        });
    }

    /// Checks the value of a field; false if it must go.
    fn field(&mut self, field: &'static Field, value: &mut Value, path: &Trail<'_>) -> bool {
        if field.deprecated {
            self.draft.report_at_key(Finding::new(
                Code::Oc1122,
                path.path(),
                format!("`{}` is kept for old files only", field.name),
            ));
        }
        self.value(field, &field.kind, value, path)
    }

    fn value(
        &mut self,
        field: &'static Field,
        kind: &'static Kind,
        value: &mut Value,
        path: &Trail<'_>,
    ) -> bool {
        match (kind, &mut *value) {
            (Kind::Any, _) | (Kind::Boolean, Value::Bool(_)) | (Kind::Opaque, Value::Object(_)) => {
                true
            }
            (Kind::Integer, Value::Number(number)) if number.is_i64() => {
                let number = number.as_i64().unwrap_or_default();
                self.bounds(field, number, path);
                true
            }
            (Kind::Text, Value::String(text)) => {
                // As in the original, an empty text is the same as none.
                !text.is_empty() && self.text(field, text, path)
            }
            (Kind::Choice(words), Value::String(word)) => {
                !word.is_empty() && self.word(field, words, word, path)
            }
            (Kind::Object(section), Value::Object(fields)) => {
                self.section(section, fields, path);
                true
            }
            (Kind::List(item), Value::Array(items)) => {
                self.list(field, item, items, path);
                true
            }
            (Kind::Map(item), Value::Object(fields)) => {
                fields.retain(|key, value| {
                    !value.is_null() && self.value(field, item, value, &path.key(key))
                });
                true
            }
            (Kind::Services, Value::Object(blocks)) => {
                self.services(blocks, path, Services::settings_section);
                true
            }
            (Kind::ManagedServices, Value::Object(blocks)) => {
                self.services(blocks, path, ManagedServices::settings_section);
                true
            }
            (_, Value::Null) => false,
            _ => {
                self.mismatch(field, kind, value, path);
                false
            }
        }
    }

    /// Items keep their index: what does not fit is replaced by the emptiest value of its type.
    fn list(
        &mut self,
        field: &'static Field,
        kind: &'static Kind,
        items: &mut [Value],
        path: &Trail<'_>,
    ) {
        for (index, item) in items.iter_mut().enumerate() {
            let place = path.item(index);
            let is_empty_text = item.as_str().is_some_and(str::is_empty);
            if is_empty_text && field.format.is_some() {
                self.draft.report(Finding::new(
                    Code::Oc2003,
                    place.path(),
                    "the text is empty",
                ));
            } else if is_empty_text {
                continue;
            } else if item.is_null() {
                self.mismatch(field, kind, item, &place);
            } else if self.value(field, kind, item, &place) {
                continue;
            }
            *item = match kind {
                Kind::Object(_) => Value::Object(Map::new()),
                _ => Value::String(String::new()),
            };
        }
    }

    fn services(
        &mut self,
        blocks: &mut Map<String, Value>,
        path: &Trail<'_>,
        settings: fn(&str) -> Option<&'static Section>,
    ) {
        blocks.retain(|name, block| {
            let place = path.key(name);
            // The name becomes a directory and part of object names.
            if !is_dns_label(name) {
                let message = "the name of a service must be a DNS label: lower-case letters, digits and inner hyphens";
                self.draft.report_at_key(Finding::new(Code::Oc2003, place.path(), message).got(quoted(name)));
                return false;
            }
            match block {
                Value::Null => false,
                Value::Object(fields) => {
                    let own = settings(name);
                    let sections: Vec<_> = std::iter::once(Common::SECTION).chain(own).collect();
                    self.sections(&sections, fields, &place);
                    true
                }
                other => {
                    let message = "the block of a service must be a mapping";
                    let finding = Finding::new(Code::Oc1103, place.path(), message);
                    self.draft.report(finding.got(shown(other)).help("write `enabled: true` below the name"));
                    false
                }
            }
        });
    }

    fn bounds(&mut self, field: &'static Field, number: i64, path: &Trail<'_>) {
        let below = field.minimum.is_some_and(|minimum| number < minimum);
        let above = field.maximum.is_some_and(|maximum| number > maximum);
        if !below && !above {
            return;
        }
        let range = match (field.minimum, field.maximum) {
            (Some(minimum), Some(maximum)) => format!("between {minimum} and {maximum}"),
            (Some(minimum), None) => format!("{minimum} or more"),
            (None, Some(maximum)) => format!("{maximum} or less"),
            (None, None) => return,
        };
        let code = field.code.unwrap_or(Code::Oc2004);
        self.draft.report(
            Finding::new(
                code,
                path.path(),
                format!("`{}` must be {range}", field.name),
            )
            .got(number.to_string()),
        );
    }

    fn text(&mut self, field: &'static Field, text: &str, path: &Trail<'_>) -> bool {
        let Some(format) = field.format.filter(|format| !format.accepts(text)) else {
            return true;
        };
        let path = path.path();
        let code = field.code.unwrap_or(Code::Oc2003);
        let finding = Finding::new(
            code,
            path.as_str(),
            format!("`{}` is malformed", field.name),
        )
        .help(format!("expected {}", format.expectation()));
        let hidden = field.secret || self.draft.origins.is_tainted(&path);
        self.draft.report(if hidden {
            finding
        } else {
            finding.got(quoted(text))
        });
        false
    }

    fn word(
        &mut self,
        field: &'static Field,
        words: &[&'static str],
        word: &str,
        path: &Trail<'_>,
    ) -> bool {
        if words.contains(&word) {
            return true;
        }
        let offered = field.choices().unwrap_or_default();
        let code = field.code.unwrap_or(Code::Oc2002);
        let message = format!("`{}` must be one of {}", field.name, offered.join(", "));
        let finding = Finding::new(code, path.path(), message).got(quoted(word));
        self.draft.report(match closest(word, words) {
            Some(meant) => finding.help(format!("did you mean `{meant}`?")),
            None => finding.help(format!("use one of {}", offered.join(", "))),
        });
        false
    }

    fn mismatch(&mut self, field: &'static Field, kind: &Kind, value: &Value, path: &Trail<'_>) {
        let path = path.path();
        let article = if matches!(kind, Kind::Integer | Kind::Object(_)) {
            "an"
        } else {
            "a"
        };
        let message = format!("`{}` must be {article} {}", field.name, kind.word());
        let finding = Finding::new(Code::Oc1103, path.as_str(), message);
        let finding = match (kind, value) {
            (Kind::Text | Kind::Choice(_), Value::Number(_) | Value::Bool(_)) => {
                finding.help("put the value in quotes")
            }
            (Kind::Boolean, Value::String(_)) => {
                finding.help("write true or false, without quotes")
            }
            (Kind::Integer, Value::String(_)) => finding.help("write the number without quotes"),
            (Kind::List(_), Value::String(_) | Value::Number(_)) => {
                finding.help("write a list: `- value`")
            }
            _ => finding,
        };
        let hidden = field.secret || self.draft.origins.is_tainted(&path);
        self.draft.report(if hidden {
            finding
        } else {
            finding.got(shown(value))
        });
    }
}

/// A value as findings show it: one line, not too long.
fn shown(value: &Value) -> String {
    match value {
        Value::Object(_) => "a mapping".into(),
        Value::Array(_) => "a list".into(),
        other => cut(&other.to_string()),
    }
}

/// A text as findings show it: quoted, one line, not too long.
pub(crate) fn quoted(text: &str) -> String {
    cut(&Value::from(text).to_string())
}

fn one_line(text: &str) -> String {
    cut(&text.escape_debug().to_string())
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}
