//! Forwarding of reports.

use mainstay_openvox_helpers::{Helper, Outcome};
use mainstay_testkit::puppet::{Answer, Behaviour, Services, Settings};
use serde_json::{Value, json};

use super::{Home, output};

fn forward(config: &str, report: &[u8]) -> Outcome {
    Home::new().run(Helper::Report, config, &[], report)
}

#[test]
fn every_endpoint_gets_the_report_unchanged_or_as_a_command() {
    let services = Services::start(Settings::default());
    let url = services.url();
    let config = format!(
        "endpoints:\n- {{name: a, url: '{url}/reports'}}\n- {{name: b, processor: puppetdb, url: '{url}//'}}\n\
         - {{name: c, processor: other, url: '{url}/services/collector/event'}}\n"
    );
    let report = b"{ \"host\" : \"n1\",\n \"n\": 1.0 }\n";
    let outcome = forward(&config, report);
    assert_eq!((outcome.status, outcome.errors.as_str()), (0, ""));
    assert_eq!(output(&outcome), "report forwarded to 3 endpoint(s)\n");
    let requests = services.requests();
    let targets: Vec<_> = requests
        .iter()
        .map(|request| request.target.as_str())
        .collect();
    assert_eq!(
        targets,
        ["/reports", "/pdb/cmd/v1", "/services/collector/event"]
    );
    assert_eq!(requests[0].body, &report[..]);
    assert_eq!(requests[2].body, &report[..]);
    let command: Value = serde_json::from_slice(&requests[1].body).unwrap();
    assert_eq!(
        (&command["command"], &command["version"]),
        (&json!("store report"), &json!(8))
    );
    assert_eq!(command["payload"]["certname"], "n1");
    for request in requests {
        assert_eq!(request.header("content-type"), Some("application/json"));
        assert_eq!(request.header("accept"), Some("application/json"));
    }
}

#[test]
fn headers_replace_those_of_the_same_name_but_not_those_of_the_connection() {
    let services = Services::start(Settings::default());
    let config = format!(
        "endpoints:\n- name: a\n  url: '{}/reports'\n  auth: {{type: bearer, token: t}}\n  headers:\n  \
         - {{name: X-One, value: a}}\n  - {{name: x-one, value: b}}\n  - {{name: X-Empty, value: ''}}\n  \
         - {{name: Content-Type, value: text/x}}\n  - {{name: Authorization, value: Splunk x}}\n  \
         - {{name: Host, value: evil}}\n  - {{name: Content-Length, value: 1}}\n  \
         - {{name: Transfer-Encoding, value: chunked}}\n",
        services.url()
    );
    assert_eq!(forward(&config, b"{}").status, 0);
    let request = services.requests().pop().unwrap();
    for (name, value) in [
        ("x-one", "b"),
        ("x-empty", ""),
        ("content-type", "text/x"),
        ("authorization", "Splunk x"),
        ("host", &services.address().to_string()),
        ("content-length", "2"),
    ] {
        assert_eq!(request.header(name), Some(value), "{name}");
    }
    assert_eq!(request.header("transfer-encoding"), None);
    assert_eq!(request.body, "{}");
}

#[test]
fn an_endpoint_that_fails_does_not_keep_the_report_from_the_others() {
    let services = Services::start(Settings::default());
    let broken = Services::start(Settings::default());
    let config = format!(
        "endpoints:\n- {{name: one, url: '{}', timeoutSeconds: 1}}\n- {{name: two, url: '{}/reports'}}\n",
        broken.url(),
        services.url()
    );
    for (behaviour, error) in [
        (
            Behaviour::Fixed(Answer::new(503, "text/plain", "busy\n")),
            "HTTP 503: busy\n\n",
        ),
        (Behaviour::Hang, "HTTP request failed: Post \"http://"),
        (
            Behaviour::Nonsense(b"HTTP/9 what\r\n".to_vec()),
            "HTTP request failed: Post \"http://",
        ),
        (
            Behaviour::Nonsense(Vec::new()),
            "HTTP request failed: Post \"http://",
        ),
    ] {
        let before = services.requests().len();
        broken.behave(behaviour);
        let outcome = forward(&config, b"{}");
        assert_eq!((outcome.status, outcome.output.len()), (2, 0));
        let expected = format!("error: endpoint one: {error}");
        assert!(outcome.errors.starts_with(&expected), "{}", outcome.errors);
        assert_eq!(services.requests().len(), before + 1);
    }
}

#[test]
fn a_server_that_repeats_its_credentials_does_not_get_them_into_the_log() {
    let services = Services::start(Settings::default());
    let echo = "Bearer hunter2, key-12345, c29tZTpwYXNzd29yZDE=";
    services.behave(Behaviour::Fixed(Answer::new(400, "text/plain", echo)));
    let url = services.url();
    let config = format!(
        "endpoints:\n- {{name: a, url: '{url}', auth: {{type: bearer, token: hunter2}}}}\n\
         - {{name: b, url: '{url}', headers: [{{name: X-Key, value: key-12345}}]}}\n\
         - {{name: c, url: '{url}', auth: {{type: basic, username: some, password: password1}}}}\n"
    );
    let outcome = forward(&config, b"{}");
    assert_eq!(
        outcome.errors,
        "error: endpoint a: HTTP 400: Bearer ***, key-12345, c29tZTpwYXNzd29yZDE=\n\
         error: endpoint b: HTTP 400: Bearer hunter2, ***, c29tZTpwYXNzd29yZDE=\n\
         error: endpoint c: HTTP 400: Bearer hunter2, key-12345, ***\n"
    );
}

#[test]
fn large_and_binary_reports_are_forwarded_and_endless_ones_refused() {
    let services = Services::start(Settings::default());
    let config = format!(
        "endpoints:\n- {{name: a, url: '{}/reports'}}\n",
        services.url()
    );
    let large = vec![0xff; 50 * 1024 * 1024];
    assert_eq!(forward(&config, &large).status, 0);
    assert_eq!(services.requests().pop().unwrap().body.len(), large.len());
    let endless = vec![b'x'; 65 * 1024 * 1024];
    let outcome = forward(&config, &endless);
    assert_eq!(
        (outcome.status, outcome.errors.as_str()),
        (2, "error: reading report: more than 67108864 bytes\n")
    );
    assert_eq!(services.requests().len(), 1);
    let outcome = forward(&config, b"");
    assert_eq!(
        (outcome.status, outcome.errors.as_str()),
        (2, "error: empty report received\n")
    );
}

#[test]
fn what_is_no_report_is_not_sent_to_puppetdb() {
    let services = Services::start(Settings::default());
    let config = format!(
        "endpoints:\n- {{name: a, processor: puppetdb, url: '{}'}}\n",
        services.url()
    );
    for report in [&b"hello"[..], b"[1]", b"\xff\xfe"] {
        let outcome = forward(&config, report);
        let reason = "error: endpoint a: transforming to PuppetDB format: parsing report JSON: ";
        assert!(outcome.errors.starts_with(reason), "{}", outcome.errors);
    }
    assert!(services.requests().is_empty());
    let outcome = forward("endpoints:\n", b"{}");
    assert_eq!(
        (outcome.status, output(&outcome)),
        (0, "report forwarded to 0 endpoint(s)\n")
    );
}
