//! Apps that the webhook would refuse are refused here too, with the same words and the place in the file.

use mainstay_clowder::{
    admission::app::{self, JudgedApp},
    kinds,
    settings::Settings,
};
use serde::Deserialize as _;

use crate::{args::System, exit::Rejected, input::Input};

/// Refuses what the webhook would refuse, unless the operator is configured to have none.
pub(crate) fn check(input: &Input, clowder: &Settings) -> anyhow::Result<()> {
    if clowder.config.features.disable_webhooks {
        return Ok(());
    }
    let mut lines = Vec::new();
    for (own, item) in input.of(System::Clowder) {
        if own.row.kind != kinds::CLOWD_APP {
            continue;
        }
        // Files have been read as apps before.
        let app = JudgedApp::deserialize(&item.value)?;
        for violation in app::violations(&app) {
            lines.push(format!("{}: {violation}", item.at(&violation.pointer)));
        }
    }
    if lines.is_empty() {
        return Ok(());
    }
    Err(Rejected {
        message: lines.join("\n"),
        hint: None,
    }
    .into())
}
