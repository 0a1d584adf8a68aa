//! Admission under load: how long somebody who applies an app waits for its verdict.

mod load;

use std::{path::Path, time::Duration};

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
    statistics::{median, percentile},
};

/// The load of one round.
const PACE: Pace = Pace {
    rate: 1000,
    seconds: 1,
};
/// Rounds, in turn with those of the floor.
const ROUNDS: usize = 10;
/// A fresh operator lists everything; that is another measurement.
const CALM: Duration = Duration::from_secs(5);
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
    tokio::time::sleep(CALM).await;
    let review = review().to_string();
    // In threads of its own: whoever looks after the operator meanwhile must not delay it.
    let (floor, product) = spawn_blocking(move || {
        let (mut floor, mut product) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            floor.push(server.load(PACE, (NOWHERE, 404), &review)?);
            product.push(server.load(PACE, (APP_PATH, 200), &review)?);
        }
        anyhow::Ok((floor, product))
    })
    .await
    .context("the load panicked")??;
    operator.terminate().await;
    let figure = |name, percent| {
        Figure::milliseconds(name, typical(&product, percent))
            .against("N", typical(&floor, percent))
    };
    let (all_floor, all) = (floor.concat(), product.concat());
    let notes = format!(
        "\
An app with {DEPLOYMENTS} deployments is judged, {} times in a second, over HTTPS, on connections that stay open, as an API
server does it. A request is due when its turn comes, whether or not the ones before it are answered: waiting counts.
Floor N: the same requests to a path that nobody answers for. {ROUNDS} rounds of {} s in turn with the floor, of which the
median counts: client and control plane share the processors.",
        PACE.rate, PACE.seconds
    );
    Ok(Section {
        title: "webhooks".to_owned(),
        notes: notes.lines().map(str::to_owned).collect(),
        figures: vec![
            figure("verdict on an app, median", 50),
            figure("verdict on an app, 99 of 100", 99).at_most(5.0),
            Figure::milliseconds("the same over all rounds", percentile(&all, 99))
                .against("N", percentile(&all_floor, 99)),
        ],
    })
}

/// The median over the rounds.
fn typical(rounds: &[Vec<f64>], percent: usize) -> f64 {
    let of_rounds = rounds.iter().map(|round| percentile(round, percent));
    median(&of_rounds.collect::<Vec<_>>())
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
