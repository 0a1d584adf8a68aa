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
use mainstay_engine::{ObjectSet, options::Options};

use crate::{
    names::{self, Labels},
    providers::provider::ProviderError,
    views::{SecretFacts, lookup::Lookup},
};
use mainstay_engine::snapshot::Alphabet;

/// What is said about a number that cannot be a port. The number itself is not told: see `shown`.
pub const NO_PORT: &str = "the port is not between 0 and 65535";

/// Makes the values of one Secret.
pub struct Generator<'render> {
    lookup: Lookup<'render>,
    secret: &'render str,
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
        self.lookup
            .generated(&format!("{}/{key}", self.secret), alphabet, length)
    }

    /// Sixteen letters and digits, the form of most passwords and user names.
    pub fn password(&self, key: &str) -> String {
        self.random(key, Alphabet::Alphanumeric, 16)
    }
}

/// A Secret whose values are made once.
#[derive(Clone, Copy, Debug)]
pub struct Generated<'render> {
    /// Namespace and name.
    pub place: (&'render str, &'render str),
    /// Whose it is.
    pub owner: &'render OwnerReference,
    /// Keys that cannot do without a value: an empty password would be a password.
    pub required: &'render [&'render str],
}

/// The values of the Secret, as texts. A Secret that has none gets those that `generate` makes, in a write of its own
/// before everything else, so that nothing is ever rendered from values that were not stored. One that has lost some is
/// refused: a server may already know the lost value, so a new one would lock its users out.
pub fn get_or_generate(
    lookup: Lookup<'_>,
    set: &mut ObjectSet,
    unit: &'static str,
    wanted: Generated<'_>,
    generate: impl FnOnce(&Generator<'_>) -> BTreeMap<String, String>,
) -> Result<BTreeMap<String, String>, ProviderError> {
    let (namespace, name) = wanted.place;
    if let Some(secret) = lookup.secret(namespace, name)?
        && !secret.data.is_empty()
    {
        require(&secret, namespace, wanted.required)?;
        let texts = secret.data.keys().filter_map(|key| {
            let text = secret.text(key)?;
            Some((key.clone(), text))
        });
        return Ok(texts.collect());
    }
    let values = generate(&Generator {
        lookup,
        secret: name,
    });
    let secret = secret(wanted.place, wanted.owner, &values);
    set.add_with(unit, &secret, Options::generated)?;
    Ok(values)
}

/// Refuses a Secret in which one of these keys has no value.
pub fn require(secret: &SecretFacts, namespace: &str, keys: &[&str]) -> Result<(), ProviderError> {
    let empty = |key: &&&str| secret.data.get(**key).is_none_or(Vec::is_empty);
    match keys.iter().find(empty) {
        None => Ok(()),
        Some(key) => Err(ProviderError::Failed(format!(
            "Secret \"{}\" in namespace \"{namespace}\" has no value for \"{key}\"; restore it, or delete the Secret \
             to have all its values made anew",
            secret.name
        ))),
    }
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
    lookup: Lookup<'_>,
    namespace: &str,
    name: &str,
) -> Result<Result<Arc<SecretFacts>, String>, ProviderError> {
    let secret = lookup.secret(namespace, name)?;
    Ok(secret.ok_or_else(|| format!("Secret \"{name}\" not found")))
}

/// What an error shows of a value. The original shows the value; but it comes from a Secret, and conditions are read by
/// people who may not read Secrets.
const fn shown(text: &str) -> &'static str {
    if text.is_empty() { "\"\"" } else { "a value" }
}

/// Reads a number off a text; the error is worded as the original's, without the text.
pub fn integer(text: &str) -> Result<i64, String> {
    text.parse().map_err(|error: ParseIntError| {
        let why = match error.kind() {
            IntErrorKind::PosOverflow | IntErrorKind::NegOverflow => "value out of range",
            _ => "invalid syntax",
        };
        format!("strconv.Atoi: parsing {}: {why}", shown(text))
    })
}

/// Reads the port of a server off a text.
pub fn port(text: &str) -> Result<u16, String> {
    let number = integer(text)?;
    u16::try_from(number).map_err(|_| NO_PORT.to_owned())
}

