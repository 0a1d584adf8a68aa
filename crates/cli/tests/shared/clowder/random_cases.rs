//! Environments and apps at random, and changes of them: pure, and the same for the same seed.

use std::collections::BTreeMap;

use mainstay_testkit::random::mixed;
use serde_json::{Value, json};

use super::input::{merge, quiet_environment};

const GROUP_VERSION: &str = "cloud.redhat.com/v1alpha1";

/// Numbers of one seed, one after the other.
struct Dice {
    seed: u64,
    thrown: u64,
}

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        self.thrown += 1;
        mixed(self.seed, self.thrown) % limit
    }

    fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        let count = u64::try_from(all.len()).unwrap();
        all[usize::try_from(self.below(count)).unwrap()]
    }

    fn name_of<T>(&mut self, all: &BTreeMap<String, T>) -> Option<String> {
        let names: Vec<&String> = all.keys().collect();
        (!names.is_empty()).then(|| self.one_of(&names).clone())
    }
}

/// An environment with its apps and what they refer to, all of it valid.
pub(crate) struct Case {
    dice: Dice,
    /// Name of the environment and of its namespace.
    name: String,
    environment: Value,
    apps: BTreeMap<String, Value>,
    /// Secrets and `ConfigMap`s by kind and name.
    references: BTreeMap<String, Value>,
    /// Apps with a database of their own, in the order of their creation.
    databases: Vec<String>,
    changes: u64,
}

impl Case {
    /// The case with a number, in a namespace.
    pub(crate) fn new(seed: u64, number: u64, namespace: &str) -> Self {
        let mut case = Self {
            dice: Dice {
                seed: mixed(seed, number),
                thrown: 0,
            },
            name: namespace.to_owned(),
            environment: Value::Null,
            apps: BTreeMap::new(),
            references: BTreeMap::new(),
            databases: Vec::new(),
            changes: 0,
        };
        // A third of them refers to Secrets and ConfigMaps.
        if number.is_multiple_of(3) {
            for _ in 0..=case.dice.below(2) {
                case.add_reference();
            }
        }
        case.environment = case.new_environment();
        for _ in 0..=case.dice.below(2) {
            case.add_app();
        }
        case
    }

    /// Everything, as a user writes it.
    pub(crate) fn documents(&self) -> Vec<Value> {
        let references = self.references.values().cloned();
        let apps = self.apps.keys().map(|name| self.app(name));
        references.chain([self.environment()]).chain(apps).collect()
    }

    /// Changes something, and says what a user then applies: what changed, or everything.
    pub(crate) fn change(&mut self) -> Vec<Value> {
        self.changes += 1;
        let changed = match self.dice.below(10) {
            0..=2 => self.change_environment(),
            3 if !self.references.is_empty() => self.change_reference(),
            4 => {
                let name = self.add_app();
                self.app(&name)
            }
            _ => self.change_app(),
        };
        if self.dice.chance(25) {
            return self.documents();
        }
        vec![changed]
    }

    fn environment(&self) -> Value {
        json!({
            "apiVersion": GROUP_VERSION, "kind": "ClowdEnvironment",
            "metadata": {"name": self.name}, "spec": self.environment,
        })
    }

    fn app(&self, name: &str) -> Value {
        let mut app = self.apps[name].clone();
        app["spec"]["envName"] = json!(self.name);
        app["apiVersion"] = json!(GROUP_VERSION);
        app["kind"] = json!("ClowdApp");
        app["metadata"]["name"] = json!(name);
        app["metadata"]["namespace"] = json!(self.name);
        app
    }

    fn mode(&self, provider: &str) -> &str {
        let mode = &self.environment["providers"][provider]["mode"];
        mode.as_str().unwrap_or("none")
    }

