//! References in texts: `${ref:path}`, `${env:NAME}`, `${file:path}`.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use serde_json::Value;

use super::{
    draft::Draft,
    outside::{self, OutsideText},
    path,
    secret::Secret,
};
use crate::finding::{Code, Finding};

/// How many references may lead from one to the next.
const DEEPEST: usize = 10;

/// How many references one config may resolve; stops small texts that multiply.
const MOST: usize = 10_000;

/// The longest text that references may grow to, in bytes.
const LONGEST: usize = 1024 * 1024;

/// What a config may ask for outside its own file.
pub trait Surroundings {
    /// The value of an environment variable.
    fn variable(&self, name: &str) -> Option<String>;

    /// The content of a file, or why it cannot be had. A leading `~/` is the home directory; which files may be read is
    /// for the surroundings to say.
    fn file(&self, path: &str) -> Result<String, String>;
}

/// Surroundings without variables and files.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoSurroundings;

impl Surroundings for NoSurroundings {
    fn variable(&self, _: &str) -> Option<String> {
        None
    }

    fn file(&self, _: &str) -> Result<String, String> {
        Err("files are not available here".into())
    }
}

/// Replaces all references in a draft.
pub(crate) fn expand(draft: &mut Draft, surroundings: &dyn Surroundings) {
    let public = outside::public_references(draft);
    let mut texts = Vec::new();
    collect(&draft.value, &mut String::new(), &mut texts);
    texts.retain(|(path, _)| !outside::is_declaration(path));
    let mut resolver = Resolver {
        root: &draft.value,
        surroundings,
        public: &public,
        fetched: BTreeMap::new(),
        resolved: 0,
    };
    let outcomes: Vec<_> = texts
        .into_iter()
        .map(|(path, text)| {
            let outcome = resolver.expand(&text, &mut vec![path.clone()]);
            (path, text, outcome)
        })
        .collect();
    for (path, text, outcome) in outcomes {
        match outcome {
            Ok(expanded) => {
                replace(&mut draft.value, &path, expanded.value);
                draft
                    .origins
                    .record_reference(&path, &text, expanded.outside);
            }
            Err(Problem { code, message }) => {
                draft.report(Finding::new(code, path.as_str(), message));
                // An unresolved reference is no value; nobody shall judge its text.
                replace(&mut draft.value, &path, Value::Null);
            }
        }
    }
}

fn collect(value: &Value, path: &mut String, texts: &mut Vec<(String, String)>) {
    let length = path.len();
    match value {
        Value::String(text) if next_expression(text).is_some() => {
            texts.push((path.clone(), text.clone()));
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                collect(item, &mut path::item(path, index), texts);
            }
        }
        Value::Object(fields) => {
            for (key, field) in fields {
                path::push_key(path, key);
                collect(field, path, texts);
                path.truncate(length);
            }
        }
        _ => {}
    }
}

fn replace(root: &mut Value, path: &str, value: Value) {
    let steps = path::steps(path).unwrap_or_default();
    if let Some(place) = root.pointer_mut(&path::pointer(&steps)) {
        *place = value;
    }
}

struct Expression<'text> {
    before: &'text str,
    kind: &'text str,
    argument: &'text str,
    after: &'text str,
}

/// The first reference in a text.
fn next_expression(text: &str) -> Option<Expression<'_>> {
    let mut offset = 0;
    loop {
        let start = offset + text.get(offset..)?.find("${")?;
        let inside = text.get(start + 2..)?;
        if let Some((kind, rest)) = inside.split_once(':')
            && matches!(kind, "ref" | "env" | "file")
            && let Some((argument, after)) = rest.split_once('}')
        {
            return Some(Expression {
                before: text.get(..start)?,
                kind,
                argument,
                after,
            });
        }
        offset = start + 2;
    }
}

struct Expanded {
    value: Value,
    /// What of it came from outside.
    outside: Vec<Arc<OutsideText>>,
}

struct Problem {
    code: Code,
    message: String,
}

impl Problem {
    fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
        }
    }
}

