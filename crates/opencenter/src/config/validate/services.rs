//! Rules of services: what holds for all of them, then each active service looks at its own settings.

use super::Validator;
use crate::{
    catalog::CATALOG,
    config::{Common, path},
    finding::Code,
};

pub(super) fn check(validator: &mut Validator<'_>) {
    common(validator);
    let active = CATALOG
        .iter()
        .filter(|entry| validator.config.is_active(entry.name));
    let checks: Vec<_> = active.filter_map(|entry| entry.check).collect();
    for check in checks {
        check(validator);
    }
}

/// What holds for every service.
fn common(validator: &mut Validator<'_>) {
    let config = validator.config;
    let services = config
        .services()
        .iter()
        .map(|found| ("opencenter.services", found));
    let managed = config
        .managed_services()
        .iter()
        .map(|found| ("opencenter.managed_services", found));
    let both: Vec<(String, &Common)> = services
        .chain(managed)
        .filter(|(_, (_, common))| {
            common.source.branch.is_some() && common.source.release.is_some()
        })
        .map(|(map, (name, common))| (path::child(map, name), common))
        .collect();
    for (service, _) in both {
        let message = "`branch` and `release` are both set; the release wins";
        validator.report(Code::Oc3166, format!("{service}.source.branch"), message);
    }
}
