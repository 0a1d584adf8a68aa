//! One valid object and one valid input for the tests of this crate.

use serde_json::{Value, json};

use crate::{
    settings::{ClusterType, Settings},
    validate::{KaotoInput, validate},
};

/// Uid of the fixture.
pub(crate) const UID: &str = "11111111-2222-3333-4444-555555555555";

/// A stored `Kaoto` named `studio/canvas` with this spec.
pub(crate) fn kaoto(spec: Value) -> Value {
    let mut root = json!({
        "apiVersion": "designer.kaoto.io/v1alpha1",
        "kind": "Kaoto",
        "metadata": {"name": "canvas", "namespace": "studio", "uid": UID, "generation": 3},
    });
    root["spec"] = spec;
    root
}

pub(crate) fn settings(cluster_type: ClusterType) -> Settings {
    Settings::new(cluster_type, None, None)
}

/// The validated fixture with this spec.
pub(crate) fn input(cluster_type: ClusterType, spec: Value) -> KaotoInput {
    validate(&kaoto(spec), &settings(cluster_type)).expect("the fixture is valid")
}
