//! Invocations that have not run yet, by the app that they wait for. Those that have run wait for nobody.

use std::collections::{BTreeSet, HashMap};

use mainstay_api::clowder::ClowdJobInvocation;

use super::Place;
use crate::job;

/// The invocations that wait.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    /// Name of the app, in the same namespace, by invocation.
    apps: HashMap<Place, String>,
    /// Names of invocations, in the same namespace, by app.
    invocations: HashMap<Place, BTreeSet<String>>,
}

impl Waiting {
    /// Takes in an invocation; `None` if it is gone or cannot be read.
    pub(super) fn learn(&mut self, place: Place, invocation: Option<&ClowdJobInvocation>) {
        let app = invocation
            .filter(|invocation| !job::has_run(invocation))
            .map(|invocation| invocation.spec.app_name.clone());
        let old = match &app {
            Some(app) => self.apps.insert(place.clone(), app.clone()),
            None => self.apps.remove(&place),
        };
        if old == app {
            return;
        }
        let (namespace, name) = place;
        if let Some(old) = old {
            let old = (namespace.clone(), old);
            if let Some(names) = self.invocations.get_mut(&old) {
                names.remove(&name);
                if names.is_empty() {
                    self.invocations.remove(&old);
                }
            }
        }
        if let Some(app) = app {
            let names = self.invocations.entry((namespace, app)).or_default();
            names.insert(name);
        }
    }

    /// The invocations that wait for an app.
    pub(super) fn waiting_for(&self, app: &Place) -> Vec<Place> {
        let names = self.invocations.get(app).into_iter().flatten();
        names.map(|name| (app.0.clone(), name.clone())).collect()
    }
}
