use mainstay_clowder::kinds;
use mainstay_engine::key::ObjectKey;
use mainstay_runtime::metrics::Metrics;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use super::*;

fn metrics() -> Arc<OperatorMetrics> {
    let features = OperatorConfig::default().features;
    Arc::new(OperatorMetrics::new(
        &Metrics::new(),
        &features,
        Arc::default(),
    ))
}

/// Serves on a free port and answers a request with its whole response, in lower case heads and all.
struct Api {
    address: SocketAddr,
    metrics: Arc<OperatorMetrics>,
}

impl Api {
    async fn start() -> Self {
        let listener = bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let metrics = metrics();
        let config = OperatorConfig::absent();
        tokio::spawn(serve(listener, &config, metrics.clone()));
        Self { address, metrics }
    }

    async fn ask(&self, method: &str, target: &str) -> (String, String) {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        let request =
            format!("{method} {target} HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head.to_owned(), body.to_owned())
    }
}

#[tokio::test]
async fn shows_who_is_looked_after_and_null_if_nobody_is() {
    let api = Api::start().await;
    for page in [
        "/clowdapps/present/",
        "/clowdapps/managed/",
        "/clowdenvs/present/",
        "/clowdenvs/managed/",
    ] {
        let (head, body) = api.ask("GET", page).await;
        assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");
        assert!(
            head.contains("content-type: application/json\r\n"),
            "{head}"
        );
        assert_eq!(body, "null");
    }
    let key = |kind, name| ObjectKey::new(kind, "team", name);
    let apps = api.metrics.apps();
    apps.begin(&key(kinds::CLOWD_APP, "shop"), "stage.shop", false);
    apps.begin(&key(kinds::CLOWD_APP, "bank"), "stage.bank", false);
    apps.end(&key(kinds::CLOWD_APP, "bank"), true);
    let environments = api.metrics.environments();
    environments.begin(&key(kinds::CLOWD_ENVIRONMENT, "stage"), "stage", false);
    let body = async |page| api.ask("POST", page).await.1;
    assert_eq!(
        body("/clowdapps/present/").await,
        r#"["stage.bank","stage.shop"]"#
    );
    assert_eq!(
        body("/clowdapps/managed/all/of/it").await,
        r#"["stage.bank"]"#
    );
    assert_eq!(body("/clowdenvs/present/").await, r#"["stage"]"#);
    assert_eq!(body("/clowdenvs/managed/").await, "null");
}

#[tokio::test]
async fn shows_the_whole_configuration_in_the_order_of_the_file() {
    let api = Api::start().await;
    let (head, body) = api.ask("GET", "/config/").await;
    assert!(
        head.contains("content-type: application/json\r\n"),
        "{head}"
    );
    assert_eq!(
        body,
        serde_json::to_string(&OperatorConfig::absent()).unwrap()
    );
    assert!(body.starts_with(r#"{"images":{"mbop":"","#), "{body}");
    assert!(
        body.ends_with(r#""restarterAnnotation":"qontract.recycle"}}"#),
        "{body}"
    );
}

#[tokio::test]
async fn leads_to_the_page_with_a_slash_and_nowhere_else() {
    let api = Api::start().await;
    let (head, body) = api.ask("GET", "/config").await;
    assert!(
        head.starts_with("HTTP/1.1 307 Temporary Redirect\r\n"),
        "{head}"
    );
    assert!(head.contains("location: /config/\r\n"), "{head}");
    assert!(
        head.contains("content-type: text/html; charset=utf-8\r\n"),
        "{head}"
    );
    assert_eq!(body, "<a href=\"/config/\">Temporary Redirect</a>.\n\n");
    let (head, body) = api.ask("GET", "/clowdapps/present?a=1&b=2").await;
    assert!(
        head.contains("location: /clowdapps/present/?a=1&b=2\r\n"),
        "{head}"
    );
    assert!(body.contains("present/?a=1&amp;b=2"), "{body}");
    let (head, body) = api.ask("POST", "/config").await;
    assert!(head.starts_with("HTTP/1.1 307 "), "{head}");
    assert_eq!(body, "");
    for page in ["/", "/other", "/configs/", "/clowdapps/", "/clowdapps"] {
        let (head, body) = api.ask("GET", page).await;
        assert!(
            head.starts_with("HTTP/1.1 404 Not Found\r\n"),
            "{page}: {head}"
        );
        assert!(
            head.contains("content-type: text/plain; charset=utf-8\r\n"),
            "{head}"
        );
        assert_eq!(body, "404 page not found\n");
    }
}

#[tokio::test]
async fn does_without_if_the_address_is_off_taken_or_open_to_others() {
    assert!(bind("0").await.is_none());
    assert!(bind("0.0.0.0:0").await.is_none());
    assert!(bind("not an address").await.is_none());
    let first = bind("127.0.0.1:0").await.unwrap();
    let taken = first.local_addr().unwrap().to_string();
    assert!(bind(&taken).await.is_none());
}
