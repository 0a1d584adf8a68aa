//! Without webhooks: the rules as expressions that the API server evaluates.

use mainstay_clowder::admission::policy;
use mainstay_testkit::wait::eventually;
use serde_json::json;

use super::{Registered, only, refusal, rules, try_app, violating};
use crate::clowder::stage::Stage;

/// Waits until the API server goes by the policy.
async fn known(stage: &Stage) {
    eventually("the API server knows the policy", || async {
        let error = try_app(stage, "probe", violating()).await.err()?;
        (refusal(error).code == 422).then_some(())
    })
    .await;
}

#[tokio::test]
async fn every_rule_is_an_expression_that_accepts_and_refuses_as_the_webhook_does() {
    let stage = Stage::shared("policy").await;
    let [policy, mut binding] = policy::objects();
    // Both are renamed when they are applied.
    binding["spec"]["policyName"] = json!(format!("{}-{}", policy::NAME, stage.namespace.name));
    binding["spec"]["matchResources"] = json!({"namespaceSelector": only(&stage)});
    let registered = Registered::apply(&stage, vec![policy, binding]).await;
    known(&stage).await;
    for (name, refused, words, fine) in rules() {
        let status = refusal(try_app(&stage, name, refused).await.unwrap_err());
        assert!(status.message.ends_with(words), "{}", status.message);
        assert_eq!((status.code, status.reason.as_str()), (422, "Invalid"));
        let accepted = try_app(&stage, name, fine).await;
        assert!(accepted.is_ok(), "{name}: {accepted:?}");
    }
    // The expressions fit the definition of the kind.
    let (api, name) = &registered.objects[0];
    eventually("the API server has checked the types", || async {
        let policy = api.get(name).await.unwrap();
        let status = &policy.data["status"];
        (status["observedGeneration"] == json!(1)).then(|| {
            let warnings = &status["typeChecking"]["expressionWarnings"];
            assert!(warnings.is_null(), "{warnings}");
        })
    })
    .await;
    registered.remove().await;
}

#[tokio::test]
async fn an_app_on_its_way_out_is_not_judged_by_the_policy_either() {
    let stage = Stage::shared("policy-out").await;
    stage.ready_environment(json!({})).await;
    stage.create_app("shop", violating()).await;
    stage
        .app_when("shop", "is finalized", |app| {
            app["metadata"]["finalizers"][0] == "finalizer.app.cloud.redhat.com"
        })
        .await;
    let [policy, mut binding] = policy::objects();
    binding["spec"]["policyName"] = json!(format!("{}-{}", policy::NAME, stage.namespace.name));
    binding["spec"]["matchResources"] = json!({"namespaceSelector": only(&stage)});
    let registered = Registered::apply(&stage, vec![policy, binding]).await;
    known(&stage).await;
    stage.delete_app("shop").await;
    mainstay_testkit::namespace::object_gone(&stage.apps(), "shop").await;
    registered.remove().await;
}
