//! What is refused, and leaves the tree as it was.

use super::*;

#[test]
fn a_file_edited_by_hand_is_neither_replaced_nor_deleted() {
    let world = World::new();
    world.write(&desired(FIRST)).unwrap();
    world.put("services/fluxcd/kustomization.yaml", "by hand");
    world.put("services/loki/kustomization.yaml", "by hand");
    let before = world.files();
    let Err(Error::Refused(refused)) = world.write(&desired(SECOND)) else {
        panic!("the write was not refused");
    };
    let paths: Vec<&str> = refused
        .iter()
        .map(|refusal| refusal.path.as_str())
        .collect();
    assert_eq!(
        paths,
        [
            "services/fluxcd/kustomization.yaml",
            "services/loki/kustomization.yaml"
        ]
    );
    assert!(
        refused
            .iter()
            .all(|refusal| refusal.reason == RefusalReason::EditedByHand)
    );
    assert_eq!(world.files(), before);
}

#[test]
fn adopting_keeps_a_backup_and_takes_over() {
    let world = World::new();
    world.put("services/fluxcd/kustomization.yaml", "by hand");
    world.put("services/stray.yaml", "stray");
    let options = WriteOptions {
        adopt: true,
        backup_name: "now".to_owned(),
        ..WriteOptions::default()
    };
    let plan = world
        .overlay()
        .write(&desired(FIRST), &options, &Unwatched)
        .unwrap()
        .plan;
    assert_eq!(plan.deleted, ["services/stray.yaml"]);
    let saved = all_files(&world.directory.path().join(".opencenter-backups/now"));
    let ignored = world
        .directory
        .path()
        .join(".opencenter-backups/.gitignore");
    assert_eq!(std::fs::read_to_string(ignored).unwrap(), "*\n");
    let texts: Vec<&String> = saved.values().collect();
    assert_eq!(texts, ["by hand", "stray"]);
}

#[test]
fn a_comparison_shows_edits_and_leaves_the_files_of_others_out() {
    let world = World::new();
    world.write(&desired(FIRST)).unwrap();
    world.put("services/stray.yaml", "stray");
    let plan = world.overlay().compare(&desired(FIRST)).unwrap();
    assert!(plan.is_empty(), "{plan:?}");
    assert_eq!(plan.candidates, ["services/stray.yaml"]);
    world.put("services/fluxcd/kustomization.yaml", "by hand");
    let plan = world.overlay().compare(&desired(FIRST)).unwrap();
    assert_eq!(plan.changed, ["services/fluxcd/kustomization.yaml"]);
    assert_eq!((plan.refused.len(), plan.deleted.len()), (0, 0));
}

#[test]
fn a_file_that_is_not_ours_is_kept_and_named() {
    let world = World::new();
    world.put("services/stray.yaml", "stray");
    world.put("kustomization.yaml", "somebody's");
    let Err(Error::Refused(refused)) = world.write(&desired(FIRST)) else {
        panic!("the write was not refused");
    };
    let expected = Refusal {
        path: "kustomization.yaml".to_owned(),
        reason: RefusalReason::Untracked,
    };
    assert_eq!(refused, [expected]);
    // One that is exactly as we would write it becomes ours.
    world.put("kustomization.yaml", "root: 1\n");
    let plan = world.write(&desired(FIRST)).unwrap().plan;
    assert_eq!(plan.candidates, ["services/stray.yaml"]);
    assert_eq!(plan.kept, ["kustomization.yaml"]);
    assert_eq!(world.get("services/stray.yaml").unwrap(), "stray");
}

#[test]
fn a_corrupt_ledger_is_an_error_and_never_forgotten() {
    let world = World::new();
    world.write(&desired(FIRST)).unwrap();
    let path = world
        .directory
        .path()
        .join(".opencenter/ownership/clusters/shop.json");
    let good = fs::read_to_string(&path).unwrap();
    for bad in [
        String::new(),
        "{".to_owned(),
        good.replace("\"version\": 1", "\"version\": 2"),
        good.replace("\"shop\"", "\"other\""),
        good.replace("services/loki/k", "../../k"),
        good.replace("services/loki/k", "flux-system/k"),
        good.replace("\"sha256\": \"", "\"sha256\": \"x"),
    ] {
        assert_ne!(bad, good);
        fs::write(&path, &bad).unwrap();
        let error = world.write(&desired(SECOND)).unwrap_err();
        assert!(matches!(error, Error::Ledger { .. }), "{error}");
        assert_eq!(world.files(), expected(FIRST));
        assert_eq!(fs::read_to_string(&path).unwrap(), bad);
    }
}

#[test]
fn links_are_refused_wherever_they_stand() {
    for place in [
        "services",
        "services/loki",
        "services/loki/kustomization.yaml",
        "kustomization.yaml",
    ] {
        let world = World::new();
        let outside = tempfile::tempdir().unwrap();
        let link = world.path(place);
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        symlink(outside.path(), &link).unwrap();
        let error = world.write(&desired(FIRST)).unwrap_err();
        assert!(matches!(error, Error::Symlink { .. }), "{place}: {error}");
        assert!(error.is_security());
        assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
        assert!(link.is_symlink());
    }
}

#[test]
fn a_link_above_the_overlay_is_refused() {
    let world = World::new();
    let outside = tempfile::tempdir().unwrap();
    symlink(outside.path(), world.directory.path().join("applications")).unwrap();
    let error = world.write(&desired(FIRST)).unwrap_err();
    assert!(matches!(error, Error::Symlink { .. }), "{error}");
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
}

#[test]
fn paths_that_leave_the_tree_or_belong_to_others_are_refused() {
    let world = World::new();
    for path in [
        "../x",
        "/etc/x",
        "services/../../x",
        "services//x",
        "services/a\nb",
    ] {
        let error = world.write(&desired(&[(path, "")])).unwrap_err();
        assert!(matches!(error, Error::Escape { .. }), "{path}: {error}");
    }
    for path in [
        "flux-system/x.yaml",
        "services/loki/custom/x.yaml",
        "README.md",
    ] {
        let error = world.write(&desired(&[(path, "")])).unwrap_err();
        assert!(matches!(error, Error::NotOurs { .. }), "{path}: {error}");
    }
    for cluster in ["..", "", "a/b"] {
        assert!(
            Overlay::new(world.directory.path(), cluster).is_err(),
            "{cluster}"
        );
    }
}

#[test]
fn a_directory_in_the_place_of_a_file_is_in_the_way() {
    let world = World::new();
    fs::create_dir_all(world.path("kustomization.yaml/x")).unwrap();
    let error = world.write(&desired(FIRST)).unwrap_err();
    assert!(matches!(error, Error::InTheWay { .. }), "{error}");
    let world = World::new();
    world.put("services", "a file");
    let error = world.write(&desired(FIRST)).unwrap_err();
    assert!(matches!(error, Error::InTheWay { .. }), "{error}");
    assert_eq!(world.get("services").unwrap(), "a file");
}

#[test]
fn a_file_that_cannot_be_created_leaves_the_tree_as_it_was() {
    let world = World::new();
    world.write(&desired(FIRST)).unwrap();
    let long = format!("services/{}.yaml", "x".repeat(300));
    let mut files = SECOND.to_vec();
    files.push((&long, "x"));
    let error = world.write(&desired(&files)).unwrap_err();
    assert!(matches!(error, Error::File { .. }), "{error}");
    assert_eq!(world.files(), expected(FIRST));
}
