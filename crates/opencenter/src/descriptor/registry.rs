//! All descriptors together, and the templates that they name.

use std::collections::BTreeMap;

use crate::finding::Finding;

use super::{Descriptor, DescriptorText, Layer, Origin, Owner, built_in, check, load};

/// Templates that came with the user's descriptors, by path.
///
/// The content of built-in files is code (`crate::service`), not text, so that no value is ever pasted unescaped.
#[derive(Clone, Debug, Default)]
pub struct TemplateStore {
    user: BTreeMap<String, Vec<u8>>,
}

impl TemplateStore {
    /// A store of the user's templates; paths are relative to the directory that holds them.
    pub fn new(user: BTreeMap<String, Vec<u8>>) -> Self {
        Self { user }
    }

    /// Path and content of all templates, sorted by path.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.user
            .iter()
            .map(|(path, bytes)| (path.as_str(), bytes.as_slice()))
    }

    /// The template of a file, and whether its name says that it holds expressions.
    pub(crate) fn user_template(&self, root: &str, name: &str) -> Option<&[u8]> {
        let path = format!("{root}/{name}");
        self.user
            .get(&path)
            .or_else(|| self.user.get(&format!("{path}.tpl")))
            .map(Vec::as_slice)
    }

    /// The paths of all templates.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &str> {
        self.user.keys().map(String::as_str)
    }

    /// The templates below a directory, relative to it.
    pub(super) fn user_templates_below<'s>(
        &'s self,
        root: &'s str,
    ) -> impl Iterator<Item = &'s str> {
        self.paths()
            .filter_map(move |path| path.strip_prefix(root)?.strip_prefix('/'))
    }
}

/// Every descriptor that can be rendered, checked as a whole, in the order of their names.
#[derive(Clone, Debug)]
pub struct Registry {
    descriptors: BTreeMap<String, Descriptor>,
    store: TemplateStore,
    texts: Vec<(String, String)>,
}

impl Registry {
    /// The built-in descriptors.
    pub fn built_in() -> Result<Self, Vec<Finding>> {
        Self::with_user(&[], TemplateStore::default())
    }

    /// The built-in descriptors and those of the user. The order of files does not matter.
    pub fn with_user(
        texts: &[(String, String)],
        store: TemplateStore,
    ) -> Result<Self, Vec<Finding>> {
        let (registry, findings) = Self::lint(texts, store);
        if findings.is_empty() {
            Ok(registry)
        } else {
            Err(findings)
        }
    }

    /// Like [`Registry::with_user`], but gives what could be read together with everything that is wrong.
    pub fn lint(texts: &[(String, String)], store: TemplateStore) -> (Self, Vec<Finding>) {
        let mut findings = Vec::new();
        let mut descriptors = BTreeMap::new();
        let mut parsed = built_in::parsed();
        let built_in = built_in::texts().map(|(file, text)| {
            let text = DescriptorText {
                file,
                text,
                origin: Origin::BuiltIn,
            };
            let loaded = match parsed.remove(file) {
                Some(value) => load::load_built_in(file, value, &store),
                None => load(text, &store),
            };
            (file, loaded)
        });
        let user = texts.iter().map(|(file, text)| {
            let text = DescriptorText {
                file,
                text,
                origin: Origin::User,
            };
            (file.as_str(), load(text, &store))
        });
        for (file, loaded) in built_in.chain(user) {
            match loaded {
                Ok(descriptor) => {
                    if let Some(finding) = check::duplicate(&descriptors, &descriptor, file) {
                        findings.push(finding);
                    } else {
                        descriptors.insert(descriptor.name.clone(), descriptor);
                    }
                }
                Err(found) => findings.extend(found),
            }
        }
        findings.extend(check::registry(&descriptors, &store));
        let registry = Self {
            descriptors,
            store,
            texts: texts.to_vec(),
        };
        (registry, findings)
    }

    /// The descriptors in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = &Descriptor> {
        self.descriptors.values()
    }

    /// The descriptor of this name; the historical prefix `service-` is accepted.
    pub fn get(&self, name: &str) -> Option<&Descriptor> {
        self.descriptors
            .get(name)
            .or_else(|| self.descriptors.get(name.strip_prefix("service-")?))
    }

    /// The descriptor that a service of a layer belongs to.
    pub fn of_service(&self, layer: Layer, service: &str) -> Option<&Descriptor> {
        self.iter().find(|descriptor| match &descriptor.owner {
            Owner::Service(name) => layer == Layer::Services && name == service,
            Owner::ManagedService(name) => layer == Layer::ManagedServices && name == service,
            Owner::Cluster => false,
        })
    }

    /// The templates of the user.
    pub(crate) fn store(&self) -> &TemplateStore {
        &self.store
    }

    /// Every text that the registry was made from, by file; the input of fingerprints.
    pub fn texts(&self) -> impl Iterator<Item = (&str, &[u8])> {
        let built_in = built_in::texts().map(|(file, text)| (file, text.as_bytes()));
        let user = self
            .texts
            .iter()
            .map(|(file, text)| (file.as_str(), text.as_bytes()));
        built_in.chain(user).chain(self.store.iter())
    }
}
