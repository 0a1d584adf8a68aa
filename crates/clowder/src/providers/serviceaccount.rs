//! Provider `serviceaccount`: accounts of pods and what they may do in the cluster.

use k8s_openapi::{
    api::{
        apps::v1::Deployment,
        core::v1::ServiceAccount,
        rbac::v1::{RoleBinding, RoleRef, Subject},
    },
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
};
use mainstay_api::clowder::access::AccessLevel;
use mainstay_engine::{ObjectKey, ObjectSet, options::Options};

use super::{component::Component, featureflags};
use crate::{
    kinds, names,
    providers::provider::{AppRender, Context, EnvironmentRender, Provider, ProviderError},
    settings::MaxAccessLevel,
};

const UNIT: &str = "serviceaccount";
const RBAC_GROUP: &str = "rbac.authorization.k8s.io";

/// The provider.
#[derive(Debug)]
pub struct ServiceAccounts;

impl Provider for ServiceAccounts {
    fn name(&self) -> &'static str {
        UNIT
    }

    fn environment(&self, ctx: &mut EnvironmentRender<'_>) -> Result<(), ProviderError> {
        register(ctx.set);
        let context = ctx.shared;
        if context.target_namespace.is_empty() {
            return Err(ProviderError::bare("targetNamespace not yet populated"));
        }
        let account = Component::of_environment(&context, environment_account(&context));
        ctx.set.add(UNIT, &service_account(&account))?;
        // Parity: servers of the database mode `shared` keep the default account.
        for name in featureflags::deployments(&context) {
            let key = ObjectKey::new(kinds::DEPLOYMENT, context.target_namespace, name);
            assign(ctx.set, &key, &account.name)?;
        }
        Ok(())
    }

    fn app(&self, ctx: &mut AppRender<'_>) -> Result<(), ProviderError> {
        register(ctx.set);
        add_test_account(ctx)?;
        let account = Component::of_app(ctx, app_account(ctx));
        ctx.set.add(UNIT, &service_account(&account))?;
        for component in ["db", "redis"] {
            assign(ctx.set, &ctx.deployment_key(component), &account.name)?;
        }
        for deployment in &ctx.app.spec.deployments {
            let own = Component::of_app(ctx, ctx.part(&deployment.name));
            if own.name != account.name {
                ctx.set.add(UNIT, &service_account(&own))?;
            }
            let level = allowed(&ctx.shared, &deployment.access_level);
            bind(ctx.set, &own, level)?;
            let key = ctx.deployment_key(&deployment.name);
            assign(ctx.set, &key, &own.name)?;
        }
        Ok(())
    }
}

/// Account of the components of an environment.
pub(crate) fn environment_account(context: &Context<'_>) -> String {
    names::part(context.environment_name(), "env")
}

/// Account of the components and jobs of an app.
pub(crate) fn app_account(ctx: &AppRender<'_>) -> String {
    ctx.part("app")
}

/// Account of test pods.
pub(crate) fn test_account(context: &Context<'_>) -> String {
    format!("iqe-{}", context.environment_name())
}

fn register(set: &mut ObjectSet) {
    set.prune.kind(kinds::SERVICE_ACCOUNT);
    set.prune.kind(kinds::ROLE_BINDING);
}

/// The account of test pods belongs to the environment, but has to be where the app is.
fn add_test_account(ctx: &mut AppRender<'_>) -> Result<(), ProviderError> {
    let context = ctx.shared;
    let account = Component {
        namespace: ctx.namespace(),
        ..Component::of_environment(&context, test_account(&context))
    };
    ctx.set.add(UNIT, &service_account(&account))?;
    let wanted = &context.environment.spec.providers.testing.access_level;
    bind(ctx.set, &account, allowed(&context, wanted))
}

fn service_account(account: &Component<'_>) -> ServiceAccount {
    ServiceAccount {
        metadata: account.metadata(account.base_labels.clone()),
        ..ServiceAccount::default()
    }
}

/// The role of an access level, as far as the operator's configuration allows it.
fn allowed(context: &Context<'_>, wanted: &AccessLevel) -> Option<&'static str> {
    let wanted = match wanted {
        AccessLevel::View => MaxAccessLevel::View,
        AccessLevel::Edit => MaxAccessLevel::Edit,
        _ => MaxAccessLevel::None,
    };
    match wanted.min(context.settings.config.settings.max_access_level) {
        MaxAccessLevel::None => None,
        MaxAccessLevel::View => Some("view"),
        MaxAccessLevel::Edit => Some("edit"),
    }
}

/// Binds an account to a role. A binding cannot be changed to another role, only replaced.
fn bind(
    set: &mut ObjectSet,
    account: &Component<'_>,
    role: Option<&str>,
) -> Result<(), ProviderError> {
    let Some(role) = role else {
        return Ok(());
    };
    let metadata: ObjectMeta = account.metadata(account.base_labels.clone());
    let binding = RoleBinding {
        metadata,
        subjects: Some(vec![Subject {
            kind: "ServiceAccount".to_owned(),
            name: account.name.clone(),
            namespace: Some(account.namespace.to_owned()),
            api_group: None,
        }]),
        role_ref: RoleRef {
            api_group: RBAC_GROUP.to_owned(),
            kind: "ClusterRole".to_owned(),
            name: role.to_owned(),
        },
    };
    set.add_with(UNIT, &binding, Options::recreated)?;
    Ok(())
}

/// Gives the pods of a Deployment their account, if the reconcile has such a Deployment.
fn assign(set: &mut ObjectSet, key: &ObjectKey, account: &str) -> Result<(), ProviderError> {
    if set.get(key).is_none() {
        return Ok(());
    }
    set.amend::<Deployment>(UNIT, key, |deployment| {
        let template = &mut deployment.spec.get_or_insert_default().template;
        let pod = template.spec.get_or_insert_default();
        pod.service_account_name = Some(account.to_owned());
    })?;
    Ok(())
}

#[cfg(test)]
mod tests;
