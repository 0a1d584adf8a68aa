//! Rounds of a reconcile against an API server that counts.

use std::{
    collections::BTreeMap,
    future::Future,
    pin::Pin,
    sync::atomic::{AtomicU32, Ordering},
};

use http::{Request, Response, StatusCode};
use kube::client::Body;
use mainstay_engine::{
    kind::Role,
    live::{LiveObject, LiveView as _},
    owned::Owned,
    snapshot::{Effect, EffectResult, Snapshot, Unknown, View, all_known},
};
use serde_json::json;

use super::*;
use crate::effects::EffectPort;

const SECRET: Kind = Kind::new("", "v1", "Secret");
const DEPLOYMENT: Kind = Kind::new("apps", "v1", "Deployment");
const THING: Kind = Kind::new("example.io", "v1", "Thing");
static ROWS: &[DeclaredKind] = &[
    DeclaredKind::new(SECRET, "secrets", Role::Child).metadata_only(),
    DeclaredKind::new(DEPLOYMENT, "deployments", Role::Child),
    DeclaredKind::new(THING, "things", Role::Root),
];

static NAME: View<String> = View::new("name", |object| {
    Some(object.pointer("/metadata/name")?.as_str()?.to_owned())
});
static LONG: View<String> = View::new("long", |object| {
    let name = object.pointer("/metadata/name")?.as_str()?;
    (name.len() > 8).then(|| name.to_owned())
});

/// An API server with Secrets `secret-0` to `secret-119`, 50 to a page at most; counts requests by path.
#[derive(Clone, Default)]
struct Server(Arc<Mutex<BTreeMap<String, u32>>>);

impl Server {
    fn client(&self) -> Client {
        let server = self.clone();
        let answer = move |request: Request<Body>| {
            let (path, query) = (
                request.uri().path(),
                request.uri().query().unwrap_or_default(),
            );
            let answer = server.answer(path, query);
            async move { Ok::<_, std::convert::Infallible>(answer) }
        };
        Client::new(tower::service_fn(answer), "default")
    }

    fn answer(&self, path: &str, query: &str) -> Response<Body> {
        *self.0.lock().unwrap().entry(path.to_owned()).or_default() += 1;
        let object = |name: &str| json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name, "namespace": "shop", "resourceVersion": "5", "uid": "u"}});
        let body = match path.rsplit('/').next().unwrap() {
            "secrets" => {
                let token = query.split("continue=").nth(1).unwrap_or("0");
                let first: usize = token.split('&').next().unwrap().parse().unwrap();
                let names = (first..120)
                    .take(50)
                    .map(|number| format!("secret-{number}"));
                let items: Vec<Value> = names.map(|name| object(&name)).collect();
                let next = (first + 50 < 120).then(|| (first + 50).to_string());
                json!({"apiVersion": "v1", "kind": "SecretList", "items": items,
                    "metadata": {"resourceVersion": "9", "continue": next}})
            }
            name if name.starts_with("secret-") || name == "thing" => object(name),
            _ => {
                let mut missing = Response::new(Body::from(
                    json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound", "code": 404})
                        .to_string()
                        .into_bytes(),
                ));
                *missing.status_mut() = StatusCode::NOT_FOUND;
                return missing;
            }
        };
        Response::new(Body::from(body.to_string().into_bytes()))
    }

    fn requests(&self) -> u32 {
        let counted = std::mem::take(&mut *self.0.lock().unwrap());
        counted.into_values().sum()
    }
}

#[derive(Debug)]
struct Bucket;

impl Effect for Bucket {
    fn fingerprint(&self) -> String {
        "bucket".to_owned()
    }

    fn held_by(&self) -> Option<ObjectKey> {
        Some(ObjectKey::new(DEPLOYMENT, "shop", "store"))
    }
}

#[derive(Clone, Default)]
struct Counting(Arc<AtomicU32>);

impl EffectPort for Counting {
    fn run<'effect>(
        &'effect self,
        _effect: &'effect dyn Effect,
    ) -> Pin<Box<dyn Future<Output = EffectResult> + Send + 'effect>> {
        self.0.fetch_add(1, Ordering::SeqCst);
        Box::pin(std::future::ready(Ok(String::new())))
    }
}

struct Fixture {
    server: Server,
    effects: Counting,
    woken: Arc<Mutex<Vec<ObjectKey>>>,
    source: Arc<Source>,
}

