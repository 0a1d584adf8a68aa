//! The conditions of apps, environments and invocations, and the words in them.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use mainstay_engine::conditions::{self, Wanted};

/// Whether all deployments are ready.
pub const DEPLOYMENTS_READY: &str = "DeploymentsReady";
/// Whether all jobs of an invocation have ended.
pub const JOBS_COMPLETE: &str = "JobInvocationComplete";
/// Whether the last reconcile failed.
pub const FAILED: &str = "ReconciliationFailed";
/// Whether the last reconcile succeeded.
pub const SUCCESSFUL: &str = "ReconciliationSuccessful";
/// A condition of older versions that is taken away.
const PARTIAL: &str = "ReconciliationPartiallySuccessful";

/// What a reconcile found out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Findings {
    /// Text of the error, if the reconcile failed.
    pub error: Option<String>,
    /// Whether all deployments are ready.
    pub ready: bool,
    /// What to say if they are not and nothing failed.
    pub not_ready: String,
}

/// The conditions after a reconcile. Parity: a failure text takes the place of every other message.
pub fn merge(
    existing: &[Condition],
    findings: &Findings,
    generation: Option<i64>,
    now: &Time,
) -> Vec<Condition> {
    let error = findings.error.clone();
    let own = Wanted {
        r#type: DEPLOYMENTS_READY,
        status: truth(findings.ready),
        reason: if findings.ready {
            "DeploymentsReady"
        } else {
            "DeploymentsNotReady"
        },
        message: error.clone().unwrap_or_else(|| {
            if findings.ready {
                "All managed deployments ready".to_owned()
            } else {
                findings.not_ready.clone()
            }
        }),
    };
    with_outcome(existing, [own], error, generation, now)
}

/// The conditions after a reconcile: those that only its kind has, and the two that say how it ended.
pub fn with_outcome(
    existing: &[Condition],
    own: impl IntoIterator<Item = Wanted>,
    error: Option<String>,
    generation: Option<i64>,
    now: &Time,
) -> Vec<Condition> {
    let failed = error.is_some();
    let outcome = [
        Wanted {
            r#type: FAILED,
            status: truth(failed),
            reason: if failed {
                "ReconciliationFailed"
            } else {
                "ReconciliationNotComplete"
            },
            message: error.unwrap_or_default(),
        },
        Wanted {
            r#type: SUCCESSFUL,
            status: truth(!failed),
            reason: if failed {
                "ReconciliationNotComplete"
            } else {
                "ReconciliationSucceeded"
            },
            message: String::new(),
        },
    ];
    let wanted: Vec<Wanted> = own.into_iter().chain(outcome).collect();
    let kept: Vec<Condition> = existing
        .iter()
        .filter(|condition| condition.type_ != PARTIAL)
        .cloned()
        .collect();
    let now = in_seconds(now);
    conditions::merge(&kept, &wanted, generation, &now)
}

/// Times in objects have no fractions of a second; a time that had some would never equal what was read back.
fn in_seconds(time: &Time) -> Time {
    let seconds = k8s_openapi::jiff::Timestamp::from_second(time.0.as_second());
    Time(seconds.unwrap_or(time.0))
}

/// The word for a truth.
pub const fn truth(value: bool) -> &'static str {
    if value { "True" } else { "False" }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::jiff::Timestamp;

    use super::*;

    fn at(second: i64) -> Time {
        Time(Timestamp::from_second(second).unwrap())
    }

    fn findings(error: Option<&str>, ready: bool) -> Findings {
        Findings {
            error: error.map(str::to_owned),
            ready,
            not_ready: "Deployments are not yet ready".to_owned(),
        }
    }

    fn rows(conditions: &[Condition]) -> Vec<(&str, &str, &str, &str)> {
        conditions.iter().map(row).collect()
    }

    fn row(condition: &Condition) -> (&str, &str, &str, &str) {
        let Condition {
            type_,
            status,
            reason,
            message,
            ..
        } = condition;
        (type_, status, reason, message)
    }

    #[test]
    fn the_table_of_the_three_conditions() {
        let ready = merge(&[], &findings(None, true), Some(2), &at(1));
        assert_eq!(
            rows(&ready),
            [
                (
                    "DeploymentsReady",
                    "True",
                    "DeploymentsReady",
                    "All managed deployments ready"
                ),
                (
                    "ReconciliationFailed",
                    "False",
                    "ReconciliationNotComplete",
                    ""
                ),
                (
                    "ReconciliationSuccessful",
                    "True",
                    "ReconciliationSucceeded",
                    ""
                ),
            ]
        );
        let waiting = merge(&[], &findings(None, false), Some(2), &at(1));
        assert_eq!(
            rows(&waiting)[0],
            (
                "DeploymentsReady",
                "False",
                "DeploymentsNotReady",
                "Deployments are not yet ready"
            )
        );
        let failed = merge(&[], &findings(Some("broken"), true), Some(2), &at(1));
        assert_eq!(
            rows(&failed),
            [
                ("DeploymentsReady", "True", "DeploymentsReady", "broken"),
                (
                    "ReconciliationFailed",
                    "True",
                    "ReconciliationFailed",
                    "broken"
                ),
                (
                    "ReconciliationSuccessful",
                    "False",
                    "ReconciliationNotComplete",
                    ""
                ),
            ]
        );
        assert!(
            failed
                .iter()
                .all(|condition| condition.observed_generation == Some(2))
        );
    }

    #[test]
    fn times_move_only_when_a_status_flips_and_old_types_go() {
        let mut first = merge(&[], &findings(None, true), Some(1), &at(1));
        first.push(Condition {
            type_: PARTIAL.to_owned(),
            ..first[0].clone()
        });
        let second = merge(&first, &findings(Some("broken"), true), Some(2), &at(9));
        let times: Vec<i64> = second
            .iter()
            .map(|condition| condition.last_transition_time.0.as_second())
            .collect();
        assert_eq!(times, [1, 9, 9]);
    }
}
