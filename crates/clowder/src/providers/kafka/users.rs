//! Who may do what in the cluster of an environment.

use mainstay_engine::ObjectKey;
use serde_json::{Value, json};

use super::places::Places;
use crate::{
    kinds, names,
    providers::{
        app_config::{BrokerConfig, SaslConfig, TopicConfig},
        credentials,
        custom::CustomObject,
        provider::{AppRender, Context, ProviderError},
    },
};

/// How users log in, in Strimzi's words.
pub(super) const MECHANISM: &str = "scram-sha-512";
/// The same in Kafka's words.
const SASL_MECHANISM: &str = "SCRAM-SHA-512";
/// Logged in over TLS.
pub(super) const SASL_SSL: &str = "SASL_SSL";

/// The user of Kafka Connect.
pub(super) fn connect_user(context: &Context<'_>) -> String {
    names::part(context.environment_name(), "connect")
}

/// The user of Kafka Connect, who may do everything. Parity: where nobody has to log in, it may do nothing.
pub(super) fn build_for_connect(context: &Context<'_>, places: &Places<'_>) -> CustomObject {
    let is_legacy = context
        .environment
        .spec
        .providers
        .kafka
        .enable_legacy_strimzi;
    let spec = if is_legacy { json!({}) } else { spec(["*"]) };
    build(
        context,
        places,
        (places.connect_namespace, &connect_user(context)),
        spec,
    )
}

/// The user of an app, who may use its topics.
pub(super) fn build_for_app(
    ctx: &AppRender<'_>,
    places: &Places<'_>,
    topics: &[TopicConfig],
) -> CustomObject {
    let name = names::part(ctx.shared.environment_name(), ctx.app_name());
    let spec = spec(topics.iter().map(|topic| topic.name.as_str()));
    build(&ctx.shared, places, (places.namespace, &name), spec)
}

fn build(
    context: &Context<'_>,
    places: &Places<'_>,
    place: (&str, &str),
    spec: Value,
) -> CustomObject {
    let labels = names::overlaid(
        names::environment_labels(context.environment_name()),
        &[("strimzi.io/cluster", places.cluster)],
    );
    let metadata = names::metadata(
        place,
        labels,
        &names::environment_owner(context.environment),
    );
    CustomObject::new(kinds::KAFKA_USER, metadata, spec)
}

fn spec<'topic>(topics: impl IntoIterator<Item = &'topic str>) -> Value {
    let rule = |kind: &str, name: &str| {
        json!({"host": "*", "operation": "All",
            "resource": {"type": kind, "name": name, "patternType": "literal"}})
    };
    let topics = topics.into_iter().map(|topic| rule("topic", topic));
    let rules: Vec<Value> = topics.chain([rule("group", "*")]).collect();
    json!({
        "authentication": {"type": MECHANISM},
        "authorization": {"type": "simple", "acls": rules},
    })
}

/// Tells the app how to log in, once Strimzi has made its user. Parity: the brokers themselves do not say that the
/// protocol is secure, only the login does.
pub(super) fn log_in(
    ctx: &mut AppRender<'_>,
    user: &ObjectKey,
    brokers: &mut [BrokerConfig],
) -> Result<(), ProviderError> {
    let lookup = ctx.shared.lookup;
    for broker in brokers
        .iter_mut()
        .filter(|broker| broker.authtype.is_some())
    {
        let facts = lookup.reported(user).unwrap_or_default();
        let fact = |name: &str| facts.get(name).and_then(Value::as_str);
        let missing = |what: &str| ProviderError::bare(format!("no {what} in kafkauser status"));
        let username = fact("username").ok_or_else(|| missing("username"))?;
        let name = fact("secret").ok_or_else(|| missing("secret"))?;
        let secret = credentials::stored(lookup, &user.namespace, name)?;
        let secret = secret.map_err(ProviderError::Failed)?;
        ctx.associations
            .track_for_environment(lookup, &user.namespace, name)?;
        let password = secret.text("password");
        let password =
            password.ok_or_else(|| ProviderError::bare("no password in kafkauser secret"))?;
        broker.sasl = Some(SaslConfig {
            password: Some(password),
            sasl_mechanism: Some(SASL_MECHANISM.to_owned()),
            security_protocol: Some(SASL_SSL.to_owned()),
            username: Some(username.to_owned()),
        });
    }
    Ok(())
}
