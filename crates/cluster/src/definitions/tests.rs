use std::sync::atomic::{AtomicUsize, Ordering};

use http::{Request, Response};
use kube::client::Body;
use mainstay_engine::{
    kind::{DeclaredKind, KindTable, Role},
    live::{LiveObject, LiveView},
    object_set::ObjectSet,
    plan::{Lifecycle, Root, plan},
};
use serde_json::json;

use super::*;

const SCALER: Kind = Kind::new("keda.sh", "v1alpha1", "ScaledObject");
static ROWS: &[DeclaredKind] =
    &[DeclaredKind::new(SCALER, "scaledobjects", Role::Child).optional()];

/// An API server that publishes one definition, and counts.
#[derive(Default)]
struct Server {
    /// Fields of `spec` that the definition declares.
    declared: Mutex<Vec<&'static str>>,
    requests: AtomicUsize,
}

impl Server {
    fn declares(&self, fields: &[&'static str]) {
        fields.clone_into(&mut self.declared.lock().unwrap());
    }

    fn answer(&self, address: &str) -> Value {
        self.requests.fetch_add(1, Ordering::Relaxed);
        let declared = self.declared.lock().unwrap();
        if address == "/openapi/v3" {
            let hash = declared.join("-");
            let url = format!("/openapi/v3/apis/keda.sh/v1alpha1?hash={hash}");
            return json!({"paths": {"apis/keda.sh/v1alpha1": {"serverRelativeURL": url}}});
        }
        let fields = declared.iter();
        let fields: Value = fields
            .map(|&name| (name.to_owned(), json!({"type": "string"})))
            .collect();
        json!({"components": {"schemas": {
            "io.k8s.ObjectMeta": {"type": "object"},
            "io.other.ScaledObject": {"type": "object", "x-kubernetes-group-version-kind": [{"group": "other.io", "version": "v1", "kind": "ScaledObject"}]},
            "sh.keda.v1alpha1.ScaledObject": {
                "type": "object",
                "x-kubernetes-group-version-kind": [{"group": "keda.sh", "version": "v1alpha1", "kind": "ScaledObject"}],
                "properties": {
                    "metadata": {"allOf": [{"$ref": "#/components/schemas/io.k8s.ObjectMeta"}]},
                    "spec": {"type": "object", "properties": fields},
                },
            },
        }}})
    }

    fn client(self: &Arc<Self>) -> Client {
        let server = self.clone();
        let answer = move |request: Request<Body>| {
            let address = request.uri().path_and_query().unwrap().to_string();
            let body = server.answer(&address).to_string().into_bytes();
            async move { Ok::<_, std::convert::Infallible>(Response::new(Body::from(body))) }
        };
        Client::new(tower::service_fn(answer), "default")
    }

    fn requests(&self) -> usize {
        self.requests.swap(0, Ordering::Relaxed)
    }
}

/// A cluster without objects, but with definitions.
struct Empty<'definitions>(&'definitions Definitions);

impl LiveView for Empty<'_> {
    fn get(&self, _: &ObjectKey) -> Option<Arc<LiveObject>> {
        None
    }

    fn owned_by(&self, _: &str) -> Vec<Arc<LiveObject>> {
        Vec::new()
    }

    fn definition(&self, kind: &Kind) -> Option<Arc<Definition>> {
        self.0.get(kind)
    }
}

fn root() -> ObjectKey {
    ObjectKey::new(Kind::new("example.io", "v1", "App"), "shop", "web")
}

fn planned(definitions: &Definitions, fields: &[&str]) -> Plan {
    let spec: Value = fields
        .iter()
        .map(|&name| (name.to_owned(), json!("x")))
        .collect();
    let body = json!({"apiVersion": "keda.sh/v1alpha1", "kind": "ScaledObject", "metadata": {"name": "a", "namespace": "shop"}, "spec": spec});
    let mut set = ObjectSet::new(KindTable::closed(ROWS));
    set.add("autoscaler", &body).unwrap();
    let root = Root {
        key: root(),
        uid: "u".to_owned(),
        resource_version: "1".to_owned(),
        finalizers: Vec::new(),
    };
    plan(&root, &set, &Empty(definitions), &Lifecycle::PLAIN)
}

fn left_out(plan: &Plan) -> Vec<&str> {
    plan.left_out().into_values().flatten().collect()
}