    fn new_environment(&mut self) -> Value {
        let dice = &mut self.dice;
        let mut spec = quiet_environment(&self.name);
        let providers = json!({"providers": {
            "db": {"mode": dice.one_of(&["none", "local", "local"])},
            "inMemoryDb": {"mode": dice.one_of(&["none", "redis"])},
            "objectStore": {"mode": dice.one_of(&["none", "none", "minio"])},
            "featureFlags": {"mode": dice.one_of(&["none", "none", "local"])},
            "metrics": {"mode": dice.one_of(&["none", "operator"])},
            "web": {"port": 8000 + dice.below(3)},
            "autoScaler": {"mode": dice.one_of(&["none", "enabled"])},
            "testing": {
                "k8sAccessLevel": dice.one_of(&["", "view"]),
                "configAccess": dice.one_of(&["none", "app", "environment"]),
            },
        }});
        merge(&mut spec, &providers);
        if dice.chance(30) {
            spec["providers"]["deployment"] = json!({"omitPullPolicy": true});
        }
        if dice.chance(20) {
            spec["providers"]["serviceMesh"] = json!({"mode": "enabled"});
        }
        spec
    }

    fn change_environment(&mut self) -> Value {
        let dice = &mut self.dice;
        let providers = match dice.below(5) {
            0 => json!({"web": {"port": 8010 + self.changes}}),
            1 => json!({"metrics": {"port": 9010 + self.changes}}),
            2 => json!({"autoScaler": {"mode": dice.one_of(&["none", "enabled"])}}),
            3 => json!({"deployment": {"omitPullPolicy": dice.chance(50)}}),
            // What is off is not missed by anybody when it comes.
            _ if self.environment["providers"]["inMemoryDb"]["mode"] == "none" => {
                json!({"inMemoryDb": {"mode": "redis"}})
            }
            _ => json!({"web": {"privatePort": 10010 + self.changes}}),
        };
        merge(&mut self.environment, &json!({"providers": providers}));
        if self.dice.chance(30) {
            let limit = format!("{}m", 500 + self.changes);
            merge(
                &mut self.environment,
                &json!({"resourceDefaults": {"limits": {"cpu": limit}}}),
            );
        }
        self.environment()
    }

    fn add_reference(&mut self) {
        let kind = self.dice.one_of(&["Secret", "Secret", "ConfigMap"]);
        let name = format!("{}-{}", kind.to_lowercase(), self.references.len());
        let mut object = json!({
            "apiVersion": "v1", "kind": kind, "metadata": {"name": name, "namespace": self.name},
        });
        if self.dice.chance(70) {
            object["metadata"]["annotations"] = json!({"qontract.recycle": "true"});
        }
        let field = if kind == "Secret" {
            "stringData"
        } else {
            "data"
        };
        object[field] = json!({"key": format!("value {}", self.dice.below(1000))});
        self.references.insert(name, object);
    }

    fn change_reference(&mut self) -> Value {
        let name = self.dice.name_of(&self.references).unwrap();
        let value = format!("changed {} {}", self.changes, self.dice.below(1000));
        let object = self.references.get_mut(&name).unwrap();
        for field in ["stringData", "data"] {
            if object.get(field).is_some() {
                object[field]["key"] = json!(value);
            }
        }
        object.clone()
    }

    fn add_app(&mut self) -> String {
        let name = format!("app{}", self.apps.len());
        let mut spec = json!({"deployments": []});
        for number in 0..=self.dice.below(2) {
            let deployment = self.deployment(&format!("part{number}"));
            spec["deployments"].as_array_mut().unwrap().push(deployment);
        }
        if self.dice.chance(40) {
            spec["jobs"] = json!([self.job("sweep")]);
        }
        if let Some(other) = self
            .dice
            .name_of(&self.apps)
            .filter(|_| self.changes.is_multiple_of(2))
        {
            spec["dependencies"] = json!([other]);
        }
        if self.mode("db") != "none" && self.dice.chance(60) {
            match self.databases.first() {
                Some(other) if self.dice.chance(30) => {
                    spec["database"] = json!({"sharedDbAppName": other});
                    spec["dependencies"] = json!([other]);
                }
                _ => {
                    spec["database"] = json!({"name": "goods"});
                    self.databases.push(name.clone());
                }
            }
        }
        if self.mode("inMemoryDb") != "none" && self.dice.chance(50) {
            spec["inMemoryDb"] = json!(true);
        }
        if self.mode("featureFlags") != "none" && self.dice.chance(50) {
            spec["featureFlags"] = json!(true);
        }
        let mut app = json!({"metadata": {}, "spec": spec});
        if self.dice.chance(30) {
            app["metadata"]["labels"] = json!({"team": self.dice.one_of(&["blue", "green"])});
        }
        self.apps.insert(name.clone(), app);
        name
    }

