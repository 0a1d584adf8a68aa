//! Failed writes in the original's words.

use mainstay_engine::change_set::{ChangeSet, Failure, ObjectChange, Verb};

use crate::providers::kafka;

/// Text of the first failure of a commit; `None` if there is none. The phase is the original's word for the part of a reconcile
/// in which providers do their work: what it writes in that part fails there.
pub fn text(phase: &str, changes: &ChangeSet) -> Option<String> {
    let (row, failure) = changes.failures().next()?;
    let text = describe(row, failure);
    let context = kafka::write_context(&row.key.kind).filter(|_| row.unit == kafka::UNIT);
    Some(match context {
        Some(context) => format!("{phase}: {context}: {text}"),
        None => text,
    })
}

/// Text of the first object that somebody else keeps changing back; `None` if there is none. It is not a failure, because
/// another try would not help, and it is not what was asked for.
pub fn contested(changes: &ChangeSet) -> Option<String> {
    let (row, contest) = changes.contests().next()?;
    let (kind, name) = (&row.key.kind.kind, &row.key.name);
    Some(format!(
        "error updating resource {kind} {name}: it {contest}"
    ))
}

fn describe(row: &ObjectChange, failure: &Failure) -> String {
    let (kind, name) = (&row.key.kind.kind, &row.key.name);
    let doing = match row.planned {
        Verb::Create => "creating",
        Verb::Update | Verb::Nothing => "updating",
        Verb::Delete => "deleting",
    };
    let cause = match failure {
        Failure::NotServed => {
            let version = row.key.kind.api_version();
            format!("the cluster does not serve {kind} of {version}; install its definition")
        }
        Failure::NamespaceMissing { namespace } => format!("namespaces \"{namespace}\" not found"),
        failure => failure.to_string(),
    };
    let kind = match row.planned {
        Verb::Create => printed_kind(kind),
        Verb::Update | Verb::Nothing | Verb::Delete => kind,
    };
    format!("error {doing} resource {kind} {name}: {cause}")
}

/// Parity: of some kinds that it creates the original prints the name of its own type.
fn printed_kind(kind: &str) -> &str {
    match kind {
        "HorizontalPodAutoscaler" => "*v2.HorizontalPodAutoscaler",
        "KafkaTopic" => "*v1beta2.KafkaTopic",
        "NetworkPolicy" => "*v1.NetworkPolicy",
        kind => kind,
    }
}

#[cfg(test)]
mod tests {
    use mainstay_engine::{Kind, ObjectKey, change_set::Change};

    use super::*;
    use crate::kinds;

    fn said(kind: Kind, unit: &'static str, planned: Verb, message: &str) -> String {
        let message = message.to_owned();
        told(kind, unit, planned, Failure::Refused { message })
    }

    fn told(kind: Kind, unit: &'static str, planned: Verb, failure: Failure) -> String {
        let row = ObjectChange {
            key: ObjectKey::new(kind, "shop", "orders"),
            unit,
            planned,
            change: Change::Failed(failure),
        };
        text("runapp", &ChangeSet { rows: vec![row] }).unwrap()
    }

    #[test]
    fn a_failed_write_is_told_in_the_words_of_the_original() {
        assert_eq!(
            said(kinds::KAFKA_TOPIC, "kafka", Verb::Create, "no"),
            "runapp: kafka: error creating resource *v1beta2.KafkaTopic orders: no"
        );
        assert_eq!(
            said(kinds::KAFKA_TOPIC, "kafka", Verb::Update, "no"),
            "runapp: kafka: error updating resource KafkaTopic orders: no"
        );
        let missing = Failure::NamespaceMissing {
            namespace: "shop".to_owned(),
        };
        assert_eq!(
            told(kinds::NETWORK_POLICY, "kafka", Verb::Create, missing),
            "runapp: kafka: error creating resource *v1.NetworkPolicy orders: namespaces \"shop\" not found"
        );
        assert_eq!(
            said(kinds::NETWORK_POLICY, "objectstore", Verb::Create, "no"),
            "error creating resource *v1.NetworkPolicy orders: no"
        );
        assert_eq!(
            told(kinds::KAFKA, "kafka", Verb::Create, Failure::NotServed),
            "runapp: kafka: failed to provision kafka cluster: error creating resource Kafka orders: the cluster does not serve Kafka of kafka.strimzi.io/v1beta2; install its definition"
        );
    }
}
