//! Variables that tell IQE what to run. All of them are always there.

use k8s_openapi::api::core::v1::EnvVar;

use super::Stage;
use crate::{
    names,
    providers::{images, pod},
};

/// The variables, with those of the invocation on top.
pub(super) fn of(stage: &Stage<'_>) -> Vec<EnvVar> {
    let run = stage.run();
    let plugin = &stage.app.spec.testing.iqe_plugin;
    let own = [
        ("ENV_FOR_DYNACONF", run.dynaconf_environment_name.as_str()),
        ("NAMESPACE", stage.namespace()),
        ("CLOWDER_ENABLED", "true"),
        (names::CONFIG_VARIABLE, names::CONFIG_PATH),
        ("IQE_PLUGINS", images::first(&[&run.plugins, plugin])),
        ("IQE_MARKER_EXPRESSION", &run.marker),
        ("IQE_FILTER_EXPRESSION", &run.filter),
        (
            "IQE_LOG_LEVEL",
            images::first(&[run.log_level.as_str(), "info"]),
        ),
        ("IQE_REQUIREMENTS", &run.requirements.join(",")),
        (
            "IQE_REQUIREMENTS_PRIORITY",
            &run.requirements_priority.join(","),
        ),
        ("IQE_TEST_IMPORTANCE", &run.test_importance.join(",")),
        ("IQE_PARALLEL_ENABLED", &run.parallel_enabled),
        ("IQE_PARALLEL_WORKER_COUNT", &run.parallel_worker_count),
        ("IQE_RP_ARGS", &run.report_portal_arguments),
        ("IQE_IBUTSU_SOURCE", &run.ibutsu_source),
    ];
    let mut variables: Vec<EnvVar> = own.map(|(name, value)| variable(name, value)).into();
    for wanted in run.env.iter().flatten() {
        let wanted = pod::stored_variable(wanted);
        if wanted.value.is_none() && wanted.value_from.is_none() {
            continue;
        }
        let mut known = variables.iter_mut();
        match known.find(|known| known.name == wanted.name) {
            Some(known) => *known = wanted,
            None => variables.push(wanted),
        }
    }
    variables
}

/// A variable as the API server keeps it: it does not tell an empty value from none.
pub(super) fn variable(name: &str, value: &str) -> EnvVar {
    EnvVar {
        name: name.to_owned(),
        value: pod::filled(value),
        value_from: None,
    }
}
