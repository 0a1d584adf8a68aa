//! A classifier, a receiver of reports, PuppetDB's commands and Splunk's events in one.

use std::{collections::BTreeMap, fmt::Write as _, ops::Deref};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use hyper::Method;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, value::RawValue};

use super::{
    authority::Authority,
    server::{Answer, Recorded, Server},
};

const TEXT: &str = "text/plain; charset=utf-8";
const JSON: &str = "application/json";

/// What the services know and whom they let in.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Classes of nodes that are not listed.
    pub classes: Vec<String>,
    /// Environment of nodes that are not listed.
    pub environment: String,
    /// Classifications of nodes; that of `_default` is for all others.
    pub classifications: BTreeMap<String, Classification>,
    /// The header that has to be there, its value, and what to say otherwise.
    pub credentials: Option<(String, String, &'static str)>,
}

/// How a node is classified.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Classification {
    /// Classes; if there is no list, those of the settings.
    pub classes: Option<Vec<String>>,
    /// Environment; if empty, that of the settings.
    pub environment: String,
}

impl Settings {
    /// Reads the variables that the image `openvox-mock` knows.
    pub fn from_variables(variable: impl Fn(&str) -> Option<String>) -> Self {
        let text = |name: &str| variable(name).unwrap_or_default();
        let classes = text("ENC_CLASSES");
        let classes = classes.split(',').map(str::trim);
        let token = text("AUTH_TOKEN");
        let basic = format!("{}:{}", text("AUTH_USERNAME"), text("AUTH_PASSWORD"));
        let header = variable("AUTH_HEADER").unwrap_or_else(|| "X-Auth-Token".to_owned());
        let authorization = |value| ("authorization".to_owned(), value);
        let credentials = match text("AUTH_TYPE").as_str() {
            "bearer" => Some((authorization(format!("Bearer {token}")), "bearer token")),
            "basic" => {
                let encoded = STANDARD.encode(basic);
                Some((authorization(format!("Basic {encoded}")), "basic auth"))
            }
            "token" => Some(((header, token), "token")),
            _ => None,
        };
        Self {
            classes: classes
                .filter(|class| !class.is_empty())
                .map(str::to_owned)
                .collect(),
            environment: text("ENC_ENVIRONMENT"),
            classifications: BTreeMap::new(),
            credentials: credentials.map(|((header, value), what)| (header, value, what)),
        }
    }
}

/// The services; gone when dropped.
#[derive(Debug)]
pub struct Services(Server);

impl Deref for Services {
    type Target = Server;

    fn deref(&self) -> &Server {
        &self.0
    }
}

impl Services {
    /// Starts them over plain HTTP.
    pub fn start(settings: Settings) -> Self {
        Self::start_at("127.0.0.1:0", None, settings)
    }

    /// Starts them over TLS; whoever presents a certificate needs one of this authority.
    pub fn start_protected(authority: &Authority, settings: Settings) -> Self {
        Self::start_at("127.0.0.1:0", Some(authority), settings)
    }

    /// Starts them at an address.
    pub fn start_at(address: &str, authority: Option<&Authority>, settings: Settings) -> Self {
        let mut stores = Stores::default();
        let handler = move |request: &Recorded| stores.answer(&settings, request);
        Self(Server::start(address, authority, handler))
    }
}

/// Everything that was sent, in order.
#[derive(Default)]
struct Stores {
    reports: Vec<Entry>,
    commands: Vec<Entry>,
    classifications: Vec<Entry>,
    events: Vec<Entry>,
}

#[derive(Default, Serialize)]
struct Entry {
    #[serde(skip_serializing_if = "Option::is_none")]
    received_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    certname: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    served_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    body: Option<Box<RawValue>>,
    /// The body is no JSON, so that the entry cannot be listed.
    #[serde(skip)]
    is_broken: bool,
}

impl Entry {
    fn received(body: &[u8]) -> Self {
        let body = serde_json::from_slice(body).ok();
        Self {
            received_at: Some(Timestamp::now().to_string()),
            is_broken: body.is_none(),
            body,
            ..Self::default()
        }
    }
}

