//! What the cluster serves.

use kube::Client;

use crate::error::is_missing;

/// Whether a group and version is served. Only a clear 404 means no; every other failure is an error, because a
/// wrong guess here would put objects of the wrong kind into the cluster.
pub async fn serves(client: &Client, api_version: &str) -> Result<bool, kube::Error> {
    match client.list_api_group_resources(api_version).await {
        Ok(_) => Ok(true),
        Err(error) if is_missing(&error) => Ok(false),
        Err(error) => Err(error),
    }
}
