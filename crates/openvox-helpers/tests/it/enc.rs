//! Classification of nodes.

use mainstay_openvox_helpers::{Helper, Outcome};
use mainstay_testkit::puppet::{Answer, Authority, Behaviour, Server, Services, Settings};

use super::{Home, output};

fn settings() -> Settings {
    Settings {
        classes: vec!["base".to_owned()],
        environment: "staging".to_owned(),
        ..Settings::default()
    }
}

fn classify(home: &Home, config: &str) -> Outcome {
    home.run(Helper::Enc, config, &["n1.vale.test"], b"")
}

fn config(server: &Server, more: &str) -> String {
    format!(
        "url: {}\npath: '/node/{{certname}}'\ntimeoutSeconds: 20\n{more}",
        server.url()
    )
}

const CLASSIFIED: &str = "classes:\n  base: null\nenvironment: staging\n";

#[test]
fn a_node_is_classified_with_each_kind_of_credentials() {
    for (variables, auth) in [
        (&[][..], ""),
        (
            &[("AUTH_TYPE", "bearer"), ("AUTH_TOKEN", "t k")],
            "auth: {type: bearer, token: t k}",
        ),
        (
            &[
                ("AUTH_TYPE", "basic"),
                ("AUTH_USERNAME", "u"),
                ("AUTH_PASSWORD", "p:w"),
            ],
            "auth: {type: basic, username: u, password: 'p:w'}",
        ),
        (
            &[
                ("AUTH_TYPE", "token"),
                ("AUTH_TOKEN", "007"),
                ("AUTH_HEADER", "X-K"),
            ],
            "auth: {type: token, header: X-K, token: 007}",
        ),
    ] {
        let variable = |name: &str| {
            let mut variables = variables.iter();
            variables
                .find(|(known, _)| *known == name)
                .map(|(_, value)| (*value).to_owned())
        };
        let services = Services::start(Settings {
            credentials: Settings::from_variables(variable).credentials,
            ..settings()
        });
        let home = Home::new();
        let outcome = classify(&home, &config(&services, auth));
        assert_eq!(
            (outcome.status, output(&outcome), outcome.errors.as_str()),
            (0, CLASSIFIED, "")
        );
        if !auth.is_empty() {
            let outcome = classify(&home, &config(&services, ""));
            assert_eq!(outcome.status, 2);
            assert!(
                outcome
                    .errors
                    .starts_with("error: HTTP 401: unauthorized: invalid ")
            );
        }
    }
}

#[test]
fn credentials_in_the_url_are_sent_and_not_shown() {
    let services = Services::start(Settings {
        credentials: Some((
            "authorization".to_owned(),
            "Basic bWU6aHVudGVyMg==".to_owned(),
            "",
        )),
        ..settings()
    });
    let home = Home::new();
    let address = services.address();
    let url = format!("url: http://me:hunter2@{address}\npath: /node/n\n");
    assert_eq!(output(&classify(&home, &url)), CLASSIFIED);
    services.behave(Behaviour::Nonsense(b"what?\n".to_vec()));
    let outcome = classify(&home, &url);
    let shown = format!("error: HTTP request failed: Get \"http://{address}/node/n\": ");
    assert!(outcome.errors.starts_with(&shown), "{}", outcome.errors);
    assert!(!outcome.errors.contains("hunter2"));
}

