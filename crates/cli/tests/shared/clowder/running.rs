//! An operator as a process, with the features that most tests want.

use std::{fs, path::Path};

use mainstay_testkit::Operator;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{account, input::merge};
use crate::shared::program::mainstay;

const CONFIG_FILE: &str = "clowder_config.json";

/// An operator with its configuration file.
#[derive(Debug)]
pub(crate) struct RunningOperator {
    pub(crate) process: Operator,
    directory: TempDir,
}

impl AsMut<Operator> for RunningOperator {
    fn as_mut(&mut self) -> &mut Operator {
        &mut self.process
    }
}

impl RunningOperator {
    /// Starts one and waits until it is ready.
    pub(crate) async fn start(kubeconfig: &Path, arguments: &[&str]) -> Self {
        let mut operator = Self::begin(kubeconfig, arguments);
        operator.process.ready().await;
        operator
    }

    /// Starts one.
    pub(crate) fn begin(kubeconfig: &Path, arguments: &[&str]) -> Self {
        Self::configured(kubeconfig, &json!({"disableWebhooks": true}), arguments)
    }

    /// Starts one with these features.
    pub(crate) fn configured(kubeconfig: &Path, features: &Value, arguments: &[&str]) -> Self {
        Self::with_config(kubeconfig, &json!({"features": features}), arguments)
    }

    /// Starts one with these changes to its configuration file.
    pub(crate) fn with_config(kubeconfig: &Path, changes: &Value, arguments: &[&str]) -> Self {
        let directory = TempDir::new().unwrap();
        let path = directory.path().join(CONFIG_FILE);
        let mut config = json!({"features": {
            "createServiceMonitor": true, "enableKedaResources": true,
            "watchStrimziResources": true,
        }});
        merge(&mut config, changes);
        fs::write(&path, config.to_string()).unwrap();
        let mut all = vec!["--systems", "clowder"];
        if !arguments
            .iter()
            .any(|flag| flag.starts_with("--leader-election"))
        {
            all.push("--leader-election=false");
        }
        all.extend(arguments);
        let variables = [("CLOWDER_CONFIG_PATH", path.as_path())];
        let kubeconfig = account::kubeconfig(kubeconfig, directory.path());
        Self {
            process: Operator::start_in(mainstay(), &kubeconfig, &all, &variables),
            directory,
        }
    }

    /// Its configuration file, for commands that have to know what it knows.
    pub(crate) fn config_path(&self) -> String {
        let path = self.directory.path().join(CONFIG_FILE);
        path.to_str().unwrap().to_owned()
    }
}
