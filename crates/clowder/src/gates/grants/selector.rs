//! Label selectors in the form that `kubectl -l` takes: `team=shop,stage in (test, prod),!legacy`.

use crate::names::Labels;

/// What one part of a selector asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Requirement {
    In(String, Vec<String>),
    NotIn(String, Vec<String>),
    Exists(String),
    Absent(String),
}

/// Requirements that labels have to meet, all of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Selector(Vec<Requirement>);

impl Selector {
    /// Reads a selector; `None` if it cannot be read, or asks for nothing: what everybody meets is no grant.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let requirements: Option<Vec<Requirement>> = parts(text)
            .into_iter()
            .map(|part| requirement(part.trim()))
            .collect();
        requirements.map(Self)
    }

    /// Whether labels meet all requirements.
    pub(super) fn matches(&self, labels: &Labels) -> bool {
        self.0.iter().all(|requirement| match requirement {
            Requirement::In(key, values) => {
                labels.get(key).is_some_and(|value| values.contains(value))
            }
            Requirement::NotIn(key, values) => {
                labels.get(key).is_none_or(|value| !values.contains(value))
            }
            Requirement::Exists(key) => labels.contains_key(key),
            Requirement::Absent(key) => !labels.contains_key(key),
        })
    }
}

/// The parts between commas that stand in no parentheses.
fn parts(text: &str) -> Vec<&str> {
    let mut is_inside = false;
    let parts = text.split(|character| {
        match character {
            '(' => is_inside = true,
            ')' => is_inside = false,
            _ => {}
        }
        character == ',' && !is_inside
    });
    parts.collect()
}

fn requirement(part: &str) -> Option<Requirement> {
    if let Some(key) = part.strip_prefix('!') {
        return Some(Requirement::Absent(word(key)?));
    }
    if let Some((key, value)) = part.split_once("!=") {
        return Some(Requirement::NotIn(word(key)?, vec![value_of(value)?]));
    }
    if let Some((key, value)) = part.split_once("==").or_else(|| part.split_once('=')) {
        return Some(Requirement::In(word(key)?, vec![value_of(value)?]));
    }
    let Some((head, values)) = part.split_once('(') else {
        return Some(Requirement::Exists(word(part)?));
    };
    let values = values.trim().strip_suffix(')')?.split(',').map(value_of);
    let values: Vec<String> = values.collect::<Option<_>>()?;
    let mut head = head.split_whitespace();
    let (key, operator) = (word(head.next()?)?, head.next()?);
    if head.next().is_some() {
        return None;
    }
    match operator {
        "in" => Some(Requirement::In(key, values)),
        "notin" => Some(Requirement::NotIn(key, values)),
        _ => None,
    }
}

/// A key: it has to be there.
fn word(text: &str) -> Option<String> {
    value_of(text).filter(|word| !word.is_empty())
}

/// A value, which may be empty.
fn value_of(text: &str) -> Option<String> {
    let text = text.trim();
    let is_allowed =
        |character: char| character.is_ascii_alphanumeric() || "-_./".contains(character);
    text.chars().all(is_allowed).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(selector: &str, labels: &[(&str, &str)]) -> Option<bool> {
        let labels = labels
            .iter()
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
        let labels: Labels = labels.collect();
        Selector::parse(selector).map(|selector| selector.matches(&labels))
    }

    #[test]
    fn selectors_mean_what_kubectl_means() {
        let labels = [("team", "shop"), ("x.test/stage", "prod"), ("empty", "")];
        for (selector, expected) in [
            ("team=shop", true),
            ("team == shop", true),
            ("team=stock", false),
            ("team!=stock", true),
            ("other!=stock", true),
            ("team in (stock, shop)", true),
            ("team in (stock,prices)", false),
            ("team notin (stock, prices), x.test/stage", true),
            ("team notin (shop)", false),
            ("team", true),
            ("other", false),
            ("!other,team", true),
            ("!team", false),
            ("empty=", true),
            ("team=shop,other=1", false),
        ] {
            assert_eq!(matches(selector, &labels), Some(expected), "{selector}");
        }
    }

    #[test]
    fn a_selector_that_cannot_be_read_or_asks_for_nothing_is_none() {
        for selector in [
            "",
            " ",
            ",",
            "team=shop,",
            "=shop",
            "!",
            "team in shop",
            "team in (shop",
            "team on (shop)",
            "team extra in (shop)",
            "team=a b",
            "te am",
            "team=sh*p",
            "in (shop)",
        ] {
            assert_eq!(matches(selector, &[("team", "shop")]), None, "{selector}");
        }
    }
}
