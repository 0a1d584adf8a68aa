//! What Flux does when a tree that somebody else wrote is taken over.

use mainstay_gitops::{Overlay, Owner, owner};
use mainstay_opencenter::{
    finding::{Code, Finding, Severity},
    overlay::{Contents, FluxAction, FluxEffect, OverlayTree, Scope, flux_effects},
};

use crate::{report::Answer, tree, write};

/// What Flux does when a rendered tree takes the place of the one on disk.
pub(crate) fn effects(overlay: &Overlay, rendered: &OverlayTree) -> Answer<Vec<FluxEffect>> {
    let before = tree::contents(overlay)?;
    let is_whole = rendered.scope == Scope::Full;
    // A whole tree replaces everything that is not the user's own; one unit replaces its files only.
    let stays = |path: &str| !is_whole || owner(path) != Owner::Renderer;
    let kept = before.iter().filter(|(path, _)| stays(path));
    let mut after: Contents = kept
        .map(|(path, bytes)| (path.clone(), bytes.clone()))
        .collect();
    after.extend(rendered.contents());
    Ok(flux_effects(&before, &after))
}

/// Looks at a first take-over: what would be deleted is refused, unless the user accepts it. A tree that is ours
/// already has its ledger, and a unit that goes there is meant to go.
pub(crate) fn check(
    overlay: &Overlay,
    rendered: &OverlayTree,
    accepts_pruning: bool,
) -> Answer<Vec<Finding>> {
    if overlay.ledger().map_err(write::stop)?.is_some() {
        return Ok(Vec::new());
    }
    let effects = effects(overlay, rendered)?;
    let findings: Vec<Finding> = effects
        .iter()
        .map(|effect| finding(effect, accepts_pruning))
        .collect();
    if mainstay_opencenter::finding::has_errors(&findings) {
        return Err(findings.into());
    }
    Ok(findings)
}

fn finding(effect: &FluxEffect, accepts_pruning: bool) -> Finding {
    let message = format!("{}: {}", effect.object, effect.reason);
    match effect.action {
        FluxAction::Delete if accepts_pruning => {
            Finding::new(Code::Oc6050, "", message).severity(Severity::Warning)
        }
        FluxAction::Delete => Finding::new(Code::Oc6050, "", message),
        FluxAction::Recreate | FluxAction::Repoint => Finding::new(Code::Oc6051, "", message),
    }
}
