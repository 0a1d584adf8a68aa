//! Values of Secrets. Those that are generated once are read from their Secret if it has any, otherwise made and written
//! before anything that is rendered from them.

use std::{
    collections::BTreeMap,
    num::{IntErrorKind, ParseIntError},
    sync::Arc,
};

use k8s_openapi::{
    ByteString, api::core::v1::Secret, apimachinery::pkg::apis::meta::v1::OwnerReference,
};
use mainstay_engine::{ObjectSet, object_set::Policy};

use crate::{
    names::{self, Labels},
    provider::ProviderError,
    world::{Alphabet, SecretFacts, World},
};

/// Makes the values of one Secret.
pub struct Generator<'pass> {
    world: &'pass dyn World,
    secret: &'pass str,
}

impl std::fmt::Debug for Generator<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Generator")
            .field("secret", &self.secret)
            .finish_non_exhaustive()
    }
}

impl Generator<'_> {
    /// A new value for a key.
    pub fn random(&self, key: &str, alphabet: Alphabet, length: usize) -> String {
        self.world
            .random(&format!("{}/{key}", self.secret), alphabet, length)
    }

    /// Sixteen letters and digits, the form of most passwords and user names.
    pub fn password(&self, key: &str) -> String {
        self.random(key, Alphabet::Alphanumeric, 16)
    }
}

/// The values of the Secret, as texts. A Secret that has none gets those that `generate` makes, in a write of its own
/// before everything else, so that nothing is ever rendered from values that were not stored.
pub fn get_or_generate(
    world: &dyn World,
    set: &mut ObjectSet,
    unit: &'static str,
    (namespace, name): (&str, &str),
    owner: &OwnerReference,
    generate: impl FnOnce(&Generator<'_>) -> BTreeMap<String, String>,
) -> Result<BTreeMap<String, String>, ProviderError> {
    if let Some(secret) = world.secret(namespace, name)?
        && !secret.data.is_empty()
    {
        let texts = secret.data.keys().filter_map(|key| {
            let text = secret.text(key)?;
            Some((key.clone(), text))
        });
        return Ok(texts.collect());
    }
    let values = generate(&Generator {
        world,
        secret: name,
    });
    let secret = secret((namespace, name), owner, &values);
    set.add_with(unit, &secret, Policy::Generated)?;
    Ok(values)
}

/// A Secret with these values. It has no labels: nothing that is cleaned up by its labels.
pub fn secret(
    place: (&str, &str),
    owner: &OwnerReference,
    values: &BTreeMap<String, String>,
) -> Secret {
    // `data` and not `stringData`: what is owned has to be what is stored.
    let data = values
        .iter()
        .map(|(key, value)| (key.clone(), ByteString(value.clone().into())));
    Secret {
        metadata: names::metadata(place, Labels::new(), owner),
        type_: Some("Opaque".to_owned()),
        data: Some(data.collect()),
        ..Secret::default()
    }
}

/// The Secret, or the API server's words for its absence.
pub fn stored(
    world: &dyn World,
    namespace: &str,
    name: &str,
) -> Result<Result<Arc<SecretFacts>, String>, ProviderError> {
    let secret = world.secret(namespace, name)?;
    Ok(secret.ok_or_else(|| format!("Secret \"{name}\" not found")))
}

/// Reads a number off a text; the error is worded as the original's.
pub fn integer(text: &str) -> Result<i64, String> {
    text.parse().map_err(|error: ParseIntError| {
        let why = match error.kind() {
            IntErrorKind::PosOverflow | IntErrorKind::NegOverflow => "value out of range",
            _ => "invalid syntax",
        };
        format!("strconv.Atoi: parsing {text:?}: {why}")
    })
}

/// Reads a switch off a text; the error is worded as the original's.
pub fn boolean(text: &str) -> Result<bool, String> {
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Ok(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Ok(false),
        _ => Err(format!(
            "strconv.ParseBool: parsing {text:?}: invalid syntax"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_secrets_are_read_as_the_original_reads_them() {
        assert_eq!((integer("5432"), integer("-1")), (Ok(5432), Ok(-1)));
        assert_eq!(
            integer("").unwrap_err(),
            "strconv.Atoi: parsing \"\": invalid syntax"
        );
        assert_eq!(
            integer("5 432").unwrap_err(),
            "strconv.Atoi: parsing \"5 432\": invalid syntax"
        );
        let huge = "99999999999999999999";
        assert_eq!(
            integer(huge).unwrap_err(),
            format!("strconv.Atoi: parsing \"{huge}\": value out of range")
        );
        assert_eq!((boolean("T"), boolean("0")), (Ok(true), Ok(false)));
        assert_eq!(
            boolean("yes").unwrap_err(),
            "strconv.ParseBool: parsing \"yes\": invalid syntax"
        );
    }
}
