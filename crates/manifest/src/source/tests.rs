use std::{fs, os::unix::fs::symlink};

use super::{additional::*, *};
use crate::testing::names;

fn manifest(name: &str) -> String {
    format!("{{apiVersion: v1, kind: A, metadata: {{name: {name}}}}}\n")
}

fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = root.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    root
}

fn load(source: &Source) -> Result<Vec<String>, LoadError> {
    source
        .load_local(&LoadLimits::default())
        .map(|set| names(&set))
}

#[test]
fn files_and_directories_are_read_in_the_order_of_their_bytes() {
    let root = tree(&[
        ("b.yaml", &manifest("b")),
        ("a/z.yml", &manifest("a-z")),
        (
            "a/deep/y.json",
            r#"{"apiVersion": "v1", "kind": "A", "metadata": {"name": "deep"}}"#,
        ),
        ("a.yaml", &manifest("a")),
        ("B.yaml", &manifest("capital")),
        (".hidden.yaml", "not: [yaml"),
        ("..data/x.yaml", "not: [yaml"),
        ("notes.txt", "not: [yaml"),
        ("c.YAML", "not: [yaml"),
    ]);
    let tree = load(&Source::tree(root.path())).unwrap();
    assert_eq!(tree, ["A capital", "A deep", "A a-z", "A a", "A b"]);
    let flat = load(&Source::dir(root.path())).unwrap();
    assert_eq!(flat, ["A capital", "A a", "A b"]);
}

#[test]
fn a_link_may_lead_about_its_root_and_nowhere_else() {
    let root = tree(&[
        ("app/a.yaml", &manifest("a")),
        ("shared/s.yaml", &manifest("s")),
    ]);
    let outside = tree(&[("o.yaml", &manifest("o"))]);
    let app = root.path().join("app");
    symlink("../shared/s.yaml", app.join("s.yaml")).unwrap();
    let failure = load(&Source::tree(&app)).unwrap_err();
    assert!(matches!(failure, LoadError::Outside { .. }), "{failure}");
    let within = load(&Source::tree(&app).within(root.path())).unwrap();
    assert_eq!(within, ["A a", "A s"]);
    symlink(outside.path(), app.join("o")).unwrap();
    let failure = load(&Source::tree(&app).within(root.path())).unwrap_err();
    assert!(failure.to_string().contains("leads out of"), "{failure}");
    let failure = load(&Source::tree(outside.path()).within(root.path())).unwrap_err();
    assert!(matches!(failure, LoadError::Outside { .. }), "{failure}");
}

#[test]
fn links_to_nowhere_and_in_circles_are_errors() {
    let root = tree(&[("a/a.yaml", &manifest("a"))]);
    symlink("..", root.path().join("a/up")).unwrap();
    let failure = load(&Source::tree(root.path())).unwrap_err();
    assert!(matches!(failure, LoadError::Cycle { .. }), "{failure}");
    fs::remove_file(root.path().join("a/up")).unwrap();
    symlink("gone.yaml", root.path().join("a/b.yaml")).unwrap();
    let failure = load(&Source::tree(root.path())).unwrap_err();
    assert!(matches!(failure, LoadError::Read { .. }), "{failure}");
}

#[test]
fn nobody_waits_for_a_pipe_that_is_named_like_a_manifest() {
    let failure = load(&Source::file("/dev/zero")).unwrap_err();
    assert!(matches!(failure, LoadError::NotAFile { .. }), "{failure}");
}

#[test]
fn one_bad_file_fails_the_whole_load() {
    let root = tree(&[("a.yaml", &manifest("a")), ("b.yaml", "a: [\n")]);
    let failure = load(&Source::tree(root.path())).unwrap_err();
    assert!(failure.to_string().contains("b.yaml:"), "{failure}");
    assert_eq!(failure.reason(), "ManifestLoadFailed");
}

#[test]
fn the_limits_count_over_all_files() {
    let text = manifest("a");
    let root = tree(&[("a.yaml", &text), ("b.yaml", &text), ("c.yaml", &text)]);
    let limited = |bytes, documents| {
        let limits = LoadLimits { bytes, documents };
        Source::tree(root.path()).load_local(&limits)
    };
    assert_eq!(limited(text.len() * 3, 3).unwrap().len(), 3);
    let failure = limited(text.len() * 3 - 1, 3).unwrap_err();
    assert!(matches!(failure, LoadError::TooLarge { .. }), "{failure}");
    assert!(failure.to_string().contains("c.yaml"), "{failure}");
    let failure = limited(text.len() * 3, 2).unwrap_err();
    assert!(
        failure
            .to_string()
            .ends_with("there are more than 2 objects"),
        "{failure}"
    );
}