impl Stores {
    fn answer(&mut self, settings: &Settings, request: &Recorded) -> Answer {
        let path = request.path();
        let node = path
            .strip_prefix("/node/")
            .filter(|name| !name.is_empty() && !name.contains('/'));
        let (method, needs_credentials) = match path {
            _ if node.is_some() => (Method::GET, true),
            "/reports" | "/pdb/cmd/v1" | "/services/collector/event" => (Method::POST, true),
            "/api/reports"
            | "/api/pdb-commands"
            | "/api/classifications"
            | "/api/hec-events"
            | "/healthz" => (Method::GET, false),
            "/api/reset" => (Method::DELETE, false),
            _ => return refusal(404, "404 page not found"),
        };
        let is_allowed =
            request.method == method || (method == Method::GET && request.method == Method::HEAD);
        if !is_allowed {
            return refusal(405, "Method Not Allowed");
        }
        if let Some((header, value, what)) = &settings.credentials
            && needs_credentials
            && request.header(header) != Some(value)
        {
            return refusal(401, &format!("unauthorized: invalid {what}"));
        }
        match (node, path) {
            (Some(node), _) => self.classify(settings, node),
            (_, "/reports") => {
                self.reports.push(Entry::received(&request.body));
                Answer::new(200, TEXT, "ok")
            }
            (_, "/pdb/cmd/v1") => self.command(&request.body),
            (_, "/services/collector/event") => self.event(&request.body),
            (_, "/api/reports") => listing(&self.reports),
            (_, "/api/pdb-commands") => listing(&self.commands),
            (_, "/api/classifications") => listing(&self.classifications),
            (_, "/api/hec-events") => listing(&self.events),
            (_, "/api/reset") => {
                *self = Self::default();
                Answer::new(200, TEXT, "ok")
            }
            _ => Answer::new(200, TEXT, "ok"),
        }
    }

    fn classify(&mut self, settings: &Settings, node: &str) -> Answer {
        self.classifications.push(Entry {
            certname: Some(node.to_owned()),
            served_at: Some(Timestamp::now().to_string()),
            ..Entry::default()
        });
        let known = &settings.classifications;
        let own = known.get(node).or_else(|| known.get("_default")).cloned();
        let own = own.unwrap_or_default();
        let classes = own.classes.unwrap_or_else(|| settings.classes.clone());
        let environment = if own.environment.is_empty() {
            &settings.environment
        } else {
            &own.environment
        };
        let mut text = "---\n".to_owned();
        if !environment.is_empty() {
            writeln!(text, "environment: {environment}").unwrap();
        }
        if !classes.is_empty() {
            text.push_str("classes:\n");
        }
        for class in classes {
            writeln!(text, "  {class}:").unwrap();
        }
        Answer::new(200, "application/x-yaml", text)
    }

    fn command(&mut self, body: &[u8]) -> Answer {
        let command: Value = match serde_json::from_slice(body) {
            Ok(command) => command,
            Err(error) => return refusal(400, &format!("invalid JSON: {error}")),
        };
        let name = command["command"].as_str().unwrap_or_default();
        let version = command["version"].as_u64().unwrap_or_default();
        if name.is_empty() {
            return refusal(400, "missing 'command' field");
        }
        if version == 0 {
            return refusal(400, "missing or zero 'version' field");
        }
        if name == "store report" && version != 8 {
            return refusal(400, "store report command requires version 8");
        }
        let certname = command["payload"]["certname"].as_str();
        self.commands.push(Entry {
            command: Some(name.to_owned()),
            version: Some(version),
            certname: certname.filter(|name| !name.is_empty()).map(str::to_owned),
            ..Entry::received(body)
        });
        Answer::new(200, JSON, r#"{"uuid":"mock-uuid"}"#)
    }

    fn event(&mut self, body: &[u8]) -> Answer {
        let entry = Entry::received(body);
        if entry.is_broken {
            return refusal(400, "invalid JSON");
        }
        self.events.push(entry);
        Answer::new(200, JSON, r#"{"text":"Success","code":0}"#)
    }
}

fn refusal(status: u16, text: &str) -> Answer {
    Answer::new(status, TEXT, format!("{text}\n"))
}

/// Parity: an empty store is `null`, and one entry that is no JSON spoils the list.
fn listing(entries: &[Entry]) -> Answer {
    if entries.iter().any(|entry| entry.is_broken) {
        return refusal(500, "failed to encode response");
    }
    let entries = (!entries.is_empty()).then_some(entries);
    let text = serde_json::to_string(&entries).unwrap();
    Answer::new(200, JSON, format!("{text}\n"))
}
