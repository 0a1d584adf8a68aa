//! Secrets of others, which the operator has to see pass by and not to keep.

use kube::{
    Client,
    api::{DynamicObject, PostParams},
};
use mainstay_testkit::Namespace;
use serde_json::json;

use crate::lanes::in_lanes;

/// Bytes of content.
const SIZE: usize = 10 * 1024;

/// Creates so many.
pub(super) async fn create(client: &Client, count: usize) -> anyhow::Result<()> {
    let namespace = Namespace::create(client, "foreign").await;
    let secrets = namespace.api("v1", "Secret", "secrets");
    let content = "x".repeat(SIZE);
    let numbers: Vec<usize> = (0..count).collect();
    let create = |number: &usize| {
        let secret = json!({
            "apiVersion": "v1", "kind": "Secret", "metadata": {"name": format!("foreign-{number:05}")},
            "stringData": {"content": content},
        });
        let secrets = secrets.clone();
        async move {
            let secret: DynamicObject = serde_json::from_value(secret)?;
            secrets.create(&PostParams::default(), &secret).await?;
            Ok(())
        }
    };
    in_lanes(&numbers, create).await?;
    Ok(())
}
