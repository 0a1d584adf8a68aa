//! Provider `pullsecret`: what nodes need to pull images, copied to where pods run.

use std::collections::BTreeMap;

use k8s_openapi::{
    ByteString,
    api::core::v1::{LocalObjectReference, Secret, ServiceAccount},
};
use mainstay_engine::{ObjectKey, ObjectSet, options::Options};
use serde_json::Value;

use super::serviceaccount;
use crate::{
    kinds, names,
    providers::{
        credentials,
        provider::{AppRender, Context, EnvironmentRender, Provider, ProviderError},
    },
    views::{SecretFacts, lookup::Lookup},
};

const UNIT: &str = "pullsecret";

/// The provider.
#[derive(Debug)]
pub struct PullSecrets;

impl Provider for PullSecrets {
    fn name(&self) -> &'static str {
        UNIT
    }

    fn environment(&self, ctx: &mut EnvironmentRender<'_>) -> Result<(), ProviderError> {
        register(ctx.set);
        let context = ctx.shared;
        let namespace = context.target_namespace;
        copy_to(&context, ctx.set, namespace)?;
        let account = serviceaccount::environment_account(&context);
        attach(&context, ctx.set, namespace, &account)
    }

    fn app(&self, ctx: &mut AppRender<'_>) -> Result<(), ProviderError> {
        register(ctx.set);
        let context = ctx.shared;
        let spec = &context.environment.spec;
        let namespace = ctx.namespace();
        for source in &spec.providers.pull_secrets {
            let secret = source_of(&context, &source.namespace, &source.name)?;
            ctx.associations
                .track_for_app(context.lookup, &source.namespace, &source.name)?;
            // In its target namespace the environment itself makes the copy.
            if namespace != spec.target_namespace {
                put(ctx.set, &copy(&context, namespace, &secret))?;
            }
        }
        let mut accounts = vec![
            serviceaccount::test_account(&context),
            serviceaccount::app_account(ctx),
        ];
        let deployments = ctx.app.spec.deployments.iter();
        accounts.extend(deployments.map(|deployment| ctx.part(&deployment.name)));
        for account in accounts {
            attach(&context, ctx.set, namespace, &account)?;
        }
        Ok(())
    }
}

fn register(set: &mut ObjectSet) {
    set.prune.kind(kinds::SECRET);
    set.prune.kind(kinds::SERVICE_ACCOUNT);
}

/// Copies all pull secrets to a namespace.
fn copy_to(
    context: &Context<'_>,
    set: &mut ObjectSet,
    namespace: &str,
) -> Result<Vec<ObjectKey>, ProviderError> {
    let sources = context.environment.spec.providers.pull_secrets.iter();
    let copies = sources.map(|source| {
        let secret = source_of(context, &source.namespace, &source.name)?;
        put(set, &copy(context, namespace, &secret))
    });
    copies.collect()
}

/// Copies all pull secrets to a namespace of the environment, without waiting for the rest of the reconcile. Returns the names
/// of the copies, in the order of their sources.
pub(super) fn copy_early(
    context: &Context<'_>,
    set: &mut ObjectSet,
    namespace: &str,
) -> Result<Vec<String>, ProviderError> {
    let copies = copy_to(context, set, namespace)?;
    for copy in &copies {
        set.write_even_if_later_units_fail(copy);
    }
    Ok(copies.into_iter().map(|copy| copy.name).collect())
}

fn source_of(
    context: &Context<'_>,
    namespace: &str,
    name: &str,
) -> Result<std::sync::Arc<SecretFacts>, ProviderError> {
    credentials::stored(context.lookup, namespace, name)?.map_err(ProviderError::Failed)
}

fn copy_name(context: &Context<'_>, source: &str) -> String {
    format!("{}-{source}-clowder-copy", context.environment_name())
}

/// The copy belongs to the environment, wherever it is.
fn copy(context: &Context<'_>, namespace: &str, source: &SecretFacts) -> Secret {
    let name = copy_name(context, &source.name);
    copy_as(context, (namespace, &name), source)
}

/// A copy of a Secret of the environment under another name, or in another namespace.
pub(super) fn copy_as(context: &Context<'_>, place: (&str, &str), source: &SecretFacts) -> Secret {
    let environment = context.environment_name();
    let data: BTreeMap<String, ByteString> = source
        .data
        .iter()
        .map(|(key, value)| (key.clone(), ByteString(value.clone())))
        .collect();
    Secret {
        metadata: names::metadata(
            place,
            names::environment_labels(environment),
            &names::environment_owner(context.environment),
        ),
        type_: source.kind.clone(),
        data: Some(data).filter(|data| !data.is_empty()),
        ..Secret::default()
    }
}

/// Adds a copy. Two sources of one name, from different namespaces, have one copy: that of the last.
fn put(set: &mut ObjectSet, copy: &Secret) -> Result<ObjectKey, ProviderError> {
    let key = ObjectKey::new(
        kinds::SECRET,
        names::namespace(&copy.metadata),
        names::name(&copy.metadata),
    );
    if set.get(&key).is_some() {
        set.amend::<Secret>(UNIT, &key, |earlier| earlier.clone_from(copy))?;
    } else {
        // The type of a Secret cannot be changed.
        set.add_with(UNIT, copy, Options::recreated)?;
    }
    Ok(key)
}

/// Gives an account the copies. Those that the platform gave it stay, in front; all others go.
fn attach(
    context: &Context<'_>,
    set: &mut ObjectSet,
    namespace: &str,
    account: &str,
) -> Result<(), ProviderError> {
    let key = ObjectKey::new(kinds::SERVICE_ACCOUNT, namespace, account);
    let mut names = given_by_platform(context.lookup, &key);
    for source in &context.environment.spec.providers.pull_secrets {
        let copy = copy_name(context, &source.name);
        if !names.contains(&copy) {
            names.push(copy);
        }
    }
    if names.is_empty() {
        return Ok(());
    }
    set.amend::<ServiceAccount>(UNIT, &key, |account| {
        let references = names.into_iter().map(|name| LocalObjectReference { name });
        account.image_pull_secrets = Some(references.collect());
    })?;
    Ok(())
}

fn given_by_platform(lookup: Lookup<'_>, account: &ObjectKey) -> Vec<String> {
    let prefix = format!("{}-dockercfg", account.name);
    let live = lookup.live(account);
    let names = live
        .as_ref()
        .and_then(|live| live.facts.get("imagePullSecrets")?.as_array());
    let names = names.into_iter().flatten().filter_map(Value::as_str);
    names
        .filter(|name| name.starts_with(&prefix))
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests;
