//! Credentials of the vault: a Secret of the environment, copied to where the tests run.

use std::collections::BTreeMap;

use k8s_openapi::{
    ByteString,
    api::core::v1::{EnvVar, EnvVarSource, Secret, SecretKeySelector},
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
};
use mainstay_api::clowder::reference::NamespacedName;
use mainstay_engine::{ObjectSet, options::Options};

use super::{IQE_UNIT, Stage, variables::variable};
use crate::{
    names,
    providers::{credentials, provider::ProviderError},
};

/// Variables, and the keys of the Secret that they come from.
const KEYS: [(&str, &str); 5] = [
    ("URL", "url"),
    ("MOUNT_POINT", "mountPoint"),
    ("ROLE_ID", "roleId"),
    ("SECRET_ID", "secretId"),
    ("GITHUB_TOKEN", "githubToken"),
];

/// Copies the credentials and returns the variables that tell IQE about them; none if the environment has no vault.
pub(super) fn provide(
    stage: &Stage<'_>,
    set: &mut ObjectSet,
) -> Result<Vec<EnvVar>, ProviderError> {
    let source = &stage.testing().iqe.vault_secret_ref;
    if *source == NamespacedName::default() {
        return Ok(Vec::new());
    }
    let lookup = stage.shared.lookup;
    let facts = credentials::stored(lookup, &source.namespace, &source.name)?
        .map_err(ProviderError::Failed)?;
    let name = names::part(names::name(&stage.invocation.metadata), "vault");
    // Parity: the copy has no owner, and one that is there is left as it is.
    if lookup.secret(stage.namespace(), &name)?.is_none() {
        let data: BTreeMap<String, ByteString> = facts
            .data
            .iter()
            .map(|(key, value)| (key.clone(), ByteString(value.clone())))
            .collect();
        let copy = Secret {
            metadata: ObjectMeta {
                name: Some(name.clone()),
                namespace: Some(stage.namespace().to_owned()),
                ..ObjectMeta::default()
            },
            type_: facts.kind.clone(),
            data: Some(data).filter(|data| !data.is_empty()),
            ..Secret::default()
        };
        // It counts as there or not; without an owner nobody could tell later whose it is.
        set.add_with(IQE_UNIT, &copy, Options::generated)?;
    }
    Ok(variables(&name))
}

fn variables(secret: &str) -> Vec<EnvVar> {
    let switches = ["LOADER_ENABLED", "VERIFY"]
        .map(|switch| variable(&format!("DYNACONF_IQE_VAULT_{switch}"), "true"));
    let values = KEYS.map(|(part, key)| EnvVar {
        name: format!("DYNACONF_IQE_VAULT_{part}"),
        value: None,
        value_from: Some(EnvVarSource {
            secret_key_ref: Some(SecretKeySelector {
                name: secret.to_owned(),
                key: key.to_owned(),
                optional: Some(true),
            }),
            ..EnvVarSource::default()
        }),
    });
    switches.into_iter().chain(values).collect()
}
