//! Rules about the config.

use std::collections::BTreeSet;

use crate::{
    config::{Validator, path},
    finding::Code,
};

pub(super) fn check(validator: &mut Validator<'_>) {
    let Some(driver) = &validator.config.services().vsphere_csi else {
        return;
    };
    let mut names = BTreeSet::new();
    for (index, class) in driver.settings.storage_classes.iter().enumerate() {
        if let Some(name) = &class.name
            && !names.insert(name)
        {
            let place = path::item("opencenter.services.vsphere-csi.storage_classes", index);
            let message = "another storage class has the same name";
            validator.report_text(Code::Oc3161, format!("{place}.name"), message, name);
        }
    }
}

pub(super) fn secrets(validator: &mut Validator<'_>) {
    let vsphere = &validator.config.secrets.vsphere_csi;
    validator.need(
        "secrets.vsphere_csi.vcenter_host",
        vsphere.vcenter_host.as_ref(),
    );
    validator.need("secrets.vsphere_csi.username", vsphere.username.as_ref());
    validator.need("secrets.vsphere_csi.password", vsphere.password.as_ref());
}