fn fixture() -> Fixture {
    let (server, effects) = (Server::default(), Counting::default());
    let woken: Arc<Mutex<Vec<ObjectKey>>> = Arc::default();
    let wakes = woken.clone();
    let source = Source {
        client: server.client(),
        declared: KindTable::closed(ROWS),
        manager: FieldManager::new("tests"),
        facts: Arc::new(|_, _| Value::Null),
        cache: Arc::default(),
        views: Arc::default(),
        roots: HashMap::from([(THING, Arc::default())]),
        effects: Arc::new(Effects::new(Arc::new(effects.clone()))),
        fence: Fence::open(),
        wake: Arc::new(move |key| wakes.lock().unwrap().push(key)),
        waits_for_effects: false,
        timer: None,
        supposed: Supposed::default(),
    };
    for number in 0..120 {
        source.views.seen(&secret(number), "5");
    }
    Fixture {
        server,
        effects,
        woken,
        source: Arc::new(source),
    }
}

fn root() -> ObjectKey {
    ObjectKey::new(THING, "shop", "thing")
}

fn secret(number: usize) -> ObjectKey {
    ObjectKey::new(SECRET, "shop", format!("secret-{number}"))
}

fn ask(
    snapshot: &dyn Snapshot,
    numbers: impl Iterator<Item = usize>,
) -> Result<Vec<String>, Unknown> {
    let answers = numbers.map(|number| snapshot.view(&secret(number), &NAME));
    let names = all_known(answers)?.into_iter().flatten();
    Ok(names.map(|name| String::clone(&name)).collect())
}

#[tokio::test]
async fn dozens_of_references_cost_one_round_and_are_asked_for_once() {
    let fixture = fixture();
    let snapshot = fixture.source.snapshot(&root());
    assert_eq!(ask(&snapshot, 0..40), Err(Unknown));
    assert_eq!(snapshot.fetch().await, Ok(Fetched::Something));
    assert_eq!(fixture.server.requests(), 40);
    assert_eq!(ask(&snapshot, 0..40).unwrap().len(), 40);
    assert_eq!(snapshot.fetch().await, Ok(Fetched::Nothing));
    let again = fixture.source.snapshot(&root());
    assert_eq!(ask(&again, 0..40).unwrap().len(), 40);
    assert_eq!(again.fetch().await, Ok(Fetched::Nothing));
    assert_eq!(
        fixture.server.requests(),
        0,
        "a reconcile with nothing new asks nobody"
    );
    assert_eq!(fixture.source.views.seen(&secret(7), "6"), [root()]);
}

#[tokio::test]
async fn a_list_is_read_in_pages_and_only_views_of_it_are_kept() {
    let fixture = fixture();
    let snapshot = fixture.source.snapshot(&root());
    let list = |snapshot: &dyn Snapshot| snapshot.list(&SECRET, "shop", &LONG);
    assert_eq!(list(&snapshot), Err(Unknown));
    assert_eq!(snapshot.fetch().await, Ok(Fetched::Something));
    assert_eq!(fixture.server.requests(), 3);
    assert_eq!(list(&snapshot).unwrap().len(), 110);
    assert_eq!(snapshot.fetch().await, Ok(Fetched::Nothing));
    assert_eq!(fixture.source.views.seen(&secret(120), "10"), [root()]);
}

#[tokio::test]
async fn nothing_is_done_and_nothing_read_afresh_after_something_unknown() {
    let fixture = fixture();
    let snapshot = fixture.source.snapshot(&root());
    let round = |snapshot: &dyn Snapshot| {
        let known = ask(snapshot, 0..1);
        let effect = snapshot.effect(Arc::new(Bucket));
        let fresh = snapshot.fresh(&root());
        (known.is_ok(), effect, fresh)
    };
    assert_eq!(round(&snapshot), (false, Err(Unknown), Err(Unknown)));
    assert_eq!(snapshot.fetch().await, Ok(Fetched::Something));
    assert_eq!(fixture.server.requests(), 1, "the Secret, and not the root");
    assert_eq!(fixture.effects.0.load(Ordering::SeqCst), 0);
    assert_eq!(round(&snapshot), (true, Err(Unknown), Err(Unknown)));
    assert_eq!(snapshot.fetch().await, Ok(Fetched::Pending));
    assert_eq!(fixture.server.requests(), 1, "the root");
    // Once because the root was read afresh and is new to its store, and once because the effect has ended.
    while fixture.woken.lock().unwrap().len() < 2 {
        tokio::task::yield_now().await;
    }
    assert_eq!(fixture.effects.0.load(Ordering::SeqCst), 1);
    let (is_known, effect, fresh) = round(&snapshot);
    assert!(is_known);
    assert_eq!(effect, Ok(Ok(String::new())));
    assert_eq!(fresh, Ok(Some("5".to_owned())));
}

