//! What Flux does when a tree that somebody else wrote is taken over, and what is held back so that it deletes nothing.

use mainstay_gitops::{Overlay, Owner, owner};
use mainstay_opencenter::{
    finding::{Code, Finding, Severity},
    overlay::{Adoption, Contents, FluxAction, FluxEffect, OverlayTree, Scope, flux_effects},
};

use crate::{report::Answer, tree, write};

/// The tree on disk, and what it will be.
fn before_and_after(overlay: &Overlay, rendered: &OverlayTree) -> Answer<(Contents, Contents)> {
    let before = tree::contents(overlay)?;
    let is_whole = rendered.scope == Scope::Full;
    // A whole tree replaces everything that is not the user's own; one unit replaces its files only.
    let stays = |path: &str| !is_whole || owner(path) != Owner::Renderer;
    let kept = before.iter().filter(|(path, _)| stays(path));
    let mut after: Contents = kept
        .map(|(path, bytes)| (path.clone(), bytes.clone()))
        .collect();
    after.extend(rendered.contents());
    Ok((before, after))
}

/// What Flux does when a rendered tree takes the place of the one on disk.
pub(crate) fn effects(overlay: &Overlay, rendered: &OverlayTree) -> Answer<Vec<FluxEffect>> {
    let (before, after) = before_and_after(overlay, rendered)?;
    Ok(flux_effects(&before, &after))
}

/// What comes of a first look at a tree.
#[derive(Debug, Default)]
pub(crate) struct FirstLook {
    pub(crate) findings: Vec<Finding>,
    /// What the render has to hold back.
    pub(crate) held: Adoption,
}

/// Looks at a first take-over. What Flux would delete, recreate or read from elsewhere is held back, unless the user
/// accepts it; one unit alone cannot hold anything back, so there it is refused. A tree that is ours already has its
/// ledger, and a unit that goes there is meant to go.
pub(crate) fn check(
    overlay: &Overlay,
    rendered: &OverlayTree,
    accepts_pruning: bool,
) -> Answer<FirstLook> {
    if overlay.ledger().map_err(write::stop)?.is_some() {
        return Ok(FirstLook::default());
    }
    let (before, after) = before_and_after(overlay, rendered)?;
    let holds = rendered.scope == Scope::Full && !accepts_pruning;
    let held = if holds {
        Adoption::begin(&before, &after)
    } else {
        Adoption::default()
    };
    let findings: Vec<Finding> = flux_effects(&before, &after)
        .iter()
        .map(|effect| finding(effect, holds, accepts_pruning))
        .collect();
    if mainstay_opencenter::finding::has_errors(&findings) {
        return Err(findings.into());
    }
    Ok(FirstLook { findings, held })
}

fn finding(effect: &FluxEffect, is_held: bool, accepts_pruning: bool) -> Finding {
    let message = format!("{}: {}", effect.object, effect.reason);
    match effect.action {
        FluxAction::Delete | FluxAction::Recreate | FluxAction::Repoint
            if is_held && effect.can_be_held =>
        {
            Finding::new(Code::Oc6052, "", message)
        }
        FluxAction::Delete if accepts_pruning => {
            Finding::new(Code::Oc6050, "", message).severity(Severity::Warning)
        }
        FluxAction::Delete => Finding::new(Code::Oc6050, "", message),
        FluxAction::Recreate | FluxAction::Repoint => Finding::new(Code::Oc6051, "", message),
    }
}
