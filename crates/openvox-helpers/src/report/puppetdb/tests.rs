use super::*;

fn now() -> Timestamp {
    "2024-06-01T12:00:00.25Z".parse().unwrap()
}

fn converted(report: &Value) -> Value {
    let command = command(report.to_string().as_bytes(), now()).unwrap();
    let command: Value = serde_json::from_slice(&command).unwrap();
    assert_eq!(command["command"], "store report");
    assert_eq!(command["version"], 8);
    command["payload"].clone()
}

#[test]
fn a_report_without_content_has_the_fields_that_are_always_there() {
    assert_eq!(
        converted(&json!({})),
        json!({
            "certname": null, "producer": null, "start_time": null, "end_time": "", "logs": null,
            "producer_timestamp": "2024-06-01T12:00:00.25Z", "metrics": [], "resources": [],
        })
    );
}

#[test]
fn what_puppetdb_knows_by_the_same_name_is_copied_if_it_is_there() {
    let report = json!({
        "host": "n1", "puppet_version": "8", "report_format": 12, "configuration_version": 1_705_314_600,
        "environment": "production", "transaction_uuid": "u", "status": "changed", "noop": false,
        "noop_pending": true, "corrective_change": null, "catalog_uuid": "c", "code_id": null,
        "cached_catalog_status": "not_used", "job_id": null, "logs": [{"level": "notice"}],
        "transaction_completed": true, "something": "else", "server_used": "puppet:8140",
    });
    let payload = converted(&report);
    for name in COPIED {
        assert_eq!(payload[name], report[name], "{name}");
    }
    assert_eq!(payload["logs"], report["logs"]);
    assert_eq!(payload["producer"], "puppet:8140");
    assert_eq!(payload["certname"], "n1");
    assert_eq!(payload.as_object().unwrap().len(), COPIED.len() + 8);
}

#[test]
fn whoever_compiled_the_catalog_is_the_producer_or_else_the_node() {
    for (server, expected) in [
        (json!("s"), "s"),
        (json!(""), "n"),
        (json!(7), "n"),
        (json!(null), "n"),
    ] {
        let payload = converted(&json!({"host": "n", "server_used": server}));
        assert_eq!(payload["producer"], expected);
    }
}

#[test]
fn a_run_ends_its_seconds_after_its_start_in_the_same_zone() {
    let total = |seconds: Value| json!({"time": {"name": "time", "values": [["x", "X", 9], ["total", "T", seconds], ["total", "T", 7]]}});
    for (time, metrics, expected) in [
        (
            "2024-01-15T10:30:00.000000000Z",
            total(json!(5.5)),
            "2024-01-15T10:30:05.5Z",
        ),
        (
            "2024-01-15T10:30:00.123456789+02:00",
            total(json!(1)),
            "2024-01-15T10:30:01.123456789+02:00",
        ),
        (
            "2024-01-15T10:30:00-09:30",
            total(json!(0)),
            "2024-01-15T10:30:00-09:30",
        ),
        (
            "2024-01-15T10:30:00+00:00",
            total(json!(0)),
            "2024-01-15T10:30:00Z",
        ),
        (
            "2024-01-15T23:59:59.999999999Z",
            total(json!(2e-9)),
            "2024-01-16T00:00:00.000000001Z",
        ),
        (
            "2024-01-15T10:30:00.100000000Z",
            total(json!("5")),
            "2024-01-15T10:30:00.1Z",
        ),
        (
            "2024-01-15T10:30:00Z",
            json!({"time": {"values": []}}),
            "2024-01-15T10:30:00Z",
        ),
        ("2024-01-15T10:30:00Z", json!([]), "2024-01-15T10:30:00Z"),
        ("yesterday", total(json!(1)), "yesterday"),
        (
            "2024-01-15T10:30:00",
            total(json!(1)),
            "2024-01-15T10:30:00",
        ),
        (
            "9999-12-30T00:00:00Z",
            total(json!(1e300)),
            "9999-12-30T00:00:00Z",
        ),
    ] {
        let payload = converted(&json!({"time": time, "metrics": metrics}));
        assert_eq!(payload["end_time"], expected, "{time}");
        assert_eq!(payload["start_time"], time);
    }
    assert_eq!(converted(&json!({"time": 5}))["end_time"], "");
}

#[test]
fn resources_become_a_list_with_their_events() {
    let payload = converted(&json!({"resource_statuses": {
        "File[/a]": {
            "title": "/a", "resource_type": "File", "file": "/x.pp", "line": 3, "skipped": false, "time": "t",
            "containment_path": ["Stage[main]"], "corrective_change": false, "tags": ["dropped"], "failed": true,
            "events": [
                {"status": "success", "time": "e", "name": "n", "property": "p", "message": "m",
                    "previous_value": 1_234_567, "desired_value": [1, "x"], "corrective_change": false, "audited": 1},
                {}, "skipped",
            ],
        },
        "Notify[x]": {"title": 42, "events": null},
        "bad": "text",
    }}));
    assert_eq!(
        payload["resources"],
        json!([
            {
                "resource_title": "/a", "resource_type": "File", "file": "/x.pp", "line": 3, "skipped": false,
                "timestamp": "t", "containment_path": ["Stage[main]"], "corrective_change": false,
                "events": [
                    {"status": "success", "timestamp": "e", "name": "n", "property": "p", "message": "m",
                        "old_value": "1234567", "new_value": "[1 x]", "corrective_change": false},
                    {"status": null, "timestamp": null, "name": null, "property": null, "message": null,
                        "old_value": "", "new_value": "", "corrective_change": null},
                ],
            },
            {
                "resource_title": "42", "resource_type": null, "file": null, "line": null, "skipped": null,
                "timestamp": null, "containment_path": null, "corrective_change": null, "events": [],
            },
        ])
    );
    assert_eq!(
        converted(&json!({"resource_statuses": []}))["resources"],
        json!([])
    );
}

#[test]
fn metrics_become_a_list() {
    for (metrics, expected) in [
        (
            json!({
                "resources": {"name": "resources", "values": [["total", "Total", 2]]},
                "odd": {"name": 5, "values": [["short", 1], "x", ["a", "b", "text", "more"], [1, 2, 3]]},
                "none": null, "empty": {"name": "e"},
            }),
            json!([
                {"category": "", "name": "a", "value": "text"},
                {"category": "", "name": "", "value": 3},
                {"category": "resources", "name": "total", "value": 2},
            ]),
        ),
        (json!({"time": {"values": []}}), json!(null)),
        (json!({}), json!(null)),
        (json!([]), json!([])),
        (json!(null), json!([])),
    ] {
        assert_eq!(converted(&json!({"metrics": metrics}))["metrics"], expected);
    }
}

#[test]
fn what_is_no_report_is_refused_and_what_is_not_utf_8_is_mended() {
    for report in [&b"hello"[..], b"[1]", b"\"x\"", b"{", b"\xff\xfe", b"{} {}"] {
        assert!(command(report, now()).is_err(), "{report:?}");
    }
    let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    assert!(command(deep.as_bytes(), now()).is_err());
    let mended = command(b"{\"host\": \"n\xff\"}", now()).unwrap();
    let mended: Value = serde_json::from_slice(&mended).unwrap();
    assert_eq!(mended["payload"]["certname"], "n\u{fffd}");
    assert!(command(b"null", now()).is_ok());
}
