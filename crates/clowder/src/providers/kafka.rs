//! Provider `kafka`.

use crate::provider::{AppPass, EnvironmentPass, Provider, ProviderError, Scene};

/// The provider.
#[derive(Debug)]
pub struct Kafka;

impl Provider for Kafka {
    fn name(&self) -> &'static str {
        "kafka"
    }

    fn environment(&self, pass: &mut EnvironmentPass<'_>) -> Result<(), ProviderError> {
        without_kafka(&pass.scene)
    }

    fn app(&self, pass: &mut AppPass<'_>) -> Result<(), ProviderError> {
        without_kafka(&pass.scene)
    }
}

/// Topics of apps are not looked at: the environment has nowhere to put them.
fn without_kafka(scene: &Scene<'_>) -> Result<(), ProviderError> {
    match scene.environment.spec.providers.kafka.mode.as_str() {
        "none" | "" => Ok(()),
        mode => Err(ProviderError::no_mode("kafka", mode)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::providers::fixture::case;

    #[test]
    fn nothing_is_made_where_nothing_is_wanted_and_unknown_modes_are_refused() {
        for mode in ["none", ""] {
            let case = case(json!({"kafka": {"mode": mode}}), json!({}));
            assert_eq!(
                case.render(&[&Kafka]).unwrap().names(),
                Vec::<String>::new()
            );
            assert_eq!(
                case.render_environment(&Kafka).unwrap().names(),
                Vec::<String>::new()
            );
        }
        let unknown = case(json!({"kafka": {"mode": "local"}}), json!({}));
        let failure = unknown.render(&[&Kafka]).unwrap_err();
        assert!(matches!(failure, ProviderError::Setup(_)));
        assert_eq!(failure.to_string(), "No matching kafka mode for local: ");
        assert!(unknown.render_environment(&Kafka).is_err());
    }
}
