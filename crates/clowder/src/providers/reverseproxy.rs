//! Provider `reverseproxy`.

use crate::provider::{AppPass, EnvironmentPass, Provider, ProviderError, Scene};

/// The provider.
#[derive(Debug)]
pub struct ReverseProxy;

impl Provider for ReverseProxy {
    fn name(&self) -> &'static str {
        "reverseproxy"
    }

    fn environment(&self, pass: &mut EnvironmentPass<'_>) -> Result<(), ProviderError> {
        without_proxy(&pass.scene)
    }

    fn app(&self, pass: &mut AppPass<'_>) -> Result<(), ProviderError> {
        without_proxy(&pass.scene)
    }
}

fn without_proxy(scene: &Scene<'_>) -> Result<(), ProviderError> {
    match scene.environment.spec.providers.reverse_proxy.mode.as_str() {
        "none" | "" => Ok(()),
        mode => Err(ProviderError::no_mode("reverse proxy", mode)),
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
            let case = case(json!({"reverseProxy": {"mode": mode}}), json!({}));
            assert_eq!(
                case.render(&[&ReverseProxy]).unwrap().names(),
                Vec::<String>::new()
            );
            assert_eq!(
                case.render_environment(&ReverseProxy).unwrap().names(),
                Vec::<String>::new()
            );
        }
        let unknown = case(json!({"reverseProxy": {"mode": "local"}}), json!({}));
        let failure = unknown.render(&[&ReverseProxy]).unwrap_err();
        assert!(matches!(failure, ProviderError::Setup(_)));
        assert_eq!(
            failure.to_string(),
            "No matching reverse proxy mode for local: "
        );
        assert!(unknown.render_environment(&ReverseProxy).is_err());
    }
}
