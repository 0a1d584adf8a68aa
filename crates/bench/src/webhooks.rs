//! Admission under load: how long somebody who applies an app waits for its verdict.

mod load;

use std::path::Path;

use anyhow::Context;
use mainstay_clowder::admission::APP_PATH;
use mainstay_testkit::{
    certificates::Certificates,
    operator::{WEBHOOK_ADDRESS, free_port},
    wait::eventually,
};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{net::TcpStream, task::spawn_blocking};

use self::load::{Pace, Server};
use crate::{
    output::say,
    plane::Plane,
    report::{Figure, Section},
    statistics::percentile,
};

/// The load.
const PACE: Pace = Pace {
    rate: 1000,
    seconds: 10,
};
/// Deployments of the app that is judged.
const DEPLOYMENTS: usize = 5;
/// A path that nobody answers for: what connection, TLS and HTTP cost.
const NOWHERE: &str = "/nowhere";

/// Measures the webhook that judges apps.
pub(crate) async fn measure(plane: &Plane, binary: &Path) -> anyhow::Result<Section> {
    say(&format!("webhooks: {} requests per second", PACE.rate));
    let certificates = Certificates::issue_with(&plane.pki);
    let directory = TempDir::new().context("could not make a directory")?;
    certificates.install(directory.path());
    let address = format!("127.0.0.1:{}", free_port());
    let path = directory.path().to_str().context("an odd path")?;
    let flags = [
        "--systems",
        "clowder",
        WEBHOOK_ADDRESS,
        &address,
        "--clowder-webhook-certificates",
        path,
    ];
    let mut operator = plane.start_operator(binary, &flags).await;
    let server = Server::new(&address, &certificates.authority())?;
    eventually("the webhooks are served", || async {
        TcpStream::connect(&address).await.ok()
    })
    .await;
    let review = review().to_string();
    // In threads of its own: whoever looks after the operator meanwhile must not delay it.
    let (floor, product) = spawn_blocking(move || {
        let floor = server.load(PACE, (NOWHERE, 404), &review)?;
        let product = server.load(PACE, (APP_PATH, 200), &review)?;
        anyhow::Ok((floor, product))
    })
    .await
    .context("the load panicked")??;
    operator.terminate().await;
    let figure = |name, percent| {
        Figure::milliseconds(name, percentile(&product, percent))
            .against("N", percentile(&floor, percent))
    };
    let notes = format!(
        "\
An app with {DEPLOYMENTS} deployments is judged, {} times in a second for {} seconds, over HTTPS, on connections that stay
open, as an API server does it. A request is due when its turn comes, whether or not the ones before it are answered:
waiting counts. Floor N: the same requests to a path that nobody answers for.",
        PACE.rate, PACE.seconds
    );
    Ok(Section {
        title: "webhooks".to_owned(),
        notes: notes.lines().map(str::to_owned).collect(),
        figures: vec![
            figure("verdict on an app, median", 50),
            figure("verdict on an app, 99 of 100", 99).at_most(5.0),
        ],
    })
}

fn review() -> Value {
    let deployments = (0..DEPLOYMENTS).map(|number| {
        json!({
            "name": format!("part-{number}"),
            "webServices": {"public": {"enabled": true}},
            "podSpec": {
                "image": "registry.test/shop:1",
                "env": [{"name": "MODE", "value": "fast"}],
                "sidecars": [{"name": "otel-collector", "enabled": true}],
            },
        })
    });
    json!({
        "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
        "request": {"uid": "705ab4f5-6393-11e8-b7cc-42010a800002", "operation": "CREATE", "object": {
            "apiVersion": "cloud.redhat.com/v1alpha1", "kind": "ClowdApp",
            "metadata": {"name": "shop", "namespace": "market"},
            "spec": {"envName": "stage", "deployments": deployments.collect::<Vec<_>>()},
        }},
    })
}
