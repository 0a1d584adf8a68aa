//! What the absence of a field means, the same way as in the originals.
//!
//! The originals decode into zero values: an absent text is empty, an absent switch is off. So are these types, and
//! what has its zero value is left out again when an object is written.

use serde::{Deserialize, Deserializer};

/// Whether a field has its zero value, to be named in `skip_serializing_if`.
pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Reads null as the zero value, to be named in `deserialize_with` of fields that are neither optional nor required.
///
/// The API server drops nulls of optional fields before it stores an object. Files have them: a key with nothing after it.
pub(crate) fn or_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Default + Deserialize<'de>,
{
    Option::deserialize(deserializer).map(Option::unwrap_or_default)
}

/// Reads an absent spec as an empty one: the API server stores objects without a spec.
///
/// The type has to say `#[serde(remote = "Self")]`.
macro_rules! absent_spec_is_empty {
    ($spec:ident) => {
        impl serde::Serialize for $spec {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                Self::serialize(self, serializer)
            }
        }

        impl<'de> serde::Deserialize<'de> for $spec {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Present($spec);

                impl<'de> serde::Deserialize<'de> for Present {
                    fn deserialize<D: serde::Deserializer<'de>>(
                        deserializer: D,
                    ) -> Result<Self, D::Error> {
                        $spec::deserialize(deserializer).map(Self)
                    }
                }

                let spec = Option::<Present>::deserialize(deserializer)?;
                Ok(spec.map(|Present(spec)| spec).unwrap_or_default())
            }
        }
    };
}

pub(crate) use absent_spec_is_empty;
