//! A Helm chart.

use serde_json::{Value, json};

use crate::{File, FileContent, OLDEST_KUBERNETES};

/// The namespace of a release, where it is a whole value.
pub const NAMESPACE: &str = "{{ .Release.Namespace | quote }}";

/// What a chart says of itself, and what it installs.
#[derive(Clone, Debug)]
pub struct Chart {
    /// Name of the chart.
    pub name: &'static str,
    /// What it installs, in one sentence.
    pub description: &'static str,
    /// Version of the chart and of what it installs.
    pub version: String,
    /// What can be set, with defaults.
    pub values: Value,
    /// The definitions, with the names of their files. Helm installs them first and never removes them.
    pub definitions: Vec<(String, Value)>,
    /// Everything else.
    pub templates: Vec<Template>,
}

/// Objects that are installed together.
#[derive(Clone, Debug)]
pub struct Template {
    /// Name of the file.
    pub file: &'static str,
    /// Condition under which they are installed at all.
    pub condition: Option<&'static str>,
    /// The objects, with actions in them.
    pub objects: Vec<Value>,
}

/// What a chart says of itself.
pub fn about(name: &str, description: &str, version: &str) -> Value {
    json!({
        "apiVersion": "v2",
        "name": name,
        "description": description,
        "type": "application",
        "version": version,
        "appVersion": version,
        // Versions of vendors count as older than the plain one.
        "kubeVersion": format!(">={OLDEST_KUBERNETES}-0"),
    })
}

/// The files of a chart, under `chart/`.
pub fn files(chart: &Chart) -> Vec<File> {
    let about = about(chart.name, chart.description, &chart.version);
    let mut files = vec![
        File::yaml("chart/Chart.yaml", [about]),
        File::yaml("chart/values.yaml", [chart.values.clone()]),
    ];
    let definitions = chart.definitions.iter();
    files.extend(
        definitions.map(|(name, definition)| {
            File::yaml(format!("chart/crds/{name}"), [definition.clone()])
        }),
    );
    files.extend(chart.templates.iter().map(|template| File {
        path: format!("chart/templates/{}", template.file),
        content: FileContent::Template {
            condition: template.condition.map(str::to_owned),
            documents: template.objects.clone(),
        },
    }));
    files
}

/// An object with the namespace of the release wherever this one is named.
pub fn in_release(object: &Value, namespace: &str) -> Value {
    match object {
        Value::String(text) if text == namespace => json!(NAMESPACE),
        Value::String(text) => json!(text.replace(namespace, "{{ .Release.Namespace }}")),
        Value::Array(items) => items
            .iter()
            .map(|item| in_release(item, namespace))
            .collect(),
        Value::Object(fields) => {
            let fields = fields.iter();
            let fields = fields.map(|(name, value)| (name.clone(), in_release(value, namespace)));
            Value::Object(fields.collect())
        }
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_namespace_of_the_release_replaces_that_of_the_installation() {
        let object = json!({
            "metadata": {"namespace": "home"}, "names": ["a.home.svc", "other"], "count": 1,
        });
        assert_eq!(
            in_release(&object, "home"),
            json!({
                "metadata": {"namespace": "{{ .Release.Namespace | quote }}"},
                "names": ["a.{{ .Release.Namespace }}.svc", "other"], "count": 1,
            })
        );
    }
}
