//! Events: news on the object that it concerns, told once per transition.

use std::{
    collections::HashMap,
    sync::atomic::{AtomicU64, Ordering},
};

use k8s_openapi::{
    api::core::v1::{Event as CoreEvent, EventSource, ObjectReference},
    apimachinery::pkg::apis::meta::v1::Time,
    jiff::Timestamp,
};
use kube::{
    Api, Client,
    api::{ObjectMeta, PostParams},
};
use mainstay_cluster::{fence::Fence, root::RootObject};
use mainstay_engine::{key::ObjectKey, reconciler::Event};

/// Namespace of events on objects that have none.
const DEFAULT_NAMESPACE: &str = "default";

/// A reference to a root, as events carry it.
pub fn reference(root: &RootObject) -> ObjectReference {
    ObjectReference {
        resource_version: Some(root.root.resource_version.clone()),
        ..reference_to(&root.root.key, &root.root.uid)
    }
}

/// A reference to any object, as events carry it.
pub fn reference_to(key: &ObjectKey, uid: &str) -> ObjectReference {
    ObjectReference {
        api_version: Some(key.kind.api_version()),
        kind: Some(key.kind.kind.to_string()),
        name: Some(key.name.clone()),
        namespace: Some(key.namespace.clone()).filter(|namespace| !namespace.is_empty()),
        uid: Some(uid.to_owned()),
        resource_version: None,
        field_path: None,
    }
}

/// Records one event. News only: a failure is logged and forgotten, and whoever does not lead has no news.
pub async fn record(
    client: Client,
    fence: Fence,
    component: String,
    regarding: ObjectReference,
    note: Event,
) {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    if !fence.is_open() {
        return;
    }
    let now = Timestamp::now();
    let namespace = regarding.namespace.clone();
    let namespace = namespace.unwrap_or_else(|| DEFAULT_NAMESPACE.to_owned());
    let count = COUNTER.fetch_add(1, Ordering::Relaxed);
    let name = regarding.name.as_deref().unwrap_or_default();
    let event = CoreEvent {
        metadata: ObjectMeta {
            name: Some(format!("{name}.{:x}{count:x}", now.as_nanosecond())),
            namespace: Some(namespace.clone()),
            ..ObjectMeta::default()
        },
        involved_object: regarding,
        type_: Some(if note.warning { "Warning" } else { "Normal" }.to_owned()),
        reason: Some(note.reason.to_owned()),
        message: Some(note.message),
        source: Some(EventSource {
            component: Some(component),
            host: None,
        }),
        first_timestamp: Some(Time(now)),
        last_timestamp: Some(Time(now)),
        count: Some(1),
        ..CoreEvent::default()
    };
    let events: Api<CoreEvent> = Api::namespaced(client, &namespace);
    if let Err(error) = events.create(&PostParams::default(), &event).await {
        let about = event.involved_object;
        tracing::warn!(
            error = &error as &dyn std::error::Error,
            kind = about.kind,
            namespace = about.namespace,
            name = about.name,
            reason = event.reason,
            "Could not record an event"
        );
    }
}

/// What was told last about each root, so that a state is told once and not on every reconcile.
#[derive(Debug, Default)]
pub struct Told {
    last: HashMap<ObjectKey, Vec<Event>>,
}

impl Told {
    /// Notes of a reconcile that found everything as it was: whoever was here before has told them.
    pub fn remember(&mut self, key: &ObjectKey, events: &[Event]) {
        if !events.is_empty() && !self.last.contains_key(key) {
            self.last.insert(key.clone(), events.to_vec());
        }
    }

    /// The events that are news for this root.
    pub fn news(&mut self, key: &ObjectKey, events: Vec<Event>) -> Vec<Event> {
        if events.is_empty() {
            self.last.remove(key);
            return events;
        }
        let known = self.last.insert(key.clone(), events.clone());
        let known = known.unwrap_or_default();
        let is_new = |note: &Event| !known.contains(note);
        events.into_iter().filter(is_new).collect()
    }

    /// The root is gone.
    pub fn forget(&mut self, key: &ObjectKey) {
        self.last.remove(key);
    }
}

#[cfg(test)]
mod tests {
    use mainstay_cluster::fence::Permit;
    use mainstay_engine::Kind;

    use super::*;
    use crate::leadership::tests::Server;

    fn note(reason: &'static str) -> Event {
        Event {
            warning: true,
            reason,
            message: "words".to_owned(),
        }
    }

    #[test]
    fn a_state_is_told_once_and_again_after_it_changed() {
        let key = ObjectKey::new(Kind::new("", "v1", "Thing"), "n", "a");
        let mut told = Told::default();
        assert_eq!(told.news(&key, vec![note("Missing")]), [note("Missing")]);
        assert_eq!(told.news(&key, vec![note("Missing")]), []);
        assert_eq!(
            told.news(&key, vec![note("Missing"), note("Late")]),
            [note("Late")]
        );
        assert_eq!(told.news(&key, Vec::new()), []);
        assert_eq!(told.news(&key, vec![note("Missing")]), [note("Missing")]);
        told.forget(&key);
        assert!(told.last.is_empty());
    }

    #[tokio::test]
    async fn whoever_does_not_lead_has_no_news() {
        let server = Server::default();
        let (permit, fence) = Fence::new(Permit::Denied);
        let tell = || {
            let key = ObjectKey::new(Kind::new("", "v1", "Thing"), "n", "a");
            let (client, about) = (server.client(), reference_to(&key, "u"));
            record(client, fence.clone(), "me".to_owned(), about, note("Late"))
        };
        tell().await;
        assert_eq!(server.writes(), 0);
        permit.send_replace(Permit::Granted);
        tell().await;
        assert_eq!(server.writes(), 1);
    }

    #[test]
    fn what_a_process_before_this_one_told_is_not_told_again() {
        let key = ObjectKey::new(Kind::new("", "v1", "Thing"), "n", "a");
        let mut told = Told::default();
        told.remember(&key, &[note("Ready")]);
        assert_eq!(told.news(&key, vec![note("Ready")]), []);
        told.remember(&key, &[note("Late")]);
        assert_eq!(told.news(&key, vec![note("Late")]), [note("Late")]);
    }
}
