//! Failed writes in the original's words.

use mainstay_engine::change_set::{ChangeSet, Failure, ObjectChange, Planned};

/// Text of the first failure of a commit; `None` if there is none.
pub fn text(changes: &ChangeSet) -> Option<String> {
    let (row, failure) = changes.failures().next()?;
    Some(describe(row, failure))
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
