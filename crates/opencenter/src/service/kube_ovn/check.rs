//! Rules about the config.

use crate::{config::Validator, finding::Code};

pub(super) fn check(validator: &mut Validator<'_>) {
    let Some(plugin) = &validator.config.services().kube_ovn else {
        return;
    };
    let version = plugin.settings.version.as_deref();
    if let Some(version) = version.filter(|version| !version.contains('.')) {
        let path = "opencenter.services.kube-ovn.version";
        validator.report_text(Code::Oc3163, path, "the version has no dot", version);
    }
}
