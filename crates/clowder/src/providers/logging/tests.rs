use serde_json::json;

use super::*;
use crate::providers::fixture::{case, secret};

#[test]
fn without_logging_apps_are_told_so_in_the_original_s_words() {
    for mode in ["none", "null", ""] {
        let rendered = case(json!({"logging": {"mode": mode}}), json!({}))
            .render(&[&Logging])
            .unwrap();
        assert_eq!(
            rendered.config["logging"],
            json!({"type": "null", "cloudwatch":
            {"accessKeyId": "", "logGroup": "", "region": "", "secretAccessKey": ""}})
        );
    }
    let unknown = case(json!({"logging": {"mode": "loki"}}), json!({}));
    assert_eq!(
        unknown.render(&[&Logging]).unwrap_err().to_string(),
        "No matching logging mode for loki: "
    );
}

#[test]
fn cloud_watch_is_described_by_a_secret() {
    let case = case(json!({"logging": {"mode": "app-interface"}}), json!({}));
    let failure = case.render(&[&Logging]).unwrap_err().to_string();
    assert_eq!(
        failure,
        "Failed to fetch cloudwatch secret: Secret \"cloudwatch\" not found"
    );
    let values = json!({"aws_access_key_id": "k", "aws_region": "r", "aws_secret_access_key": "s"});
    let rendered = case
        .among([secret("market", "cloudwatch", values)])
        .render(&[&Logging])
        .unwrap();
    assert_eq!(
        rendered.config["logging"],
        json!({"type": "cloudwatch", "cloudwatch":
        {"accessKeyId": "k", "logGroup": "", "region": "r", "secretAccessKey": "s"}})
    );
}
