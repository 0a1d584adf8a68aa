//! What the process is told at its start.

use crate::names;

/// Type of the cluster. Found out once, by asking for `route.openshift.io/v1`, and never guessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ClusterType {
    /// Plain Kubernetes: exposure is an Ingress.
    Vanilla,
    /// OpenShift: exposure is a Route.
    OpenShift,
}

/// Group and version whose presence makes a cluster an OpenShift.
pub const ROUTE_GROUP_VERSION: &str = "route.openshift.io/v1";

/// Settings of the system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Type of the cluster.
    pub cluster_type: ClusterType,
    /// Image of the editor for objects that name none.
    pub default_image: String,
}

impl Settings {
    /// Settings with the default image resolved: the first of environment and build that is not empty, else the
    /// moving tag [`names::DEFAULT_IMAGE`].
    pub fn new(
        cluster_type: ClusterType,
        environment: Option<&str>,
        built_in: Option<&str>,
    ) -> Self {
        let chosen = [environment, built_in]
            .into_iter()
            .flatten()
            .find(|image| !image.is_empty());
        Self {
            cluster_type,
            default_image: chosen.unwrap_or(names::DEFAULT_IMAGE).to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_beats_the_build_which_beats_the_moving_tag() {
        let image = |environment, built_in| {
            Settings::new(ClusterType::Vanilla, environment, built_in).default_image
        };
        assert_eq!(image(Some("env:1"), Some("built:1")), "env:1");
        assert_eq!(image(None, Some("built:1")), "built:1");
        assert_eq!(image(Some(""), Some("built:1")), "built:1");
        assert_eq!(
            image(Some(""), Some("")),
            "quay.io/kaotoio/kaoto-app:stable"
        );
        assert_eq!(image(None, None), "quay.io/kaotoio/kaoto-app:stable");
    }
}
