//! How objects of each kind are brought to the cluster.

use mainstay_engine::{
    Kind,
    options::{Adopt, Options, Stops},
};

use crate::settings::{Settings, Unowned};

/// When a kind is written: everything else, users of Kafka after their topics, then Services, Secrets, Deployments,
/// `Jobs`, `CronJobs` and `ScaledObjects`. The kinds of cert-manager come last: a cluster without it lacks a gateway, and
/// nothing else.
pub fn phase(kind: &Kind) -> u16 {
    match kind.kind.as_ref() {
        "KafkaUser" => 1,
        "Service" => 2,
        "Secret" => 3,
        "Deployment" => 4,
        "Job" => 5,
        "CronJob" => 6,
        "ScaledObject" => 7,
        "Issuer" | "Certificate" => 8,
        _ => 0,
    }
}

/// One phase after the other, and what may work the next time stops what comes after it.
pub(crate) fn in_phases(kind: &Kind) -> Options {
    Options {
        phase: phase(kind),
        stops: Stops::LaterUnlessRefused,
        ..Options::DEFAULT
    }
}

/// Parity: what was once set there stays, although it is no longer asked for.
const KEPT: &[&str] = &[
    "/metadata/annotations",
    "/spec/template/metadata/annotations",
    "/spec/sessionAffinity",
    "/spec/startingDeadlineSeconds",
    "/spec/suspend",
    "/spec/successfulJobsHistoryLimit",
    "/spec/failedJobsHistoryLimit",
    "/spec/jobTemplate/spec/parallelism",
    "/spec/jobTemplate/spec/completions",
];

/// As the original writes, and with what the operator is told about objects of others.
pub(crate) fn of_operator(settings: &Settings) -> impl Fn(&Kind) -> Options + use<> {
    let unowned = settings.config.settings.unowned_objects.clone();
    move |kind| Options {
        adopt: match unowned.get(kind.kind.as_ref()) {
            Some(Unowned::Adopt) => Adopt::Unowned,
            Some(Unowned::Refuse) | None => Adopt::Never,
        },
        ..like_the_original(kind)
    }
}

/// As the original writes: in phases, with whole lists, and some fields kept.
fn like_the_original(kind: &Kind) -> Options {
    Options {
        keep: KEPT,
        exact_lists: true,
        ..in_phases(kind)
    }
}
