//! The operator's own configuration: a JSON file that the original reads too.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

/// Where the configuration file lies.
pub const DEFAULT_PATH: &str = "/config/clowder_config.json";
/// Variable that names another place.
pub const PATH_VARIABLE: &str = "CLOWDER_CONFIG_PATH";
/// Annotation of Secrets and ConfigMaps whose changes restart pods.
pub const RESTARTER_ANNOTATION: &str = "qontract.recycle";
/// Namespace of an operator that does not know its own.
pub const DEFAULT_NAMESPACE: &str = "clowder-system";

/// What the process is told at its start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The configuration file.
    pub config: OperatorConfig,
    /// Namespace that the operator runs in.
    pub namespace: String,
    /// Whether the configuration Secret of an app is named `<app>-cdappconfig`, as the original's documents say,
    /// and not `<app>`, as the original does.
    pub suffixed_config_secret: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            config: OperatorConfig::default(),
            namespace: DEFAULT_NAMESPACE.to_owned(),
            suffixed_config_secret: false,
        }
    }
}

impl Settings {
    /// Name of the configuration Secret of an app.
    pub fn config_secret(&self, app: &str) -> String {
        if self.suffixed_config_secret {
            format!("{app}-cdappconfig")
        } else {
            app.to_owned()
        }
    }
}

/// The configuration file. Field order is the order in which the introspection API shows it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[expect(
    missing_docs,
    reason = "the names are the contract, and docs/reference explains them"
)]
pub struct OperatorConfig {
    pub images: Images,
    #[serde(rename = "debugOptions")]
    pub debug_options: DebugOptions,
    pub features: Features,
    pub settings: RestartSettings,
}

macro_rules! section {
    ($(#[$note:meta])* $name:ident { $($field:ident: $type:ty = $key:literal,)+ }) => {
        $(#[$note])*
        #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(default)]
        #[expect(missing_docs, reason = "the names are the contract, and docs/reference explains them")]
        #[allow(clippy::struct_excessive_bools, reason = "the file has them")]
        pub struct $name { $(#[serde(rename = $key)] pub $field: $type,)+ }
    };
}

section! {
    /// Images of components, where an environment names none.
    Images {
        mbop: String = "mbop",
        caddy: String = "caddy",
        caddy_gateway: String = "caddyGateway",
        caddy_proxy: String = "caddyProxy",
        keycloak: String = "Keycloak",
        mocktitlements: String = "mocktitlements",
        caddy_reverse_proxy: String = "caddyReverseProxy",
        object_store_minio: String = "objectStoreMinio",
        feature_flags_unleash: String = "featureFlagsUnleash",
        feature_flags_unleash_edge: String = "featureFlagsUnleashEdge",
        token_refresher: String = "tokenRefresher",
        otel_collector: String = "otelCollector",
        in_memory_db: String = "inMemoryDB",
        prometheus_gateway: String = "prometheusGateway",
        reverse_proxy: String = "reverseProxy",
    }
}
section! {
    /// What is logged besides.
    DebugOptions {
        logging: LoggingOptions = "logging",
        trigger: TriggerOptions = "trigger",
        cache: CacheOptions = "cache",
        pprof: ProfilingOptions = "pprof",
    }
}
section! {
    /// Logging of providers.
    LoggingOptions { debug_logging: bool = "debugLogging", }
}
section! {
    /// Logging of triggers.
    TriggerOptions { diff: bool = "diff", }
}
section! {
    /// Logging of writes.
    CacheOptions { create: bool = "create", update: bool = "update", apply: bool = "apply", }
}
section! {
    /// Profiling.
    ProfilingOptions { enable: bool = "enable", cpu_file: String = "cpuFile", }
}
section! {
    /// Switches.
    Features {
        create_service_monitor: bool = "createServiceMonitor",
        disable_webhooks: bool = "disableWebhooks",
        watch_strimzi_resources: bool = "watchStrimziResources",
        use_complex_strimzi_topic_names: bool = "useComplexStrimziTopicNames",
        enable_auth_sidecar_hook: bool = "enableAuthSidecarHook",
        enable_keda_resources: bool = "enableKedaResources",
        per_provider_metrics: bool = "perProviderMetrics",
        reconciliation_metrics: bool = "reconciliationMetrics",
        enable_dependency_metrics: bool = "enableDependencyMetrics",
        disable_cloud_watch_logging: bool = "disableCloudWatchLogging",
        enable_external_strimzi: bool = "enableExternalStrimzi",
        disable_random_routes: bool = "disableRandomRoutes",
        disable_strimzi_finalizer: bool = "disableStrimziFinalizer",
    }
}

/// Settings of restarts, and limits.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct RestartSettings {
    /// Accepted and not used, as by the original.
    pub managed_kafka_ephem_delete_regex: String,
    /// The annotation of what restarts apps when it changes.
    pub restarter_annotation: String,
    /// The most that an app or an environment can give to pods. Not the original's; shown only if it is set.
    #[serde(skip_serializing_if = "MaxAccessLevel::is_edit")]
    pub max_access_level: MaxAccessLevel,
    /// Whether an environment has to name the namespaces that may join it. Not the original's; shown only if it is set.
    #[serde(
        skip_serializing_if = "std::ops::Not::not",
        deserialize_with = "unless_it_says_no"
    )]
    pub require_environment_grant: bool,
    /// What becomes of objects that no controller has in the place of ours, by kind. Not the original's; shown only if it
    /// is set.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub unowned_objects: BTreeMap<String, Unowned>,
}

/// What becomes of an object that no controller has in the place of ours. A word that is not known touches nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String")]
pub enum Unowned {
    /// It is left as it is, and in the way.
    #[default]
    #[serde(rename = "refuse")]
    Refuse,
    /// It becomes ours, with the fields that others gave it.
    #[serde(rename = "adopt-unowned")]
    Adopt,
}

impl From<String> for Unowned {
    fn from(word: String) -> Self {
        match word.as_str() {
            "adopt-unowned" => Self::Adopt,
            _ => Self::Refuse,
        }
    }
}

/// Whatever is not a plain no counts as yes, for the reason of [`MaxAccessLevel`].
fn unless_it_says_no<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    let value = Value::deserialize(deserializer)?;
    Ok(!matches!(&value, Value::Null | Value::Bool(false))
        && !value
            .as_str()
            .is_some_and(|word| word.is_empty() || word == "false"))
}

