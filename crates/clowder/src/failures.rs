//! Failed writes in the original's words.

use mainstay_engine::change_set::{ChangeSet, Failure, ObjectChange, Planned};

use crate::providers::kafka;

/// Text of the first failure of a commit; `None` if there is none. The phase is the original's word for the part of a pass
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

fn describe(row: &ObjectChange, failure: &Failure) -> String {
    let (kind, name) = (&row.key.kind.kind, &row.key.name);
    let doing = match row.planned {
        Planned::Create => "creating",
        Planned::Update | Planned::Nothing => "updating",
        Planned::Delete => "deleting",
    };
    let failure = failure.to_string();
    // What the API server says about a path that it does not know names nothing that could be mended.
    let cause = if failure.contains("404 page not found") {
        let version = row.key.kind.api_version();
        format!("the cluster does not serve {kind} of {version}; install its definition")
    } else {
        failure
    };
    format!("error {doing} resource {kind} {name}: {cause}")
}
