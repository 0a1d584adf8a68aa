//! Probes of main containers.

use k8s_openapi::{
    api::core::v1::{HTTPGetAction, Probe},
    apimachinery::pkg::util::intstr::IntOrString,
};

/// How long a container with a public service may take before it is asked whether it is alive.
pub const LIVENESS_DELAY: i32 = 10;
/// How long it may take before it is asked whether it is ready.
pub const READINESS_DELAY: i32 = 45;

/// The probe that an app gave, as a Deployment states it: with the usual numbers where there is none.
pub fn completed(probe: &Probe) -> Probe {
    let mut probe = passed_on(probe);
    for (number, usual) in [
        (&mut probe.success_threshold, 1),
        (&mut probe.timeout_seconds, 1),
        (&mut probe.period_seconds, 10),
        (&mut probe.failure_threshold, 3),
    ] {
        number.get_or_insert(usual);
    }
    probe
}

/// The probe that an app gave; zero is the same as nothing. What the API server would fill into an HTTP request is
/// stated: it stays behind otherwise when the probe turns into one of another sort.
pub fn passed_on(probe: &Probe) -> Probe {
    let mut probe = probe.clone();
    for number in [
        &mut probe.initial_delay_seconds,
        &mut probe.success_threshold,
        &mut probe.timeout_seconds,
        &mut probe.period_seconds,
        &mut probe.failure_threshold,
    ] {
        number.take_if(|number| *number == 0);
    }
    if let Some(request) = &mut probe.http_get {
        for (text, usual) in [(&mut request.path, "/"), (&mut request.scheme, "HTTP")] {
            text.take_if(|text| text.is_empty());
            text.get_or_insert_with(|| usual.to_owned());
        }
        request.host.take_if(|host| host.is_empty());
    }
    probe
}

/// The probe of a public service that has none of its own.
pub fn health(port: i32, delay: i32) -> Probe {
    Probe {
        http_get: Some(HTTPGetAction {
            path: Some("/healthz".to_owned()),
            port: IntOrString::Int(port),
            scheme: Some("HTTP".to_owned()),
            ..HTTPGetAction::default()
        }),
        initial_delay_seconds: Some(delay),
        period_seconds: Some(30),
        timeout_seconds: Some(1),
        success_threshold: Some(1),
        failure_threshold: Some(3),
        ..Probe::default()
    }
}
