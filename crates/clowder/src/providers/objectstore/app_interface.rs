//! Mode `app-interface`: buckets that somebody else made, found by the Secrets that describe them.

use mainstay_engine::snapshot::View;

use crate::{
    providers::{
        app_config::{BucketConfig, ObjectStoreConfig},
        provider::{AppRender, ProviderError},
    },
    views::SecretFacts,
};

/// Annotation of a Secret that lists the buckets it is for.
const ANNOTATION: &str = "clowder/bucket-names";
const KEYS: &[&str] = &["aws_access_key_id", "aws_secret_access_key"];
const MORE_KEYS: &[&str] = &["aws_region", "bucket", "endpoint"];
const HTTPS: i64 = 443;

/// The Secrets that may describe buckets.
static DESCRIPTIONS: View<SecretFacts> = View::new("bucket-secrets", |object| {
    SecretFacts::describing(object, ANNOTATION, KEYS, MORE_KEYS)
});

pub(super) fn app(ctx: &mut AppRender<'_>) -> Result<ObjectStoreConfig, ProviderError> {
    let secrets = ctx
        .shared
        .lookup
        .secrets_in(ctx.namespace(), &DESCRIPTIONS)?;
    let secrets: Vec<&SecretFacts> = secrets
        .iter()
        .map(AsRef::as_ref)
        .filter(|secret| secret.has_keys(KEYS))
        .collect();
    let annotated = secrets.iter().flat_map(|secret| {
        let names = secret.annotations.get(ANNOTATION).into_iter();
        names.flat_map(|names| {
            names
                .split(',')
                .map(|name| candidate(secret, name.to_owned()))
        })
    });
    let described = secrets
        .iter()
        .filter_map(|secret| Some(candidate(secret, secret.text("bucket")?)));
    let candidates: Vec<BucketConfig> = annotated.chain(described).collect();

    let mut buckets = Vec::new();
    let mut hostname = String::new();
    let mut missing = Vec::new();
    for requested in &ctx.app.spec.object_store {
        // Parity: names of real buckets continue with a suffix, so the beginning has to do.
        let found = candidates
            .iter()
            .find(|candidate| candidate.name.starts_with(requested.as_str()));
        let Some(found) = found else {
            missing.push(requested.as_str());
            continue;
        };
        if let Some(endpoint) = found
            .endpoint
            .as_ref()
            .filter(|endpoint| !endpoint.is_empty())
        {
            hostname.clone_from(endpoint);
        }
        buckets.push(BucketConfig {
            requested_name: requested.clone(),
            ..found.clone()
        });
    }
    if !buckets.is_empty() && hostname.is_empty() {
        return Err(ProviderError::bare(
            "Could not find object store hostname from secrets",
        ));
    }
    if !missing.is_empty() {
        let what = format!("Missing buckets from app-interface: {}", missing.join(", "));
        return Err(ProviderError::bare(what));
    }
    Ok(ObjectStoreConfig {
        buckets,
        hostname,
        port: HTTPS,
        tls: true,
        ..ObjectStoreConfig::default()
    })
}

fn candidate(secret: &SecretFacts, name: String) -> BucketConfig {
    let text = |key| Some(secret.text(key).unwrap_or_default());
    BucketConfig {
        access_key: text("aws_access_key_id"),
        endpoint: text("endpoint"),
        name,
        region: text("aws_region"),
        requested_name: String::new(),
        secret_key: text("aws_secret_access_key"),
        tls: Some(true),
    }
}