#[test]
fn a_list_names_files_directories_and_pages() {
    let root = tree(&[("a.yaml", &manifest("a")), ("d/b.yaml", &manifest("b"))]);
    let path = |name: &str| root.path().join(name).display().to_string();
    let policy = FetchPolicy::default();
    let list = format!("{} , {}", path("d"), path("a.yaml"));
    let source = Source::parse(&list, false, &policy).unwrap();
    assert_eq!(load(&source).unwrap(), ["A b", "A a"]);
    let failure = Source::parse("a,,b", false, &policy).unwrap_err();
    assert!(matches!(failure, LoadError::EmptyElement { .. }));
    let page = Source::parse("https://example.com/a?token=1", false, &policy).unwrap();
    let failure = load(&page).unwrap_err().to_string();
    assert_eq!(
        failure,
        "`https://example.com/a` is a page, and only local sources are read here"
    );
}

#[test]
fn sources_of_programs_are_sources_too() {
    #[derive(Debug)]
    struct Own;
    impl ObjectSource for Own {
        fn objects(&self) -> Result<Vec<Object>, Box<dyn std::error::Error + Send + Sync>> {
            Ok(parse::text(&manifest("own"), "own")?)
        }
    }
    let text =
        Source::reader(manifest("read").as_bytes(), "stdin", &LoadLimits::default()).unwrap();
    let objects = Source::objects(parse::text(&manifest("there"), "x").unwrap());
    let all = Source::several(vec![Source::custom(Own), text, objects]);
    assert_eq!(load(&all).unwrap(), ["A own", "A read", "A there"]);
    let small = LoadLimits {
        bytes: 3,
        ..LoadLimits::default()
    };
    assert!(Source::reader(manifest("read").as_bytes(), "stdin", &small).is_err());
}

#[test]
fn what_is_no_place_for_additional_manifests_is_refused() {
    let allowed = Allowed::default();
    for (list, expected) in [
        (
            "http://example.com/a?token=x",
            "`http://example.com/a`: only https is allowed here",
        ),
        (
            "file:///etc/passwd",
            "`file:///etc/passwd`: the scheme `file` is not allowed",
        ),
        (
            "ftp://me:word@example.com/a",
            "`ftp://example.com/a`: the scheme `ftp` is not allowed",
        ),
        (
            "data:text/yaml,x",
            "`data:text/yaml`: the scheme `data` is not allowed",
        ),
        ("a.yaml,", "the list `a.yaml,` has an empty element"),
        ("", "the list `` has an empty element"),
    ] {
        assert_eq!(allowed.parse(list).unwrap_err().to_string(), expected);
    }
    let http = Allowed {
        http: true,
        ..Allowed::default()
    };
    assert!(http.parse("http://example.com/a").is_ok());
    let local = Allowed {
        mode: Mode::Local,
        ..Allowed::default()
    };
    assert!(local.parse("https://example.com/a").is_err());
    assert!(local.parse("a.yaml").is_ok());
    let disabled = Allowed {
        mode: Mode::Disabled,
        ..Allowed::default()
    };
    assert!(disabled.parse("a.yaml").is_err());
}

#[tokio::test]
async fn no_path_leads_out_of_the_roots() {
    let root = tree(&[
        ("ui/a.yaml", &manifest("a")),
        ("ui/deep/b.yaml", &manifest("b")),
    ]);
    let other = tree(&[("o.yaml", &manifest("o"))]);
    let secret = tree(&[("s.yaml", &manifest("s"))]);
    symlink(secret.path().join("s.yaml"), root.path().join("link.yaml")).unwrap();
    let allowed = Allowed {
        root: root.path().to_owned(),
        other_roots: vec![other.path().to_owned()],
        ..Allowed::default()
    };
    let load = async |list: &str| {
        let places = allowed.parse(list).unwrap();
        let added = allowed
            .load(&places, &Fetcher::default(), &LoadLimits::default())
            .await;
        added.map(|added| names(&added.set))
    };
    assert_eq!(
        load("ui").await.unwrap(),
        ["A a"],
        "directories are not searched"
    );
    let absolute = other.path().join("o.yaml").display().to_string();
    assert_eq!(
        load(&format!("{absolute},ui/../ui/a.yaml")).await.unwrap(),
        ["A o", "A a"]
    );
    let outside = secret.path().join("s.yaml").display().to_string();
    let up = format!(
        "../{}/s.yaml",
        secret.path().file_name().unwrap().to_str().unwrap()
    );
    for path in [outside.as_str(), up.as_str(), "link.yaml", "/etc/passwd"] {
        let failure = load(path).await.unwrap_err();
        assert!(
            matches!(failure, LoadError::Outside { .. }),
            "{path}: {failure}"
        );
    }
    assert!(matches!(
        load("gone.yaml").await.unwrap_err(),
        LoadError::Read { .. }
    ));
}
