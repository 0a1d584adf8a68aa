//! Who has which path, where an environment grants who may join it: what an app publishes must not take over what an app
//! of another namespace has. Everywhere else apps share a host as they do with the original.

use std::collections::BTreeMap;

use mainstay_api::clowder::{ClowdEnvironment, environment::web::WebMode};
use mainstay_engine::ObjectKey;

use super::api_paths;
use crate::{
    gates::grants,
    names,
    providers::images,
    views::{
        lookup::Lookup,
        summary::{AppSummary, DeploymentSummary},
    },
};

/// Paths that one app may have.
const MOST_PATHS: usize = 200;

/// Paths of an app that are not published, and why.
pub(crate) type Held = BTreeMap<String, String>;

/// The path that the gateway has for a deployment. Parity: made from its own name, without that of its app.
pub(super) fn gateway_path(deployment: &DeploymentSummary) -> String {
    let public = &deployment.web_services.public;
    format!(
        "/api/{}/",
        images::first(&[&public.api_path, &deployment.name])
    )
}

/// The paths that an app would publish.
fn paths(app: &AppSummary, with_gateway: bool) -> impl Iterator<Item = String> {
    let deployments = app.deployments.iter().filter(|one| one.is_web());
    deployments.flat_map(move |deployment| {
        let name = names::part(&app.name, &deployment.name);
        let mut paths = api_paths(&deployment.web_services.public, &name);
        paths.extend(with_gateway.then(|| gateway_path(deployment)));
        paths
    })
}

/// Keys by which apps are found whose paths may meet: the first two parts of each. A path of one part would hold those of
/// everybody, and is never published.
pub(crate) fn keys(app: &AppSummary) -> Vec<String> {
    // Every second path is that of the gateway, at most.
    let paths = paths(app, true).take(2 * MOST_PATHS);
    let mut keys: Vec<String> = paths.filter_map(|path| key(&path)).collect();
    keys.sort();
    keys.dedup();
    keys
}

fn key(path: &str) -> Option<String> {
    let mut parts = path.split('/').filter(|part| !part.is_empty());
    let (first, second) = (parts.next()?, parts.next()?);
    Some(format!("{first}/{second}").to_lowercase())
}

/// A path as it is compared: whole parts, and no case, which some proxies do not tell apart.
fn whole(path: &str) -> String {
    format!("{}/", path.trim_end_matches('/')).to_lowercase()
}

/// The paths that an app would publish and does not, because an older app of another namespace has them.
pub(crate) fn held(lookup: Lookup<'_>, environment: &ClowdEnvironment, app: &AppSummary) -> Held {
    if !is_judged(lookup, environment) {
        return Held::new();
    }
    let keys = keys(app).into_iter();
    let others = keys.flat_map(|key| lookup.apps_at(&app.environment, &key));
    let older = others.filter(|other| other.seniority() < app.seniority());
    let apps: BTreeMap<_, _> = older.map(|other| (other.key(), other)).collect();
    let apps = apps.values().map(|other| &**other).chain([app]);
    judge(lookup, environment, apps)
        .remove(&app.key())
        .unwrap_or_default()
}

/// The same of all apps of an environment, by app.
pub(super) fn held_of_all<'app>(
    lookup: Lookup<'_>,
    environment: &ClowdEnvironment,
    apps: impl Iterator<Item = &'app AppSummary>,
) -> BTreeMap<ObjectKey, Held> {
    if is_judged(lookup, environment) {
        judge(lookup, environment, apps)
    } else {
        BTreeMap::new()
    }
}

fn is_judged(lookup: Lookup<'_>, environment: &ClowdEnvironment) -> bool {
    lookup.requires_grants() && environment.spec.providers.web.mode == WebMode::Local
}

/// Goes from the oldest app to the youngest, because who does not have a path itself cannot keep others from it.
fn judge<'app>(
    lookup: Lookup<'_>,
    environment: &ClowdEnvironment,
    apps: impl Iterator<Item = &'app AppSummary>,
) -> BTreeMap<ObjectKey, Held> {
    let with_gateway = environment.spec.providers.web.gateway_certificate.enabled;
    let mut apps: Vec<&AppSummary> = apps.collect();
    apps.sort_by_cached_key(|app| app.seniority());
    let mut claims = Claims::default();
    let mut all = BTreeMap::new();
    for app in apps {
        let mut held = Held::new();
        let shares = lookup.may_share(&app.environment, &app.namespace);
        let shares = shares.unwrap_or(false);
        for (number, path) in paths(app, with_gateway).enumerate() {
            let holder = if key(&path).is_none() {
                Some("it would hold the paths of other apps".to_owned())
            } else if number >= MOST_PATHS {
                Some(format!("an app has at most {MOST_PATHS} of them"))
            } else {
                claims.add(&path, app)
            };
            if let Some(holder) = holder.filter(|_| !shares) {
                let message = format!(
                    "path {path} is not published: {holder}; choose another one, or let both have it: {}",
                    grants::share_words()
                );
                held.insert(path, message);
            }
        }
        all.insert(app.key(), held);
    }
    all
}

/// Paths that apps have, as they are compared.
#[derive(Default)]
struct Claims<'app>(BTreeMap<String, &'app AppSummary>);

impl<'app> Claims<'app> {
    /// Gives a path to an app, or says who of another namespace has it, one above or one below.
    fn add(&mut self, path: &str, app: &'app AppSummary) -> Option<String> {
        let path = whole(path);
        let ends = path.match_indices('/').map(|(end, _)| end + 1);
        let above = ends.filter_map(|end| self.0.get(path.get(..end)?));
        let below = self.0.range(path.clone()..);
        let below = below.take_while(|(other, _)| other.starts_with(&path));
        let mut holders = above.chain(below.map(|(_, holder)| holder));
        if let Some(holder) = holders.find(|holder| holder.namespace != app.namespace) {
            return Some(format!("{} has it", holder.key()));
        }
        self.0.entry(path).or_insert(app);
        None
    }
}

/// Whether a path that needs no login lies below one that the app has.
pub(super) fn opens_own(path: &str, app: &AppSummary, held: &Held) -> bool {
    let leads_away = path.split('/').any(|part| matches!(part, "." | ".."));
    let mut own = paths(app, true).filter(|own| !held.contains_key(own));
    !leads_away && own.any(|own| path.starts_with(&format!("{}/", own.trim_end_matches('/'))))
}