#[test]
fn only_the_given_authority_is_trusted_and_a_certificate_is_shown_when_asked_to() {
    let authority = Authority::default();
    let services = Services::start_protected(&authority, settings());
    let home = Home::new();
    let own = authority.issue("cli.test", &[]);
    home.write("ca.pem", authority.certificate());
    home.write("other.pem", Authority::default().certificate());
    home.write("cert.pem", &own.certificate);
    home.write("key.pem", &own.key);
    let ssl = |ca: &str| {
        let [ca, cert, key] = [ca, "cert.pem", "key.pem"].map(|name| home.path(name));
        format!("ssl: {{caFile: {ca}, certFile: {cert}, keyFile: {key}}}\n")
    };
    for (auth, shown) in [("", false), ("auth: {type: mtls}\n", true)] {
        let outcome = classify(
            &home,
            &config(&services, &format!("{auth}{}", ssl("ca.pem"))),
        );
        assert_eq!(
            (output(&outcome), outcome.errors.as_str()),
            (CLASSIFIED, "")
        );
        let request = services.requests().pop().unwrap();
        assert_eq!(request.client_certificate.is_some(), shown);
    }
    let asked = services.requests().len();
    for more in [ssl("other.pem"), String::new()] {
        let outcome = classify(&home, &config(&services, &more));
        assert_eq!(outcome.status, 2);
        assert!(
            outcome
                .errors
                .starts_with("error: HTTP request failed: Get \"https://")
        );
    }
    for (more, reason) in [
        (ssl("none.pem"), "reading CA cert: open "),
        (ssl("config.yaml"), "failed to parse CA certificate\n"),
        (
            "auth: {type: mtls}\nssl: {certFile: none}\n".to_owned(),
            "loading client certificate: open none: no such file or directory\n",
        ),
    ] {
        let outcome = classify(&home, &config(&services, &more));
        let reason = format!("error: building HTTP client: {reason}");
        assert!(outcome.errors.starts_with(&reason), "{}", outcome.errors);
    }
    assert_eq!(services.requests().len(), asked);
}

#[test]
fn what_was_kept_is_used_when_the_classifier_fails_in_any_way() {
    let services = Services::start(settings());
    let home = Home::new();
    let cached = |server: &Server| {
        let cache = home.path("cache");
        let config = config(
            server,
            &format!("cache: {{enabled: true, directory: {cache}}}\n"),
        );
        config.replace("timeoutSeconds: 20", "timeoutSeconds: 1")
    };
    let failures = [
        Behaviour::Fixed(Answer::new(404, "text/plain", "no")),
        Behaviour::Fixed(Answer::new(500, "text/plain", "broken\n")),
        Behaviour::Fixed(Answer::new(200, "text/plain", "classes: [")),
        Behaviour::Fixed(Answer::new(200, "text/plain", vec![b'#'; 11 * 1024 * 1024])),
        Behaviour::Fixed(Answer::redirect(302, "/again")),
        Behaviour::Nonsense(b"\0\xff\r\n\r\n".to_vec()),
        Behaviour::Nonsense(Vec::new()),
        Behaviour::Hang,
    ];
    let plain = cached(&services);
    for failure in &failures {
        services.behave(failure.clone());
        let outcome = classify(&home, &plain);
        let is_unknown = matches!(failure, Behaviour::Fixed(Answer { status: 404, .. }));
        assert_eq!(
            outcome.status,
            if is_unknown { 1 } else { 2 },
            "{failure:.40?}"
        );
        assert!(outcome.output.is_empty());
    }
    services.behave(Behaviour::Normal);
    assert_eq!(output(&classify(&home, &plain)), CLASSIFIED);
    assert_eq!(home.read("cache/n1.vale.test.yaml").unwrap(), CLASSIFIED);
    for failure in failures {
        services.behave(failure);
        let outcome = classify(&home, &plain);
        assert_eq!(
            (outcome.status, output(&outcome), outcome.errors.as_str()),
            (0, CLASSIFIED, "")
        );
    }
}

#[test]
fn a_node_that_is_not_known_is_told_apart_from_failures() {
    let services = Services::start(settings());
    let home = Home::new();
    for (answer, status, error) in [
        (
            Answer::new(404, "text/plain", "gone"),
            1,
            "error: node not found: n1.vale.test\n",
        ),
        (
            Answer::new(503, "text/plain", "busy\n"),
            2,
            "error: HTTP 503: busy\n\n",
        ),
        (Answer::new(304, "text/plain", ""), 2, "error: HTTP 304: \n"),
        (
            Answer::new(500, "text/plain", &b"\xff"[..]),
            2,
            "error: HTTP 500: \u{fffd}\n",
        ),
    ] {
        services.behave(Behaviour::Fixed(answer));
        let outcome = classify(&home, &config(&services, ""));
        assert_eq!((outcome.status, outcome.errors.as_str()), (status, error));
    }
}

