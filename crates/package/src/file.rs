//! Generated files.

use serde_json::Value;

/// One generated file.
#[derive(Clone, Debug, PartialEq)]
pub struct File {
    /// Path relative to the output directory, with forward slashes.
    pub path: String,
    /// What is in it.
    pub content: FileContent,
}

/// What is in a file.
#[derive(Clone, Debug, PartialEq)]
pub enum FileContent {
    /// YAML documents, in order.
    Yaml(Vec<Value>),
    /// YAML documents with actions of Helm in them: a text that is one action stands without quotes.
    Template {
        /// Condition under which the documents are there at all.
        condition: Option<String>,
        /// The documents, in order.
        documents: Vec<Value>,
    },
    /// Plain text, as it is.
    Text(String),
}

impl File {
    /// A file with YAML documents.
    pub fn yaml(path: impl Into<String>, documents: impl Into<Vec<Value>>) -> Self {
        Self {
            path: path.into(),
            content: FileContent::Yaml(documents.into()),
        }
    }

    /// A plain text.
    pub fn text(path: impl Into<String>, text: String) -> Self {
        Self {
            path: path.into(),
            content: FileContent::Text(text),
        }
    }

    /// The YAML documents of the file; none if it is plain text.
    pub fn documents(&self) -> &[Value] {
        match &self.content {
            FileContent::Yaml(documents) | FileContent::Template { documents, .. } => documents,
            FileContent::Text(_) => &[],
        }
    }

    /// The text of the file, with documents printed by the caller's printer.
    pub fn print(&self, printer: impl Fn(&[Value]) -> String) -> String {
        match &self.content {
            FileContent::Text(text) => text.clone(),
            FileContent::Yaml(documents) => printer(documents),
            FileContent::Template {
                condition,
                documents,
            } => {
                let text = bare_actions(&printer(documents));
                match condition {
                    None => text,
                    Some(condition) => format!("{{{{- if {condition} }}}}\n{text}{{{{- end }}}}\n"),
                }
            }
        }
    }
}

/// The text with quotes removed around values that are one action: the action decides whether there are any.
fn bare_actions(text: &str) -> String {
    let lines = text.lines().map(|line| {
        for quote in ['\'', '"'] {
            let (open, close) = (format!("{quote}{{{{ "), format!(" }}}}{quote}"));
            if let Some((head, rest)) = line.split_once(&open)
                && let Some(action) = rest.strip_suffix(&close)
                && !action.contains("}}")
            {
                return format!("{head}{{{{ {action} }}}}\n");
            }
        }
        format!("{line}\n")
    });
    lines.collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn printer(documents: &[Value]) -> String {
        let lines = documents.iter().map(|document| {
            let image = document["image"].as_str().unwrap();
            format!("image: '{image}'\n")
        });
        lines.collect()
    }

    #[test]
    fn a_value_that_is_one_action_stands_bare_and_others_keep_their_quotes() {
        let file = |image: &str, condition: Option<&str>| File {
            path: "templates/a.yaml".to_owned(),
            content: FileContent::Template {
                condition: condition.map(str::to_owned),
                documents: vec![json!({"image": image})],
            },
        };
        let text = file("{{ .Values.image | quote }}", None).print(printer);
        assert_eq!(text, "image: {{ .Values.image | quote }}\n");
        let text = file("a-{{ .Release.Name }}", None).print(printer);
        assert_eq!(text, "image: 'a-{{ .Release.Name }}'\n");
        let text = file("{{ .a }}-{{ .b }}", None).print(printer);
        assert_eq!(text, "image: '{{ .a }}-{{ .b }}'\n");
        let text = file("a", Some(".Values.on")).print(printer);
        assert_eq!(text, "{{- if .Values.on }}\nimage: 'a'\n{{- end }}\n");
    }
}
