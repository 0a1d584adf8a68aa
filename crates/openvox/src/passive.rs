//! The reconcilers of the kinds that a Config puts into its files: `SigningPolicy`, `NodeClassifier`, `ReportProcessor`.
//!
//! They make nothing. Their status says whether they could be put into a file, which follows from the same steps that
//! the Config takes, in the same order; what no Config uses says nothing.

use std::{fmt, marker::PhantomData};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use mainstay_engine::{
    Kind, ObjectSet,
    conditions::{self, Wanted},
    field_manager::FieldManager,
    kind::KindTable,
    plan::Lifecycle,
    reconciler::{Reconciler, Rejection, Report, ReportInput, ValidateError},
    snapshot::{Answer, Snapshot, Unknown},
    unit::UnitFailure,
};
use serde_json::{Value, json};

use crate::{
    config::content::{Content, Failure},
    kinds, names, outcome,
    views::{self, SeenConfig},
};

/// What is to be said of an object that a Config uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing: no Config came to it.
    Untouched,
    /// It is in a file.
    Active,
    /// It cannot be put into a file.
    Error(String),
}

/// An object of a kind that Configs use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Used {
    /// Namespace.
    pub namespace: String,
    /// Name.
    pub name: String,
    /// The object that it is for: an authority or a Config; empty if Configs name it themselves.
    pub target: String,
}

/// A kind that Configs use.
pub trait UsedKind: fmt::Debug + Default + Send + Sync + 'static {
    /// Name of its controller.
    const CONTROLLER: &'static str;
    /// The kind.
    const KIND: Kind;
    /// Field of its spec that names what it is for, as a JSON pointer.
    const TARGET: Option<&'static str>;
    /// Reason of the condition while it is in use.
    const REASON: &'static str;
    /// Message of the condition while it is in use.
    const MESSAGE: &'static str;

    /// What is to be said of an object.
    fn verdict(used: &Used, snapshot: &dyn Snapshot) -> Answer<Verdict>;
}

/// `SigningPolicy`.
#[derive(Clone, Copy, Debug, Default)]
pub struct SigningPolicies;

impl UsedKind for SigningPolicies {
    const CONTROLLER: &'static str = "signingpolicy";
    const KIND: Kind = kinds::SIGNING_POLICY;
    const TARGET: Option<&'static str> = Some("/spec/certificateAuthorityRef");
    const REASON: &'static str = "PolicyRendered";
    const MESSAGE: &'static str = "Signing policy is active";

    fn verdict(used: &Used, snapshot: &dyn Snapshot) -> Answer<Verdict> {
        let index = &views::CONFIGS_BY_AUTHORITY;
        let configs = views::indexed(snapshot, index, &used.namespace, &used.target);
        first_word(configs.iter().map(|config| {
            let content = Content::new(config, snapshot);
            before(content.files())?;
            match content.autosign() {
                Ok(Some(_)) => Ok(Verdict::Active),
                Err(Failure::Unknown) => Err(Stopped::Unknown),
                // Parity: one policy that cannot be resolved says so, and nothing is said of the others.
                Err(Failure::Stopped(stop)) if stop.culprit.as_ref() == Some(&used.name) => {
                    Ok(Verdict::Error(stop.message))
                }
                Ok(None) | Err(Failure::Stopped(_)) => Ok(Verdict::Untouched),
            }
        }))
    }
}

/// `NodeClassifier`.
#[derive(Clone, Copy, Debug, Default)]
pub struct NodeClassifiers;

impl UsedKind for NodeClassifiers {
    const CONTROLLER: &'static str = "nodeclassifier";
    const KIND: Kind = kinds::NODE_CLASSIFIER;
    const TARGET: Option<&'static str> = None;
    const REASON: &'static str = "ConfigRendered";
    const MESSAGE: &'static str = "Node classifier configuration is active";

    fn verdict(used: &Used, snapshot: &dyn Snapshot) -> Answer<Verdict> {
        let index = &views::CONFIGS_BY_CLASSIFIER;
        let configs = views::indexed(snapshot, index, &used.namespace, &used.name);
        first_word(configs.iter().map(|config| {
            let content = Content::new(config, snapshot);
            before(content.files())?;
            before(content.autosign())?;
            last(content.enc())
        }))
    }
}

/// `ReportProcessor`.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReportProcessors;