#[tokio::test]
async fn a_definition_is_read_once_and_again_only_for_what_is_new() {
    let server = Arc::new(Server::default());
    server.declares(&["old", "older"]);
    let (client, definitions) = (server.client(), Definitions::default());
    let first = planned(&definitions, &["old", "new"]);
    assert!(definitions.complete(&client, &first).await);
    assert_eq!(server.requests(), 2, "the index and the document");
    let second = planned(&definitions, &["old", "new"]);
    assert!(!definitions.complete(&client, &second).await);
    assert_eq!(left_out(&second), ["spec.new"]);
    assert_eq!(server.requests(), 0);
    let third = planned(&definitions, &["older"]);
    assert!(definitions.complete(&client, &third).await);
    assert_eq!(left_out(&planned(&definitions, &["older"])), [""; 0]);
    assert_eq!(server.requests(), 2);
}

#[tokio::test(start_paused = true)]
async fn only_while_something_is_left_out_the_index_is_looked_at_and_who_is_concerned_is_woken() {
    let server = Arc::new(Server::default());
    server.declares(&["old"]);
    let (client, definitions) = (server.client(), Arc::new(Definitions::default()));
    let (sender, mut woken) = tokio::sync::mpsc::unbounded_channel();
    let wake: Wake = Arc::new(move |key| sender.send(key).unwrap());
    tokio::spawn(definitions.clone().follow(client.clone(), wake));
    tokio::time::sleep(LOOK_AGAIN * 5 / 2).await;
    assert_eq!(server.requests(), 0, "nothing is left out");
    definitions
        .complete(&client, &planned(&definitions, &["new"]))
        .await;
    definitions.concern(&root(), &planned(&definitions, &["new"]));
    server.requests();
    tokio::time::sleep(LOOK_AGAIN * 3).await;
    assert_eq!(server.requests(), 3, "one look every ten minutes");
    assert!(woken.try_recv().is_err());
    server.declares(&["old", "new"]);
    assert_eq!(woken.recv().await, Some(root()));
    let plan = planned(&definitions, &["new"]);
    assert!(definitions.complete(&client, &plan).await);
    assert_eq!(left_out(&planned(&definitions, &["new"])), [""; 0]);
}

#[tokio::test]
async fn after_a_server_error_the_definition_is_looked_at_again() {
    let server = Arc::new(Server::default());
    server.declares(&["a", "b"]);
    let (client, definitions) = (server.client(), Definitions::default());
    definitions
        .complete(&client, &planned(&definitions, &["a", "b"]))
        .await;
    let plan = planned(&definitions, &["a", "b"]);
    let (body, made_by) = body(&plan);
    assert!(definitions.still_holds(&SCALER, body, made_by));
    assert!(
        !definitions
            .look_again(&client, &SCALER, body, made_by)
            .await
    );
    server.declares(&["a"]);
    assert!(
        definitions
            .look_again(&client, &SCALER, body, made_by)
            .await
    );
    assert!(
        !definitions.still_holds(&SCALER, body, made_by),
        "whoever planned before plans again"
    );
    assert_eq!(left_out(&planned(&definitions, &["a", "b"])), ["spec.b"]);
}

fn body(plan: &Plan) -> (&Value, Option<&str>) {
    let step = &plan.steps[0];
    let mainstay_engine::plan::DesiredState::Present { body, .. } = &step.desired else {
        unreachable!("the object is wanted");
    };
    (body, step.check.version.as_deref())
}

#[tokio::test]
async fn a_list_that_begins_anew_forgets_a_definition_and_a_root_that_is_gone_is_not_woken() {
    let server = Arc::new(Server::default());
    server.declares(&["old"]);
    let (client, definitions) = (server.client(), Definitions::default());
    let look = async || {
        definitions
            .complete(&client, &planned(&definitions, &["new"]))
            .await;
        definitions.concern(&root(), &planned(&definitions, &["new"]));
    };
    look().await;
    assert_eq!(definitions.forget(&SCALER), BTreeSet::from([root()]));
    assert!(definitions.get(&SCALER).is_none());
    look().await;
    definitions.forget_root(&root());
    assert_eq!(definitions.forget(&SCALER), BTreeSet::new());
}

#[tokio::test]
async fn without_a_published_document_everything_is_written() {
    let server = Arc::new(Server::default());
    let (client, definitions) = (server.client(), Definitions::default());
    let nobody = Kind::new("nobody.io", "v1", "Thing");
    let body = json!({"spec": {"x": 1}});
    definitions
        .look_up(&client, &index(&client).await.unwrap(), &nobody, &[&body])
        .await;
    assert!(definitions.get(&nobody).unwrap().covers(&body));
}
