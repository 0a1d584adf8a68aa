//! Names of Jobs. The original draws the end of a name anew for every attempt; here it follows from the invocation, so
//! that an attempt which nobody remembers made the same Job.

use mainstay_api::clowder::ClowdJobInvocation;
use sha2::{Digest as _, Sha256};

use crate::names;
use mainstay_engine::snapshot::Alphabet;

/// Letters at the end of a name.
const LENGTH: usize = 7;

/// `<base>-<seven letters>`; `occurrence` tells those apart that are asked for more than once.
pub(super) fn job_name(invocation: &ClowdJobInvocation, base: &str, occurrence: usize) -> String {
    let metadata = &invocation.metadata;
    let mut hash = Sha256::new();
    for part in [
        metadata.uid.as_deref().unwrap_or_default(),
        names::namespace(metadata),
        names::name(metadata),
        base,
        &occurrence.to_string(),
    ] {
        hash.update(part);
        // None of the parts can hold this.
        hash.update([0]);
    }
    let letters = Alphabet::LowerAlphanumeric.letters().as_bytes();
    let chosen = hash
        .finalize()
        .into_iter()
        .filter_map(|byte| letters.get(usize::from(byte) % letters.len()))
        .take(LENGTH)
        .map(|&letter| char::from(letter));
    format!("{base}-{}", chosen.collect::<String>())
}

/// Base of the name of the test run.
pub(super) fn tests_base(invocation: &ClowdJobInvocation) -> String {
    names::part(names::name(&invocation.metadata), "iqe")
}

/// Name of the Job of the test run.
pub(super) fn tests_name(invocation: &ClowdJobInvocation) -> String {
    job_name(invocation, &tests_base(invocation), 0)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn invocation(uid: &str) -> ClowdJobInvocation {
        serde_json::from_value(json!({
            "apiVersion": "cloud.redhat.com/v1alpha1", "kind": "ClowdJobInvocation",
            "metadata": {"namespace": "market", "name": "run", "uid": uid}, "spec": {"appName": "shop"},
        }))
        .unwrap()
    }

    #[test]
    fn a_name_is_the_same_for_the_same_invocation_and_no_other() {
        let name = job_name(&invocation("1"), "shop-fix", 0);
        let end = name.strip_prefix("shop-fix-").unwrap();
        let letters = Alphabet::LowerAlphanumeric.letters();
        assert_eq!(end.len(), 7);
        assert!(end.chars().all(|letter| letters.contains(letter)), "{end}");
        assert_eq!(name, job_name(&invocation("1"), "shop-fix", 0));
        for other in [
            job_name(&invocation("2"), "shop-fix", 0),
            job_name(&invocation("1"), "shop-fix", 1),
        ] {
            assert_ne!(name, other);
        }
    }
}
