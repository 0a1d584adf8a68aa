//! What the files of a Config say, step by step. The kinds that it uses ask the same questions to know their own state.

use std::{collections::BTreeMap, fmt, sync::Arc};

use mainstay_api::openvox::report_processor::ReportHeader;
use mainstay_engine::snapshot::{Answer, Snapshot, Unknown};

use crate::{
    files::{
        self, Settings,
        autosign::{self, Policy},
        endpoint::{self, ReportEndpoint},
    },
    kinds,
    references::{Unresolved, Values},
    views::{self, SeenAuthority, SeenConfig, SeenProcessor},
};

/// Why a step has no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// A fact is not known yet.
    Unknown,
    /// Something is missing or wrong.
    Stopped(Stop),
}

/// What stopped a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stop {
    /// The step, in the words of the original.
    pub step: String,
    /// The object that it is about, if it is one of several.
    pub culprit: Option<String>,
    /// What is wrong, as the object that it is about says it.
    pub message: String,
    /// What the whole error adds to that.
    pub detail: String,
}

impl fmt::Display for Stop {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            step,
            detail,
            message,
            ..
        } = self;
        write!(formatter, "{step}{detail}{message}")
    }
}

impl From<Unknown> for Failure {
    fn from(_: Unknown) -> Self {
        Self::Unknown
    }
}

impl Failure {
    fn stopped(step: impl Into<String>, message: impl Into<String>) -> Self {
        Self::Stopped(Stop {
            step: step.into(),
            culprit: None,
            message: message.into(),
            detail: String::new(),
        })
    }

    fn unresolved(step: &str, error: Unresolved) -> Self {
        match error {
            Unresolved::Unknown => Self::Unknown,
            Unresolved::Missing(message) => Self::stopped(step, message),
        }
    }
}

const FILES: &str = "reconciling ConfigMaps: ";
const ENC: &str = "reconciling ENC Secret: rendering ENC config: ";
const REPORTS: &str = "reconciling report-webhook Secret: ";

/// The files of a Config, as far as they can be said.
pub struct Content<'reconcile> {
    config: &'reconcile SeenConfig,
    snapshot: &'reconcile dyn Snapshot,
    values: Values<'reconcile>,
}

impl fmt::Debug for Content<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_tuple("Content")
            .field(&self.config.name)
            .finish()
    }
}

impl<'reconcile> Content<'reconcile> {
    /// The files of a Config.
    pub fn new(config: &'reconcile SeenConfig, snapshot: &'reconcile dyn Snapshot) -> Self {
        Self {
            config,
            snapshot,
            values: Values {
                snapshot,
                namespace: &config.namespace,
            },
        }
    }

    fn authority(&self) -> Answer<Option<Arc<SeenAuthority>>> {
        let name = &self.config.spec.authority_ref;
        if name.is_empty() {
            return Ok(None);
        }
        let key = kinds::key(kinds::CERTIFICATE_AUTHORITY, &self.config.namespace, name);
        self.snapshot.view(&key, &views::AUTHORITY)
    }

    fn processors(&self) -> Vec<Arc<SeenProcessor>> {
        let Self {
            config, snapshot, ..
        } = self;
        views::indexed(
            *snapshot,
            &views::PROCESSORS,
            &config.namespace,
            &config.name,
        )
    }

    /// Address of the database that the Config names; empty if it has none yet.
    fn database_url(&self) -> Result<Option<String>, Failure> {
        let name = &self.config.spec.database_ref;
        if name.is_empty() {
            return Ok(None);
        }
        let key = kinds::key(kinds::DATABASE, &self.config.namespace, name);
        if let Some(database) = self.snapshot.view(&key, &views::DATABASE)? {
            return Ok(Some(database.status.clone()));
        }
        let name = crate::quote::go(name);
        Err(Failure::stopped(
            FILES,
            format!(
                "rendering puppetdb.conf: looking up Database {name}: Database.{} {name} not found",
                crate::names::GROUP
            ),
        ))
    }

