//! A web-local environment: passwords of a login server, a host that is chosen, a gateway that follows the apps.

use futures::future::join_all;
use mainstay_testkit::{campaign::Campaign, namespace::object_when};
use serde_json::{Value, json};

use super::{Apps, Step, app_gone};
use crate::shared::clowder::stage::{CONFIG_MAP, Stage, web_app, web_local};

const VERSION: &str = "24.0.0";

/// What users do with an environment that logs in by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WebLocal {
    /// A new environment with a gateway and two apps.
    Fresh,
    /// Another version of the login server, and paths that need no login.
    Version,
    /// One of the apps goes.
    Deletion,
}

fn environment(version: &str) -> Value {
    web_local(&json!({
        "keycloakVersion": version,
        "gatewayCert": {"enabled": true, "certMode": "self-signed"},
    }))
}

impl WebLocal {
    fn apps(self) -> &'static [&'static str] {
        match self {
            Self::Fresh | Self::Version => &["shop", "stock"],
            Self::Deletion => &["shop"],
        }
    }
}

impl Step for WebLocal {
    const LASTING: &str = "shop";

    async fn change(self, stage: &Stage) {
        match self {
            Self::Fresh => {
                stage.create_environment(environment("23.0.1")).await;
                for name in self.apps() {
                    stage.create_app(name, web_app()).await;
                }
            }
            Self::Version => {
                let newer = json!({"spec": environment(VERSION)});
                stage.patch_environment(newer).await;
                let mut app = web_app();
                let public = &mut app["deployments"][0]["webServices"]["public"];
                public["whitelistPaths"] = json!(["/open"]);
                stage.patch_app("shop", json!({"spec": app})).await;
            }
            Self::Deletion => stage.delete_app("stock").await,
        }
    }

    async fn ended(self, stage: &Stage) {
        let left = self.apps();
        if self == Self::Deletion {
            app_gone(stage, "stock").await;
        }
        stage.environment_lists(left.len()).await;
        join_all(left.iter().map(|name| stage.app_ready(name))).await;
        let name = format!("{}-caddy-gateway", stage.environment);
        let follows = |config: &Value| {
            let text = config["data"]["Caddyfile.json"]
                .as_str()
                .unwrap_or_default();
            let leads_to = |app: &&str| text.contains(&format!("{app}-web."));
            let open = text.contains("/open") == (self != Self::Fresh);
            let gone = left.len() == 2 || !text.contains("stock-web.");
            open && gone && left.iter().all(leads_to)
        };
        let maps = stage.api(CONFIG_MAP);
        object_when(&maps, &name, "follows the apps", follows).await;
        let passwords = stage
            .secret(&format!("{}-keycloak", stage.environment))
            .await;
        assert_eq!(passwords["version"] == VERSION, self != Self::Fresh);
    }
}

/// The passwords of the login server are made once; their Secret also holds its version, which changes once.
pub(crate) static WEB_LOCAL: Campaign<Apps<WebLocal>> = Campaign::new(Apps {
    steps: &[WebLocal::Fresh, WebLocal::Version, WebLocal::Deletion],
    made_up: |stage| {
        let passwords = format!("{}-keycloak", stage.environment);
        vec![passwords.clone(), passwords, "keycloak-db".to_owned()]
    },
});
