//! Places for the user's own files: an empty `custom/` in the directory of each service.

use std::collections::BTreeSet;

use rustix::fs::Mode;

use crate::{
    Error,
    layout::{self, CUSTOM},
    overlay::Overlay,
    path,
    plan::Plan,
    tree::Tree,
    watcher::Unwatched,
};

/// What lets Git keep a directory without files.
const PLACEHOLDER: &str = ".gitkeep";

impl Overlay {
    /// Gives every service that a write brought an empty `custom/`, and takes the untouched one of every service that
    /// it took away. What the user put there, or removed, stays as it is.
    pub fn seed_custom(&self, plan: &Plan) -> Result<(), Error> {
        let written = services(plan.added.iter().chain(&plan.changed).chain(&plan.kept));
        let older = services(plan.changed.iter().chain(&plan.kept));
        let new = services(&plan.added);
        let gone = services(&plan.deleted);
        let tree = Tree::open(&self.repository, &Unwatched)?;
        for service in new.difference(&older) {
            self.seed(&tree, service)?;
        }
        for service in gone.difference(&written) {
            self.take_back(&tree, service)?;
        }
        Ok(())
    }

    fn seed(&self, tree: &Tree<'_>, service: &str) -> Result<(), Error> {
        let custom = self.inside(&path::join(service, CUSTOM));
        if tree.kind(&custom)?.is_none() {
            tree.make_directory(&custom, Mode::from_raw_mode(0o755))?;
            let file = path::join(&custom, PLACEHOLDER);
            tree.create(&file, b"", Mode::from_raw_mode(0o644))?;
        }
        Ok(())
    }

    fn take_back(&self, tree: &Tree<'_>, service: &str) -> Result<(), Error> {
        let directory = self.inside(service);
        let custom = path::join(&directory, CUSTOM);
        let names = |listed: Option<Vec<(String, _)>>| -> Vec<String> {
            let listed = listed.unwrap_or_default().into_iter();
            listed.map(|(name, _)| name).collect()
        };
        let is_alone = names(tree.list(&directory)?) == [CUSTOM];
        let file = path::join(&custom, PLACEHOLDER);
        let is_untouched = is_alone
            && names(tree.list(&custom)?) == [PLACEHOLDER]
            && tree.read(&file)?.is_some_and(|bytes| bytes.is_empty());
        if is_untouched {
            tree.remove_file(&file)?;
            tree.remove_directory_if_empty(&custom)?;
            tree.remove_directory_if_empty(&directory)?;
        }
        Ok(())
    }
}

/// The directories of services that files are in.
fn services<'f>(files: impl IntoIterator<Item = &'f String>) -> BTreeSet<&'f str> {
    let directory = |file: &'f String| {
        let (branch, rest) = file.split_once('/')?;
        let (name, _) = rest.split_once('/')?;
        let is_service = matches!(branch, "services" | "managed-services")
            && !layout::AGGREGATES.contains(&name);
        is_service.then(|| file.get(..branch.len() + 1 + name.len()))?
    };
    files.into_iter().filter_map(directory).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn plan(added: &[&str], kept: &[&str], deleted: &[&str]) -> Plan {
        let owned = |files: &[&str]| files.iter().map(|file| (*file).to_owned()).collect();
        Plan {
            added: owned(added),
            kept: owned(kept),
            deleted: owned(deleted),
            ..Plan::default()
        }
    }

    #[test]
    fn a_new_service_gets_a_place_once_and_an_untouched_one_goes_with_it() {
        let repository = tempfile::tempdir().unwrap();
        let overlay = Overlay::new(repository.path(), "demo").unwrap();
        let services = overlay.directory().join("services");
        for name in ["loki", "tempo", "sources"] {
            fs::create_dir_all(services.join(name)).unwrap();
        }
        let files = [
            "kustomization.yaml",
            "services/loki/a.yaml",
            "services/sources/x.yaml",
            "services/tempo/a.yaml",
        ];
        overlay.seed_custom(&plan(&files, &[], &[])).unwrap();
        let seed = |name: &str| services.join(name).join("custom/.gitkeep");
        assert!(seed("loki").exists() && seed("tempo").exists());
        assert!(!services.join("sources/custom").exists());

        // Whoever does not want it removes it, and it stays away.
        fs::remove_dir_all(services.join("loki/custom")).unwrap();
        let later = plan(&["services/loki/b.yaml"], &["services/loki/a.yaml"], &[]);
        overlay.seed_custom(&later).unwrap();
        assert!(!services.join("loki/custom").exists());

        let gone = plan(&[], &[], &["services/tempo/a.yaml"]);
        fs::write(services.join("tempo/custom/mine.yaml"), "x").unwrap();
        overlay.seed_custom(&gone).unwrap();
        assert!(seed("tempo").exists());
        fs::remove_file(services.join("tempo/custom/mine.yaml")).unwrap();
        overlay.seed_custom(&gone).unwrap();
        assert!(!services.join("tempo").exists());
    }
}
