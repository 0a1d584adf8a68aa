//! Provider `confighash`, the last: writes `cdappconfig.json`, and puts its hash on the pods, so that they restart
//! whenever it changes.
//!
//! Hashed with it are the contents of the Secrets and `ConfigMaps` whose changes restart pods too: see
//! [`Associations`].

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::{
    ByteString,
    api::{apps::v1::Deployment, batch::v1::CronJob, core::v1::PodTemplateSpec, core::v1::Secret},
};
use mainstay_engine::{Kind, ObjectKey, ObjectSet, live::LiveObject, object_set::Desired};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::{
    kinds, names,
    providers::{
        app_config,
        images::first,
        provider::{AppRender, EnvironmentRender, Provider, ProviderError},
    },
    settings::RESTARTER_ANNOTATION,
    views::{TrackedFacts, TrackedKind, facts, lookup::Lookup},
};
use mainstay_engine::snapshot::{Unknown, all_known};

const UNIT: &str = "confighash";
/// Annotation of pods.
const ANNOTATION: &str = "configHash";
/// Annotation of the Secret with the document: the second half of a hash that the original made, and our own hash of what
/// it stands for. It stays when another hash has taken its place, and then says nothing.
pub(crate) const STANDS_FOR: &str = "clowder/hash-stands-for";

/// Secrets and `ConfigMaps` that the pods of one app may refer to. Each of them is read, and a hash of it is kept.
const MOST_REFERENCES: usize = 1000;

/// What other operators make of these kinds is described in the document.
const DESCRIBED: [Kind; 3] = [kinds::KAFKA_TOPIC, kinds::KAFKA_USER, kinds::CYNDI_PIPELINE];

/// The provider.
#[derive(Debug)]
pub struct ConfigHash;

impl Provider for ConfigHash {
    fn name(&self) -> &'static str {
        UNIT
    }

    fn environment(&self, ctx: &mut EnvironmentRender<'_>) -> Result<(), ProviderError> {
        ctx.set.prune.kind(kinds::SECRET);
        Ok(())
    }

    fn app(&self, ctx: &mut AppRender<'_>) -> Result<(), ProviderError> {
        ctx.set.prune.kind(kinds::SECRET);
        track_references(ctx)?;
        let [own, environment] = ctx.associations.hashes();
        let kept = kept(ctx, &environment);
        let second = kept.as_deref().unwrap_or(&environment);
        ctx.config.hash_cache = Some(format!("{own}{second}"));
        let document = app_config::to_json(&ctx.config);
        let hash = hexadecimal_sha256(document.as_bytes());
        let mut secret = secret(ctx, document);
        if kept.is_some() {
            let annotation = (STANDS_FOR.to_owned(), mark(second, &environment));
            secret.metadata.annotations = Some([annotation].into());
        }
        ctx.set.add(UNIT, &secret)?;
        // Pods do not get to know of a topic or a table that the cluster refused.
        let name = ctx.shared.settings.config_secret(ctx.app_name());
        let key = ObjectKey::new(kinds::SECRET, ctx.namespace(), name);
        ctx.set.needs_kinds(&key, &DESCRIBED);
        annotate(ctx, &hash)
    }
}

/// The second half of the hash that is stored, if the original made it and nothing has changed since that it stands for.
///
/// The original hashes what all apps of an environment use that it has come across so far, so its hash cannot be made
/// again; a new one would restart the pods although nothing has changed. The annotation is written together with the
/// hash that is kept: there is no moment at which one of them is stored without the other.
fn kept(ctx: &AppRender<'_>, ours: &str) -> Option<String> {
    let lookup = ctx.shared.lookup;
    let name = ctx.shared.settings.config_secret(ctx.app_name());
    let live = lookup.live(&ObjectKey::new(kinds::SECRET, ctx.namespace(), name))?;
    let (found, stands_for) = facts::environment_hash(&live)?;
    let is_marked = || stands_for == Some(&mark(found, ours));
    let is_kept = found != ours && (is_marked() || is_of_the_original(ctx, &live));
    is_kept.then(|| found.to_owned())
}

/// What the annotation says of a hash that is kept.
fn mark(found: &str, ours: &str) -> String {
    format!("{found}-{ours}")
}

