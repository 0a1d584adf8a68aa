//! One fault at one write: of every kind, at every kind of write, and writes that land after they were given up.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use futures::future::join_all;
use mainstay_testkit::{
    Namespace, Operator, Plane,
    audit::{Entry, Mark},
    campaign::faults::KINDS,
    fault::{Fault, Seen},
    proxy::Proxy,
    snapshot::portable_kaoto_state,
    wait::eventually,
};
use serde_json::{Value, json};

use crate::mainstay;

/// A write of a life, and how its request is recognised.
#[derive(Clone, Copy, Debug)]
struct Write {
    word: &'static str,
    method: &'static str,
    resource: &'static str,
    /// Position among the requests that look the same; the first apply of an object creates it.
    position: u32,
}

const fn write(
    word: &'static str,
    method: &'static str,
    resource: &'static str,
    position: u32,
) -> Write {
    Write {
        word,
        method,
        resource,
        position,
    }
}

/// The writes of a life with creation, change and deletion.
const WRITES: [Write; 6] = [
    write("finalizer", "PATCH", "kaotoes", 1),
    write("create", "PATCH", "services", 1),
    write("update", "PATCH", "deployments", 2),
    write("delete", "DELETE", "ingresses", 1),
    write("status", "PATCH", "status", 1),
    write("cleanup", "DELETE", "deployments", 1),
];

/// A fault that waits for its request.
#[derive(Debug)]
struct Strike {
    write: Write,
    fault: Fault,
    /// Such requests until it strikes.
    left: u32,
}

impl Strike {
    fn at(write: Write, fault: Fault) -> Self {
        Self {
            write,
            fault,
            left: write.position,
        }
    }
}

/// One fault for each Kaoto, by its name.
#[derive(Debug, Default)]
struct Strikes {
    pending: Mutex<BTreeMap<String, Strike>>,
}

impl Strikes {
    fn decide(&self, seen: &Seen) -> Fault {
        let parts: Vec<&str> = seen.resource().split('/').collect();
        let (name, resource) = match parts.as_slice() {
            [.., _, name, "status"] => (*name, "status"),
            [.., resource, name] => (*name, *resource),
            _ => return Fault::None,
        };
        let mut pending = self.pending.lock().unwrap();
        let Some(strike) = pending.get_mut(name) else {
            return Fault::None;
        };
        let write = strike.write;
        if seen.method.as_str() != write.method || resource != write.resource {
            return Fault::None;
        }
        strike.left -= 1;
        if strike.left > 0 {
            return Fault::None;
        }
        let strike = pending.remove(name);
        strike.map_or(Fault::None, |strike| strike.fault)
    }

    fn struck(&self, name: &str) -> bool {
        !self.pending.lock().unwrap().contains_key(name)
    }
}

/// Creation with an Ingress, a change of image without it, deletion; `between` runs after each.
async fn life(namespace: &Namespace, name: &str, between: impl AsyncFn()) {
    namespace.create_kaoto(name, json!({"ingress": {}})).await;
    namespace.kaoto_ready(name).await;
    between().await;
    namespace.deployment_at_rest(name).await;
    let patch = json!({"spec": {"image": "registry.test/app:2", "ingress": null}});
    namespace.patch_kaoto(name, patch).await;
    namespace.kaoto_ready(name).await;
    between().await;
    namespace.deployment_at_rest(name).await;
    namespace.delete_kaoto(name).await;
    namespace.kaoto_gone(name).await;
    between().await;
}

/// Writes about one Kaoto that were carried out, without its name.
fn carried_out(entries: &[Entry], name: &str) -> Vec<String> {
    let mut words: Vec<String> = entries
        .iter()
        .filter(|entry| entry.name == name && entry.is_write() && entry.code < 300)
        .map(|entry| format!("{} {}", entry.verb, entry.resource))
        .collect();
    words.sort();
    words
}

/// A process with one fault for each of these Kaotos, ready.
async fn struck(
    plane: &Plane,
    namespace: &Namespace,
    pending: BTreeMap<String, Strike>,
) -> (Operator, Proxy, Arc<Strikes>) {
    let strikes = Arc::new(Strikes {
        pending: Mutex::new(pending),
    });
    let proxy = Proxy::start(plane, {
        let strikes = strikes.clone();
        move |seen| strikes.decide(seen)
    })
    .await;
    let arguments = ["--watch-namespace", &namespace.name];
    let mut operator = Operator::start(mainstay(), &proxy.kubeconfig(), &arguments);
    operator.ready().await;
    (operator, proxy, strikes)
}

