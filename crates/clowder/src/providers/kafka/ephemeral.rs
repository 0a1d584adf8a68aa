//! Mode `ephem-msk`: a cluster that a Secret describes, shared by environments that come and go. Topics carry the name
//! of their environment; Kafka Connect is the environment's own.

use k8s_openapi::{ByteString, api::core::v1::Secret};
use mainstay_engine::{ObjectKey, options::Options};

use super::{
    UNIT,
    connect::{self, Connect},
    managed::{self, NO_BROKERS},
    places::Places,
    register, topics,
};
use crate::{
    kinds, names,
    providers::{
        app_config::{BrokerConfig, KafkaConfig, SaslConfig},
        credentials, cyndi,
        provider::{AppRender, EnvironmentRender, ProviderError},
        pullsecret,
    },
    views::SecretFacts,
};

/// Replicas of the topics of Kafka Connect unless the environment says otherwise.
const REPLICAS: i64 = 3;

pub(super) fn environment(ctx: &mut EnvironmentRender<'_>) -> Result<(), ProviderError> {
    register(ctx.set);
    let context = ctx.shared;
    let places = Places::of(&context);
    let unable = |error: ProviderError| error.within(NO_BROKERS);
    let secret = managed::secret(&context).map_err(unable)?;
    let brokers = managed::brokers(&secret).map_err(unable)?;
    let (user, password) = login(&brokers);
    let kafka = &context.environment.spec.providers.kafka;
    let replicas = match kafka.kafka_connect_replica_count {
        0 => REPLICAS,
        replicas => replicas,
    };
    let prefix = format!("{}-", context.environment_name());
    connect::add(
        ctx,
        &places,
        &Connect {
            brokers: &brokers,
            config: connect::config(replicas, &prefix),
            trust: &kafka.managed_secret_ref.name,
            user: &user,
        },
    )?;
    // Parity: copies go where the spec says, the login goes where the environment really is.
    copy(ctx, &kafka.managed_secret_ref.namespace, &secret)?;
    add_login(ctx, &user, &password)?;
    let ca = places.ca_secret();
    if places.namespace != context.environment.spec.target_namespace {
        let secret = credentials::stored(context.lookup, places.namespace, &ca)?;
        let secret = secret.map_err(ProviderError::Failed)?;
        copy(ctx, places.namespace, &secret)?;
    }
    Ok(())
}

pub(super) fn app(ctx: &mut AppRender<'_>) -> Result<(), ProviderError> {
    if ctx.app.spec.kafka_topics.is_empty() {
        return Ok(());
    }
    let brokers = managed::tracked_brokers(ctx)?;
    let topics = topics::add_ephemeral(ctx)?;
    ctx.config.kafka = Some(KafkaConfig { brokers, topics });
    if ctx.app.spec.cyndi.enabled {
        let places = Places::of(&ctx.shared);
        cyndi::provide(ctx, &places)?;
    }
    Ok(())
}

/// User and password; they are the same for all brokers.
fn login(brokers: &[BrokerConfig]) -> (String, String) {
    let login = brokers.first().and_then(|broker| broker.sasl.clone());
    let SaslConfig {
        username, password, ..
    } = login.unwrap_or_default();
    (username.unwrap_or_default(), password.unwrap_or_default())
}

/// Copies a Secret to the target namespace of the spec, unless it is there.
fn copy(
    ctx: &mut EnvironmentRender<'_>,
    namespace: &str,
    secret: &SecretFacts,
) -> Result<(), ProviderError> {
    let target = &ctx.shared.environment.spec.target_namespace;
    if target.is_empty() {
        return Err(ProviderError::bare(
            "kafka mode ephem-msk needs an environment with a targetNamespace",
        ));
    }
    if namespace == target {
        return Ok(());
    }
    let copy = pullsecret::copy_as(&ctx.shared, (target, &secret.name), secret);
    // The type of a Secret cannot be changed.
    ctx.set.add_with(UNIT, &copy, Options::recreated)?;
    Ok(())
}

/// What Kafka Connect logs in with.
fn add_login(
    ctx: &mut EnvironmentRender<'_>,
    user: &str,
    password: &str,
) -> Result<(), ProviderError> {
    let context = ctx.shared;
    let key = ObjectKey::new(kinds::SECRET, context.target_namespace, user);
    if user.is_empty() || ctx.set.get(&key).is_some() {
        return Err(ProviderError::bare(format!(
            "the Secret that describes Kafka names the user '{user}', for whom no Secret can be made"
        )));
    }
    let module = "org.apache.kafka.common.security.scram.ScramLoginModule";
    let jaas = format!("{module} required username=\"{user}\" password=\"{password}\";");
    let values = [("password", password), ("sasl.jaas.config", &jaas)];
    let data = values.map(|(key, value)| (key.to_owned(), ByteString(value.as_bytes().to_vec())));
    let secret = Secret {
        metadata: names::metadata(
            (context.target_namespace, user),
            names::environment_labels(context.environment_name()),
            &names::environment_owner(context.environment),
        ),
        type_: Some("Opaque".to_owned()),
        data: Some(data.into()),
        ..Secret::default()
    };
    ctx.set.add(UNIT, &secret)?;
    Ok(())
}