    /// The twelve files of its ConfigMap.
    pub fn files(&self) -> Result<BTreeMap<&'static str, String>, Failure> {
        // Both are asked for before the first unknown counts.
        let (authority, database_url) = (self.authority(), self.database_url());
        let authority = authority?;
        if database_url == Err(Failure::Unknown) {
            return Err(Failure::Unknown);
        }
        let settings = Settings {
            config: &self.config.spec,
            authority: authority
                .as_ref()
                .map(|authority| (authority.name.as_str(), &authority.spec)),
            database_url: database_url.as_ref().ok().and_then(Option::as_deref),
            has_report_processors: !self.processors().is_empty(),
        };
        let files = files::config_files(&settings);
        // Parity: puppet.conf comes first, so what is wrong with it is told first.
        let files = files.map_err(|error| Failure::stopped(FILES, error))?;
        database_url.map(|_| files)
    }

    /// Policies of its authority; `None` if there is no such authority.
    pub fn autosign(&self) -> Result<Option<String>, Failure> {
        let Some(authority) = self.authority()? else {
            return Ok(None);
        };
        let policies = views::indexed(
            self.snapshot,
            &views::POLICIES,
            &self.config.namespace,
            &authority.name,
        );
        let step = format!(
            "reconciling autosign Secrets: reconciling autosign Secret for CA {}: rendering autosign policy config: ",
            authority.name
        );
        let mut rendered = Vec::new();
        let mut unknown = false;
        for policy in &policies {
            match self.attributes(policy, &step) {
                Ok(values) => rendered.push(Policy {
                    name: &policy.name,
                    spec: &policy.spec,
                    values,
                }),
                Err(Failure::Unknown) => unknown = true,
                Err(stopped) if !unknown => return Err(stopped),
                Err(_) => {}
            }
        }
        if unknown {
            return Err(Failure::Unknown);
        }
        Ok(Some(autosign::autosign_policy(&rendered)))
    }

    fn attributes(&self, policy: &views::SeenPolicy, step: &str) -> Result<Vec<String>, Failure> {
        // Parity: of a policy that signs everything nothing is looked at.
        if policy.spec.any {
            return Ok(Vec::new());
        }
        let attributes = policy.spec.csr_attributes.iter().map(|attribute| {
            let Some(from) = &attribute.value_from else {
                return Ok(attribute.value.clone());
            };
            self.values
                .at(&from.secret_key_ref)
                .map_err(|error| match error {
                    Unresolved::Unknown => Failure::Unknown,
                    Unresolved::Missing(message) => Failure::Stopped(Stop {
                        step: step.to_owned(),
                        culprit: Some(policy.name.clone()),
                        message,
                        detail: format!(
                            "resolving csrAttribute {} for policy {}: ",
                            crate::quote::go(&attribute.name),
                            policy.name
                        ),
                    }),
                })
        });
        // All of them are asked for before the first failure counts.
        attributes.collect::<Vec<_>>().into_iter().collect()
    }

    /// Whether it is the first Config of its authority by name.
    pub fn is_first_of_authority(&self) -> bool {
        let configs = views::indexed(
            self.snapshot,
            &views::CONFIGS_BY_AUTHORITY,
            &self.config.namespace,
            &self.config.spec.authority_ref,
        );
        configs
            .first()
            .is_none_or(|first| first.name == self.config.name)
    }

    /// Its classifier; `None` if there is no such object.
    pub fn enc(&self) -> Result<Option<String>, Failure> {
        let name = &self.config.spec.node_classifier_ref;
        if name.is_empty() {
            return Ok(None);
        }
        let key = kinds::key(kinds::NODE_CLASSIFIER, &self.config.namespace, name);
        let Some(classifier) = self.snapshot.view(&key, &views::CLASSIFIER)? else {
            return Ok(None);
        };
        let asked = classifier.spec.auth.as_ref();
        let credentials = asked.map(|asked| self.values.credentials(asked, ""));
        let credentials = credentials.transpose();
        let credentials = credentials.map_err(|error| Failure::unresolved(ENC, error))?;
        Ok(Some(endpoint::enc(&classifier.spec, credentials.as_ref())))
    }

    /// Endpoints of its reports; `None` if there are none.
    pub fn reports(&self) -> Result<Option<String>, Failure> {
        let processors = self.processors();
        if processors.is_empty() {
            return Ok(None);
        }
        let endpoints = processors.iter().map(|processor| self.endpoint(processor));
        let endpoints: Vec<Result<ReportEndpoint<'_>, Unresolved>> = endpoints.collect();
        if endpoints
            .iter()
            .any(|one| matches!(one, Err(Unresolved::Unknown)))
        {
            return Err(Failure::Unknown);
        }
        let endpoints: Result<Vec<_>, Unresolved> = endpoints.into_iter().collect();
        let endpoints = endpoints.map_err(|error| Failure::unresolved(REPORTS, error))?;
        Ok(Some(endpoint::report_webhook(&endpoints)))
    }

    fn endpoint<'processor>(
        &self,
        processor: &'processor SeenProcessor,
    ) -> Result<ReportEndpoint<'processor>, Unresolved> {
        let name = processor.name.as_str();
        let asked = processor.spec.auth.as_ref();
        let suffix = format!(" for {name}");
        let credentials = asked.map(|asked| self.values.credentials(asked, &suffix));
        let headers = processor.spec.headers.iter();
        let headers: Vec<Result<String, Unresolved>> =
            headers.map(|header| self.header(header, name)).collect();
        Ok(ReportEndpoint {
            name,
            spec: &processor.spec,
            credentials: credentials.transpose()?,
            headers: headers.into_iter().collect::<Result<_, _>>()?,
        })
    }

    fn header(&self, header: &ReportHeader, processor: &str) -> Result<String, Unresolved> {
        let from = header.value_from.as_ref();
        if let Some(secret) = from.and_then(|from| from.secret_key_ref.as_ref()) {
            let words = format!("resolving header secret for {processor}");
            return self
                .values
                .at(secret)
                .map_err(|error| error.context(&words));
        }
        if let Some(map) = from.and_then(|from| from.config_map_key_ref.as_ref()) {
            let words = format!("resolving header configmap for {processor}");
            let value = self.values.in_config_map(map);
            return value.map_err(|error| error.context(&words));
        }
        Ok(header.value.clone())
    }
}
