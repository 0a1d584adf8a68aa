//! What a Config has to say of itself.

use mainstay_api::openvox::{ConfigStatus, config::ConfigPhase};
use mainstay_engine::{
    conditions::{self, Wanted},
    reconciler::{Report, ReportInput},
};
use serde_json::Value;

use super::ConfigReconciler;
use crate::outcome;

/// Status and outcome. Parity: there are no events, and no failure changes the phase.
pub(super) fn report(input: &ReportInput<'_, ConfigReconciler>) -> Report {
    let mut status = said_before(input.root);
    if outcome::is_complete(input.end) {
        let ready = Wanted {
            r#type: "ConfigReady",
            status: "True",
            reason: "ConfigMapsCreated",
            message: "Configuration ConfigMaps are up to date".to_owned(),
        };
        status.phase = ConfigPhase::Running;
        status.conditions = conditions::merge(&status.conditions, &[ready], None, input.now);
    } else if status.phase.as_str().is_empty() {
        status.phase = ConfigPhase::Pending;
    }
    Report {
        status: serde_json::to_value(status).unwrap_or_default(),
        outcome: outcome::of(input.end),
        events: Vec::new(),
    }
}

fn said_before(root: &Value) -> ConfigStatus {
    let status = root.get("status").cloned().unwrap_or_default();
    serde_json::from_value(status).unwrap_or_default()
}
