//! Applying to a real API server: what is changed, what is kept, and when nothing is sent.

use kube::api::{Patch, PatchParams};
use mainstay_testkit::audit::Mark;
use serde_json::json;

use super::{STRATEGIES, Stage};

/// Objects of the kinds whose stored form differs most from the written one.
const SHOP: &str = "
apiVersion: v1
kind: ServiceAccount
metadata: {name: web, labels: {}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, annotations: {}}
data: {mode: 'on'}
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec:
  selector: {app: web}
  ports: [{name: dns, port: 53, protocol: UDP}, {name: dns-tcp, port: 53, protocol: TCP}]
status: {loadBalancer: {}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app: web, tier: front}, creationTimestamp: null}
spec:
  selector: {matchLabels: {app: web}}
  strategy: {}
  template:
    metadata: {labels: {app: web}, creationTimestamp: null}
    spec:
      serviceAccountName: web
      nodeSelector: {}
      tolerations: [{key: a, operator: Exists}]
      volumes:
      - {name: settings, configMap: {name: settings, defaultMode: 0644}}
      - {name: cache, emptyDir: {sizeLimit: 1024Mi}}
      initContainers:
      - {name: first, image: 'busybox:1'}
      - {name: second, image: 'busybox:1'}
      containers:
      - name: web
        image: web:1
        env: [{name: A, value: '1'}, {name: B, value: '2'}]
        ports: [{containerPort: 8080}, {containerPort: 8081}]
        resources: {limits: {cpu: 1000m, memory: 0.5Gi}}
        volumeMounts: [{name: settings, mountPath: /settings}]
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: store}
spec:
  serviceName: store
  replicas: 0
  selector: {matchLabels: {app: store}}
  template:
    metadata: {labels: {app: store}}
    spec: {containers: [{name: store, image: 'store:1'}]}
  volumeClaimTemplates:
  - metadata: {name: data}
    spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1024Mi}}}
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: sweep}
spec:
  schedule: '0 4 * * *'
  suspend: true
  jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: sweep, image: 'sweep:1'}]}}}}
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: web}
spec: {podSelector: {}, policyTypes: [Ingress], ingress: [{from: [{podSelector: {}}], ports: [{port: 53}]}]}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web}
spec: {maxUnavailable: 1, selector: {matchLabels: {app: web}}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: web}
rules: [{apiGroups: [''], resources: [configmaps], verbs: [get]}]
";

#[tokio::test]
async fn after_an_apply_nothing_differs_and_a_second_one_writes_nothing() {
    for strategy in STRATEGIES {
        let stage = Stage::set("manifest-twice").await;
        let applied = stage
            .run(&["apply", "--strategy", strategy], SHOP)
            .await
            .success();
        assert!(
            applied.lines().all(|line| line.ends_with(" created")),
            "{applied}"
        );
        let deployment = stage.deployment("web").await;
        let mode = deployment.pointer("/spec/template/spec/volumes/0/configMap/defaultMode");
        assert_eq!(mode, Some(&json!(420)), "0644 is octal");
        let difference = stage.run(&["diff", "--strategy", strategy], SHOP).await;
        assert_eq!(
            (difference.code, difference.stdout.as_str()),
            (Some(0), ""),
            "{strategy}"
        );
        let mark = Mark::quiet(stage.plane.audit_log(), &stage.namespace.name).await;
        let before = stage.versions().await;
        let again = stage
            .run(&["apply", "--strategy", strategy], SHOP)
            .await
            .success();
        assert!(
            again.lines().all(|line| line.ends_with(" unchanged")),
            "{strategy}: {again}"
        );
        assert_eq!(stage.versions().await, before, "{strategy}");
        // The server is asked where only it knows whether a stored form is the wanted one.
        if strategy == "three-way" {
            let sent = mark.settled(&stage.namespace.name).await;
            let writes: Vec<_> = sent.iter().filter(|entry| entry.is_write()).collect();
            assert!(writes.is_empty(), "{writes:?}");
        }
    }
}

