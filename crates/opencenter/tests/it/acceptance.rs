//! Rendered trees pass the checks that a tree on disk must pass, and plans bind to their inputs.

use mainstay_opencenter::{
    finding,
    flux::GitAuthentication,
    overlay::{
        ArtifactError, BootstrapState, PlanArtifact, PlanInputs, check_tree, kustomize,
        semantic_diff,
    },
    render::{RenderOptions, SecretsMode, render},
};

use crate::fixture::{REGISTRY, cases, config_text, must_render, options, try_load};

#[test]
fn every_tree_passes_the_tree_checks() {
    for (name, case) in cases() {
        let tree = must_render(&config_text(&case)).tree;
        let check = check_tree(&tree.cluster, &tree.contents());
        assert!(
            check.findings.is_empty(),
            "{name}:\n{}",
            finding::to_text(&check.findings)
        );
        assert_eq!(check.state, BootstrapState::RendererParity);
    }
}

#[test]
fn every_directory_builds() {
    for (name, case) in cases() {
        let tree = must_render(&config_text(&case)).tree.contents();
        for (directory, build) in kustomize::build_all(&tree) {
            assert!(
                build.findings.is_empty(),
                "{name}: {directory}: {:?}",
                build.findings
            );
        }
    }
}

fn all_on() -> String {
    let (_, case) = cases()
        .into_iter()
        .find(|(name, _)| name == "all-on")
        .expect("the case exists");
    config_text(&case)
}

#[test]
fn an_omitted_secret_is_not_referred_to() {
    let config = try_load(&all_on()).expect("the config is valid");
    let options = RenderOptions {
        secrets_mode: SecretsMode::Omit,
        ..options(&config)
    };
    let tree = render(&config, &REGISTRY, &options)
        .expect("it renders")
        .tree;
    assert!(tree.files.values().all(|file| file.sensitivity.is_none()));
    let check = check_tree(&tree.cluster, &tree.contents());
    assert!(
        check.findings.is_empty(),
        "{}",
        finding::to_text(&check.findings)
    );
}

#[test]
fn addresses_follow_the_way_of_signing_in() {
    let config = try_load(&all_on()).expect("the config is valid");
    for (method, prefix, has_secret) in [
        (
            GitAuthentication::Token,
            "url: https://git.example.org/",
            true,
        ),
        (
            GitAuthentication::Ssh,
            "url: ssh://git@git.example.org/",
            true,
        ),
        (
            GitAuthentication::AsIs,
            "url: https://git.example.org/",
            false,
        ),
    ] {
        let options = RenderOptions {
            git_authentication: method,
            ..options(&config)
        };
        let tree = render(&config, &REGISTRY, &options)
            .expect("it renders")
            .tree;
        let source = String::from_utf8_lossy(
            tree.bytes("services/sources/opencenter-loki.yaml")
                .or(tree.bytes("services/sources/opencenter-keycloak.yaml"))
                .unwrap_or_default(),
        )
        .into_owned();
        assert!(source.contains(prefix), "{source}");
        assert_eq!(source.contains("secretRef"), has_secret, "{source}");
    }
}

#[test]
fn a_plan_refuses_changed_inputs() {
    let text = all_on();
    let config = try_load(&text).expect("the config is valid");
    let options = options(&config);
    let tree = render(&config, &REGISTRY, &options)
        .expect("it renders")
        .tree;
    let inputs = PlanInputs::new(text.as_bytes(), &config, &REGISTRY, &options);
    let plan = PlanArtifact::new(&tree, inputs.clone());
    assert_eq!(plan.verify("sample", &inputs), Ok(()));
    assert_eq!(plan.verify("other", &inputs), Err(ArtifactError::Cluster));
    let changed = PlanInputs::new(b"other", &config, &REGISTRY, &options);
    assert_eq!(plan.verify("sample", &changed), Err(ArtifactError::Config));
    let other = RenderOptions {
        allow_missing_secrets: true,
        ..options
    };
    let changed = PlanInputs::new(text.as_bytes(), &config, &REGISTRY, &other);
    assert_eq!(plan.verify("sample", &changed), Err(ArtifactError::Options));
    let printed = serde_json::to_string(&plan).expect("plans are plain data");
    assert_eq!(
        serde_json::from_str::<PlanArtifact>(&printed).expect("it reads its own form"),
        plan
    );
    assert!(
        plan.files
            .iter()
            .all(|file| file.sensitive == file.sha256.is_none())
    );
}

#[test]
fn a_tree_does_not_differ_from_itself() {
    let tree = must_render(&all_on()).tree;
    assert_eq!(semantic_diff(&tree.contents(), &tree), []);
}

#[test]
fn reports_and_plans_hold_no_secret() {
    let text = all_on();
    let config = try_load(&text).expect("the config is valid");
    let rendered = render(&config, &REGISTRY, &options(&config)).expect("it renders");
    let shown = format!(
        "{}{}{:?}",
        serde_json::to_string(&rendered.report).expect("reports are plain data"),
        rendered.report.to_text(true),
        rendered.tree
    );
    for secret in ["example-credential-secret", "example-git-token"] {
        assert!(text.contains(secret) && !shown.contains(secret), "{secret}");
    }
}

#[test]
fn explains_what_is_there_and_what_is_missing() {
    let (_, case) = cases()
        .into_iter()
        .find(|(name, _)| name == "service/headlamp")
        .expect("the case exists");
    let report = must_render(&config_text(&case)).report;
    let text = report.to_text(true);
    for line in [
        "unit headlamp is on: opencenter.services.headlamp.enabled is true\n",
        "unit longhorn is off: opencenter.services.longhorn.enabled is not true\n",
        "unit customer-managed-overlay is off: opencenter.gitops.overlay_units.customer_managed.enabled is not true\n",
        "unit flux-system is off: written by flux bootstrap\n",
        "+ services/headlamp/kustomization.yaml (headlamp): always part of its unit\n",
        "+ services/headlamp/helm-values/override-values.yaml (headlamp) [secret]: always part of its unit\n",
        "- services/headlamp/httproute.yaml (headlamp): opencenter.services.gateway.enabled is not true\n",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
}
