//! A plan is what then happens: the same objects, the same verbs, nothing else.

use kube::api::{Patch, PatchParams, PostParams};
use mainstay_testkit::{
    Namespace, Operator, Plane,
    audit::{Entry, Mark},
    namespace::{object_gone, object_when},
};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{
    mainstay,
    suite::cli::{directory_with, in_directory, kaoto},
};

/// A plane, a namespace without an operator, and a file with a Kaoto.
struct Desk {
    plane: Plane,
    namespace: Namespace,
    directory: TempDir,
}

impl Desk {
    async fn new(prefix: &str, spec: &str) -> Self {
        let plane = Plane::vanilla().await;
        let namespace = Namespace::create(&plane.client().await, prefix).await;
        let directory = directory_with("kaoto.yaml", &kaoto("designer", spec));
        Self {
            plane,
            namespace,
            directory,
        }
    }

    async fn run(&self, arguments: &[&str]) -> mainstay_testkit::program::Ended {
        let place = ["-f", "kaoto.yaml", "-n", &self.namespace.name];
        let program = in_directory(&self.directory, &[arguments, &place].concat());
        program.kubeconfig(&self.plane.kubeconfig()).run().await
    }

    async fn mark(&self) -> Mark {
        Mark::quiet(self.plane.audit_log(), &self.namespace.name).await
    }

    fn rewrite(&self, spec: &str) {
        std::fs::write(
            self.directory.path().join("kaoto.yaml"),
            kaoto("designer", spec),
        )
        .unwrap();
    }

    /// The writes that a plan announces.
    async fn planned(&self) -> Vec<String> {
        let ended = self.run(&["plan", "-o", "json"]).await;
        assert_eq!(ended.code, Some(1), "there is a difference: {ended}");
        assert_eq!(ended.stderr, "", "nothing was rejected");
        let lines: Vec<Value> = serde_json::from_str(&ended.stdout).unwrap();
        let mut writes: Vec<String> = lines.iter().filter_map(write_of).collect();
        writes.sort();
        writes
    }

    /// The writes that happened; those to the status are the report of a reconcile, not part of its plan.
    async fn written(&self, mark: &Mark) -> Vec<String> {
        let sent = mark.settled(&self.namespace.name).await;
        let done = sent
            .iter()
            .filter(|entry| entry.is_write() && entry.resource != "kaotoes/status")
            // The controller of the Deployment may get in between; the guard then refuses and the write is repeated.
            .filter(|entry| entry.code != 409);
        let mut writes: Vec<String> = done
            .map(|entry| format!("{} {} {}", entry.verb, entry.resource, entry.name))
            .collect();
        writes.sort();
        writes
    }
}

fn write_of(line: &Value) -> Option<String> {
    let verb = match line["action"].as_str().unwrap() {
        // Creation is an apply as well.
        "create" | "update" => "patch",
        "delete" => "delete",
        _ => return None,
    };
    let resource = match line["kind"].as_str().unwrap() {
        "Namespace" => "namespaces",
        "Kaoto" => "kaotoes",
        "Service" => "services",
        "Ingress" => "ingresses",
        "Deployment" => "deployments",
        other => panic!("unexpected kind {other}"),
    };
    Some(format!(
        "{verb} {resource} {}",
        line["name"].as_str().unwrap()
    ))
}

#[tokio::test]
async fn a_plan_for_something_new_is_what_apply_does() {
    let desk = Desk::new("plan-new", "{ingress: {}}").await;
    let mark = desk.mark().await;
    let planned = desk.planned().await;
    assert!(
        desk.written(&mark).await.is_empty(),
        "a plan writes nothing"
    );
    assert_eq!(planned.len(), 5, "{planned:?}");
    desk.run(&["apply"]).await.success();
    assert_eq!(desk.written(&mark).await, planned);
    desk.namespace.kaoto_ready("designer").await;
}

