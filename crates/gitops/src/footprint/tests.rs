use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::{PermissionsExt as _, symlink},
    path::Path,
};

use tempfile::TempDir;

use super::*;
use crate::{Desired, DesiredFile, Scope, Unwatched, WriteOptions};

/// Something that happens to a file.
type Touch<'a> = &'a dyn Fn(&Path);

fn written() -> (TempDir, Overlay) {
    let directory = tempfile::tempdir().unwrap();
    let overlay = Overlay::new(directory.path(), "shop").unwrap();
    let file = |text: &str| DesiredFile {
        bytes: text.as_bytes().to_vec(),
        cleartext: None,
    };
    let files = BTreeMap::from([
        ("kustomization.yaml".to_owned(), file("root: 1\n")),
        (
            "services/loki/kustomization.yaml".to_owned(),
            file("loki: 1\n"),
        ),
    ]);
    let desired = Desired {
        scope: Scope::Full,
        files,
    };
    overlay
        .write(&desired, &WriteOptions::default(), &Unwatched)
        .unwrap();
    (directory, overlay)
}

/// Waits until a write leaves another time than the writes before.
fn let_the_clock_tick(overlay: &Overlay) {
    while !overlay.footprint().unwrap().is_settled(SystemTime::now()) {
        std::thread::yield_now();
    }
}

#[test]
fn nothing_is_said_before_the_first_write_and_while_somebody_writes() {
    let directory = tempfile::tempdir().unwrap();
    let overlay = Overlay::new(directory.path(), "shop").unwrap();
    assert_eq!(overlay.footprint(), None);
    let (_directory, overlay) = written();
    assert!(overlay.footprint().is_some());
    fs::write(overlay.directory().join(layout::LOCK), "").unwrap();
    assert_eq!(overlay.footprint(), None);
}

#[test]
fn a_tree_that_nobody_touches_keeps_its_footprint() {
    let (_directory, overlay) = written();
    let first = overlay.footprint().unwrap();
    assert_eq!(
        first.files(),
        ["kustomization.yaml", "services/loki/kustomization.yaml"]
    );
    assert_eq!(overlay.footprint().unwrap(), first);
    // What is not looked at makes no difference either.
    fs::create_dir_all(overlay.directory().join("flux-system")).unwrap();
    fs::write(overlay.directory().join("flux-system/x.yaml"), "x").unwrap();
    fs::write(overlay.directory().join("README.md"), "x").unwrap();
    assert_eq!(overlay.footprint().unwrap(), first);
}

#[test]
fn every_touch_leaves_another_footprint() {
    let rewrite = |path: &Path| {
        let bytes = fs::read(path).unwrap();
        fs::write(path, bytes).unwrap();
    };
    let touches: [(&str, Touch<'_>); 6] = [
        ("a write of the same text", &rewrite),
        ("a deletion", &|path| fs::remove_file(path).unwrap()),
        ("another mode", &|path| {
            fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
        }),
        ("a copy with the same time", &|path| {
            let time = fs::metadata(path).unwrap().modified().unwrap();
            let copy = path.with_extension("copy");
            fs::copy(path, &copy).unwrap();
            fs::File::open(&copy).unwrap().set_modified(time).unwrap();
            fs::rename(&copy, path).unwrap();
        }),
        ("a file beside it", &|path| {
            fs::write(path.with_extension("new"), "").unwrap();
        }),
        ("a directory of the user", &|path| {
            let custom = path.with_file_name("custom");
            fs::create_dir(&custom).unwrap();
            fs::write(custom.join("kustomization.yaml"), "").unwrap();
        }),
    ];
    for (what, touch) in touches {
        let (_directory, overlay) = written();
        let_the_clock_tick(&overlay);
        let before = overlay.footprint().unwrap();
        touch(&overlay.directory().join("services/loki/kustomization.yaml"));
        assert_ne!(
            overlay.footprint().unwrap().digest(),
            before.digest(),
            "{what}"
        );
    }
    let (directory, overlay) = written();
    let_the_clock_tick(&overlay);
    let before = overlay.footprint().unwrap();
    rewrite(&directory.path().join(layout::ledger("shop")));
    assert_ne!(overlay.footprint().unwrap().digest(), before.digest());
}

#[test]
fn a_fresh_tree_is_not_settled_yet() {
    let (_directory, overlay) = written();
    let footprint = overlay.footprint().unwrap();
    assert!(!footprint.is_settled(footprint.newest()));
    let_the_clock_tick(&overlay);
    assert!(footprint.is_settled(SystemTime::now()));
}

#[test]
fn whole_seconds_take_longer_to_settle() {
    let (directory, overlay) = written();
    let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
    let files = ["kustomization.yaml", "services/loki/kustomization.yaml"];
    let mut paths: Vec<_> = files.map(|file| overlay.directory().join(file)).into();
    paths.push(directory.path().join(layout::ledger("shop")));
    for path in paths {
        fs::File::open(path)
            .unwrap()
            .set_modified(long_ago)
            .unwrap();
    }
    let footprint = overlay.footprint().unwrap();
    assert!(!footprint.is_settled(long_ago + Duration::from_secs(3)));
    assert!(footprint.is_settled(long_ago + Duration::from_secs(4)));
}

#[test]
fn links_in_our_places_say_nothing() {
    for place in [
        "services/loki/link.yaml",
        "services/link",
        "managed-services",
    ] {
        let (directory, overlay) = written();
        symlink(directory.path(), overlay.directory().join(place)).unwrap();
        assert_eq!(overlay.footprint(), None, "{place}");
    }
    let (directory, overlay) = written();
    let (real, moved) = (
        directory.path().join("applications"),
        directory.path().join("moved"),
    );
    fs::rename(&real, &moved).unwrap();
    symlink(&moved, &real).unwrap();
    assert_eq!(overlay.footprint(), None);
}
