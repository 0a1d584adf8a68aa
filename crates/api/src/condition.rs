//! The schema of a list of standard conditions.
//!
//! The type itself is the one of Kubernetes; its generated schema lacks the bounds that the API
//! machinery documents, so they are stated here.

use schemars::{Schema, SchemaGenerator, json_schema};

const REASON: &str = "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$";
const TYPE: &str = r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$";

/// Schema of a list of conditions of which there is one of each type, to be named in `schema_with`.
pub(crate) fn list_by_type(generator: &mut SchemaGenerator) -> Schema {
    let mut schema = list(generator);
    schema.insert("x-kubernetes-list-type".to_owned(), "map".into());
    schema.insert("x-kubernetes-list-map-keys".to_owned(), vec!["type"].into());
    schema
}

/// Schema of a plain list of conditions, to be named in `schema_with`.
pub(crate) fn list(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "array",
        "description": "What the operator has to say about each aspect of the object, sorted by type.",
        "items": {
            "type": "object",
            "description": "One aspect of the object's state.",
            "required": ["lastTransitionTime", "message", "reason", "status", "type"],
            "properties": {
                "lastTransitionTime": {
                    "type": "string",
                    "format": "date-time",
                    "description": "When the status last changed from one value to another."
                },
                "message": {
                    "type": "string",
                    "maxLength": 32768,
                    "description": "Details for people; may be empty."
                },
                "observedGeneration": {
                    "type": "integer",
                    "format": "int64",
                    "minimum": 0,
                    "description": "The generation of the object that this condition speaks about; lower than `metadata.generation` if out of date."
                },
                "reason": {
                    "type": "string",
                    "minLength": 1,
                    "maxLength": 1024,
                    "pattern": REASON,
                    "description": "One CamelCase word for programs that says why."
                },
                "status": {
                    "type": "string",
                    "enum": ["True", "False", "Unknown"],
                    "description": "True, False or Unknown."
                },
                "type": {
                    "type": "string",
                    "maxLength": 316,
                    "pattern": TYPE,
                    "description": "The aspect, in CamelCase, with an optional domain in front."
                }
            }
        }
    })
}