struct Resolver<'config> {
    root: &'config Value,
    surroundings: &'config dyn Surroundings,
    public: &'config BTreeSet<String>,
    /// Every variable and file is read once, so that all fields see the same.
    fetched: BTreeMap<String, Arc<OutsideText>>,
    resolved: usize,
}

impl Resolver<'_> {
    /// Replaces the references in a text. A text that is nothing but one reference takes over the value with its type.
    fn expand(&mut self, text: &str, trail: &mut Vec<String>) -> Result<Expanded, Problem> {
        let mut out = String::new();
        let mut outside = Vec::new();
        let mut rest = text;
        while let Some(expression) = next_expression(rest) {
            let found = self.resolve(&expression, trail)?;
            if expression.before.is_empty() && expression.after.is_empty() && out.is_empty() {
                return Ok(found);
            }
            outside.extend(found.outside);
            out.push_str(expression.before);
            match &found.value {
                Value::String(text) => out.push_str(text),
                other => out.push_str(&other.to_string()),
            }
            if out.len() > LONGEST {
                return Err(Problem::new(
                    Code::Oc1131,
                    "references grow beyond all bounds",
                ));
            }
            rest = expression.after;
        }
        out.push_str(rest);
        Ok(Expanded {
            value: out.into(),
            outside,
        })
    }

    fn resolve(
        &mut self,
        expression: &Expression<'_>,
        trail: &mut Vec<String>,
    ) -> Result<Expanded, Problem> {
        self.resolved += 1;
        if self.resolved > MOST {
            let message = format!("there are more than {MOST} references to resolve");
            return Err(Problem::new(Code::Oc1131, message));
        }
        let argument = expression.argument;
        match expression.kind {
            "env" | "file" => {
                let source = self.fetch(expression.kind, argument)?;
                Ok(Expanded {
                    value: source.text.expose().into(),
                    outside: vec![source],
                })
            }
            _ => self.follow(argument, trail),
        }
    }

    /// Reads a variable or a file.
    fn fetch(&mut self, kind: &str, argument: &str) -> Result<Arc<OutsideText>, Problem> {
        let reference = format!("{kind}:{argument}");
        if let Some(known) = self.fetched.get(&reference) {
            return Ok(Arc::clone(known));
        }
        let text = if kind == "env" {
            let value = self.surroundings.variable(argument);
            value.filter(|value| !value.is_empty()).ok_or_else(|| {
                let message = format!("environment variable `{argument}` is unset or empty");
                Problem::new(Code::Oc1132, message)
            })?
        } else {
            let content = self.surroundings.file(argument).map_err(|reason| {
                Problem::new(Code::Oc1133, format!("cannot read `{argument}`: {reason}"))
            })?;
            content.trim().to_owned()
        };
        let source = Arc::new(OutsideText {
            is_public: self.public.contains(&reference),
            reference: reference.clone(),
            text: Secret::new(text),
        });
        self.fetched.insert(reference, Arc::clone(&source));
        Ok(source)
    }

    fn follow(&mut self, target: &str, trail: &mut Vec<String>) -> Result<Expanded, Problem> {
        if trail.iter().any(|visited| visited == target) {
            let chain = trail.join(" → ");
            return Err(Problem::new(
                Code::Oc1131,
                format!("references form a cycle: {chain} → {target}"),
            ));
        }
        if trail.len() > DEEPEST {
            let message = format!("more than {DEEPEST} references lead from one to the next");
            return Err(Problem::new(Code::Oc1131, message));
        }
        match path::get(self.root, target) {
            None | Some(Value::Null) => Err(Problem::new(
                Code::Oc1130,
                format!("`{target}` does not exist in this file"),
            )),
            Some(Value::Object(_) | Value::Array(_)) => Err(Problem::new(
                Code::Oc1130,
                format!("`{target}` is not a single value"),
            )),
            Some(Value::String(text)) => {
                trail.push(target.to_owned());
                let found = self.expand(text, trail);
                trail.pop();
                found
            }
            Some(scalar) => Ok(Expanded {
                value: scalar.clone(),
                outside: Vec::new(),
            }),
        }
    }
}
