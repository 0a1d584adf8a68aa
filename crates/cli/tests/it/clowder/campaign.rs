//! Crashes and faults: whatever happens between operator and API server, the end is the same, and nothing is made up
//! twice.

mod frame;
mod kafka;
mod web_local;

use futures::future::join_all;
use serde_json::{Value, json};

use self::frame::{
    Campaign, Workload, app_gone, ends_as_undisturbed, survives_a_crash_at_every_write,
};
use super::stage::{DEPLOYMENT, Stage, container, merge, web_app};

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
enum Storage {
    /// A new environment with three apps that have databases, caches and an object store.
    Fresh,
    /// Every app gets another image.
    Image,
    /// One of the apps goes.
    Deletion,
}

impl Workload for Storage {
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

static STORAGE: Campaign<Storage> = Campaign::new(
    &[Storage::Fresh, Storage::Image, Storage::Deletion],
    |stage| {
        let minio = format!("{}-minio", stage.environment);
        vec!["shop-db".to_owned(), "prices-db".to_owned(), minio]
    },
);

#[tokio::test]
async fn a_crash_at_every_write_leaves_no_trace() {
    survives_a_crash_at_every_write(&STORAGE, 31).await;
}

#[tokio::test]
async fn one_failing_request_in_a_hundred_changes_nothing() {
    ends_as_undisturbed(&STORAGE, (1, 7), 1).await;
}

#[tokio::test]
async fn one_failing_request_in_ten_changes_nothing() {
    ends_as_undisturbed(&STORAGE, (10, 10), 10).await;
}

#[tokio::test]
async fn every_second_request_failing_changes_nothing() {
    ends_as_undisturbed(&STORAGE, (50, 50), 50).await;
}