/// Whether the original wrote the document last. Workloads are taken over after it: as long as one of them is the
/// original's, a document that is ours already is one whose take-over was interrupted.
fn is_of_the_original(ctx: &AppRender<'_>, secret: &LiveObject) -> bool {
    let document = format!("/data/{}", names::CONFIG_KEY);
    let spec = &ctx.app.spec;
    let deployments = spec.deployments.iter();
    let deployments = deployments.map(|deployment| ctx.deployment_key(&deployment.name));
    let jobs = spec.jobs.iter().map(|job| ctx.cron_job_key(&job.name));
    let mut workloads = deployments.chain(jobs);
    let uid = ctx.app.metadata.uid.as_deref().unwrap_or_default();
    secret.migrated_managed_fields.is_some()
        || secret.owned.at(&document).is_none()
        || workloads.any(|key| {
            let live = ctx.shared.lookup.live(&key);
            live.is_some_and(|live| live.belongs_to(uid) && live.migrated_managed_fields.is_some())
        })
}

fn secret(ctx: &AppRender<'_>, document: String) -> Secret {
    let name = ctx.shared.settings.config_secret(ctx.app_name());
    let data = (
        names::CONFIG_KEY.to_owned(),
        ByteString(document.into_bytes()),
    );
    Secret {
        metadata: names::metadata(
            (ctx.namespace(), &name),
            names::app_labels(ctx.app),
            &names::app_owner(ctx.app),
        ),
        data: Some([data].into()),
        ..Secret::default()
    }
}

fn annotate(ctx: &mut AppRender<'_>, hash: &str) -> Result<(), ProviderError> {
    for deployment in &ctx.app.spec.deployments {
        let key = ctx.deployment_key(&deployment.name);
        ctx.set.amend::<Deployment>(UNIT, &key, |deployment| {
            let spec = deployment.spec.get_or_insert_default();
            annotate_template(&mut spec.template, hash);
        })?;
    }
    for job in &ctx.app.spec.jobs {
        let key = ctx.cron_job_key(&job.name);
        if ctx.set.get(&key).is_none() {
            continue;
        }
        ctx.set.amend::<CronJob>(UNIT, &key, |job| {
            let spec = job.spec.get_or_insert_default();
            let spec = spec.job_template.spec.get_or_insert_default();
            annotate_template(&mut spec.template, hash);
        })?;
    }
    Ok(())
}

fn annotate_template(template: &mut PodTemplateSpec, hash: &str) {
    let metadata = template.metadata.get_or_insert_default();
    let annotations = metadata.annotations.get_or_insert_default();
    annotations.insert(ANNOTATION.to_owned(), hash.to_owned());
}

/// Name, namespace and kind, written as the text that orders them.
type TrackedName = String;

/// Objects whose changes restart the pods of an app, with the hashes of their contents.
///
/// The original keeps those of an environment for as long as it runs, whichever app brought them in. Here they are
/// those that the app itself uses, so that its hash does not depend on the order of reconciles.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Associations {
    app: BTreeMap<TrackedName, String>,
    environment: BTreeMap<TrackedName, String>,
}

impl Associations {
    /// Tracks a Secret that the app uses through its environment.
    pub fn track_for_environment(
        &mut self,
        lookup: Lookup<'_>,
        namespace: &str,
        name: &str,
    ) -> Result<(), Unknown> {
        track(&mut self.environment, lookup, namespace, name)
    }

    /// Tracks a Secret that is the app's own concern.
    pub fn track_for_app(
        &mut self,
        lookup: Lookup<'_>,
        namespace: &str,
        name: &str,
    ) -> Result<(), Unknown> {
        track(&mut self.app, lookup, namespace, name)
    }

    /// Tracks an object that a pod of the app refers to, if its annotation asks for it or it is tracked anyway.
    fn refer(
        &mut self,
        (kind, namespace, name): (TrackedKind, &str, &str),
        facts: &TrackedFacts,
        restarter: &str,
    ) {
        let tracked = tracked_name(kind, namespace, name);
        if facts.switches.contains(restarter) || self.environment.contains_key(&tracked) {
            self.app.insert(tracked, facts.hash.clone());
        }
    }

    /// Two hashes: that of the app's objects and that of the environment's.
    fn hashes(&self) -> [String; 2] {
        [&self.app, &self.environment].map(|tracked| {
            let hashes: Vec<&str> = tracked.values().map(String::as_str).collect();
            hexadecimal_sha256(hashes.concat().as_bytes())
        })
    }
}