/// A limit of `k8sAccessLevel`. A word that is not known allows nothing: a limit that is misspelt must not be lost, and
/// an error would be worse, because a file with one counts as empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", from = "String")]
pub enum MaxAccessLevel {
    /// Nobody is given anything.
    None,
    /// To read.
    View,
    /// To read and write: as the original.
    #[default]
    Edit,
}

impl From<String> for MaxAccessLevel {
    fn from(word: String) -> Self {
        match word.as_str() {
            "" | "edit" => Self::Edit,
            "view" => Self::View,
            _ => Self::None,
        }
    }
}

impl MaxAccessLevel {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
    fn is_edit(&self) -> bool {
        *self == Self::Edit
    }
}

impl OperatorConfig {
    /// Reads the text of the file. Keys match in any case, as the original's decoder does; unknown ones are ignored.
    /// An annotation that is not set is [`RESTARTER_ANNOTATION`].
    pub fn parse(text: &str) -> Result<Self, serde_json::Error> {
        let value: Value = serde_json::from_str(text)?;
        let mut known = serde_json::to_value(Self::default())?;
        // Not shown, and known all the same.
        for setting in [
            "maxAccessLevel",
            "requireEnvironmentGrant",
            "unownedObjects",
        ] {
            known["settings"][setting] = Value::Null;
        }
        let config: Self = serde_json::from_value(with_known_case(value, &known))?;
        Ok(config.with_restarter())
    }

    /// The configuration if there is no file. The original would not restart anything then; see the parity page.
    pub fn absent() -> Self {
        Self::default().with_restarter()
    }

    fn with_restarter(mut self) -> Self {
        if self.settings.restarter_annotation.is_empty() {
            RESTARTER_ANNOTATION.clone_into(&mut self.settings.restarter_annotation);
        }
        self
    }
}

/// The value with its keys written as in a value with all known keys.
fn with_known_case(value: Value, known: &Value) -> Value {
    let (Value::Object(fields), Value::Object(known)) = (&value, known) else {
        return value;
    };
    let renamed = fields.iter().filter_map(|(key, field)| {
        let (name, example) = known
            .iter()
            .find(|(name, _)| name.eq_ignore_ascii_case(key))?;
        Some((name.clone(), with_known_case(field.clone(), example)))
    });
    Value::Object(renamed.collect::<Map<_, _>>())
}

#[cfg(test)]
mod tests {
    use mainstay_engine::options::Adopt;