#[tokio::test]
async fn a_single_fault_of_any_kind_at_any_write_costs_no_second_write() {
    let plane = Plane::vanilla().await;
    let namespace = Namespace::create(&plane.client().await, "strike").await;
    let mut pending = BTreeMap::new();
    for (position, fault) in KINDS.iter().enumerate() {
        for write in WRITES {
            let name = format!("{}-{position}", write.word);
            pending.insert(name, Strike::at(write, fault.clone()));
        }
    }
    let mut names: Vec<String> = pending.keys().cloned().collect();
    names.push("calm".to_owned());
    let (_operator, _proxy, strikes) = struck(&plane, &namespace, pending).await;
    let mark = Mark::now(plane.audit_log());
    join_all(names.iter().map(|name| life(&namespace, name, async || {}))).await;
    let sent = mark.settled(&namespace.name).await;

    assert!(
        strikes.pending.lock().unwrap().is_empty(),
        "every fault struck"
    );
    let calm = carried_out(&sent, "calm");
    assert_eq!(calm.len(), 11, "{calm:?}");
    for name in &names {
        assert_eq!(carried_out(&sent, name), calm, "{name}");
    }
    let state = portable_kaoto_state(&namespace, false).await;
    assert_eq!(state, nothing());
    // Lost answers: the object was looked at, and the create was not even tried a second time.
    let lost = format!("create-{}", KINDS.len() - 1);
    let creates = sent.iter().filter(|entry| {
        entry.name == lost && entry.resource == "services" && entry.verb == "patch"
    });
    assert_eq!(creates.count(), 1);
}

/// Waits until the API server has refused a write of this kind about a Kaoto.
async fn refused(mark: &Mark, namespace: &Namespace, name: &str, write: Write) {
    let resource = match write.resource {
        "status" => "kaotoes/status",
        other => other,
    };
    let verb = write.method.to_lowercase();
    eventually(&format!("the late {name} lands"), || async {
        let sent = mark.since("mainstay", &namespace.name);
        let mut sent = sent.iter();
        let landed = |entry: &Entry| {
            (entry.name == name && entry.verb == verb && entry.resource == resource)
                && entry.code >= 400
        };
        sent.any(landed).then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_write_that_was_given_up_does_no_harm_when_it_lands_late() {
    // Longer than the operator waits for an answer, even if it is not on time itself.
    const LATE: Fault = Fault::Delay(Duration::from_secs(23));
    let plane = Plane::vanilla().await;
    let namespace = Namespace::create(&plane.client().await, "late").await;
    let create = WRITES[1];
    let pending = WRITES.map(|write| (write.word.to_owned(), Strike::at(write, LATE)));
    let mut pending = BTreeMap::from(pending);
    pending.insert("orphan".to_owned(), Strike::at(create, LATE));
    let (_operator, _proxy, strikes) = struck(&plane, &namespace, pending).await;
    let mark = Mark::now(plane.audit_log());
    let (mark, namespace, strikes) = (&mark, &namespace, &strikes);
    let waiting = WRITES.map(|write| {
        let landed = async move || {
            if strikes.struck(write.word) {
                refused(mark, namespace, write.word, write).await;
            }
        };
        life(namespace, write.word, landed)
    });
    // This one is gone before its create lands, and the API server has no reason to refuse it any more.
    let orphan = life(namespace, "orphan", async || {});
    let calm = life(namespace, "calm", async || {});
    tokio::join!(join_all(waiting), orphan, calm);

    let sent = mark.settled(&namespace.name).await;
    let calm = carried_out(&sent, "calm");
    for write in WRITES {
        assert_eq!(carried_out(&sent, write.word), calm, "{}", write.word);
    }
    // The garbage collector knows the orphan by its owner.
    eventually("nothing is left over", || async {
        let state = portable_kaoto_state(namespace, false).await;
        (state == nothing()).then_some(())
    })
    .await;
}

fn nothing() -> Value {
    json!({"Kaoto": {}, "Service": {}, "Exposure": {}, "Deployment": {}})
}