#[tokio::test]
async fn what_is_no_longer_wanted_goes_and_what_others_wrote_stays() {
    for strategy in STRATEGIES {
        let stage = Stage::set("manifest-merge").await;
        stage
            .run(&["apply", "--strategy", strategy], SHOP)
            .await
            .success();
        // An autoscaler, a sidecar injector and an administrator have been here.
        let foreign = json!({
            "metadata": {"labels": {"foreign": "kept"}},
            "spec": {"replicas": 5, "template": {"spec": {"containers": [{"name": "injected", "image": "side:1"}]}}},
        });
        let api = stage.namespace.deployments();
        let params = PatchParams {
            field_manager: Some("others".to_owned()),
            ..PatchParams::default()
        };
        api.patch("web", &params, &Patch::Strategic(foreign))
            .await
            .unwrap();
        let wanted = SHOP
            .replace(", tier: front", "")
            .replace("image: web:1", "image: web:2")
            .replace("{name: A, value: '1'}, ", "")
            .replace(
                "emptyDir: {sizeLimit: 1024Mi}",
                "configMap: {name: settings}",
            )
            .replace(", {containerPort: 8081}", "");
        let difference = stage
            .run(&["diff", "--strategy", strategy, "-o", "name"], &wanted)
            .await;
        let namespace = &stage.namespace.name;
        assert_eq!(
            (difference.code, difference.stdout),
            (Some(1), "Deployment web\n".to_owned()),
            "{namespace}"
        );
        let applied = stage
            .run(&["apply", "--strategy", strategy], &wanted)
            .await
            .success();
        assert!(applied.contains("Deployment web configured\n"), "{applied}");
        let live = stage.deployment("web").await;
        let labels = json!({"app": "web", "foreign": "kept"});
        assert_eq!(live["metadata"]["labels"], labels, "{strategy}");
        assert_eq!(live["spec"]["replicas"], 5);
        let pod = &live["spec"]["template"]["spec"];
        let names: Vec<_> = pod["containers"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| &one["name"])
            .collect();
        assert!(
            names.contains(&&json!("web")) && names.contains(&&json!("injected")),
            "{names:?}"
        );
        let web = pod["containers"]
            .as_array()
            .unwrap()
            .iter()
            .find(|one| one["name"] == "web")
            .unwrap();
        assert_eq!(web["image"], "web:2");
        assert_eq!(
            web["env"],
            json!([{"name": "B", "value": "2"}]),
            "{strategy}"
        );
        assert_eq!(web["ports"].as_array().unwrap().len(), 1);
        let cache = pod["volumes"]
            .as_array()
            .unwrap()
            .iter()
            .find(|one| one["name"] == "cache")
            .unwrap();
        assert!(
            cache.get("emptyDir").is_none() && cache.get("configMap").is_some(),
            "{strategy}: {cache}"
        );
        let difference = stage.run(&["diff", "--strategy", strategy], &wanted).await;
        assert_eq!(difference.code, Some(0), "{strategy}: {difference}");
    }
}

#[tokio::test]
async fn the_order_of_init_containers_is_the_wanted_one() {
    let stage = Stage::set("manifest-order").await;
    stage.run(&["apply"], SHOP).await.success();
    let (first, second) = (
        "{name: first, image: 'busybox:1'}",
        "{name: second, image: 'busybox:1'}",
    );
    let wanted = SHOP
        .replace(first, "FIRST")
        .replace(second, first)
        .replace("FIRST", second);
    stage.run(&["apply"], &wanted).await.success();
    let live = stage.deployment("web").await;
    let names = |live: &serde_json::Value| {
        let list = live.pointer("/spec/template/spec/initContainers").unwrap();
        list.as_array()
            .unwrap()
            .iter()
            .map(|one| one["name"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(names(&live), ["second", "first"]);
    assert_eq!(stage.run(&["diff"], &wanted).await.code, Some(0));
}

#[tokio::test]
async fn an_object_of_kubectl_apply_is_taken_over_and_given_back() {
    let stage = Stage::set("manifest-kubectl").await;
    let kubectl = async |text: &str| {
        let file = stage.files.path().join("kubectl.yaml");
        std::fs::write(&file, text).unwrap();
        let words = [
            "apply",
            "-n",
            &stage.namespace.name,
            "-f",
            file.to_str().unwrap(),
        ];
        let program = mainstay_testkit::Program::new(stage.plane.kubectl(), words);
        program
            .kubeconfig(&stage.plane.kubeconfig())
            .run()
            .await
            .success()
    };
    let map = |data: &str| {
        format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: shared}}\ndata: {{{data}}}\n")
    };
    let data = async || stage.live("v1", "ConfigMap", "configmaps", "shared").await["data"].clone();
    kubectl(&map("a: '1', b: '2'")).await;
    stage.run(&["apply"], &map("b: '3'")).await.success();
    assert_eq!(
        data().await,
        json!({"b": "3"}),
        "what kubectl applied is known"
    );
    kubectl(&map("c: '4'")).await;
    assert_eq!(
        data().await,
        json!({"c": "4"}),
        "and kubectl knows what we applied"
    );
}

#[tokio::test]
async fn a_patch_of_a_preview_is_one_that_kubectl_takes() {
    let stage = Stage::set("manifest-patch").await;
    stage.run(&["apply"], SHOP).await.success();
    let wanted = SHOP
        .replace("image: web:1", "image: web:2")
        .replace(", tier: front", "");
    let difference = stage.run(&["diff", "-o", "patch"], &wanted).await;
    let patch = difference
        .stdout
        .strip_prefix("---\n# strategic\n")
        .unwrap()
        .to_owned();
    let file = stage.files.path().join("patch.yaml");
    std::fs::write(&file, patch).unwrap();
    let file = file.to_str().unwrap();
    let words = [
        "patch",
        "deployment",
        "web",
        "-n",
        &stage.namespace.name,
        "--patch-file",
        file,
    ];
    let program = mainstay_testkit::Program::new(stage.plane.kubectl(), words);
    program
        .kubeconfig(&stage.plane.kubeconfig())
        .run()
        .await
        .success();
    let difference = stage.run(&["diff"], &wanted).await;
    assert_eq!(difference.code, Some(0), "{difference}");
}
