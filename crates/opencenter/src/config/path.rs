//! Paths into the config as people write them: `opencenter.services.loki.ports[0]`, odd keys in `["…"]`.

use serde_json::Value;

/// A place during a walk: costs nothing until somebody asks for the path.
#[derive(Clone, Copy)]
pub(crate) enum Trail<'walk> {
    /// The whole config.
    Root,
    /// A key of a mapping.
    Key(&'walk Self, &'walk str),
    /// An item of a list.
    Item(&'walk Self, usize),
}

impl<'walk> Trail<'walk> {
    pub(crate) fn key(&'walk self, key: &'walk str) -> Self {
        Self::Key(self, key)
    }

    pub(crate) fn item(&'walk self, index: usize) -> Self {
        Self::Item(self, index)
    }

    pub(crate) fn path(&self) -> String {
        match self {
            Self::Root => String::new(),
            Self::Key(parent, key) => child(&parent.path(), key),
            Self::Item(parent, index) => item(&parent.path(), *index),
        }
    }
}

/// The path of a key in a mapping.
pub(crate) fn child(parent: &str, key: &str) -> String {
    let mut path = parent.to_owned();
    push_key(&mut path, key);
    path
}

/// The path of an item in a list.
pub(crate) fn item(parent: &str, index: usize) -> String {
    format!("{parent}[{index}]")
}

/// Appends a key to a path.
pub(crate) fn push_key(path: &mut String, key: &str) {
    if !key.is_empty() && !key.contains(['.', '[', ']', '"']) && !key.contains(char::is_control) {
        if !path.is_empty() {
            path.push('.');
        }
        path.push_str(key);
    } else {
        path.push('[');
        path.push_str(&Value::from(key).to_string());
        path.push(']');
    }
}

/// The steps of a path: keys, and list indices as digits. None if the path is malformed.
pub fn steps(path: &str) -> Option<Vec<String>> {
    let mut steps = Vec::new();
    let mut rest = path;
    while !rest.is_empty() {
        if let Some(inside) = rest.strip_prefix('[') {
            let (step, after) = bracketed(inside)?;
            steps.push(step);
            rest = after;
        } else {
            let after_dot = rest.strip_prefix('.').filter(|_| !steps.is_empty());
            let start = after_dot.unwrap_or(rest);
            let end = start.find(['.', '[']).unwrap_or(start.len());
            let (key, after) = start.split_at_checked(end)?;
            if key.is_empty() || (after_dot.is_none() && !steps.is_empty()) {
                return None;
            }
            steps.push(key.to_owned());
            rest = after;
        }
    }
    Some(steps)
}

/// What stands in brackets, and what follows them.
fn bracketed(inside: &str) -> Option<(String, &str)> {
    if !inside.starts_with('"') {
        let (digits, after) = inside.split_once(']')?;
        digits.parse::<usize>().ok()?;
        return Some((digits.to_owned(), after));
    }
    let mut values = serde_json::Deserializer::from_str(inside).into_iter::<String>();
    let key = values.next()?.ok()?;
    let after = inside.get(values.byte_offset()..)?.strip_prefix(']')?;
    Some((key, after))
}

/// The JSON pointer for some steps.
pub(crate) fn pointer(steps: &[String]) -> String {
    steps.iter().fold(String::new(), |mut pointer, step| {
        pointer.push('/');
        pointer.push_str(&step.replace('~', "~0").replace('/', "~1"));
        pointer
    })
}

/// The value at a path.
pub(crate) fn get<'value>(value: &'value Value, path: &str) -> Option<&'value Value> {
    steps(path)?
        .iter()
        .try_fold(value, |value, step| match value {
            Value::Array(items) => items.get(step.parse::<usize>().ok()?),
            _ => value.get(step),
        })
}

/// The value at a path, to be changed.
pub(crate) fn get_mut<'value>(value: &'value mut Value, path: &str) -> Option<&'value mut Value> {
    steps(path)?
        .iter()
        .try_fold(value, |value, step| match value {
            Value::Array(items) => items.get_mut(step.parse::<usize>().ok()?),
            _ => value.get_mut(step.as_str()),
        })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn reads_back_what_it_writes() {
        for keys in [
            vec!["a", "b-c", "d_e"],
            vec!["a.b", "c"],
            vec!["a", "\"q\"", "[x]", "", "new\nline"],
        ] {
            let path = keys
                .iter()
                .fold(String::new(), |path, key| child(&path, key));
            assert_eq!(steps(&path).unwrap(), keys, "{path}");
        }
        assert_eq!(
            steps(&child(&item("a.b", 3), "c")).unwrap(),
            ["a", "b", "3", "c"]
        );
    }

    #[test]
    fn refuses_malformed_paths() {
        for path in [".a", "a.", "a..b", "a[", "a[x]", "a[\"b]", "a[0]b", "a]"] {
            assert!(steps(path).is_none() || path == "a]", "{path}");
        }
        assert_eq!(steps("").unwrap(), Vec::<String>::new());
    }

    #[test]
    fn finds_values() {
        let value = json!({"a": {"b.c": [1, {"d": 2}]}});
        assert_eq!(get(&value, "a[\"b.c\"][1].d"), Some(&json!(2)));
        assert_eq!(get(&value, "a.x"), None);
        assert_eq!(pointer(&["a/b".into(), "c~d".into()]), "/a~1b/c~0d");
    }
}
