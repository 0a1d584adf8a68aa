//! Passes over small environments and apps, for the tests of providers.

use mainstay_api::clowder::{ClowdApp, ClowdEnvironment};
use mainstay_engine::{
    ObjectSet, live::LiveObject, owned::Owned, snapshot::FileSnapshot, unit::UnitFailure,
};
use serde_json::{Value, json};

use crate::{
    kinds,
    providers::{
        app_config::AppConfig,
        confighash::Associations,
        provider::{self, AppRender, Context, EnvironmentRender, Provider, ProviderError},
    },
    settings::Settings,
    views::{self, lookup::Lookup},
};

/// An environment and an app of it, before some providers run.
#[derive(Debug)]
pub(crate) struct Case {
    pub(crate) environment: Value,
    pub(crate) app: Value,
    pub(crate) settings: Settings,
    pub(crate) snapshot: FileSnapshot,
    pub(crate) config: AppConfig,
    pub(crate) target_namespace: &'static str,
}

/// What they made.
#[derive(Debug)]
pub(crate) struct Rendered {
    pub(crate) set: ObjectSet,
    pub(crate) config: Value,
}

/// The environment `stage` with these providers, and the app `shop` in the namespace `market` with this spec.
pub(crate) fn case(providers: Value, app: Value) -> Case {
    let mut environment = json!({
        "metadata": {"name": "stage", "uid": "environment-uid"},
        "spec": {"resourceDefaults": {"limits": {"cpu": "400m", "memory": "512Mi"},
            "requests": {"cpu": "40m", "memory": "64Mi"}}},
    });
    environment["spec"]["providers"] = providers;
    let mut shop = json!({"metadata": {"name": "shop", "namespace": "market", "uid": "app-uid"}});
    shop["spec"] = app;
    Case {
        environment,
        app: shop,
        settings: Settings::default(),
        snapshot: views::files([]),
        config: AppConfig::default(),
        target_namespace: "stage-env",
    }
}

/// What the cluster knows of an object, reduced to its facts.
pub(crate) fn live(key: mainstay_engine::ObjectKey, facts: Value) -> LiveObject {
    LiveObject {
        key,
        uid: "live-uid".to_owned(),
        resource_version: "1".to_owned(),
        deleting: false,
        owners: Vec::new(),
        owned: Owned::default(),
        marked: None,
        foreign_items: Vec::new(),
        migrated_managed_fields: None,
        facts,
    }
}

/// A Secret.
pub(crate) fn secret(namespace: &str, name: &str, values: Value) -> Value {
    let mut secret = json!({"apiVersion": "v1", "kind": "Secret",
        "metadata": {"namespace": namespace, "name": name}});
    secret["stringData"] = values;
    secret
}

/// Another app of the environment.
pub(crate) fn other_app(namespace: &str, name: &str, mut spec: Value) -> Value {
    spec["envName"] = json!("stage");
    json!({"apiVersion": "cloud.redhat.com/v1alpha1", "kind": "ClowdApp",
        "metadata": {"namespace": namespace, "name": name}, "spec": spec})
}

impl Case {
    /// The same with these objects in the cluster.
    pub(crate) fn among(mut self, objects: impl IntoIterator<Item = Value>) -> Self {
        for object in objects {
            self.snapshot.add(object);
        }
        self
    }

    fn environment(&self) -> ClowdEnvironment {
        let mut environment = self.environment.clone();
        environment["apiVersion"] = json!("cloud.redhat.com/v1alpha1");
        environment["kind"] = json!("ClowdEnvironment");
        serde_json::from_value(environment).unwrap()
    }

    /// Runs providers over the app.
    pub(crate) fn render(&self, providers: &[&dyn Provider]) -> Result<Rendered, ProviderError> {
        let app = self.app();
        let environment = self.environment();
        let mut set = ObjectSet::new(kinds::KINDS);
        let mut ctx = self.app_pass(&app, &environment, &mut set);
        for provider in providers {
            provider.app(&mut ctx)?;
        }
        let config = serde_json::to_value(&ctx.config).unwrap();
        Ok(Rendered { set, config })
    }

    /// Runs a provider over the environment.
    pub(crate) fn render_environment(
        &self,
        provider: &dyn Provider,
    ) -> Result<Rendered, ProviderError> {
        self.render_environment_with(&[provider])
    }

    /// Runs providers over the environment.
    pub(crate) fn render_environment_with(
        &self,
        providers: &[&dyn Provider],
    ) -> Result<Rendered, ProviderError> {
        let environment = self.environment();
        let mut set = ObjectSet::new(kinds::KINDS);
        let mut ctx = EnvironmentRender {
            shared: self.context(&environment),
            set: &mut set,
        };
        for provider in providers {
            provider.environment(&mut ctx)?;
        }
        Ok(Rendered {
            set,
            config: Value::Null,
        })
    }

    /// How a reconcile over the app fails, in which these are all providers.
    pub(crate) fn app_failure(&self, providers: &[&dyn Provider]) -> UnitFailure {
        let app = self.app();
        let environment = self.environment();
        let mut set = ObjectSet::new(kinds::KINDS);
        let mut ctx = self.app_pass(&app, &environment, &mut set);
        provider::run_app(providers, &mut ctx).unwrap_err()
    }

    /// How a reconcile over the environment fails, in which these are all providers.
    pub(crate) fn environment_failure(&self, providers: &[&dyn Provider]) -> UnitFailure {
        let environment = self.environment();
        let mut set = ObjectSet::new(kinds::KINDS);
        let mut ctx = EnvironmentRender {
            shared: self.context(&environment),
            set: &mut set,
        };
        provider::run_environment(providers, &mut ctx).unwrap_err()
    }

    fn app(&self) -> ClowdApp {
        let mut app = self.app.clone();
        app["apiVersion"] = json!("cloud.redhat.com/v1alpha1");
        app["kind"] = json!("ClowdApp");
        app["spec"]["envName"] = json!("stage");
        serde_json::from_value(app).unwrap()
    }

    fn app_pass<'render>(
        &'render self,
        app: &'render ClowdApp,
        environment: &'render ClowdEnvironment,
        set: &'render mut ObjectSet,
    ) -> AppRender<'render> {
        AppRender {
            shared: self.context(environment),
            app,
            config: self.config.clone(),
            associations: Associations::default(),
            set,
        }
    }

    fn context<'render>(&'render self, environment: &'render ClowdEnvironment) -> Context<'render> {
        Context {
            environment,
            target_namespace: self.target_namespace,
            settings: &self.settings,
            lookup: Lookup::new(&self.snapshot, &self.settings),
        }
    }
}

impl Rendered {
    /// The object of this kind and name.
    pub(crate) fn object(&self, kind: &str, name: &str) -> &Value {
        self.set
            .bodies()
            .find(|body| body["kind"] == kind && body["metadata"]["name"] == name)
            .unwrap_or_else(|| panic!("no {kind} {name} in {:?}", self.names()))
    }

    /// Kinds and names, in order.
    pub(crate) fn names(&self) -> Vec<String> {
        let keys = self.set.iter().map(|entry| &entry.key);
        keys.map(|key| format!("{} {}", key.kind, key.path()))
            .collect()
    }

    /// Pod of a Deployment.
    pub(crate) fn pod(&self, name: &str) -> &Value {
        &self.object("Deployment", name)["spec"]["template"]["spec"]
    }
}
