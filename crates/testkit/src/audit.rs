//! The audit log: the referee of how many requests were sent.

use std::{
    fs::File,
    io::{Read, Seek, SeekFrom},
    path::PathBuf,
    sync::atomic::{AtomicU32, Ordering},
    time::Duration,
};

use k8s_openapi::jiff::Timestamp;
use serde_json::Value;

use crate::{
    plane::{Plane, dynamic},
    wait::eventually,
};

/// A request as the API server saw it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// get, list, watch, create, update, patch, delete.
    pub verb: String,
    /// Resource, with its subresource if there is one: `kaotoes/status`.
    pub resource: String,
    /// Namespace.
    pub namespace: String,
    /// Name.
    pub name: String,
    /// Code of the answer.
    pub code: i64,
    /// Whether the server was only asked what would happen.
    pub dry_run: bool,
}

impl Entry {
    /// Whether the request asks for a change.
    pub fn is_write(&self) -> bool {
        !self.dry_run && !matches!(self.verb.as_str(), "get" | "list" | "watch")
    }
}

/// A place in the audit log.
#[derive(Clone, Debug)]
pub struct Mark {
    path: PathBuf,
    offset: u64,
    /// When it was made. The server answers before it logs, so that lines behind the offset may be of requests before.
    time: String,
}

impl Mark {
    /// The end of the log now.
    pub fn now(path: PathBuf) -> Self {
        // In the words of the log, which can be compared.
        let time = format!("{:.6}", Timestamp::now());
        let offset = File::open(&path).unwrap().metadata().unwrap().len();
        Self { path, offset, time }
    }

    /// The end of the log when nothing has been sent in this namespace for a while.
    pub async fn quiet(path: PathBuf, namespace: &str) -> Self {
        Self::now(path.clone()).settled(namespace).await;
        Self::now(path)
    }

    /// Requests since this mark whose user agent starts with `agent`, in a namespace. Watches do not count, nor lists of
    /// kinds that the cluster does not serve: they come and go by themselves.
    pub fn since(&self, agent: &str, namespace: &str) -> Vec<Entry> {
        let mut entries = self.matching(agent, namespace);
        entries.retain(|entry| entry.namespace == namespace);
        entries
    }

    /// The same for requests whose line in the log holds this text, wherever they were sent. They come in the order in
    /// which the server received them: it logs each when it is done with it, which is another order.
    pub fn matching(&self, agent: &str, text: &str) -> Vec<Entry> {
        let all = self.text();
        let found = all.lines().filter_map(|line| entry(line, agent, text));
        let found = found.filter(|(received, _)| *received >= self.time);
        let mut found: Vec<(String, Entry)> = found.collect();
        found.sort_by(|(one, _), (other, _)| one.cmp(other));
        found.into_iter().map(|(_, entry)| entry).collect()
    }

    /// The whole lines since this mark.
    fn text(&self) -> String {
        let mut file = File::open(&self.path).unwrap();
        file.seek(SeekFrom::Start(self.offset)).unwrap();
        let mut all = String::new();
        file.read_to_string(&mut all).unwrap();
        all.truncate(all.rfind('\n').unwrap_or_default());
        all
    }

    /// Writes since this mark.
    pub fn writes(&self, namespace: &str) -> Vec<Entry> {
        let mut entries = self.since("mainstay", namespace);
        entries.retain(Entry::is_write);
        entries
    }

    /// Writes since this mark that the API server carried out, as sorted words.
    pub fn carried_out(&self, namespace: &str) -> Vec<String> {
        let mut words: Vec<String> = self
            .writes(namespace)
            .into_iter()
            .filter(|entry| entry.code < 300)
            .map(|entry| format!("{} {} {}", entry.verb, entry.resource, entry.name))
            .collect();
        words.sort();
        words
    }

    /// Waits until the operator has sent nothing in this namespace for a while, then returns what it sent.
    pub async fn settled(&self, namespace: &str) -> Vec<Entry> {
        self.at_rest(|| self.since("mainstay", namespace)).await
    }

    /// The same for requests whose line in the log holds this text.
    pub async fn settled_about(&self, text: &str) -> Vec<Entry> {
        self.at_rest(|| self.matching("mainstay", text)).await
    }

    /// Asks until there is nothing new for a while.
    async fn at_rest(&self, ask: impl Fn() -> Vec<Entry>) -> Vec<Entry> {
        const QUIET: Duration = Duration::from_millis(700);
        let mut known = ask();
        loop {
            tokio::time::sleep(QUIET).await;
            self.caught_up().await;
            let now = ask();
            if now.len() == known.len() {
                return now;
            }
            known = now;
        }
    }

    /// Waits until the log tells of a request that is sent now: a server that stands still is not a silent operator.
    async fn caught_up(&self) {
        static COUNTER: AtomicU32 = AtomicU32::new(0);
        let number = COUNTER.fetch_add(1, Ordering::Relaxed);
        let name = format!("audited-{}-{number}", std::process::id());
        let client = Plane::of_audit_log(&self.path).client().await;
        let nobody = dynamic(&client, "default", "v1", "ConfigMap", "configmaps");
        assert!(nobody.get_opt(&name).await.unwrap().is_none());
        eventually("the audit log is up to date", || async {
            self.text().contains(&name).then_some(())
        })
        .await;
    }
}

/// A request, and when the server received it: texts of the same length, so that they sort by time.
fn entry(line: &str, agent: &str, text_in_line: &str) -> Option<(String, Entry)> {
    // Most lines belong to others; look before parsing.
    if !line.contains(agent) || !line.contains(text_in_line) {
        return None;
    }
    let event: Value = serde_json::from_str(line).ok()?;
    let text = |pointer: &str| {
        event
            .pointer(pointer)
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned()
    };
    let verb = text("/verb");
    let code = event.pointer("/responseStatus/code");
    let code = code.and_then(Value::as_i64).unwrap_or_default();
    let by_itself = verb == "watch" || (verb == "list" && code == 404);
    if !text("/userAgent").starts_with(agent) || by_itself {
        return None;
    }
    let subresource = text("/objectRef/subresource");
    let resource = text("/objectRef/resource");
    let entry = Entry {
        verb,
        resource: if subresource.is_empty() {
            resource
        } else {
            format!("{resource}/{subresource}")
        },
        namespace: text("/objectRef/namespace"),
        name: text("/objectRef/name"),
        code,
        dry_run: text("/requestURI").contains("dryRun="),
    };
    Some((text("/requestReceivedTimestamp"), entry))
}
