//! Paths that users choose and that end up in the configuration of proxies: Ingress controllers paste them into theirs,
//! Caddy expands placeholders in them, and the sidecar's Caddyfile takes its list of open paths in before it is parsed.

use mainstay_api::clowder::{app::deployment::Deployment, web_services::PublicWebService};

/// Longest path that is accepted, in bytes.
const LONGEST: usize = 2048;
/// What ends a directive, opens a block, quotes, comments or expands a variable.
const CONFIGURATION: &str = ";{}\"'`\\#$";
/// What makes a path an expression, and with it one that matches the paths of others.
const EXPRESSION: &str = "()[]|*+?^";

/// What is wrong with the paths of a deployment, if anything.
pub(super) fn fault(deployment: &Deployment) -> Option<String> {
    let public = &deployment.web_services.public;
    let named = |field, fault: String| format!("{field} of deployment {} {fault}", deployment.name);
    let own = own_fault(public).map(|(field, fault)| named(field, fault));
    own.or_else(|| {
        let mut open = public.whitelist_paths.iter();
        open.find_map(|path| fault_of_open(path))
            .map(|fault| named("whitelistPaths", fault))
    })
}

/// The same of the paths that lead to a deployment.
fn own_fault(public: &PublicWebService) -> Option<(&'static str, String)> {
    if let Some(fault) = fault_of(&public.api_path) {
        return Some(("apiPath", fault));
    }
    let mut paths = public.api_paths.iter().flatten();
    let fault = paths.find_map(|path| fault_of(path))?;
    Some(("apiPaths", fault))
}

/// Whether the paths that lead to a deployment can be told to others.
pub(super) fn is_plain(public: &PublicWebService) -> bool {
    own_fault(public).is_none()
}

/// Whether a path that needs no login can be told to a proxy.
pub(super) fn is_plain_open(path: &str) -> bool {
    fault_of_open(path).is_none()
}

fn fault_of(path: &str) -> Option<String> {
    if path.split('/').any(|part| matches!(part, "." | "..")) {
        return Some("leads to another directory".to_owned());
    }
    forbidden(path, |character| {
        CONFIGURATION.contains(character) || EXPRESSION.contains(character)
    })
}

/// Parity: an open path may be any beginning, so an expression in it is only text that matches nothing.
fn fault_of_open(path: &str) -> Option<String> {
    forbidden(path, |character| CONFIGURATION.contains(character))
}

fn forbidden(path: &str, is_special: impl Fn(char) -> bool) -> Option<String> {
    if path.len() > LONGEST {
        return Some(format!("is longer than {LONGEST} bytes"));
    }
    let is_forbidden = |character: &char| {
        character.is_control() || character.is_whitespace() || is_special(*character)
    };
    let character = path.chars().find(is_forbidden)?;
    Some(format!(
        "contains {character:?}, which is not allowed in a path"
    ))
}