#[test]
fn redirects_end_and_take_no_secret_to_another_server() {
    let there = Services::start(settings());
    let here = Server::start("127.0.0.1:0", None, {
        let url = there.url();
        move |request| match request.path() {
            "/node/n1.vale.test" => Answer::redirect(302, "/next"),
            "/next" => Answer::redirect(307, &format!("{url}/node/n1.vale.test")),
            _ => Answer::redirect(302, "/again"),
        }
    });
    let home = Home::new();
    let auth = "auth: {type: token, header: X-Auth, token: hunter2}\n";
    assert_eq!(output(&classify(&home, &config(&here, auth))), CLASSIFIED);
    let sent: Vec<_> = here
        .requests()
        .iter()
        .map(|request| request.header("x-auth").is_some())
        .collect();
    assert_eq!(sent, [true, true]);
    let last = there.requests().pop().unwrap();
    assert_eq!(last.header("x-auth"), None);
    assert_eq!(
        last.header("accept"),
        Some("application/json, application/yaml, text/yaml")
    );
    let looping = format!("url: {}/x\n{auth}", here.url());
    let outcome = classify(&home, &looping);
    assert!(
        outcome.errors.ends_with("stopped after 10 redirects\n"),
        "{}",
        outcome.errors
    );
    assert_eq!(here.requests().len(), 2 + 10);
}

#[test]
fn a_post_tells_the_name_or_the_facts() {
    let services = Server::start("127.0.0.1:0", None, |_| {
        Answer::new(200, "text/plain", "classes: [a]")
    });
    let home = Home::new();
    for (method, body, sent, content_type) in [
        (
            "POST",
            "certname",
            r#"{"certname":"n1.vale.test"}"#,
            Some("application/json"),
        ),
        (
            "POST",
            "facts",
            r#"{"certname":"n1.vale.test","facts":{}}"#,
            Some("application/json"),
        ),
        ("POST", "other", "", Some("application/json")),
        ("POST", "''", "", None),
        ("PUT", "certname", "", None),
        ("GET", "facts", "", None),
    ] {
        let config = format!(
            "url: {}/c\nmethod: {method}\nbody: {body}\n",
            services.url()
        );
        assert_eq!(output(&classify(&home, &config)), "classes:\n  - a\n");
        let request = services.requests().pop().unwrap();
        assert_eq!(request.method.as_str(), method);
        assert_eq!(request.body, sent);
        assert_eq!(request.header("content-type"), content_type);
    }
}

#[test]
fn a_request_that_cannot_be_made_is_told_apart_from_one_that_failed() {
    let home = Home::new();
    for (config, reason) in [
        (
            "url: 'http://[::1'\n",
            "creating request: parse \"http://[::1\": ",
        ),
        (
            "url: http://h\nmethod: G T\n",
            "creating request: invalid method \"G T\"",
        ),
        ("path: /x\n", "HTTP request failed: Get \"/x\": "),
        ("url: ''\n", "HTTP request failed: Get \"\": "),
        ("url: ftp://h/\n", "HTTP request failed: Get \"ftp://h/\": "),
        (
            "url: http://h\nauth: {type: token, token: hunter2}\n",
            "HTTP request failed: Get \"http://h\": invalid header field name \"\"",
        ),
        (
            "url: http://h\nauth: {type: bearer, token: \"hunter2\\n\"}\n",
            "HTTP request failed: Get \"http://h\": invalid header field value for \"Authorization\"",
        ),
    ] {
        let outcome = classify(&home, config);
        assert_eq!(outcome.status, 2);
        assert!(
            outcome.errors.starts_with(&format!("error: {reason}")),
            "{}",
            outcome.errors
        );
        assert!(!outcome.errors.contains("hunter2"));
    }
}