/// Reads a switch off a text; the error is worded as the original's, without the text.
pub fn boolean(text: &str) -> Result<bool, String> {
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Ok(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Ok(false),
        _ => Err(format!(
            "strconv.ParseBool: parsing {}: invalid syntax",
            shown(text)
        )),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::providers::{
        database::Database,
        featureflags::FeatureFlags,
        fixture::{Case, case, other_app, secret as stored_secret},
        objectstore::ObjectStore,
        provider::Provider,
        web::Web,
    };

    /// Who needs which keys of which Secret: settings of the environment, the app, the Secret and its values.
    fn needs() -> Vec<(
        Case,
        &'static dyn Provider,
        &'static str,
        &'static str,
        Value,
    )> {
        let login = json!({"username": "u", "password": "p", "pgPass": "a"});
        let mut flags = login.clone();
        flags["connectionURL"] = json!("postgres://");
        let database = |mode: &str| {
            case(
                json!({"db": {"mode": mode}}),
                json!({"database": {"name": "goods"}}),
            )
        };
        let mut borrower = database("local");
        borrower.app["spec"] = json!({"envName": "stage", "dependencies": ["stock"],
            "database": {"sharedDbAppName": "stock"}});
        let borrower = borrower.among([other_app("market", "stock", json!({}))]);
        let flagged = || case(json!({"featureFlags": {"mode": "local"}}), json!({}));
        let store = || {
            case(
                json!({"objectStore": {"mode": "minio"}}),
                json!({"objectStore": ["photos"]}),
            )
        };
        let web = || case(json!({"web": {"mode": "local", "port": 8000}}), json!({}));
        let keys = json!({"accessKey": "a", "secretKey": "s"});
        let tokens = json!({"adminAccessToken": "a", "clientAccessToken": "c"});
        let passwords = json!({"username": "u", "password": "p", "defaultPassword": "d"});
        vec![
            (
                database("local"),
                &Database,
                "market",
                "shop-db",
                login.clone(),
            ),
            (borrower, &Database, "market", "stock-db", login.clone()),
            (
                database("shared"),
                &Database,
                "stage-env",
                "stage-db-v12",
                login.clone(),
            ),
            (
                flagged(),
                &FeatureFlags,
                "stage-env",
                "stage-featureflags",
                tokens,
            ),
            (
                flagged(),
                &FeatureFlags,
                "stage-env",
                "featureflags-db",
                flags,
            ),
            (store(), &ObjectStore, "stage-env", "stage-minio", keys),
            (web(), &Web, "stage-env", "stage-keycloak", passwords),
            (web(), &Web, "stage-env", "keycloak-db", login),
        ]
    }

    #[test]
    fn a_secret_that_has_lost_a_value_is_named_and_nothing_gets_an_empty_password() {
        let keys: Vec<Vec<String>> = needs()
            .iter()
            .map(|need| need.4.as_object().unwrap().keys().cloned().collect())
            .collect();
        for (number, keys) in keys.into_iter().enumerate() {
            for (key, emptied) in keys.iter().flat_map(|key| [(key, true), (key, false)]) {
                let (case, provider, namespace, name, mut values) = needs().swap_remove(number);
                values["port"] = json!("1000");
                values["hostname"] = json!("h");
                if emptied {
                    values[key] = json!("");
                } else {
                    values.as_object_mut().unwrap().remove(key);
                }
                let case = case.among([stored_secret(namespace, name, values)]);
                let said = [
                    case.render_environment(provider).map(drop),
                    case.render(&[provider]).map(drop),
                ];
                let expected = format!(
                    "Secret \"{name}\" in namespace \"{namespace}\" has no value for \"{key}\"; restore it, or delete \
                     the Secret to have all its values made anew"
                );
                let said: Vec<String> = said
                    .into_iter()
                    .filter_map(Result::err)
                    .map(|error| error.to_string())
                    .collect();
                assert!(said.contains(&expected), "{expected}: {said:?}");
            }
        }
    }

    #[test]
    fn values_of_secrets_are_read_as_the_original_reads_them_and_never_told() {
        assert_eq!((integer("5432"), integer("-1")), (Ok(5432), Ok(-1)));
        assert_eq!(
            integer("").unwrap_err(),
            "strconv.Atoi: parsing \"\": invalid syntax"
        );
        assert_eq!(
            integer("5 432").unwrap_err(),
            "strconv.Atoi: parsing a value: invalid syntax"
        );
        assert_eq!(
            integer("99999999999999999999").unwrap_err(),
            "strconv.Atoi: parsing a value: value out of range"
        );
        assert_eq!(
            port("70000").unwrap_err(),
            "the port is not between 0 and 65535"
        );
        assert_eq!((boolean("T"), boolean("0")), (Ok(true), Ok(false)));
        assert_eq!(
            boolean("yes").unwrap_err(),
            "strconv.ParseBool: parsing a value: invalid syntax"
        );
    }
}
