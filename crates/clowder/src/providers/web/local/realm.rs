//! The realm that Keycloak imports at its start: clients, scopes, and one user.
//!
//! What Keycloak makes by itself in every realm (its own clients, flows, required actions, keys) is left to it. An import
//! that lists scopes has to list the built-in ones too.

use serde_json::Value;

use crate::providers::provider::ProviderError;

/// Name of the file.
pub(super) const FILE: &str = "redhat-external-realm.json";
/// The user.
pub(super) const USER: &str = "jdoe";

const REALM: &str = include_str!("realm.json");
/// Where the user's password goes.
const PASSWORD: &str = "/users/0/credentials/0/value";

/// The document, with the password of the user.
pub(super) fn document(password: &str) -> Result<String, ProviderError> {
    let damaged =
        |what: &dyn std::fmt::Display| ProviderError::caused("could not read user data", what);
    let mut realm: Value = serde_json::from_str(REALM).map_err(|error| damaged(&error))?;
    let place = realm.pointer_mut(PASSWORD);
    let place = place.ok_or_else(|| damaged(&"the realm has no user"))?;
    *place = Value::from(password);
    Ok(realm.to_string())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn realm(password: &str) -> Value {
        serde_json::from_str(&document(password).unwrap()).unwrap()
    }

    fn names<'realm>(list: &'realm Value, field: &str) -> Vec<&'realm str> {
        let items = list.as_array().unwrap().iter();
        items.map(|item| item[field].as_str().unwrap()).collect()
    }

    fn texts(list: &Value) -> impl Iterator<Item = &str> {
        list.as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
    }

    #[test]
    fn the_user_gets_the_password_whatever_it_is_made_of() {
        for password in ["s3cretS3cretS3cr", "quo\"te\\back"] {
            let realm = realm(password);
            let user = &realm["users"][0];
            assert_eq!(user["username"], USER);
            assert_eq!(user["credentials"][0]["value"], password);
            assert_eq!(user["credentials"][0]["temporary"], false);
            assert_eq!(
                user["attributes"]["newEntitlements"]
                    .as_array()
                    .unwrap()
                    .len(),
                13
            );
        }
    }

    #[test]
    fn everything_that_the_realm_refers_to_is_in_it() {
        let realm = realm("x");
        assert_eq!(
            names(&realm["clients"], "clientId"),
            ["cloud-services", "web-rca"]
        );
        let scopes: BTreeSet<&str> = names(&realm["clientScopes"], "name").into_iter().collect();
        assert_eq!(
            scopes.len(),
            realm["clientScopes"].as_array().unwrap().len()
        );
        let mut lists = vec![
            &realm["defaultDefaultClientScopes"],
            &realm["defaultOptionalClientScopes"],
        ];
        for client in realm["clients"].as_array().unwrap() {
            lists.extend([
                &client["defaultClientScopes"],
                &client["optionalClientScopes"],
            ]);
        }
        for scope in lists.into_iter().flat_map(texts) {
            assert!(scopes.contains(scope), "{scope}");
        }
        let roles = names(&realm["roles"]["realm"], "name");
        let composites = texts(&realm["roles"]["realm"][2]["composites"]["realm"]);
        for role in texts(&realm["users"][0]["realmRoles"]).chain(composites) {
            assert!(roles.contains(&role), "{role}");
        }
        assert_eq!(
            realm["defaultRole"]["name"],
            "default-roles-redhat-external"
        );
    }

    #[test]
    fn claims_of_the_console_come_from_attributes_of_the_user() {
        let realm = realm("x");
        let mappers = realm["clients"][0]["protocolMappers"].as_array().unwrap();
        assert_eq!(mappers.len(), 13);
        for mapper in mappers {
            let config = &mapper["config"];
            assert_eq!(mapper["protocolMapper"], "oidc-usermodel-attribute-mapper");
            assert_eq!(config["claim.name"], mapper["name"]);
            assert_eq!(config["user.attribute"], mapper["name"]);
            let is_flag = mapper["name"].as_str().unwrap().starts_with("is_");
            let kind = if is_flag { "boolean" } else { "String" };
            assert_eq!(config["jsonType.label"], kind, "{mapper}");
            let is_list = mapper["name"] == "newEntitlements";
            assert_eq!(config["multivalued"] == "true", is_list, "{mapper}");
            for token in [
                "id.token.claim",
                "access.token.claim",
                "userinfo.token.claim",
            ] {
                assert_eq!(config[token], "true", "{mapper}");
            }
        }
    }
}
