//! Connectors over bundles, and what is made of them: the two sets, and each object as it is written.
//!
//! `UPDATE_GOLDEN=1` rewrites what is expected; review the difference like code.

#[cfg(test)]
mod tests {
    use std::{
        fs,
        path::{Path, PathBuf},
        sync::Arc,
    };

    use mainstay_connectors::{
        catalog::{Bundle, Catalog, Failure},
        connector::{ConnectorReconciler, state::wanted_set},
        kinds,
        page::{FetchPage, Page},
        rendering::Settings,
        set::SetReconciler,
        views, workload,
    };
    use mainstay_engine::{reconciler::Reconciler as _, snapshot::FileSnapshot};
    use mainstay_manifest::{
        ManifestSet, Scopes, identity::InstallType, parse, source::additional::Allowed,
    };
    use serde_json::{Value, json};

    /// The bundle of a case.
    #[derive(Debug)]
    struct Shelf(Arc<Bundle>);

    impl Catalog for Shelf {
        fn bundle(&self, _: &str, _: Option<&str>) -> Result<Arc<Bundle>, Failure> {
            Ok(self.0.clone())
        }

        fn local(&self, path: &Path) -> Result<Arc<ManifestSet>, Failure> {
            Err(Failure {
                reason: "AdditionalManifestsFailed",
                message: format!("there is no {}", path.display()),
            })
        }

        fn scopes(&self) -> Scopes {
            Scopes::default()
        }
    }

    #[expect(clippy::disallowed_methods, reason = "a test reads its cases")]
    fn read(path: &Path) -> String {
        let text = fs::read_to_string(path);
        text.unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    #[expect(clippy::disallowed_methods, reason = "a test reads its cases")]
    fn cases() -> Vec<PathBuf> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/connectors");
        let cases = fs::read_dir(root).unwrap();
        let mut cases: Vec<PathBuf> = cases.map(|case| case.unwrap().path()).collect();
        cases.sort();
        cases
    }

    fn settings() -> Settings {
        Settings {
            operator_version: "v0.0.1".to_owned(),
            default_application: "shop".to_owned(),
            additional: Allowed::default(),
            deny_cluster_scoped_additions: false,
        }
    }

    fn snapshot(case: &Path, connector: &Value) -> FileSnapshot {
        let mut snapshot = FileSnapshot::new(kinds::KINDS, views::INDEXES, workload::facts, &[]);
        snapshot.add(connector.clone());
        let page = case.join("page.yaml");
        if page.is_file() {
            let page = Page {
                digest: "0123".to_owned(),
                body: read(&page),
                stale: None,
            };
            let url = "https://example.com/more.yaml".to_owned();
            let result = serde_json::to_string(&page).unwrap();
            snapshot.add_effect(&FetchPage { url }, Ok(result));
        }
        snapshot
    }

    /// Both sets, each followed by its objects.
    fn rendered(case: &Path) -> String {
        let bundle = parse::text(&read(&case.join("bundle.yaml")), "bundle.yaml").unwrap();
        let catalog = Arc::new(Shelf(Arc::new(Bundle {
            version: Some("1.0.0".to_owned()),
            objects: ManifestSet::new(bundle),
        })));
        let connector = parse::text(&read(&case.join("connector.yaml")), "connector.yaml");
        let connector = connector.unwrap().remove(0).into_value();
        let snapshot = snapshot(case, &connector);
        let connectors = ConnectorReconciler {
            settings: settings(),
            catalog: catalog.clone(),
        };
        let sets = SetReconciler {
            settings: settings(),
            catalog,
        };
        let object = connectors.decode(&connector).unwrap();
        let input = connectors.validate(&object, &snapshot).unwrap();
        let mut documents = Vec::new();
        for install_type in [InstallType::Static, InstallType::Deployment] {
            let mut set = wanted_set(&object, &input.rendering, install_type);
            documents.push(set.clone());
            set["metadata"]["uid"] = json!("uid-of-the-set");
            let object = sets.decode(&set).unwrap();
            let bodies = sets.validate(&object, &snapshot).unwrap();
            let rendered = sets.render(&object, &bodies, &snapshot).unwrap();
            documents.extend(rendered.bodies().cloned());
        }
        mainstay_yaml::print_documents(documents.iter())
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a test reads its settings")]
    fn bundles_are_rendered_as_they_always_were() {
        let cases = cases();
        assert!(!cases.is_empty());
        for case in cases {
            let rendered = rendered(&case);
            let expected = case.join("expected.yaml");
            if std::env::var_os("UPDATE_GOLDEN").is_some() {
                fs::write(&expected, &rendered).unwrap();
            }
            assert_eq!(rendered, read(&expected), "{}", case.display());
        }
    }
}