fn track(
    tracked: &mut BTreeMap<TrackedName, String>,
    lookup: Lookup<'_>,
    namespace: &str,
    name: &str,
) -> Result<(), Unknown> {
    let kind = TrackedKind::Secret;
    if let Some(facts) = lookup.tracked(kind, namespace, name)? {
        tracked.insert(tracked_name(kind, namespace, name), facts.hash.clone());
    }
    Ok(())
}

fn tracked_name(kind: TrackedKind, namespace: &str, name: &str) -> TrackedName {
    format!("{name}/{namespace}/{}", kind.as_str())
}

/// Tracks what the Deployments of the app refer to. Variables of containers and volumes count; init containers and
/// jobs do not.
fn track_references(ctx: &mut AppRender<'_>) -> Result<(), ProviderError> {
    let settings = ctx.shared.settings;
    let own = settings.config_secret(ctx.app_name());
    let restarter = first(&[
        &settings.config.settings.restarter_annotation,
        RESTARTER_ANNOTATION,
    ]);
    let deployments = ctx.app.spec.deployments.iter();
    let all = deployments.flat_map(|deployment| {
        let key = ctx.deployment_key(&deployment.name);
        references(ctx.set, &key)
    });
    let all: BTreeSet<(TrackedKind, String)> = all.filter(|(_, name)| *name != own).collect();
    if all.len() > MOST_REFERENCES {
        return Err(ProviderError::Failed(format!(
            "the pods of the app refer to {} Secrets and ConfigMaps, and at most {MOST_REFERENCES} are followed; put \
             their values into fewer",
            all.len()
        )));
    }
    let (lookup, namespace) = (ctx.shared.lookup, ctx.namespace());
    let answers = all
        .iter()
        .map(|(kind, name)| lookup.tracked(*kind, namespace, name));
    for ((kind, name), facts) in all.iter().zip(all_known(answers)?) {
        if let Some(facts) = facts {
            let reference = (*kind, namespace, name.as_str());
            ctx.associations.refer(reference, &facts, restarter);
        }
    }
    Ok(())
}

fn references(set: &ObjectSet, deployment: &ObjectKey) -> Vec<(TrackedKind, String)> {
    const REFERENCES: [(TrackedKind, &str); 2] = [
        (TrackedKind::ConfigMap, "/valueFrom/configMapKeyRef/name"),
        (TrackedKind::Secret, "/valueFrom/secretKeyRef/name"),
    ];
    const VOLUMES: [(TrackedKind, &str); 2] = [
        (TrackedKind::ConfigMap, "/configMap/name"),
        (TrackedKind::Secret, "/secret/secretName"),
    ];
    let body = set.get(deployment).and_then(|entry| match &entry.desired {
        Desired::Present { body, .. } => body.pointer("/spec/template/spec"),
        Desired::Absent { .. } => None,
    });
    let pod = body.unwrap_or(&Value::Null);
    let list = |value: &Value, name| value.get(name).and_then(Value::as_array).cloned();
    let containers = list(pod, "containers").unwrap_or_default();
    let variables = containers
        .iter()
        .filter_map(|container| list(container, "env"))
        .flatten()
        .map(|variable| (variable, REFERENCES));
    let volumes = list(pod, "volumes").unwrap_or_default();
    let volumes = volumes.into_iter().map(|volume| (volume, VOLUMES));
    variables
        .chain(volumes)
        .flat_map(|(holder, kinds)| {
            kinds.map(|(kind, pointer)| {
                let name = holder.pointer(pointer).and_then(Value::as_str);
                name.map(|name| (kind, name.to_owned()))
            })
        })
        .flatten()
        .collect()
}

/// Hash of the `data` of a Secret or `ConfigMap`, as it stands in the API: of its JSON with sorted keys.
pub fn content_hash(data: Option<&Value>) -> String {
    let sorted: Option<BTreeMap<&String, &Value>> = data
        .and_then(Value::as_object)
        .filter(|data| !data.is_empty())
        .map(|data| data.iter().collect());
    let text = app_config::to_json(&sorted);
    hexadecimal_sha256(text.as_bytes())
}

/// SHA-256 in lower-case hexadecimal digits.
pub fn hexadecimal_sha256(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    let digest = Sha256::digest(bytes);
    digest.iter().fold(String::new(), |mut text, byte| {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests;
