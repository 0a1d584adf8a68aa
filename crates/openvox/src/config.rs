//! The reconciler of `Config`: files for servers, and the account that they run as.

pub mod content;
mod status;

use k8s_openapi::api::core::v1::{ConfigMap, ServiceAccount};
use mainstay_api::openvox::Config;
use mainstay_engine::{
    Kind, ObjectKey, ObjectSet,
    decode::decode,
    field_manager::FieldManager,
    kind::KindTable,
    options::Options,
    plan::Lifecycle,
    reconciler::{Reconciler, Rejection, Report, ReportInput, ValidateError},
    snapshot::Snapshot,
    unit::{RenderError, UnitFailure},
};
use serde_json::Value;

use self::content::{Content, Failure};
use crate::{
    kinds,
    names::{self, keys, labels},
    objects::{self, Owner},
    views::{self, SeenConfig},
};

/// The pure part of the controller of `Config`.
#[derive(Clone, Copy, Debug, Default)]
pub struct ConfigReconciler;

impl Reconciler for ConfigReconciler {
    type Object = SeenConfig;
    type Input = ();

    fn name(&self) -> &'static str {
        "config"
    }

    fn declared(&self) -> KindTable {
        kinds::KINDS
    }

    fn root_kind(&self) -> Kind {
        kinds::CONFIG
    }

    fn field_manager(&self) -> FieldManager {
        FieldManager::new(names::FIELD_MANAGER)
    }

    fn lifecycle(&self) -> Lifecycle {
        Lifecycle::PLAIN
    }

    fn facts(&self, _: &Kind, _: &Value) -> Value {
        Value::Null
    }

    fn decode(&self, root: &Value) -> Result<SeenConfig, Rejection> {
        let config: Config = decode(root)?;
        Ok(views::SeenConfig::of_config(config))
    }

    fn validate(&self, _: &SeenConfig, _: &dyn Snapshot) -> Result<(), ValidateError> {
        Ok(())
    }

    fn render(
        &self,
        config: &SeenConfig,
        (): &(),
        snapshot: &dyn Snapshot,
    ) -> Result<ObjectSet, UnitFailure> {
        let mut render = Render {
            content: Content::new(config, snapshot),
            config,
            snapshot,
            set: ObjectSet::new(kinds::KINDS),
        };
        let mut unknown = None;
        for (unit, step) in steps() {
            match step(&mut render, unit) {
                Ok(()) => {}
                // What comes later asks its questions too, so that one round answers all of them.
                Err(RenderError::Unknown) => unknown = unknown.or(Some(unit)),
                Err(source) if unknown.is_none() => return Err(render.failed(unit, source)),
                Err(_) => break,
            }
        }
        match unknown {
            None => Ok(render.set),
            Some(unit) => Err(UnitFailure {
                unit,
                source: RenderError::Unknown,
                early: None,
            }),
        }
    }

    fn report(&self, input: &ReportInput<'_, Self>) -> Report {
        status::report(input)
    }
}

type Step<'reconcile> = fn(&mut Render<'reconcile>, &'static str) -> Result<(), RenderError>;

/// The order is part of the behaviour: what cannot be resolved stops what comes later, and nothing that came before.
fn steps<'reconcile>() -> [(&'static str, Step<'reconcile>); 5] {
    [
        ("files", Render::files),
        ("autosign", Render::autosign),
        ("enc", Render::enc),
        ("reports", Render::reports),
        ("account", Render::account),
    ]
}

struct Render<'reconcile> {
    content: Content<'reconcile>,
    config: &'reconcile SeenConfig,
    snapshot: &'reconcile dyn Snapshot,
    set: ObjectSet,
}

impl Render<'_> {
    fn owner(&self) -> Owner<'_> {
        Owner {
            kind: kinds::CONFIG,
            namespace: &self.config.namespace,
            name: &self.config.name,
            uid: &self.config.uid,
        }
    }

    fn files(&mut self, unit: &'static str) -> Result<(), RenderError> {
        let files = self.content.files().map_err(failure)?;
        let data = files
            .into_iter()
            .map(|(name, text)| (name.to_owned(), text));
        let name = names::config_map(&self.config.name);
        let key = kinds::key(kinds::CONFIG_MAP, &self.config.namespace, &name);
        let config_map = ConfigMap {
            metadata: self.owner().metadata(name, self.labels()),
            data: Some(data.collect()),
            ..ConfigMap::default()
        };
        self.set.add(unit, &config_map)?;
        self.set.write_even_if_later_units_fail(&key);
        Ok(())
    }

    fn autosign(&mut self, unit: &'static str) -> Result<(), RenderError> {
        let Some(policies) = self.content.autosign().map_err(failure)? else {
            return Ok(());
        };
        let name = names::autosign_secret(&self.config.spec.authority_ref);
        let key = kinds::key(kinds::SECRET, &self.config.namespace, &name);
        if self.is_ours(&key) {
            self.secret(unit, name, keys::AUTOSIGN, &policies)?;
        }
        Ok(())
    }

    /// Of several Configs with one authority the first that comes has the Secret, and keeps it; all of them would write
    /// the same.
    fn is_ours(&self, key: &ObjectKey) -> bool {
        match self.snapshot.get(key) {
            Some(live) => live.belongs_to(&self.config.uid) || live.owners.is_empty(),
            None => self.content.is_first_of_authority(),
        }
    }

    fn enc(&mut self, unit: &'static str) -> Result<(), RenderError> {
        if let Some(enc) = self.content.enc().map_err(failure)? {
            let name = names::enc_secret(&self.config.name);
            self.secret(unit, name, keys::ENC, &enc)?;
        }
        Ok(())
    }

    fn reports(&mut self, unit: &'static str) -> Result<(), RenderError> {
        if let Some(reports) = self.content.reports().map_err(failure)? {
            let name = names::report_secret(&self.config.name);
            self.secret(unit, name, keys::REPORTS, &reports)?;
        }
        Ok(())
    }

    fn account(&mut self, unit: &'static str) -> Result<(), RenderError> {
        let name = names::server_account(&self.config.name);
        let account = ServiceAccount {
            metadata: self.owner().metadata(name, self.labels()),
            automount_service_account_token: Some(false),
            ..ServiceAccount::default()
        };
        self.set.add_with(unit, &account, Options::once)?;
        Ok(())
    }

    fn secret(
        &mut self,
        unit: &'static str,
        name: String,
        key: &'static str,
        contents: &str,
    ) -> Result<(), RenderError> {
        let identity = kinds::key(kinds::SECRET, &self.config.namespace, &name);
        let metadata = self.owner().metadata(name, self.labels());
        let secret = objects::secret(metadata, [(key, contents.as_bytes())]);
        self.set.add(unit, &secret)?;
        self.set.write_even_if_later_units_fail(&identity);
        Ok(())
    }

    fn labels(&self) -> std::collections::BTreeMap<String, String> {
        names::labelled(labels::CONFIG, &self.config.name)
    }

    /// Parity: one value that cannot be resolved stops the rest, but not what was rendered before.
    fn failed(&self, unit: &'static str, source: RenderError) -> UnitFailure {
        UnitFailure {
            unit,
            source,
            early: self.set.early(),
        }
    }
}

fn failure(failure: Failure) -> RenderError {
    match failure {
        Failure::Unknown => RenderError::Unknown,
        Failure::Stopped(stop) => RenderError::Input(stop.to_string()),
    }
}

#[cfg(test)]
mod tests;
