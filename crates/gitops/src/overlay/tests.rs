use std::{
    cell::Cell,
    collections::BTreeMap,
    fs,
    os::unix::fs::{PermissionsExt as _, symlink},
    time::{Duration, SystemTime},
};

use tempfile::TempDir;

use super::*;
use crate::{
    Outcome, WriteOptions,
    lock::Lock,
    plan::{DesiredFile, Refusal, RefusalReason, Scope},
    watcher::{Operation, Verdict, Watcher},
};

mod crash;
mod refusal;

/// Files of a tree by path.
type Files = BTreeMap<String, String>;

struct World {
    directory: TempDir,
}

impl World {
    fn new() -> Self {
        Self {
            directory: tempfile::tempdir().unwrap(),
        }
    }

    fn overlay(&self) -> Overlay {
        Overlay::new(self.directory.path(), "shop").unwrap()
    }

    fn path(&self, file: &str) -> PathBuf {
        self.overlay().directory().join(file)
    }

    fn write(&self, desired: &Desired) -> Result<Outcome, Error> {
        self.overlay()
            .write(desired, &WriteOptions::default(), &Unwatched)
    }

    fn put(&self, file: &str, content: &str) {
        let path = self.path(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    fn get(&self, file: &str) -> Option<String> {
        fs::read_to_string(self.path(file)).ok()
    }

    /// Every file of the repository except the ledger, by path.
    fn files(&self) -> Files {
        let mut files = all_files(self.directory.path());
        files.retain(|path, _| !path.starts_with(".opencenter/"));
        files
    }
}

fn all_files(root: &Path) -> Files {
    let mut found = Files::new();
    let mut open = vec![root.to_owned()];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                let relative = path.strip_prefix(root).unwrap().to_str().unwrap();
                found.insert(relative.to_owned(), fs::read_to_string(&path).unwrap());
            }
        }
    }
    found
}

fn desired(files: &[(&str, &str)]) -> Desired {
    let file = |(path, content): &(&str, &str)| {
        let file = DesiredFile {
            bytes: content.as_bytes().to_vec(),
            cleartext: None,
        };
        ((*path).to_owned(), file)
    };
    Desired {
        scope: Scope::Full,
        files: files.iter().map(file).collect(),
    }
}

const FIRST: &[(&str, &str)] = &[
    ("kustomization.yaml", "root: 1\n"),
    ("services/fluxcd/kustomization.yaml", "flux: 1\n"),
    ("services/loki/kustomization.yaml", "loki: 1\n"),
    (
        "services/loki/helm-values/override-values.yaml",
        "values: 1\n",
    ),
    ("services/tempo/kustomization.yaml", "tempo: 1\n"),
];

/// One file more, one changed, a service gone, a service new.
const SECOND: &[(&str, &str)] = &[
    (".sops.yaml", "rules: 1\n"),
    ("kustomization.yaml", "root: 1\n"),
    ("managed-services/fluxcd/kustomization.yaml", "managed: 1\n"),
    ("services/fluxcd/kustomization.yaml", "flux: 2\n"),
    ("services/tempo/kustomization.yaml", "tempo: 1\n"),
];

fn expected(files: &[(&str, &str)]) -> Files {
    let inside = |path: &str| format!("applications/overlays/shop/{path}");
    files
        .iter()
        .map(|(path, content)| (inside(path), (*content).to_owned()))
        .collect()
}