    fn deployment(&mut self, name: &str) -> Value {
        let services = match self.dice.below(4) {
            0 => json!({}),
            1 => json!({"private": {"enabled": true}}),
            2 => json!({"public": {"enabled": true}, "private": {"enabled": true}}),
            _ => json!({"public": {"enabled": true, "apiPath": name}}),
        };
        let mut deployment = json!({
            "name": name, "replicas": self.dice.below(2), "webServices": services,
            "podSpec": self.pod(),
        });
        if self.dice.chance(20) {
            deployment["k8sAccessLevel"] = json!(self.dice.one_of(&["view", "edit"]));
        }
        if self.dice.chance(20) {
            deployment["autoScalerSimple"] =
                json!({"replicas": {"min": 1, "max": 3}, "cpu": {"scaleAtUtilization": 80}});
            deployment["replicas"] = json!(1);
        }
        deployment
    }

    fn job(&mut self, name: &str) -> Value {
        let minute = self.dice.below(60);
        json!({"name": name, "schedule": format!("{minute} 3 1 1 *"), "podSpec": self.pod()})
    }

    fn pod(&mut self) -> Value {
        let image = format!("registry.test/shop:{}", self.dice.below(1000));
        let mut variables = vec![json!({"name": "LEVEL", "value": self.dice.below(9).to_string()})];
        let mut pod = json!({"image": image});
        let references: Vec<(String, bool)> = self
            .references
            .iter()
            .map(|(name, object)| (name.clone(), object["kind"] == "Secret"))
            .collect();
        for (name, is_secret) in references {
            match (self.dice.below(3), is_secret) {
                (0, _) => {}
                (1, is_secret) => {
                    let field = if is_secret {
                        "secretKeyRef"
                    } else {
                        "configMapKeyRef"
                    };
                    let source = json!({field: {"name": name, "key": "key"}});
                    let variable = name.to_uppercase().replace('-', "_");
                    variables.push(json!({"name": variable, "valueFrom": source}));
                }
                (_, true) => {
                    pod["volumes"] = json!([{"name": "more", "secret": {"secretName": name}}]);
                }
                (_, false) => {
                    pod["volumes"] = json!([{"name": "more", "configMap": {"name": name}}]);
                }
            }
        }
        pod["env"] = json!(variables);
        if self.dice.chance(20) {
            pod["resources"] = json!({"limits": {"cpu": "300m", "memory": "768Mi"}});
        }
        if self.dice.chance(20) {
            pod["initContainers"] = json!([{"command": ["true"], "inheritEnv": true}]);
        }
        pod
    }

    fn change_app(&mut self) -> Value {
        let name = self.dice.name_of(&self.apps).unwrap();
        let number = self.changes;
        let choice = self.dice.below(7);
        let more = self.deployment(&format!("more{number}"));
        let job = self.job(&format!("job{number}"));
        let spec = &mut self.apps.get_mut(&name).unwrap()["spec"];
        let deployments = spec["deployments"].as_array_mut().unwrap();
        match choice {
            0 => deployments.push(more),
            1 if deployments.len() > 1 => {
                deployments.pop();
            }
            2 => spec["jobs"] = json!([job]),
            3 => {
                spec.as_object_mut().unwrap().remove("jobs");
                spec["deployments"][0]["podSpec"]["image"] =
                    json!(format!("registry.test/shop:plain-{number}"));
            }
            4 => {
                let replicas = 1 - deployments[0]["replicas"].as_u64().unwrap().min(1);
                deployments[0]["replicas"] = json!(replicas);
            }
            5 => {
                let app = self.apps.get_mut(&name).unwrap();
                app["metadata"]["labels"] = json!({"team": format!("red-{number}")});
            }
            _ => {
                deployments[0]["podSpec"]["image"] =
                    json!(format!("registry.test/shop:new-{number}"));
            }
        }
        self.app(&name)
    }
}