    use super::*;

    #[test]
    fn keys_match_in_any_case_and_unknown_ones_are_ignored() {
        let config = OperatorConfig::parse(
            r#"{"IMAGES": {"keycloak": "k:1"}, "features": {"CREATEservicemonitor": true, "new": 1}, "x": {}}"#,
        )
        .unwrap();
        assert_eq!(config.images.keycloak, "k:1");
        assert!(config.features.create_service_monitor);
        assert_eq!(config.settings.restarter_annotation, RESTARTER_ANNOTATION);
    }

    #[test]
    fn a_wrong_type_is_an_error() {
        assert!(OperatorConfig::parse(r#"{"features": {"disableWebhooks": "yes"}}"#).is_err());
    }

    #[test]
    fn the_most_access_is_the_original_s_unless_it_is_limited_in_whatever_word() {
        let parsed =
            |text: &str| OperatorConfig::parse(text).map(|it| it.settings.max_access_level);
        assert_eq!(parsed("{}").unwrap(), MaxAccessLevel::Edit);
        for (word, level) in [
            ("edit", MaxAccessLevel::Edit),
            ("view", MaxAccessLevel::View),
            ("none", MaxAccessLevel::None),
            ("", MaxAccessLevel::Edit),
            ("veiw", MaxAccessLevel::None),
        ] {
            let text = format!(r#"{{"settings": {{"maxaccesslevel": "{word}"}}}}"#);
            assert_eq!(parsed(&text).unwrap(), level, "{word}");
        }
    }

    #[test]
    fn grants_are_required_by_whatever_is_not_a_plain_no() {
        let parsed = |value: &str| {
            let text = format!(r#"{{"settings": {{"RequireEnvironmentGrant": {value}}}}}"#);
            let config = OperatorConfig::parse(&text).unwrap();
            config.settings.require_environment_grant
        };
        for (value, required) in [
            ("true", true),
            ("\"true\"", true),
            ("\"yes\"", true),
            ("1", true),
            ("{}", true),
            ("false", false),
            ("\"false\"", false),
            ("\"\"", false),
            ("null", false),
        ] {
            assert_eq!(parsed(value), required, "{value}");
        }
        let absent = OperatorConfig::parse("{}").unwrap();
        assert!(!absent.settings.require_environment_grant);
    }

    #[test]
    fn objects_of_nobody_are_taken_over_only_by_the_word_for_it() {
        let text = r#"{"settings": {"unownedObjects": {
            "PersistentVolumeClaim": "adopt-unowned", "KafkaTopic": "refuse", "Service": "adopt"}}}"#;
        let config = OperatorConfig::parse(text).unwrap();
        let settings = Settings {
            config,
            ..Settings::default()
        };
        let options = crate::options::of_operator(&settings);
        assert_eq!(
            options(&crate::kinds::PERSISTENT_VOLUME_CLAIM).adopt,
            Adopt::Unowned
        );
        for kind in [
            crate::kinds::KAFKA_TOPIC,
            crate::kinds::SERVICE,
            crate::kinds::SECRET,
        ] {
            assert_eq!(options(&kind).adopt, Adopt::Never);
        }
        let login = options(&crate::kinds::PERSISTENT_VOLUME_CLAIM).generated();
        assert_eq!(
            login.adopt,
            Adopt::Never,
            "values that were made up replace nothing"
        );
        let shown = serde_json::to_value(&settings.config).unwrap();
        let shown = &shown["settings"]["unownedObjects"];
        assert_eq!(shown["PersistentVolumeClaim"], "adopt-unowned");
    }

    #[test]
    fn the_whole_file_is_shown_in_the_order_of_the_original() {
        let text = serde_json::to_string(&OperatorConfig::default()).unwrap();
        assert!(
            text.starts_with(
                r#"{"images":{"mbop":"","caddy":"","caddyGateway":"","caddyProxy":"","Keycloak":"""#
            ),
            "{text}"
        );
        assert!(
            text.ends_with(
                r#""settings":{"managedKafkaEphemDeleteRegex":"","restarterAnnotation":""}}"#
            ),
            "{text}"
        );
    }

    #[test]
    fn the_secret_of_an_app_has_its_name_unless_told_otherwise() {
        let mut settings = Settings::default();
        assert_eq!(settings.config_secret("shop"), "shop");
        settings.suffixed_config_secret = true;
        assert_eq!(settings.config_secret("shop"), "shop-cdappconfig");
    }
}