#[tokio::test]
async fn a_plan_for_a_namespace_that_does_not_exist_yet_is_what_apply_does() {
    let mut desk = Desk::new("plan-namespace", "{}").await;
    desk.namespace.name += "-new";
    let namespace = json!({
        "apiVersion": "v1", "kind": "Namespace", "metadata": {"name": desk.namespace.name},
    });
    let text = format!("{namespace}\n---\n{}", kaoto("designer", "{}"));
    std::fs::write(desk.directory.path().join("kaoto.yaml"), text).unwrap();
    let mark = desk.mark().await;
    let planned = desk.planned().await;
    assert_eq!(planned.len(), 5, "{planned:?}");
    desk.run(&["apply"]).await.success();
    assert_eq!(desk.written(&mark).await, planned);
    let again = desk.run(&["plan"]).await;
    assert_eq!(again.code, Some(0), "no difference: {again}");
}

#[tokio::test]
async fn fields_of_another_manager_are_not_taken_by_apply() {
    let desk = Desk::new("plan-conflict", "{image: 'example.test/kaoto:2'}").await;
    let theirs = json!({"image": "example.test/kaoto:1"});
    desk.namespace.create_kaoto("designer", theirs).await;
    let mark = desk.mark().await;
    let ended = desk.run(&["apply"]).await;
    let ended = ended.replacing(&[(&desk.namespace.name, "NAMESPACE")]);
    insta::assert_snapshot!(ended, @r#"
    exit code: 1
    ----- stdout -----
    ----- stderr -----
    error: kaoto.yaml:1: the cluster refuses Kaoto NAMESPACE/designer: Apply failed with 1 conflict: conflict with "unknown" using designer.kaoto.io/v1alpha1: .spec.image

    hint: leave the fields to the other manager, or take them over once: `kubectl apply --server-side --force-conflicts --field-manager mainstay -f FILE`
    "#);
    assert!(desk.written(&mark).await.is_empty());
}

#[tokio::test]
async fn a_second_apply_writes_nothing() {
    let desk = Desk::new("apply-twice", "{ingress: {}}").await;
    desk.run(&["apply"]).await.success();
    let mark = desk.mark().await;
    let plan = desk.run(&["plan"]).await;
    assert_eq!(plan.code, Some(0), "no difference: {plan}");
    let ended = desk.run(&["apply"]).await;
    let ended = ended.replacing(&[(&desk.namespace.name, "NAMESPACE")]);
    insta::assert_snapshot!(ended, @r#"
    exit code: 0
    ----- stdout -----
    Kaoto NAMESPACE/designer unchanged
    Service NAMESPACE/designer unchanged
    Ingress NAMESPACE/designer unchanged
    Deployment NAMESPACE/designer unchanged
    ----- stderr -----
    "#);
    let sent = mark.settled(&desk.namespace.name).await;
    assert!(!sent.iter().any(Entry::is_write), "{sent:?}");
}

#[tokio::test]
async fn a_plan_for_drift_is_what_the_operator_does() {
    let desk = Desk::new("plan-drift", "{ingress: {}}").await;
    desk.run(&["apply"]).await.success();
    let change =
        json!({"spec": {"sessionAffinity": "ClientIP"}, "metadata": {"labels": {"team": "blue"}}});
    let patch = Patch::Merge(&change);
    let params = PatchParams::default();
    let services = desk.namespace.services();
    services.patch("designer", &params, &patch).await.unwrap();
    let change =
        json!({"metadata": {"annotations": {"nginx.ingress.kubernetes.io/use-regex": null}}});
    let patch = Patch::Merge(&change);
    let ingresses = desk.namespace.ingresses();
    ingresses.patch("designer", &params, &patch).await.unwrap();

    let text = desk.run(&["plan"]).await;
    let text = text.replacing(&[(&desk.namespace.name, "NAMESPACE")]);
    insta::assert_snapshot!(text, @r#"
    exit code: 1
    ----- stdout -----
      unchanged Kaoto NAMESPACE/designer       as in the file [file]
    ~ update    Service NAMESPACE/designer     1 field differs [service]
                  spec.sessionAffinity: + "None"
    ~ update    Ingress NAMESPACE/designer     1 field differs [ingress]
                  metadata.annotations.[nginx.ingress.kubernetes.io/use-regex]: + "true"
      unchanged Deployment NAMESPACE/designer  up to date [deployment]

    0 to create, 2 to update, 0 to delete, 2 unchanged, 0 blocked
    ----- stderr -----
    "#);
    let planned = desk.planned().await;
    assert_eq!(
        planned,
        ["patch ingresses designer", "patch services designer"]
    );
    let mark = desk.mark().await;
    let arguments = ["--watch-namespace", &desk.namespace.name];
    let mut operator = Operator::start(mainstay(), &desk.plane.kubeconfig(), &arguments);
    operator.ready().await;
    // A silence may also come before the first write.
    object_when(&services, "designer", "is repaired", |service| {
        service["spec"]["sessionAffinity"] == "None"
    })
    .await;
    object_when(&ingresses, "designer", "is repaired", |ingress| {
        ingress["metadata"]["annotations"]["nginx.ingress.kubernetes.io/use-regex"] == "true"
    })
    .await;
    assert_eq!(desk.written(&mark).await, planned);
    assert_eq!(desk.run(&["plan"]).await.code, Some(0));
}

#[tokio::test]
async fn a_plan_names_what_is_in_the_way_and_apply_leaves_it_there() {
    let desk = Desk::new("plan-foreign", "{}").await;
    let service = json!({
        "apiVersion": "v1", "kind": "Service", "metadata": {"name": "designer"},
        "spec": {"ports": [{"port": 80}]},
    });
    let service = serde_json::from_value(service).unwrap();
    let api = desk.namespace.services();
    let before = api.create(&PostParams::default(), &service).await.unwrap();
    let text = desk.run(&["plan"]).await;
    let text = text.replacing(&[(&desk.namespace.name, "NAMESPACE")]);
    insta::assert_snapshot!(text, @r#"
    exit code: 1
    ----- stdout -----
    + create    Kaoto NAMESPACE/designer       does not exist [file]
    ~ update    Kaoto NAMESPACE/designer       adds finalizer kaoto.io/finalizer [engine]
    ! blocked   Service NAMESPACE/designer     exists and was not created by this operator [service]
      unchanged Ingress NAMESPACE/designer     spec.ingress is not set [ingress]
    + create    Deployment NAMESPACE/designer  does not exist [deployment]

    2 to create, 1 to update, 0 to delete, 1 unchanged, 1 blocked
    ----- stderr -----
    "#);
    let planned = desk.planned().await;
    let mark = desk.mark().await;
    let ended = desk.run(&["apply"]).await;
    let ended = ended.replacing(&[(&desk.namespace.name, "NAMESPACE")]);
    insta::assert_snapshot!(ended, @r#"
    exit code: 1
    ----- stdout -----
    Kaoto NAMESPACE/designer created
    Kaoto NAMESPACE/designer configured
    Service NAMESPACE/designer failed: exists and was not created by this operator; rename or remove one of the two
    Ingress NAMESPACE/designer unchanged
    Deployment NAMESPACE/designer created
    ----- stderr -----
    warning: Kaoto NAMESPACE/designer: Service NAMESPACE/designer: exists and was not created by this operator; rename or remove one of the two
    "#);
    assert_eq!(desk.written(&mark).await, planned);
    assert_eq!(api.get("designer").await.unwrap(), before);
}

#[tokio::test]
async fn a_deletion_needs_a_yes_and_is_then_what_was_planned() {
    let desk = Desk::new("plan-delete", "{ingress: {}}").await;
    desk.run(&["apply"]).await.success();
    desk.rewrite("{}");
    let mark = desk.mark().await;
    let planned = desk.planned().await;
    assert_eq!(
        planned,
        ["delete ingresses designer", "patch kaotoes designer"]
    );
    let ended = desk.run(&["apply"]).await;
    let ended = ended.replacing(&[(&desk.namespace.name, "NAMESPACE")]);
    insta::assert_snapshot!(ended, @r#"
    exit code: 2
    ----- stdout -----
    ----- stderr -----
    ~ update    Kaoto NAMESPACE/designer       the file differs [file]
                  spec: - {"ingress":{}}
      unchanged Service NAMESPACE/designer     up to date [service]
    - delete    Ingress NAMESPACE/designer     spec.ingress is not set [ingress]
      unchanged Deployment NAMESPACE/designer  up to date [deployment]

    0 to create, 1 to update, 1 to delete, 2 unchanged, 0 blocked
    error: nothing was applied: the plan deletes objects and was not confirmed (--yes)
    "#);
    assert!(
        desk.written(&mark).await.is_empty(),
        "nothing without a yes"
    );
    desk.run(&["apply", "--yes"]).await.success();
    assert_eq!(desk.written(&mark).await, planned);
    object_gone(&desk.namespace.ingresses(), "designer").await;
}
