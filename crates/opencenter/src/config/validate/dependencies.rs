//! Services that need each other.

use super::Validator;
use crate::{
    catalog::{self, ServiceLayer},
    config::path,
    finding::{Code, Finding},
};

pub(super) fn check(validator: &mut Validator<'_>) {
    let config = validator.config;
    let active: Vec<_> = config
        .services()
        .iter()
        .filter(|(_, common)| common.is_active())
        .filter_map(|(name, _)| Some(("opencenter.services", catalog::find_service(name)?)))
        .chain(
            config
                .managed_services()
                .iter()
                .filter(|(_, common)| common.is_active())
                .filter_map(|(name, _)| {
                    Some(("opencenter.managed_services", catalog::find_managed(name)?))
                }),
        )
        .collect();
    for (map, entry) in active {
        let service = path::child(map, entry.name);
        for needed in entry.requires {
            if !config.is_active(needed) && !config.is_external(needed) {
                validator.push(
                    Finding::new(
                        Code::Oc3201,
                        service.as_str(),
                        format!("{} needs {needed}, which is not enabled", entry.name),
                    )
                    .help(format!(
                        "set `opencenter.services.{needed}.enabled: true`, or pass `--with-deps`"
                    )),
                );
            }
        }
        for usual in entry.goes_with {
            if !config.is_active(usual) && !config.is_external(usual) {
                let message = format!(
                    "{} usually goes with {usual}, which is not active",
                    entry.name
                );
                validator.report(Code::Oc3202, service.as_str(), message);
            }
        }
    }
    conditional(validator);
}

/// Names in `conditional_dependencies` that nobody will ever enable are probably slips.
fn conditional(validator: &mut Validator<'_>) {
    let config = validator.config;
    for (name, common) in config.services().iter() {
        for (index, dependency) in common.conditional_dependencies.iter().enumerate() {
            let Some(other) = &dependency.when_enabled else {
                continue;
            };
            if catalog::find(other).is_some() || config.services().get(other).is_some() {
                continue;
            }
            let names: Vec<_> = catalog::CATALOG
                .iter()
                .filter(|entry| entry.layer != ServiceLayer::ConfigOnly)
                .map(|entry| entry.name)
                .collect();
            let list = path::child(
                &path::child("opencenter.services", name),
                "conditional_dependencies",
            );
            let place = path::child(&path::item(&list, index), "when_enabled");
            let finding =
                Finding::new(Code::Oc3202, place, format!("no service is called {other}"));
            validator.push(match mainstay_yaml::closest(other, &names) {
                Some(meant) => finding.help(format!("did you mean `{meant}`?")),
                None => finding,
            });
        }
    }
}
