use serde_json::{Value, json};

use super::{super::super::Web, annotations, environment, render, ways};
use crate::providers::{
    confighash::hexadecimal_sha256,
    fixture::{Case, other_app},
    provider::ProviderError,
};

fn gateway(certificate: Value) -> Case {
    let mut settings = certificate;
    settings["enabled"] = json!(true);
    environment(&json!({"gatewayCert": settings}))
}

#[test]
fn a_gateway_has_a_certificate_of_its_own_and_passes_tls_through() {
    let rendered = render(&gateway(json!({"localCAConfigMap": "authorities"})));
    let host = "stage-cert.apps.example.com";
    assert_eq!(
        rendered.object("Issuer", "stage-env")["spec"],
        json!({"selfSigned": {}})
    );
    assert_eq!(
        rendered.object("Certificate", "caddy-gateway")["spec"],
        json!({
            "commonName": host, "dnsNames": [host], "privateKey": {"algorithm": "ECDSA", "size": 256},
            "issuerRef": {"group": "cert-manager.io", "kind": "Issuer", "name": "stage-env"},
            "secretName": "stage-caddy-gateway",
        })
    );
    let ingress = rendered.object("Ingress", "stage-caddy-gateway");
    assert_eq!(
        ways(ingress),
        [format!("{host}/ Prefix stage-caddy-gateway gateway")]
    );
    assert_eq!(ingress["spec"]["tls"], Value::Null);
    assert_eq!(
        ingress["metadata"]["annotations"],
        json!({"nginx.ingress.kubernetes.io/ssl-passthrough": "true",
            "nginx.ingress.kubernetes.io/backend-protocol": "HTTPS"})
    );
    let pod = rendered.pod("stage-caddy-gateway");
    assert_eq!(
        pod["volumes"],
        json!([
            {"name": "config", "configMap": {"name": "stage-caddy-gateway"}},
            {"name": "certs", "secret": {"secretName": "stage-caddy-gateway"}},
            {"name": "ca", "configMap": {"name": "authorities"}},
        ])
    );
    assert_eq!(
        pod["containers"][0]["volumeMounts"]
            .as_array()
            .unwrap()
            .len(),
        3
    );
    let text =
        rendered.object("ConfigMap", "stage-caddy-gateway")["data"]["Caddyfile.json"].as_str();
    let hash = hexadecimal_sha256(text.unwrap().as_bytes());
    assert_eq!(
        annotations(&rendered, "stage-caddy-gateway"),
        &json!({"clowder/authsidecar-confighash": hash})
    );

    let mut elsewhere = gateway(json!({}));
    elsewhere.environment["spec"]["providers"]["web"]["ingressClass"] = json!("openshift-default");
    let rendered = render(&elsewhere);
    let ingress = rendered.object("Ingress", "stage-caddy-gateway");
    assert_eq!(
        ways(ingress),
        [format!(
            "{host}- ImplementationSpecific stage-caddy-gateway gateway"
        )]
    );
    assert_eq!(
        ingress["metadata"]["annotations"],
        json!({"route.openshift.io/termination": "passthrough"})
    );
    assert_eq!(
        rendered.pod("stage-caddy-gateway")["volumes"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
}

#[test]
fn acme_needs_an_address_and_every_other_mode_signs_itself() {
    let acme = render(&gateway(
        json!({"certMode": "acme", "emailAddress": "ops@example.com"}),
    ));
    assert_eq!(
        acme.object("Issuer", "stage-env")["spec"]["acme"],
        json!({
            "email": "ops@example.com", "privateKeySecretRef": {"name": "stage-env-cluster-issuer"},
            "server": "https://acme-staging-v02.api.letsencrypt.org/directory",
            "solvers": [{"http01": {"ingress": {}}}],
        })
    );
    let certificate = &acme.object("Certificate", "caddy-gateway")["spec"];
    assert_eq!(
        (&certificate["commonName"], &certificate["privateKey"]),
        (&Value::Null, &Value::Null)
    );
    let nobody = gateway(json!({"certMode": "acme"}))
        .render_environment(&Web)
        .unwrap_err();
    assert!(matches!(nobody, ProviderError::Failed(_)));
    assert_eq!(
        nobody.to_string(),
        "could not get env.Spec.EmailAddress for Cert"
    );
    let none = render(&gateway(json!({"certMode": "none"})));
    assert_eq!(
        none.object("Issuer", "stage-env")["spec"],
        json!({"selfSigned": {}})
    );
}

#[test]
fn the_gateway_leads_to_the_back_office_and_to_every_public_deployment() {
    let public = |settings: Value| json!({"public": settings});
    let apps = [
        other_app(
            "market",
            "stock",
            json!({"deployments": [
                {"name": "api", "webServices": public(json!({"enabled": true, "whitelistPaths": ["/open<"]}))},
                {"name": "worker", "webServices": public(json!({"whitelistPaths": ["/other"]}))},
            ]}),
        ),
        other_app(
            "back",
            "cart",
            json!({"deployments": [
                {"name": "api", "webServices": public(json!({"enabled": true, "apiPath": "basket"}))},
                {"name": "two", "webServices": public(json!({"enabled": true, "apiPaths": ["/api/x/"]}))},
            ]}),
        ),
    ];
    let rendered = render(&gateway(json!({})).among(apps));
    let text =
        rendered.object("ConfigMap", "stage-caddy-gateway")["data"]["Caddyfile.json"].as_str();
    let text = text.unwrap();
    assert!(text.ends_with("}\n"));
    assert!(
        text.contains(r#""/open\u003c""#),
        "the escapes of the original"
    );
    let config: Value = serde_json::from_str(text).unwrap();
    let routes = &config["apps"]["http"]["servers"]["srv0"]["routes"][0]["handle"][0]["routes"];
    assert_eq!(
        routes[0]["handle"][0],
        json!({"handler": "crcauth", "output": "stdout", "url": "http://stage-mbop.stage-env.svc:8090",
            "whitelist": ["/open<", "/other"]})
    );
    let ways: Vec<String> = routes.as_array().unwrap()[1..]
        .iter()
        .map(|route| {
            let upstream = &route["handle"][0]["routes"][0]["handle"][0]["upstreams"][0]["dial"];
            let path = &route["match"][0]["path"][0];
            format!("{} {}", path.as_str().unwrap(), upstream.as_str().unwrap())
        })
        .collect();
    assert_eq!(
        ways,
        [
            "/v1/registrations* stage-mbop.stage-env.svc:8090",
            "/v1/check_registration* stage-mbop.stage-env.svc:8090",
            "/api/basket/* cart-api.back.svc:8000",
            "/api/two/* cart-two.back.svc:8000",
            "/api/api/* stock-api.market.svc:8000",
        ]
    );
    let order = [
        "\"http_port\"",
        "\"match\"",
        "\"crcauth\"",
        "\"terminal\"",
        "\"sni\"",
        "\"logger_names\"",
        "\"load_files\"",
    ];
    let places: Vec<usize> = order.iter().map(|word| text.find(word).unwrap()).collect();
    assert!(places.is_sorted(), "{text}");
}

#[test]
fn with_grants_required_paths_of_other_namespaces_are_neither_opened_nor_taken() {
    let app = |namespace: &str, name: &str, created: &str, public: Value| {
        let deployment = json!({"name": "web", "webServices": {"public": public}});
        let mut app = other_app(namespace, name, json!({"deployments": [deployment]}));
        app["metadata"]["creationTimestamp"] = json!(created);
        app
    };
    let public = |path: &str, open: &[&str]| json!({"enabled": true, "apiPath": path, "whitelistPaths": open});
    let open = [
        "/",
        "/api/stock",
        "/api/stock/",
        "/api/shop/open",
        "/api/shop/../stock/",
        "/api/shopping",
    ];
    let (first, second, third) = (
        "2026-01-01T00:00:00Z",
        "2026-01-02T00:00:00Z",
        "2026-01-03T00:00:00Z",
    );
    let apps = [
        app("cellar", "stock", first, public("stock", &[])),
        app("market", "shop", second, public("shop", &open)),
        app(
            "market",
            "thief",
            second,
            public("stock", &["/api/stock/open"]),
        ),
        app("market", "below", second, public("Stock/secret", &[])),
        app("cellar", "beside", third, public("stock/own", &[])),
    ];
    let published = |required: bool| {
        let mut case = gateway(json!({}));
        case.settings.config.settings.require_environment_grant = required;
        let mut environment = case.environment.clone();
        environment["apiVersion"] = json!("cloud.redhat.com/v1alpha1");
        environment["kind"] = json!("ClowdEnvironment");
        environment["metadata"]["annotations"] =
            json!({"mainstay/join-namespaces": "cellar, market"});
        let rendered = render(&case.among(apps.clone()).among([environment]));
        let text = &rendered.object("ConfigMap", "stage-caddy-gateway")["data"]["Caddyfile.json"];
        let config: Value = serde_json::from_str(text.as_str().unwrap()).unwrap();
        let routes = &config["apps"]["http"]["servers"]["srv0"]["routes"][0]["handle"][0]["routes"];
        let ways = routes.as_array().unwrap()[3..].iter();
        let ways = ways.map(|route| route["match"][0]["path"][0].as_str().unwrap().to_owned());
        (
            routes[0]["handle"][0]["whitelist"].clone(),
            ways.collect::<Vec<String>>(),
        )
    };
    let (whitelist, ways) = published(false);
    let everything: Vec<&str> = open.into_iter().chain(["/api/stock/open"]).collect();
    assert_eq!(whitelist, json!(everything));
    assert_eq!(ways.len(), 5);
    let (whitelist, ways) = published(true);
    assert_eq!(whitelist, json!(["/api/shop/open"]));
    assert_eq!(ways, ["/api/stock/own/*", "/api/shop/*", "/api/stock/*"]);
}

#[test]
fn a_path_that_breaks_out_of_a_configuration_is_refused_and_spoils_no_gateway() {
    let hostile = include_str!("../../../../../../../tests/hostile-paths.json");
    let mut hostile: Vec<String> = serde_json::from_str(hostile).unwrap();
    hostile.extend(["a/../../b", "..", "/.", "{http.request.host}", "{$HOME}"].map(str::to_owned));
    let text = |case: &Case| {
        let rendered = render(case);
        let text = &rendered.object("ConfigMap", "stage-caddy-gateway")["data"]["Caddyfile.json"];
        text.as_str().unwrap().to_owned()
    };
    let deployment = |public: Value| json!({"deployments": [{"name": "web", "webServices": {"public": public}}]});
    let good = || {
        other_app(
            "market",
            "good",
            deployment(json!({"enabled": true, "apiPath": "v1.2/a-b_c~d%20e"})),
        )
    };
    let undisturbed = text(&gateway(json!({})).among([good()]));
    for path in &hostile {
        for field in ["apiPath", "apiPaths"] {
            let value = if field == "apiPath" {
                json!(path)
            } else {
                json!(["/api/fine/", path])
            };
            let bad = deployment(json!({"enabled": true, field: value}));
            let case = gateway(json!({})).among([good(), other_app("market", "bad", bad.clone())]);
            assert_eq!(text(&case), undisturbed, "{path:?}");

            let mut case = super::local(&json!({}), bad);
            case.environment["spec"]["providers"]["web"]["mode"] = json!("operator");
            let error = case.render(&[&super::Deployments, &Web]).unwrap_err();
            let start = format!("{field} of deployment web ");
            assert!(error.to_string().starts_with(&start), "{path:?}: {error}");
        }
    }
    let open = json!({"enabled": true, "whitelistPaths": ["/a\n}\nrespond 200 {", "/b"]});
    let case = gateway(json!({})).among([other_app("market", "bad", deployment(open.clone()))]);
    assert!(!text(&case).contains("respond"));
    let error = super::local(&json!({}), deployment(open)).render(&[&super::Deployments, &Web]);
    assert_eq!(
        error.unwrap_err().to_string(),
        "whitelistPaths of deployment web contains '\\n', which is not allowed in a path"
    );
}