impl UsedKind for ReportProcessors {
    const CONTROLLER: &'static str = "reportprocessor";
    const KIND: Kind = kinds::REPORT_PROCESSOR;
    const TARGET: Option<&'static str> = Some("/spec/configRef");
    const REASON: &'static str = "ConfigRendered";
    const MESSAGE: &'static str = "Report processor configuration is active";

    fn verdict(used: &Used, snapshot: &dyn Snapshot) -> Answer<Verdict> {
        let key = kinds::key(kinds::CONFIG, &used.namespace, &used.target);
        let config = snapshot.view::<SeenConfig>(&key, &views::CONFIG)?;
        first_word(config.iter().map(|config| {
            let content = Content::new(config, snapshot);
            before(content.files())?;
            before(content.autosign())?;
            before(content.enc())?;
            // Parity: one that cannot be resolved makes all of them say so.
            last(content.reports())
        }))
    }
}

/// A step before the one that matters did not get through.
enum Stopped {
    Unknown,
    Earlier,
}

fn before<T>(step: Result<T, Failure>) -> Result<T, Stopped> {
    step.map_err(|failure| match failure {
        Failure::Unknown => Stopped::Unknown,
        Failure::Stopped(_) => Stopped::Earlier,
    })
}

fn last(step: Result<Option<String>, Failure>) -> Result<Verdict, Stopped> {
    match step {
        Ok(Some(_)) => Ok(Verdict::Active),
        Ok(None) => Ok(Verdict::Untouched),
        Err(Failure::Unknown) => Err(Stopped::Unknown),
        Err(Failure::Stopped(stop)) => Ok(Verdict::Error(stop.message)),
    }
}

/// What the first Config that comes to the object makes of it. Parity: where several do and differ, the last writer won.
fn first_word(verdicts: impl Iterator<Item = Result<Verdict, Stopped>>) -> Answer<Verdict> {
    let mut word = Verdict::Untouched;
    for verdict in verdicts {
        match verdict {
            Err(Stopped::Unknown) => return Err(Unknown),
            Ok(verdict) if word == Verdict::Untouched => word = verdict,
            Ok(_) | Err(Stopped::Earlier) => {}
        }
    }
    Ok(word)
}

/// The pure part of the controller of a kind that Configs use.
#[derive(Clone, Copy, Debug, Default)]
pub struct UsedReconciler<K>(PhantomData<K>);

impl<K: UsedKind> Reconciler for UsedReconciler<K> {
    type Object = Used;
    type Input = Verdict;

    fn name(&self) -> &'static str {
        K::CONTROLLER
    }

    fn declared(&self) -> KindTable {
        kinds::KINDS
    }

    fn root_kind(&self) -> Kind {
        K::KIND
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

    fn decode(&self, root: &Value) -> Result<Used, Rejection> {
        let text = |pointer: &str| {
            let text = root.pointer(pointer).and_then(Value::as_str);
            text.unwrap_or_default().to_owned()
        };
        Ok(Used {
            namespace: text("/metadata/namespace"),
            name: text("/metadata/name"),
            target: K::TARGET.map_or_else(String::new, text),
        })
    }

    fn validate(&self, used: &Used, snapshot: &dyn Snapshot) -> Result<Verdict, ValidateError> {
        Ok(K::verdict(used, snapshot)?)
    }

    fn render(&self, _: &Used, _: &Verdict, _: &dyn Snapshot) -> Result<ObjectSet, UnitFailure> {
        Ok(ObjectSet::new(kinds::KINDS))
    }

    fn report(&self, input: &ReportInput<'_, Self>) -> Report {
        let before = input.root.get("status").cloned().unwrap_or_default();
        let (phase, status, reason, message) = match input.input {
            None | Some(Verdict::Untouched) => (None, "", "", String::new()),
            Some(Verdict::Active) => (Some("Active"), "True", K::REASON, K::MESSAGE.to_owned()),
            Some(Verdict::Error(text)) => (Some("Error"), "False", "Error", text.clone()),
        };
        let wanted = Wanted {
            r#type: "Ready",
            status,
            reason,
            message,
        };
        let status = match phase {
            None => before,
            Some(phase) => {
                let said = before.get("conditions").cloned().unwrap_or_default();
                let said: Vec<Condition> = serde_json::from_value(said).unwrap_or_default();
                let said = conditions::merge(&said, &[wanted], None, input.now);
                json!({"phase": phase, "conditions": said})
            }
        };
        Report {
            status,
            outcome: outcome::of(input.end),
            events: Vec::new(),
        }
    }
}
