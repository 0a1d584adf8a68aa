//! Objects that are recorded but not installed.

use serde_json::Value;

use crate::{
    conventions::{IGNORE_INSTALL_ANNOTATION, MANAGED_BY_LABEL, is_protected},
    object::Object,
};

/// What becomes of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is installed like any other.
    Install,
    /// It is not there, and stays so.
    Skip,
    /// It is there because we installed it, and goes.
    Delete,
    /// It is there and not ours, or holds what cannot be got back: it stays.
    Leave,
}

/// Whether an object carries the mark.
pub fn is_ignored(object: &Object) -> bool {
    object.annotation(IGNORE_INSTALL_ANNOTATION) == Some("true")
}

/// What becomes of an object, by its mark and what there is in the cluster.
pub fn verdict(object: &Object, live: Option<&Value>) -> Verdict {
    if !is_ignored(object) {
        return Verdict::Install;
    }
    let Some(live) = live else {
        return Verdict::Skip;
    };
    let labels = live.pointer("/metadata/labels");
    let is_ours = labels.is_some_and(|labels| labels.get(MANAGED_BY_LABEL).is_some());
    if is_ours && !is_protected(object.group(), object.kind_name()) {
        Verdict::Delete
    } else {
        Verdict::Leave
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::testing::object;

    #[test]
    fn only_what_we_installed_and_can_be_got_back_goes() {
        let marked = |kind: &str| {
            object(&json!({"apiVersion": "v1", "kind": kind,
                "metadata": {"name": "a", "annotations": {IGNORE_INSTALL_ANNOTATION: "true"}}}))
        };
        let ours = json!({"metadata": {"labels": {MANAGED_BY_LABEL: "connectors-operator"}}});
        let foreign = json!({"metadata": {}});
        let map = marked("ConfigMap");
        assert_eq!(verdict(&map, None), Verdict::Skip);
        assert_eq!(verdict(&map, Some(&ours)), Verdict::Delete);
        assert_eq!(verdict(&map, Some(&foreign)), Verdict::Leave);
        assert_eq!(
            verdict(&marked("PersistentVolumeClaim"), Some(&ours)),
            Verdict::Leave
        );
        let plain =
            object(&json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}));
        assert_eq!(verdict(&plain, Some(&ours)), Verdict::Install);
    }
}
