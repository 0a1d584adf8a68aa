//! Apps with databases, caches and an object store.

use futures::future::join_all;
use mainstay_testkit::campaign::Campaign;
use serde_json::{Value, json};

use super::{Apps, Step, app_gone};
use crate::shared::clowder::stage::{DEPLOYMENT, Stage, container, merge, web_app};

const APPS: [&str; 3] = ["shop", "stock", "prices"];

/// One app with a database, one with a cache that depends on it, and one with another database.
fn app(name: &str, version: u32) -> Value {
    let mut app = web_app();
    let storage = match name {
        "stock" => json!({"inMemoryDb": true, "dependencies": ["shop"]}),
        _ => json!({"database": {"name": "goods"}}),
    };
    merge(&mut app, &storage);
    app["deployments"][0]["podSpec"]["image"] = json!(format!("registry.test/shop:{version}"));
    app
}

/// What users do with databases, caches and stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Storage {
    /// A new environment with three apps that have databases, caches and an object store.
    Fresh,
    /// Every app gets another image.
    Image,
    /// One of the apps goes.
    Deletion,
}

impl Step for Storage {
    const LASTING: &str = "shop";

    async fn change(self, stage: &Stage) {
        match self {
            Self::Fresh => {
                let local = json!({
                    "db": {"mode": "local"}, "inMemoryDb": {"mode": "redis"},
                    "objectStore": {"mode": "minio"},
                });
                stage.create_environment(json!({"providers": local})).await;
                for name in APPS {
                    stage.create_app(name, app(name, 1)).await;
                }
            }
            Self::Image => {
                for name in APPS {
                    stage.patch_app(name, json!({"spec": app(name, 2)})).await;
                }
            }
            Self::Deletion => stage.delete_app("prices").await,
        }
    }

    async fn ended(self, stage: &Stage) {
        let left = match self {
            Self::Fresh | Self::Image => &APPS[..],
            Self::Deletion => {
                app_gone(stage, "prices").await;
                &APPS[..2]
            }
        };
        stage.environment_lists(left.len()).await;
        join_all(left.iter().map(|name| stage.app_ready(name))).await;
        if self == Self::Image {
            for name in left {
                let deployment = stage.get(DEPLOYMENT, &format!("{name}-web")).await;
                assert_eq!(container(&deployment)["image"], "registry.test/shop:2");
            }
        }
    }
}

pub(crate) static STORAGE: Campaign<Apps<Storage>> = Campaign::new(Apps {
    steps: &[Storage::Fresh, Storage::Image, Storage::Deletion],
    made_up: |stage| {
        let minio = format!("{}-minio", stage.environment);
        vec!["shop-db".to_owned(), "prices-db".to_owned(), minio]
    },
});