#[tokio::test]
async fn what_was_done_is_done_again_when_its_holder_was_not_ready() {
    let mut fixture = fixture();
    Arc::get_mut(&mut fixture.source).unwrap().waits_for_effects = true;
    let snapshot = fixture.source.snapshot(&root());
    let holder = |version: &str, ready: bool| LiveObject {
        key: ObjectKey::new(DEPLOYMENT, "shop", "store"),
        uid: "u".to_owned(),
        resource_version: version.to_owned(),
        deleting: false,
        owners: Vec::new(),
        owned: Owned::default(),
        marked: None,
        foreign_items: Vec::new(),
        migrated_managed_fields: None,
        facts: json!({"ready": ready}),
    };
    let effect = || snapshot.effect(Arc::new(Bucket));
    fixture.source.cache.learn(&holder("1", true));
    assert_eq!(effect(), Err(Unknown));
    assert_eq!(snapshot.fetch().await, Ok(Fetched::Something));
    assert_eq!(effect(), Ok(Ok(String::new())));
    fixture.source.cache.learn(&holder("2", false));
    assert!(fixture.source.cache.get(&holder("2", false).key).is_some());
    assert_eq!(effect(), Err(Unknown), "it may be lost");
    fixture.source.cache.learn(&holder("3", true));
    assert_eq!(snapshot.fetch().await, Ok(Fetched::Something));
    assert_eq!(effect(), Ok(Ok(String::new())));
    assert_eq!(fixture.effects.0.load(Ordering::SeqCst), 2);
}

/// Something on a server that never answers, or on one that does.
#[derive(Debug)]
struct OnServer(usize, bool);

impl Effect for OnServer {
    fn fingerprint(&self) -> String {
        format!("{} {}", self.0, self.1)
    }

    fn share(&self) -> String {
        self.1.to_string()
    }
}

struct Hanging;

impl EffectPort for Hanging {
    fn run<'effect>(
        &'effect self,
        effect: &'effect dyn Effect,
    ) -> Pin<Box<dyn Future<Output = EffectResult> + Send + 'effect>> {
        let effect: &dyn std::any::Any = effect;
        match effect.downcast_ref::<OnServer>() {
            Some(OnServer(_, true)) => Box::pin(std::future::ready(Ok(String::new()))),
            _ => Box::pin(std::future::pending()),
        }
    }
}

#[tokio::test]
async fn a_server_that_hangs_holds_up_only_those_who_need_it() {
    let fixture = fixture();
    let mut source = Arc::into_inner(fixture.source).unwrap();
    source.effects = Arc::new(Effects::new(Arc::new(Hanging)));
    let source = Arc::new(source);
    for number in 0..40 {
        let snapshot = source.snapshot(&ObjectKey::new(THING, "shop", number.to_string()));
        let effect = snapshot.effect(Arc::new(OnServer(number, false)));
        assert_eq!(effect, Err(Unknown));
        assert_eq!(snapshot.fetch().await, Ok(Fetched::Pending), "nobody waits");
    }
    let snapshot = source.snapshot(&root());
    assert_eq!(snapshot.effect(Arc::new(OnServer(0, true))), Err(Unknown));
    assert_eq!(snapshot.fetch().await, Ok(Fetched::Pending));
    while !fixture.woken.lock().unwrap().contains(&root()) {
        tokio::task::yield_now().await;
    }
    assert_eq!(
        snapshot.effect(Arc::new(OnServer(0, true))),
        Ok(Ok(String::new()))
    );
}

#[tokio::test]
async fn other_roots_are_known_from_their_store_without_a_request() {
    let fixture = fixture();
    let other = ObjectKey::new(THING, "shop", "other");
    let value = json!({"metadata": {"name": "other", "uid": "o", "resourceVersion": "3"}});
    let store = fixture.source.roots[&THING].clone();
    let name = |snapshot: &dyn Snapshot| snapshot.view(&other, &NAME);
    let snapshot = fixture.source.snapshot(&root());
    assert_eq!(name(&snapshot), Ok(None));
    assert_eq!(snapshot.fetch().await, Ok(Fetched::Nothing));
    store.learn(&RootObject::of(other.clone(), value.clone()));
    let woken = fixture.source.views.root_changed(&other, "3", Some(&value));
    assert_eq!(woken, [root()], "who was told that it is not there");
    assert_eq!(name(&snapshot), Ok(Some(Arc::new("other".to_owned()))));
    let late = fixture
        .source
        .snapshot(&ObjectKey::new(THING, "shop", "late"));
    assert_eq!(name(&late), Ok(Some(Arc::new("other".to_owned()))));
    assert_eq!(fixture.server.requests(), 0);
}

#[tokio::test]
async fn files_win_over_the_cluster() {
    let fixture = fixture();
    fixture
        .source
        .suppose(&secret(3), json!({"metadata": {"name": "as planned"}}));
    let snapshot = fixture.source.snapshot(&root());
    assert_eq!(ask(&snapshot, 3..4), Ok(vec!["as planned".to_owned()]));
    assert_eq!(snapshot.fetch().await, Ok(Fetched::Nothing));
    assert_eq!(fixture.server.requests(), 0);
}
