//! Objects of a definition, with what absence means stated once.

/// Declares a structure of a custom resource: first the fields that the definition requires, then all others.
///
/// Decoding follows the originals, which know zero values only: an absent or null field is the zero value of its type,
/// a required one too if an older definition let it be absent. Where the originals tell absence from zero the field is
/// an [`Option`]. What has its zero value is left out again when an object is written. A default of the schema is a
/// fact about the API server and is stated as `#[schemars(extend("default" = …))]`: it is never applied here.
macro_rules! object {
    (
        $(#[$attribute:meta])*
        pub struct $name:ident {
            $(required { $( $(#[$required_attribute:meta])* $required:ident: $required_type:ty, )+ })?
            $(optional { $( $(#[$optional_attribute:meta])* $optional:ident: $optional_type:ty, )+ })?
        }
    ) => {
        #[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        $(#[$attribute])*
        #[serde(rename_all = "camelCase")]
        pub struct $name {
            $($(
                #[serde(default, deserialize_with = "crate::absence::or_default")]
                #[schemars(!default)]
                $(#[$required_attribute])*
                pub $required: $required_type,
            )+)?
            $($(
                #[serde(
                    default,
                    deserialize_with = "crate::absence::or_default",
                    skip_serializing_if = "crate::absence::is_default"
                )]
                $(#[$optional_attribute])*
                pub $optional: $optional_type,
            )+)?
        }
    };
}

pub(crate) use object;