#[test]
fn writes_the_tree_and_nothing_else() {
    let world = World::new();
    let outcome = world.write(&desired(FIRST)).unwrap();
    assert_eq!(outcome.plan.added.len(), FIRST.len());
    assert_eq!(world.files(), expected(FIRST));
    let mode = fs::metadata(world.path("kustomization.yaml"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o644);
}

#[test]
fn replaces_adds_and_deletes_and_removes_empty_directories() {
    let world = World::new();
    world.write(&desired(FIRST)).unwrap();
    let plan = world.write(&desired(SECOND)).unwrap().plan;
    assert_eq!(
        plan.added,
        [".sops.yaml", "managed-services/fluxcd/kustomization.yaml"]
    );
    assert_eq!(plan.changed, ["services/fluxcd/kustomization.yaml"]);
    assert_eq!(plan.deleted.len(), 2);
    assert_eq!(
        plan.kept,
        ["kustomization.yaml", "services/tempo/kustomization.yaml"]
    );
    assert_eq!(world.files(), expected(SECOND));
    assert!(!world.path("services/loki").exists());
}

#[test]
fn a_second_write_touches_nothing() {
    let world = World::new();
    world.write(&desired(FIRST)).unwrap();
    let times = |world: &World| -> Vec<SystemTime> {
        let all = [
            "",
            "services",
            "kustomization.yaml",
            "services/loki/kustomization.yaml",
        ];
        all.iter()
            .map(|file| fs::metadata(world.path(file)).unwrap().modified().unwrap())
            .collect()
    };
    let before = times(&world);
    let plan = world.write(&desired(FIRST)).unwrap().plan;
    assert!(plan.is_empty());
    assert_eq!(times(&world), before);
}

#[test]
fn unchanged_files_keep_their_time_when_others_change() {
    let world = World::new();
    world.write(&desired(FIRST)).unwrap();
    let file = world.path("services/tempo/kustomization.yaml");
    let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
    fs::File::open(&file)
        .unwrap()
        .set_modified(long_ago)
        .unwrap();
    world.write(&desired(SECOND)).unwrap();
    assert_eq!(fs::metadata(&file).unwrap().modified().unwrap(), long_ago);
}

#[test]
fn what_belongs_to_others_stays() {
    let world = World::new();
    world.put("flux-system/gotk-sync.yaml", "flux");
    world.put("services/loki/custom/kustomization.yaml", "mine");
    world.put("README.md", "read me");
    world.write(&desired(FIRST)).unwrap();
    world.write(&desired(SECOND)).unwrap();
    assert_eq!(world.get("flux-system/gotk-sync.yaml").unwrap(), "flux");
    assert_eq!(
        world
            .get("services/loki/custom/kustomization.yaml")
            .unwrap(),
        "mine"
    );
    assert_eq!(world.get("README.md").unwrap(), "read me");
    let overlay = world.overlay();
    assert_eq!(overlay.unknown().unwrap(), ["README.md"]);
    assert_eq!(overlay.flux_system().unwrap(), FluxSystem::Incomplete);
    assert_eq!(
        overlay.custom_files().unwrap(),
        BTreeSet::from(["services/loki/custom/kustomization.yaml".to_owned()])
    );
}

#[test]
fn a_unit_replaces_its_directory_and_leaves_the_rest() {
    let world = World::new();
    world.write(&desired(FIRST)).unwrap();
    let mut unit = desired(&[
        ("services/loki/kustomization.yaml", "loki: 2\n"),
        ("services/fluxcd/kustomization.yaml", "flux: 2\n"),
    ]);
    unit.scope = Scope::Unit {
        directory: Some("services/loki".to_owned()),
    };
    let plan = world.write(&unit).unwrap().plan;
    assert_eq!(
        plan.deleted,
        ["services/loki/helm-values/override-values.yaml"]
    );
    assert_eq!(
        world.get("services/tempo/kustomization.yaml").unwrap(),
        "tempo: 1\n"
    );
    // The next full write still knows the files of the others.
    let plan = world.write(&desired(SECOND)).unwrap().plan;
    assert!(
        plan.deleted
            .contains(&"services/loki/kustomization.yaml".to_owned())
    );
}

#[test]
fn backups_hold_what_was_replaced_and_deleted() {
    let world = World::new();
    world.write(&desired(FIRST)).unwrap();
    let options = WriteOptions {
        backup: true,
        backup_name: "2026-01-02T03-04-05Z".to_owned(),
        ..WriteOptions::default()
    };
    world
        .overlay()
        .write(&desired(SECOND), &options, &Unwatched)
        .unwrap();
    let root = world
        .directory
        .path()
        .join(".opencenter-backups/2026-01-02T03-04-05Z");
    let saved = all_files(&root);
    let flux = "applications/overlays/shop/services/fluxcd/kustomization.yaml";
    assert_eq!(saved.get(flux).unwrap(), "flux: 1\n");
    assert_eq!(saved.len(), 3);
}

#[test]
fn a_plan_says_what_a_write_will_do() {
    let world = World::new();
    let overlay = world.overlay();
    assert_eq!(
        overlay.plan(&desired(FIRST), false).unwrap().added.len(),
        FIRST.len()
    );
    assert!(!world.path("").exists());
    world.write(&desired(FIRST)).unwrap();
    let plan = overlay.plan(&desired(SECOND), false).unwrap();
    assert_eq!(plan, world.write(&desired(SECOND)).unwrap().plan);
}

#[test]
fn prepared_trees_hold_few_files_open() {
    let open = || fs::read_dir("/proc/self/fd").unwrap().count();
    let world = World::new();
    let files: Vec<String> = (0..80).map(|n| format!("services/s{n}/x.yaml")).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|file| (file.as_str(), "x: 1\n")).collect();
    let before = open();
    let prepared: Vec<_> = (0..8)
        .map(|number| {
            let overlay = Overlay::new(world.directory.path(), &format!("c{number}")).unwrap();
            overlay
                .prepare(&desired(&files), &WriteOptions::default(), &Unwatched)
                .unwrap()
        })
        .collect();
    // Other tests open files at the same time, but not hundreds.
    assert!(open() < before + 320, "{before} became {}", open());
    for preparation in prepared {
        let crate::Preparation::Ready(prepared) = preparation else {
            panic!("there is something to write");
        };
        prepared.commit().unwrap();
    }
    assert_eq!(world.files().len(), 8 * 80);
}
