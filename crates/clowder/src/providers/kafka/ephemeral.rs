//! Mode `ephem-msk`: a cluster that a Secret describes, shared by environments that come and go. Topics carry the name
//! of their environment; Kafka Connect is the environment's own.

use k8s_openapi::{ByteString, api::core::v1::Secret};
use mainstay_engine::{ObjectKey, object_set::Policy};

use super::{
    UNIT,
    connect::{self, Connect},
    managed::{self, NO_BROKERS},
    places::Places,
    register, topics,
};
use crate::{
    app_config::{BrokerConfig, KafkaConfig, SaslConfig},
    credentials, kinds, names,
    provider::{AppPass, EnvironmentPass, ProviderError},
    providers::{cyndi, pullsecret},
    world::SecretFacts,
};

/// Replicas of the topics of Kafka Connect unless the environment says otherwise.
const REPLICAS: i64 = 3;

pub(super) fn environment(pass: &mut EnvironmentPass<'_>) -> Result<(), ProviderError> {
    register(pass.set);
    let scene = pass.scene;
    let places = Places::of(&scene);
    let unable = |error: ProviderError| error.within(NO_BROKERS);
    let secret = managed::secret(&scene).map_err(unable)?;
    let brokers = managed::brokers(&secret).map_err(unable)?;
    let (user, password) = login(&brokers);
    let kafka = &scene.environment.spec.providers.kafka;
    let replicas = match kafka.kafka_connect_replica_count {
        0 => REPLICAS,
        replicas => replicas,
    };
    let prefix = format!("{}-", scene.environment_name());
    connect::add(
        pass,
        &places,
        &Connect {
            brokers: &brokers,
            config: connect::config(replicas, &prefix),
            trust: &kafka.managed_secret_ref.name,
            user: &user,
        },
    )?;
    // Parity: copies go where the spec says, the login goes where the environment really is.
    copy(pass, &kafka.managed_secret_ref.namespace, &secret)?;
    add_login(pass, &user, &password)?;
    let ca = places.ca_secret();
    if places.namespace != scene.environment.spec.target_namespace {
        let secret = credentials::stored(scene.world, places.namespace, &ca)?;
        let secret = secret.map_err(ProviderError::Failed)?;
        copy(pass, places.namespace, &secret)?;
    }
    Ok(())
}

pub(super) fn app(pass: &mut AppPass<'_>) -> Result<(), ProviderError> {
    if pass.app.spec.kafka_topics.is_empty() {
        return Ok(());
    }
    let brokers = managed::tracked_brokers(pass)?;
    let topics = topics::add_ephemeral(pass)?;
    pass.config.kafka = Some(KafkaConfig { brokers, topics });
    if pass.app.spec.cyndi.enabled {
        let places = Places::of(&pass.scene);
        cyndi::provide(pass, &places)?;
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
    pass: &mut EnvironmentPass<'_>,
    namespace: &str,
    secret: &SecretFacts,
) -> Result<(), ProviderError> {
    let target = &pass.scene.environment.spec.target_namespace;
    if target.is_empty() {
        return Err(ProviderError::bare(
            "kafka mode ephem-msk needs an environment with a targetNamespace",
        ));
    }
    if namespace == target {
        return Ok(());
    }
    let copy = pullsecret::copy_as(&pass.scene, (target, &secret.name), secret);
    // The type of a Secret cannot be changed.
    pass.set.add_with(UNIT, &copy, Policy::Recreate)?;
    Ok(())
}

/// What Kafka Connect logs in with.
fn add_login(
    pass: &mut EnvironmentPass<'_>,
    user: &str,
    password: &str,
) -> Result<(), ProviderError> {
    let scene = pass.scene;
    let key = ObjectKey::new(kinds::SECRET, scene.target_namespace, user);
    if user.is_empty() || pass.set.get(&key).is_some() {
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
            (scene.target_namespace, user),
            names::environment_labels(scene.environment_name()),
            &names::environment_owner(scene.environment),
        ),
        type_: Some("Opaque".to_owned()),
        data: Some(data.into()),
        ..Secret::default()
    };
    pass.set.add(UNIT, &secret)?;
    Ok(())
}
