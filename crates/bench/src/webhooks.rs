//! Admission under load: how long somebody who applies an app waits for its verdict.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use anyhow::{Context, ensure};
use http::Request;
use kube::{Client, client::Body};
use mainstay_clowder::admission::APP_PATH;
use mainstay_testkit::{
    certificates::Certificates,
    operator::{WEBHOOK_ADDRESS, free_port},
    wait::eventually,
};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::task::JoinSet;

use crate::{
    output::say,
    plane::Plane,
    report::{Figure, Section},
    statistics::percentile,
};

/// Requests in a second.
const RATE: u32 = 1000;
/// Seconds of load; the first one is not counted.
const SECONDS: u32 = 11;
/// Deployments of the app that is judged.
const DEPLOYMENTS: usize = 5;
/// A path that nobody answers for: what connection, TLS and HTTP cost.
const NOWHERE: &str = "/nowhere";

/// Measures the webhook that judges apps.
pub(crate) async fn measure(plane: &Plane, binary: &Path) -> anyhow::Result<Section> {
    say(&format!("webhooks: {RATE} requests per second"));
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
    let client = certificates.client(&address);
    eventually("the webhooks answer", || async {
        ask(&client, NOWHERE, &Value::Null).await.ok()
    })
    .await;
    let review = review();
    let floor = load(&client, NOWHERE, 404, &review).await?;
    let product = load(&client, APP_PATH, 200, &review).await?;
    operator.terminate().await;
    let figure = |name, percent| {
        Figure::milliseconds(name, percentile(&product, percent))
            .against("N", percentile(&floor, percent))
    };
    let notes = format!(
        "\
An app with {DEPLOYMENTS} deployments is judged, {RATE} times in a second for {} seconds, over HTTPS. A request is due
when its turn comes, whether or not the ones before it are answered: waiting counts. Floor N: the same requests to a path
that nobody answers for.",
        SECONDS - 1
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

/// Seconds from when each request was due to its answer.
async fn load(
    client: &Client,
    path: &'static str,
    expected: u16,
    review: &Value,
) -> anyhow::Result<Vec<f64>> {
    let begun = Instant::now();
    let mut running = JoinSet::new();
    for number in 0..RATE * SECONDS {
        let due = begun + Duration::from_secs(1) * number / RATE;
        tokio::time::sleep_until(due.into()).await;
        let (client, review) = (client.clone(), review.clone());
        running.spawn(async move {
            let status = ask(&client, path, &review).await;
            (number, status, due.elapsed().as_secs_f64())
        });
    }
    let mut seconds = Vec::new();
    while let Some(ended) = running.join_next().await {
        let (number, status, waited) = ended.context("a request panicked")?;
        let status = status.context("a request was not answered")?;
        ensure!(status == expected, "a request was answered with {status}");
        if number >= RATE {
            seconds.push(waited);
        }
    }
    Ok(seconds)
}

/// Status of the answer.
async fn ask(client: &Client, path: &str, body: &Value) -> anyhow::Result<u16> {
    let request = Request::post(path).header("content-type", "application/json");
    let request = request.body(Body::from(body.to_string().into_bytes()))?;
    let answer = client.send(request).await?;
    let status = answer.status().as_u16();
    answer.into_body().collect_bytes().await?;
    Ok(status)
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
