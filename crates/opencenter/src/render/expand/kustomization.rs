//! The kustomization of an overlay directory, and what it may list.

use super::{Expansion, UnitFile};
use crate::{
    catalog,
    descriptor::{Origin, Role},
    finding::{Code, Finding},
    flux::{KustomizeFile, SecretGenerator},
    render::resolve::owner_namespace,
    service::{Built, Emitted, VALUES},
};

impl Expansion<'_, '_> {
    /// The kustomization of the overlay directory in its general form.
    pub(super) fn overlay_kustomization(&self, emitted: &Emitted<'_>) -> Built {
        let common = self.common();
        if self.descriptor().origin == Origin::Auto
            && let Some(content) = common.and_then(|common| common.kustomization_content.as_deref())
            && !content.trim().is_empty()
        {
            return Built::Text(content.to_owned());
        }
        let listed = |wanted: fn(&UnitFile) -> bool| {
            self.expanded
                .files
                .iter()
                .filter(move |file| wanted(file))
                .map(|file| file.name.clone())
        };
        let mut resources: Vec<String> = listed(|file| file.is_resource).collect();
        let is_auto = self.descriptor().origin == Origin::Auto;
        if is_auto && common.is_some_and(|common| common.enterprise_registry) {
            resources.push("../global/rackspace-registry/".to_owned());
        }
        resources.extend(self.custom_resources());
        Built::one(
            KustomizeFile {
                namespace: owner_namespace(self.ctx, &self.descriptor().owner).map(str::to_owned),
                resources,
                keep_empty_resources: false,
                patches: listed(|file| file.is_patch)
                    .map(|name| (name, None))
                    .collect(),
                secret: emitted
                    .has(VALUES)
                    .then(|| SecretGenerator::of_values(self.values_secret())),
            }
            .to_node(),
        )
    }

    /// The Secret that the base reads the cluster's values from.
    fn values_secret(&self) -> String {
        let service = self.descriptor().owner.service().unwrap_or_default();
        if self.descriptor().origin != Origin::Auto
            && let Some(name) = catalog::find(service).and_then(|entry| entry.values_secret)
        {
            return name.to_owned();
        }
        let configured = self
            .common()
            .and_then(|common| common.values_secret_name.clone());
        configured.unwrap_or_else(|| {
            let prefix = self
                .descriptor()
                .flux_units
                .iter()
                .find(|unit| unit.role == Role::Override)
                .and_then(|unit| unit.name.strip_suffix("-override"))
                .unwrap_or(service);
            format!("{prefix}-values-override")
        })
    }

    /// Files of the user in `custom/`, and what the service block lists beyond its own files.
    fn custom_resources(&self) -> Vec<String> {
        let Some(root) = self.descriptor().root.as_deref() else {
            return Vec::new();
        };
        let user_files = &self.ctx.options.user_files;
        if user_files.contains(&format!("{root}/custom/kustomization.yaml")) {
            return vec!["custom/".to_owned()];
        }
        let listed = self
            .common()
            .map_or(&[][..], |common| &common.custom_resources);
        listed
            .iter()
            .filter(|name| user_files.contains(&format!("{root}/custom/{name}")))
            .map(|name| format!("custom/{name}"))
            .collect()
    }

    /// Every listed file must come from somewhere.
    pub(super) fn check_custom_resources(&mut self) {
        let (Some(root), Some(service)) =
            (&self.descriptor().root, self.descriptor().owner.service())
        else {
            return;
        };
        let listed = self
            .common()
            .map_or(&[][..], |common| &common.custom_resources);
        let known = written_at_init(service);
        let missing: Vec<String> = listed
            .iter()
            .filter(|name| !known.contains(&name.as_str()))
            .filter(|name| !self.expanded.files.iter().any(|file| file.name == **name))
            .filter(|name| {
                !self
                    .ctx
                    .options
                    .user_files
                    .contains(&format!("{root}/custom/{name}"))
            })
            .cloned()
            .collect();
        let path = format!("opencenter.services.{service}.custom_resources");
        for name in missing {
            self.findings.push(Finding::new(
                Code::Oc6010,
                path.as_str(),
                format!("nobody writes `{name}`"),
            ));
        }
    }
}

/// Files that new configs list for a service whether they are rendered or not.
fn written_at_init(service: &str) -> &'static [&'static str] {
    match service {
        "kube-prometheus-stack" => &["secret.yaml"],
        "olm" => &["netpol.yaml", "patches.yaml"],
        "metallb" => &["ipaddresspool.yaml", "l2advertisement.yaml"],
        _ => &[],
    }
}
