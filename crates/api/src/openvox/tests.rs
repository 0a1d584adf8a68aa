use std::{collections::BTreeMap, sync::LazyLock};

use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

use super::*;
use crate::{
    file,
    survival::{hollow_error, losses},
};

/// The documents of the definitions by kind, made once for all tests.
static DEFINITIONS: LazyLock<BTreeMap<String, Value>> = LazyLock::new(|| {
    crds()
        .iter()
        .map(|crd| (crd.spec.names.kind.clone(), file(crd).1))
        .collect()
});

fn schema(kind: &str) -> &'static Value {
    &DEFINITIONS[kind]["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
}

/// Every schema below another one, with its path.
fn walk(path: &str, schema: &Value, visit: &mut dyn FnMut(&str, &Value)) {
    visit(path, schema);
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        walk(&format!("{path}.{name}"), field, visit);
    }
    for keyword in ["items", "additionalProperties"] {
        if schema[keyword].is_object() {
            walk(&format!("{path}[]"), &schema[keyword], visit);
        }
    }
}

#[test]
fn nine_kinds_have_the_names_that_users_type() {
    let names: Vec<String> = DEFINITIONS
        .values()
        .map(|definition| {
            let names = &definition["spec"]["names"];
            let short = names["shortNames"][0].as_str().unwrap_or("-");
            format!(
                "{} {short}",
                definition["metadata"]["name"].as_str().unwrap()
            )
        })
        .collect();
    assert_eq!(
        names,
        [
            "certificates.openvox.voxpupuli.org cert",
            "certificateauthorities.openvox.voxpupuli.org ca",
            "configs.openvox.voxpupuli.org cfg",
            "databases.openvox.voxpupuli.org db",
            "nodeclassifiers.openvox.voxpupuli.org nc",
            "pools.openvox.voxpupuli.org -",
            "reportprocessors.openvox.voxpupuli.org rp",
            "servers.openvox.voxpupuli.org -",
            "signingpolicies.openvox.voxpupuli.org sp",
        ]
    );
}

#[test]
fn only_leaves_have_defaults() {
    for kind in DEFINITIONS.keys() {
        walk(kind, schema(kind), &mut |path, schema| {
            assert!(
                schema["default"].is_null() || schema["properties"].is_null(),
                "{path} is filled in although nobody wrote it"
            );
        });
    }
}

#[test]
fn every_definition_stays_small() {
    for (kind, definition) in &*DEFINITIONS {
        let size = definition.to_string().len();
        assert!(size <= 64 * 1024, "{kind} has {size} bytes");
    }
}

#[test]
fn the_rules_between_fields_are_those_that_users_know() {
    let mut messages = Vec::new();
    for kind in DEFINITIONS.keys() {
        walk(kind, schema(kind), &mut |path, schema| {
            for rule in schema["x-kubernetes-validations"]
                .as_array()
                .into_iter()
                .flatten()
            {
                messages.push(format!("{path}: {}", rule["message"].as_str().unwrap()));
            }
        });
    }
    assert_eq!(
        messages,
        [
            "CertificateAuthority.spec: external and custom storage are mutually exclusive",
            "Config.spec.code: image and claimName are mutually exclusive",
            "Config.spec.code: either image or claimName must be set",
            "NodeClassifier.spec.auth: at most one auth method may be set",
            "NodeClassifier.spec.request: method must be GET or POST",
            "NodeClassifier.spec.request: body is only allowed with POST method",
            "Pool.spec.route: hostname is required when route is enabled",
            "Pool.spec.route: gatewayRef.name is required when route is enabled",
            "ReportProcessor.spec.auth: at most one auth method may be set",
            "ReportProcessor.spec.headers[]: value and valueFrom are mutually exclusive",
            "Server.spec.code: image and claimName are mutually exclusive",
            "Server.spec.code: either image or claimName must be set",
        ]
    );
}

#[test]
fn a_block_that_is_not_there_has_no_defaults() {
    let config: Config = serde_json::from_value(json!({
        "apiVersion": "openvox.voxpupuli.org/v1alpha1",
        "kind": "Config",
        "metadata": {"name": "prod"},
        "spec": {"image": {}},
    }))
    .unwrap();
    assert_eq!(config.spec, ConfigSpec::default());
    assert!(!config.spec.puppet.storeconfigs);
    assert_eq!(config.spec.puppet.reports, "");
    assert_eq!(config.spec.code, None);
}

#[test]
fn an_object_without_a_spec_is_read() {
    let authority: CertificateAuthority = serde_json::from_value(json!({
        "apiVersion": "openvox.voxpupuli.org/v1alpha1",
        "kind": "CertificateAuthority",
        "metadata": {"name": "ca"},
    }))
    .unwrap();
    assert_eq!(authority.spec, CertificateAuthoritySpec::default());
}

#[test]
fn explicit_zero_replicas_are_no_absent_ones() {
    let replicas = |spec: Value| {
        let spec: ServerSpec = serde_json::from_value(spec).unwrap();
        spec.replicas
    };
    assert_eq!(replicas(json!({"replicas": 0})), Some(0));
    assert_eq!(replicas(json!({"replicas": null})), None);
}

#[test]
fn zero_values_of_a_status_are_left_out() {
    let status = serde_json::to_value(ServerStatus::default()).unwrap();
    assert_eq!(status, json!({}));
    let status = serde_json::to_value(PoolStatus::default()).unwrap();
    assert_eq!(status, json!({}));
}

#[test]
fn nothing_that_a_definition_admits_is_lost() {
    fn check<T: DeserializeOwned + Serialize>(kind: &str) {
        assert_eq!(losses::<T>(&DEFINITIONS[kind]), [""; 0], "{kind}");
        assert_eq!(hollow_error::<T>(&DEFINITIONS[kind]), None, "{kind}");
    }
    check::<Certificate>("Certificate");
    check::<CertificateAuthority>("CertificateAuthority");
    check::<Config>("Config");
    check::<Database>("Database");
    check::<NodeClassifier>("NodeClassifier");
    check::<Pool>("Pool");
    check::<ReportProcessor>("ReportProcessor");
    check::<Server>("Server");
    check::<SigningPolicy>("SigningPolicy");
}
