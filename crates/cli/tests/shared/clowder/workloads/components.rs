//! Everything that an environment can run by itself, and three apps that use it.

use mainstay_testkit::campaign::Campaign;

use super::{Apps, Step};
use crate::shared::clowder::stage::{Stage, components, stored_app};

const APPS: [&str; 3] = ["shop", "stock", "prices"];

/// What users do.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fresh;

impl Step for Fresh {
    const LASTING: &str = "shop";

    async fn change(self, stage: &Stage) {
        stage.create_environment(components()).await;
        for name in APPS {
            stage.create_app(name, stored_app()).await;
        }
    }

    async fn ended(self, stage: &Stage) {
        for name in APPS {
            stage.app_ready(name).await;
        }
        // It lists its apps in its own time.
        stage.environment_lists(APPS.len()).await;
    }
}

pub(crate) static COMPONENTS: Campaign<Apps<Fresh>> = Campaign::new(Apps {
    steps: &[Fresh],
    made_up: |stage| {
        let environment = &stage.environment;
        let of_apps = APPS.iter().map(|name| format!("{name}-db"));
        let own = [
            format!("{environment}-minio"),
            format!("{environment}-featureflags"),
            "featureflags-db".to_owned(),
        ];
        of_apps.chain(own).collect()
    },
});
