use mainstay_yaml::SourceName;

use super::*;
use crate::config::NoSurroundings;

const CONFIG: &str = "\
---
# The demo cluster.
schema_version: \"2.0\"
opencenter:
  meta:
    name: demo
    region: ord1   # close to the users
  gitops:
    repository:
      url: https://git.example.org/clusters.git
    git_branch: stable   # old name
  services:
    gateway-api: {enabled: true}
    gateway:
      enabled: true
      gateway_class: eg   # default
    loki:
      # switched off last winter
      enabled: false
      bucket_name: logs
secrets:
  grafana:
    admin_password: example
";

fn change(
    text: &str,
    work: impl FnOnce(&File<'_>) -> Result<Edited, Vec<Finding>>,
) -> Result<Edited, Vec<Finding>> {
    let source = SourceName::new("demo.yaml");
    work(&File {
        text,
        source: &source,
        surroundings: &NoSurroundings,
        now: None,
    })
}

fn argument(path: &str, value: &str) -> Assignment {
    Assignment {
        path: path.into(),
        value: Given::Argument(value.into()),
    }
}

fn enable_named(service: &str) -> EnableRequest {
    EnableRequest {
        service: service.into(),
        ..EnableRequest::default()
    }
}

fn code(result: Result<Edited, Vec<Finding>>) -> Code {
    result.unwrap_err()[0].code
}

#[test]
fn enabling_keeps_comments_settings_and_order() {
    let edited = change(CONFIG, |file| enable(file, &enable_named("loki"))).unwrap();
    assert_eq!(edited.action, Action::ReEnabled);
    let expected = CONFIG
        .replace("      enabled: false\n", "      enabled: true\n")
        .replace(
            "      url: https://git.example.org/clusters.git\n",
            "      url: https://git.example.org/clusters.git\n      branch: stable\n",
        )
        .replace("    git_branch: stable   # old name\n", "");
    assert_eq!(edited.text, expected);
    assert_eq!(
        edited.changed_fields,
        [
            "opencenter.gitops.repository.branch",
            "opencenter.services.loki.enabled"
        ]
    );
}

#[test]
fn disable_and_enable_give_the_same_text_again() {
    let clean = change(CONFIG, |file| set(file, &[], false)).unwrap().text;
    let request = DisableRequest {
        service: "gateway".into(),
        ..DisableRequest::default()
    };
    let off = change(&clean, |file| disable(file, &request)).unwrap();
    assert_ne!(off.text, clean);
    let on = change(&off.text, |file| enable(file, &enable_named("gateway"))).unwrap();
    assert_eq!(on.text, clean);
}

#[test]
fn parameters_are_read_by_type_and_checked() {
    let mut request = enable_named("loki");
    request.parameters = vec![
        argument("volume_size", "20"),
        argument("source.branch", "feature"),
        argument("s3_insecure", "true"),
        argument("extra_dependencies", "[\"a\",\"b\"]"),
    ];
    let edited = change(CONFIG, |file| enable(file, &request)).unwrap();
    assert!(edited.text.contains(
        "bucket_name: logs\n      volume_size: 20\n      source:\n        branch: feature\n"
    ));
    for (parameter, expected) in [
        (argument("volume_sice", "20"), Code::Oc1102),
        (argument("volume_size", "big"), Code::Oc1103),
        (argument("storage_type", "tape"), Code::Oc3131),
        (argument("s3_insecure", "yes"), Code::Oc1103),
        (argument("volume_size", "-1"), Code::Oc3137),
    ] {
        request.parameters = vec![parameter];
        assert_eq!(
            code(change(CONFIG, |file| enable(file, &request))),
            expected
        );
    }
}

#[test]
fn refuses_names_and_states_that_do_not_fit() {
    let refused = change(CONFIG, |file| enable(file, &enable_named("lokki"))).unwrap_err();
    assert_eq!(refused[0].code, Code::Oc6005);
    assert_eq!(refused[0].help.as_deref(), Some("did you mean `loki`?"));
    assert_eq!(
        code(change(CONFIG, |file| enable(
            file,
            &enable_named("gateway")
        ))),
        Code::Oc6006
    );
    assert_eq!(
        code(change(CONFIG, |file| enable(
            file,
            &enable_named("Bad Name")
        ))),
        Code::Oc2003
    );
    let off = |name: &str| DisableRequest {
        service: name.into(),
        ..DisableRequest::default()
    };
    assert_eq!(
        code(change(CONFIG, |file| disable(file, &off("loki")))),
        Code::Oc6007
    );
    assert_eq!(
        code(change(CONFIG, |file| disable(file, &off("velero")))),
        Code::Oc6003
    );
}

#[test]
fn adds_an_unregistered_service_when_asked() {
    let mut request = enable_named("my-cache");
    request.allow_unregistered = true;
    request.parameters = vec![argument("namespace", "caching")];
    let edited = change(CONFIG, |file| enable(file, &request)).unwrap();
    assert_eq!(edited.action, Action::Enabled);
    assert!(
        edited
            .text
            .contains("    my-cache:\n      enabled: true\n      namespace: caching\n"),
        "{}",
        edited.text
    );
}

#[test]
fn dependencies_are_named_or_enabled() {
    let mut request = enable_named("keycloak");
    request.secrets = vec![Assignment {
        path: "admin_password".into(),
        value: Given::Private("hunter2".into()),
    }];
    let refused = change(CONFIG, |file| enable(file, &request)).unwrap_err();
    assert!(refused.iter().all(|finding| finding.code == Code::Oc3201));
    assert_eq!(refused.len(), 4);
    request.with_dependencies = true;
    let edited = change(CONFIG, |file| enable(file, &request)).unwrap();
    assert_eq!(
        edited.enabled_dependencies,
        ["cert-manager", "olm", "postgres-operator", "rbac-manager"]
    );
    assert!(
        edited
            .text
            .contains("  keycloak:\n    admin_password: hunter2\n"),
        "{}",
        edited.text
    );
}

#[test]
fn dependants_are_named_or_disabled() {
    let mut request = DisableRequest {
        service: "gateway-api".into(),
        ..DisableRequest::default()
    };
    let refused = change(CONFIG, |file| disable(file, &request)).unwrap_err();
    assert_eq!(refused[0].message, "gateway-api is needed by gateway");
    request.cascade = true;
    let edited = change(CONFIG, |file| disable(file, &request)).unwrap();
    assert_eq!(edited.disabled_dependants, ["gateway"]);
    assert!(
        edited
            .text
            .contains("gateway-api: {enabled: false}\n    gateway:\n      enabled: false\n")
    );
}

#[test]
fn secrets_stay_off_the_command_line() {
    let mut request = enable_named("kube-prometheus-stack");
    request.secrets = vec![argument("admin_password", "hunter2")];
    let refused = change(CONFIG, |file| enable(file, &request)).unwrap_err();
    assert_eq!(refused[0].code, Code::Oc6013);
    assert!(!format!("{refused:?} {request:?}").contains("hunter2"));
    request.secrets = vec![argument("pass_word", "x")];
    assert_eq!(
        code(change(CONFIG, |file| enable(file, &request))),
        Code::Oc6008
    );
    let assignment = [argument("secrets.keycloak.admin_password", "hunter2")];
    assert_eq!(
        code(change(CONFIG, |file| set(file, &assignment, false))),
        Code::Oc6013
    );
}

#[test]
fn cert_manager_wants_an_address() {
    let mut request = enable_named("cert-manager");
    assert_eq!(
        code(change(CONFIG, |file| enable(file, &request))),
        Code::Oc3103
    );
    request.parameters = vec![argument("email", "ops@example.org")];
    assert!(change(CONFIG, |file| enable(file, &request)).is_ok());
}

#[test]
fn sets_fields_by_path_and_notes_the_time() {
    let source = SourceName::new("demo.yaml");
    let file = File {
        text: CONFIG,
        source: &source,
        surroundings: &NoSurroundings,
        now: Some("2026-01-02T03:04:05Z"),
    };
    let edited = set(&file, &[argument("opencenter.meta.region", "iad3")], true).unwrap();
    assert!(
        edited
            .text
            .contains("    region: iad3   # close to the users\n")
    );
    assert!(
        edited
            .text
            .contains("metadata:\n  updated_at: \"2026-01-02T03:04:05Z\"\n"),
        "{}",
        edited.text
    );
    let refused = set(&file, &[argument("opencenter.meta.regoin", "iad3")], false).unwrap_err();
    assert_eq!(refused[0].help.as_deref(), Some("did you mean `region`?"));
    let refused = set(
        &file,
        &[argument("opencenter.cluster.kubernetes.subnet_pods", "x")],
        false,
    );
    assert_eq!(code(refused), Code::Oc2003);
}

#[test]
fn a_locked_file_is_not_touched() {
    let locked = CONFIG.replace(
        "    name: demo\n",
        "    name: demo\n    locked: true\n    lock_reason: audit\n",
    );
    let refused = change(&locked, |file| enable(file, &enable_named("loki"))).unwrap_err();
    assert_eq!(refused[0].code, Code::Oc1003);
    assert_eq!(refused[0].message, "the cluster is locked: audit");
    assert_eq!(refused[0].line, Some(7));
}

#[test]
fn old_errors_are_not_in_the_way_unless_strict() {
    let broken = CONFIG.replace("gateway_class: eg ", "gateway_clas: eg ");
    assert!(change(&broken, |file| enable(file, &enable_named("loki"))).is_ok());
    assert_eq!(
        code(change(&broken, |file| set(file, &[], true))),
        Code::Oc1102
    );
}
