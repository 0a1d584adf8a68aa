//! The schemas that an API server publishes under `/openapi/v3`, readable by everybody who may log in.

use std::collections::BTreeMap;

use http::Request;
use kube::Client;
use mainstay_engine::{definition::Schemas, key::Kind};
use serde::Deserialize;
use serde_json::{Map, Value, value::RawValue};

/// Which documents there are.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Index {
    paths: BTreeMap<String, Entry>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry {
    #[serde(rename = "serverRelativeURL")]
    server_relative_url: String,
}

impl Index {
    /// The address of the document that has a kind. It holds a hash of the document, so it tells versions apart.
    pub(super) fn address(&self, kind: &Kind) -> Option<&str> {
        let path = if kind.group.is_empty() {
            format!("api/{}", kind.version)
        } else {
            format!("apis/{}/{}", kind.group, kind.version)
        };
        let entry = self.paths.get(&path)?;
        Some(&entry.server_relative_url)
    }
}

/// Reads which documents there are.
pub(super) async fn index(client: &Client) -> Result<Index, kube::Error> {
    client.request(get("/openapi/v3")?).await
}

/// The schemas that matter for one kind.
#[derive(Debug, Default)]
pub(super) struct Document {
    components: Map<String, Value>,
    root: Option<String>,
}

impl Document {
    /// As the engine reads them.
    pub(super) fn schemas(&self) -> Schemas<'_> {
        Schemas::new(&self.components, self.root.as_deref())
    }
}

#[derive(Deserialize)]
struct Text<'text> {
    #[serde(borrow, default)]
    components: Components<'text>,
}

#[derive(Default, Deserialize)]
struct Components<'text> {
    /// Of the hundreds of schemas in a document one is needed, so the others stay text.
    #[serde(borrow, default)]
    schemas: BTreeMap<&'text str, &'text RawValue>,
}

/// Reads a document and keeps the schema of a kind with all that it refers to.
pub(super) async fn document(
    client: &Client,
    address: &str,
    kind: &Kind,
) -> Result<Document, kube::Error> {
    let text = client.request_text(get(address)?).await?;
    parse(&text, kind).map_err(kube::Error::SerdeError)
}

fn parse(text: &str, kind: &Kind) -> Result<Document, serde_json::Error> {
    let text: Text<'_> = serde_json::from_str(text)?;
    let schemas = text.components.schemas;
    let mut document = Document::default();
    let suffix = format!(".{}", kind.kind);
    for (name, schema) in schemas.iter().filter(|(name, _)| name.ends_with(&suffix)) {
        let schema: Value = serde_json::from_str(schema.get())?;
        if is_of(&schema, kind) {
            document.root = Some((*name).to_owned());
            document.components.insert((*name).to_owned(), schema);
            break;
        }
    }
    let mut open: Vec<String> = Vec::from_iter(document.root.clone());
    while let Some(name) = open.pop() {
        let mut found = Vec::new();
        if let Some(schema) = document.components.get(&name) {
            references(schema, &mut found);
        }
        for name in found {
            if let Some(schema) = schemas.get(name.as_str())
                && !document.components.contains_key(&name)
            {
                let schema = serde_json::from_str(schema.get())?;
                document.components.insert(name.clone(), schema);
                open.push(name);
            }
        }
    }
    Ok(document)
}

/// Whether a schema says that it is that of a kind.
fn is_of(schema: &Value, kind: &Kind) -> bool {
    let kinds = schema.get("x-kubernetes-group-version-kind");
    let kinds = kinds.and_then(Value::as_array).into_iter().flatten();
    kinds.into_iter().any(|entry| {
        let is = |field: &str, value: &str| entry.get(field).and_then(Value::as_str) == Some(value);
        is("group", &kind.group) && is("version", &kind.version) && is("kind", &kind.kind)
    })
}

/// The names of the schemas that a schema refers to.
fn references(schema: &Value, found: &mut Vec<String>) {
    match schema {
        Value::Object(fields) => {
            if let Some(Value::String(target)) = fields.get("$ref") {
                found.extend(target.rsplit('/').next().map(str::to_owned));
            }
            fields.values().for_each(|value| references(value, found));
        }
        Value::Array(items) => items.iter().for_each(|value| references(value, found)),
        _ => {}
    }
}

fn get(address: &str) -> Result<Request<Vec<u8>>, kube::Error> {
    Request::get(address)
        .body(Vec::new())
        .map_err(kube::Error::HttpError)
}
