//! Values that an object takes from Secrets and ConfigMaps of its namespace.

use mainstay_api::openvox::shared::{
    Authentication, BasicSecretRef, ConfigMapKeyRef, SecretKeyRef,
};
use mainstay_engine::snapshot::{Answer, Snapshot, Unknown};

use crate::{
    files::endpoint::Credentials,
    kinds,
    views::{self, Data},
};

/// Why there is no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unresolved {
    /// It is not known yet.
    Unknown,
    /// It is not there: a text for people.
    Missing(String),
}

impl From<Unknown> for Unresolved {
    fn from(_: Unknown) -> Self {
        Self::Unknown
    }
}

impl Unresolved {
    /// The same with words in front.
    #[must_use]
    pub fn context(self, words: &str) -> Self {
        match self {
            Self::Unknown => Self::Unknown,
            Self::Missing(message) => Self::Missing(format!("{words}: {message}")),
        }
    }
}

/// Reads values of a namespace.
#[derive(Clone, Copy)]
pub struct Values<'snapshot> {
    /// What can be asked.
    pub snapshot: &'snapshot dyn Snapshot,
    /// The namespace.
    pub namespace: &'snapshot str,
}

impl std::fmt::Debug for Values<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_tuple("Values")
            .field(&self.namespace)
            .finish()
    }
}

impl Values<'_> {
    /// A Secret; `None` if there is none.
    pub fn secret(&self, name: &str) -> Answer<Option<std::sync::Arc<Data>>> {
        let key = kinds::key(kinds::SECRET, self.namespace, name);
        self.snapshot.view(&key, &views::SECRET)
    }

    /// A value of a Secret.
    pub fn in_secret(&self, name: &str, key: &str) -> Result<String, Unresolved> {
        value("Secret", name, key, self.secret(name)?.as_deref())
    }

    /// A value of a ConfigMap.
    pub fn in_config_map(&self, from: &ConfigMapKeyRef) -> Result<String, Unresolved> {
        let object = kinds::key(kinds::CONFIG_MAP, self.namespace, &from.name);
        let data = self.snapshot.view(&object, &views::CONFIG_MAP)?;
        value("ConfigMap", &from.name, &from.key, data.as_deref())
    }

    /// A value that a reference names.
    pub fn at(&self, from: &SecretKeyRef) -> Result<String, Unresolved> {
        self.in_secret(&from.name, &from.key)
    }

    /// How to identify to an endpoint. `suffix` says which one, where there may be several.
    pub fn credentials(
        &self,
        asked: &Authentication,
        suffix: &str,
    ) -> Result<Credentials, Unresolved> {
        let resolving = |what: &str| format!("resolving {what}{suffix}");
        if asked.mtls {
            return Ok(Credentials::Mtls);
        }
        if let Some(token) = &asked.token {
            return Ok(Credentials::Token {
                header: token.header.clone(),
                token: self
                    .at(&token.secret_key_ref)
                    .map_err(|error| error.context(&resolving("token secret")))?,
            });
        }
        if let Some(bearer) = &asked.bearer {
            let token = self.at(&bearer.secret_key_ref);
            let token = token.map_err(|error| error.context(&resolving("bearer secret")))?;
            return Ok(Credentials::Bearer { token });
        }
        match &asked.basic {
            Some(basic) => self.basic(&basic.secret_ref, &resolving),
            None => Ok(Credentials::None),
        }
    }

    fn basic(
        &self,
        from: &BasicSecretRef,
        resolving: &dyn Fn(&str) -> String,
    ) -> Result<Credentials, Unresolved> {
        let read = |key: &str, what: &str| {
            self.in_secret(&from.name, key)
                .map_err(|error| error.context(&resolving(what)))
        };
        Ok(Credentials::Basic {
            username: read(&from.username_key, "basic auth username")?,
            password: read(&from.password_key, "basic auth password")?,
        })
    }
}

fn value(kind: &str, name: &str, key: &str, data: Option<&Data>) -> Result<String, Unresolved> {
    let Some(data) = data else {
        return Err(Unresolved::Missing(format!(
            "getting {kind} {name}: {kind} {} not found",
            crate::quote::go(name)
        )));
    };
    data.text(key).ok_or_else(|| {
        let key = crate::quote::go(key);
        Unresolved::Missing(format!("key {key} not found in {kind} {name}"))
    })
}
