//! Cyndi: a copy of the host inventory in the database of an app, brought there by Kafka Connect.
//!
//! It is a part of the provider `kafka`, whose name its failures carry and whose mode decides what it does.

mod databases;

use k8s_openapi::{ByteString, api::core::v1::Secret};
use mainstay_engine::ObjectKey;
use serde_json::{Value, json};

use self::databases::Database;
use super::{
    custom::CustomObject,
    kafka::{self, places::Places},
};
use crate::{
    kinds,
    names::{self, Labels},
    providers::{
        images::first,
        provider::{AppRender, ProviderError},
    },
};

/// User and password of Cyndi in the databases of apps.
const CYNDI: &str = "cyndi";

/// Asks for a pipeline into the database of the app.
pub(super) fn provide(ctx: &mut AppRender<'_>, places: &Places<'_>) -> Result<(), ProviderError> {
    let environment = &ctx.app.spec.environment_name;
    let inventory = databases::of_inventory(ctx)
        .map_err(|error| error.within("unable to get host-inventory db secret"))?;
    let inventory_secret = format!("{environment}-{}-db-cyndi", databases::INVENTORY);
    let app = databases::of_app(ctx)
        .map_err(|error| error.within(format!("unable to get '{}' db secret", ctx.app_name())))?;
    let app = Database {
        user: CYNDI.to_owned(),
        password: CYNDI.to_owned(),
        ..app
    };
    let app_secret = format!("{environment}-{}-db-cyndi", ctx.app_name());
    add_secret(ctx, places, &inventory_secret, &inventory)?;
    if app_secret != inventory_secret {
        add_secret(ctx, places, &app_secret, &app)?;
    }
    let cyndi = &ctx.app.spec.cyndi;
    let mut spec = json!({
        "appName": pipeline_name(ctx),
        "insightsOnly": cyndi.insights_only,
        "connectCluster": places.connect,
        "dbSecret": app_secret,
        "inventoryDbSecret": inventory_secret,
    });
    if !cyndi.additional_filters.is_empty() {
        spec["additionalFilters"] = json!(cyndi.additional_filters);
    }
    let metadata = names::metadata(
        (places.connect_namespace, pipeline_name(ctx)),
        Labels::new(),
        &names::environment_owner(ctx.shared.environment),
    );
    let pipeline = CustomObject::new(kinds::CYNDI_PIPELINE, metadata, spec);
    ctx.set.add(kafka::UNIT, &pipeline)?;
    Ok(())
}

/// Makes sure that somebody else has made a pipeline, and that it has brought something.
pub(super) fn check(ctx: &AppRender<'_>, places: &Places<'_>) -> Result<(), ProviderError> {
    let (name, namespace) = (pipeline_name(ctx), places.connect_namespace);
    let key = ObjectKey::new(kinds::CYNDI_PIPELINE, namespace, name);
    let missing = |details: String| Err(ProviderError::missing("cyndi", [details.as_str()]));
    let Some(facts) = ctx.shared.lookup.reported(&key) else {
        return missing(format!(
            "CyndiPipeline named '{name}' not found in namespace '{namespace}'"
        ));
    };
    let table = facts.get("activeTableName").and_then(Value::as_str);
    if table.unwrap_or_default().is_empty() {
        return missing(format!(
            "CyndiPipeline '{name}' in namespace '{namespace}' has no 'active table' in status"
        ));
    }
    Ok(())
}

fn pipeline_name<'render>(ctx: &AppRender<'render>) -> &'render str {
    first(&[&ctx.app.spec.cyndi.app_name, ctx.app_name()])
}

/// Parity: these have no labels.
fn add_secret(
    ctx: &mut AppRender<'_>,
    places: &Places<'_>,
    name: &str,
    database: &Database,
) -> Result<(), ProviderError> {
    let values = [
        ("db.host", &database.host),
        ("db.port", &database.port),
        ("db.name", &database.name),
        ("db.user", &database.user),
        ("db.password", &database.password),
    ];
    let data = values.map(|(key, value)| (key.to_owned(), ByteString(value.as_bytes().to_vec())));
    let secret = Secret {
        metadata: names::metadata(
            (places.connect_namespace, name),
            Labels::new(),
            &names::environment_owner(ctx.shared.environment),
        ),
        type_: Some("Opaque".to_owned()),
        data: Some(data.into()),
        ..Secret::default()
    };
    ctx.set.add(kafka::UNIT, &secret)?;
    Ok(())
}

#[cfg(test)]
mod tests;
