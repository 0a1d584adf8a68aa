//! Death at every step, interrupts at every step, and two writers.

use super::*;

/// Lets some operations happen, then answers with its verdict.
struct Stopper {
    left: Cell<usize>,
    verdict: Verdict,
}

impl Stopper {
    fn after(count: usize, verdict: Verdict) -> Self {
        Self {
            left: Cell::new(count),
            verdict,
        }
    }
}

impl Watcher for Stopper {
    fn before(&self, operation: Operation) -> Verdict {
        // Waiting for the medium takes long, and a simulated death does not need it.
        if operation == Operation::Sync && self.verdict == Verdict::Die && self.left.get() > 1_000 {
            return Verdict::Proceed;
        }
        match self.left.get() {
            0 => self.verdict,
            left => {
                self.left.set(left - 1);
                Verdict::Proceed
            }
        }
    }
}

fn prepared() -> World {
    let world = World::new();
    world.put("services/loki/custom/kustomization.yaml", "mine");
    world.write(&desired(FIRST)).unwrap();
    world
}

fn with_custom(files: &[(&str, &str)]) -> Files {
    let mut files = expected(files);
    let custom = "applications/overlays/shop/services/loki/custom/kustomization.yaml";
    files.insert(custom.to_owned(), "mine".to_owned());
    files
}

fn write_until(world: &World, stopper: &Stopper) -> Result<Outcome, Error> {
    let options = WriteOptions {
        backup: false,
        ..WriteOptions::default()
    };
    world.overlay().write(&desired(SECOND), &options, stopper)
}

/// Calls back with a world in which a write died after each possible number of operations.
fn for_every_death(mut then: impl FnMut(&World, usize)) {
    for count in 0.. {
        let world = prepared();
        match write_until(&world, &Stopper::after(count, Verdict::Die)) {
            Err(Error::Died) => then(&world, count),
            Ok(_) => {
                assert!(count > 20, "only {count} operations were seen");
                return;
            }
            Err(other) => panic!("after {count} operations: {other}"),
        }
    }
}

#[test]
fn death_at_any_step_leaves_the_old_or_the_new_tree() {
    let (old, new) = (with_custom(FIRST), with_custom(SECOND));
    let mut seen = [false; 2];
    for_every_death(|world, count| {
        world.overlay().recover(&Unwatched).unwrap();
        let files = world.files();
        assert!(
            files == old || files == new,
            "after {count} operations: {files:#?}"
        );
        seen[usize::from(files == new)] = true;
        // The ledger is that of the tree, so nothing looks edited by hand.
        let plan = world.write(&desired(SECOND)).unwrap().plan;
        assert!(plan.refused.is_empty());
        assert_eq!(world.files(), new, "after {count} operations");
        assert_eq!(all_files(world.directory.path()).len(), new.len() + 1);
    });
    assert_eq!(seen, [true; 2]);
}

#[test]
fn death_during_the_recovery_from_a_death_changes_nothing() {
    let (old, new) = (with_custom(FIRST), with_custom(SECOND));
    for_every_death(|world, count| {
        for second in 0..200 {
            match world
                .overlay()
                .recover(&Stopper::after(second, Verdict::Die))
            {
                Err(Error::Died) => {}
                Ok(_) => break,
                Err(other) => panic!("after {count} and {second} operations: {other}"),
            }
        }
        let files = world.files();
        assert!(
            files == old || files == new,
            "after {count} operations: {files:#?}"
        );
    });
}

#[test]
fn the_next_write_recovers_by_itself() {
    let mut recovered = 0;
    for_every_death(|world, count| {
        let outcome = world.write(&desired(SECOND)).unwrap();
        recovered += usize::from(outcome.recovered);
        assert_eq!(
            world.files(),
            with_custom(SECOND),
            "after {count} operations"
        );
    });
    assert!(recovered > 20);
}

#[test]
fn an_interrupt_at_any_step_puts_everything_back() {
    let (old, new) = (with_custom(FIRST), with_custom(SECOND));
    for count in 0.. {
        let world = prepared();
        match write_until(&world, &Stopper::after(count, Verdict::Interrupt)) {
            Err(Error::Interrupted) => assert_eq!(world.files(), old, "after {count} operations"),
            Ok(_) => {
                assert_eq!(world.files(), new);
                assert!(count > 15);
                return;
            }
            Err(other) => panic!("after {count} operations: {other}"),
        }
    }
}

#[test]
fn an_interrupted_first_write_leaves_nothing_at_all() {
    for count in 0.. {
        let world = World::new();
        let stopper = Stopper::after(count, Verdict::Interrupt);
        let result = world
            .overlay()
            .write(&desired(FIRST), &WriteOptions::default(), &stopper);
        if result.is_ok() {
            assert!(count > 20, "only {count} operations were seen");
            return;
        }
        assert!(matches!(result, Err(Error::Interrupted)), "{result:?}");
        let left: Vec<_> = fs::read_dir(world.directory.path()).unwrap().collect();
        assert!(left.is_empty(), "after {count} operations: {left:?}");
    }
}

#[test]
fn death_during_the_first_write_leaves_all_or_nothing() {
    let mut seen = [false; 2];
    for count in 0.. {
        let world = World::new();
        let stopper = Stopper::after(count, Verdict::Die);
        let result = world
            .overlay()
            .write(&desired(FIRST), &WriteOptions::default(), &stopper);
        if result.is_ok() {
            break;
        }
        world.overlay().recover(&Unwatched).unwrap();
        let files = world.files();
        let is_whole = files == expected(FIRST);
        assert!(
            files.is_empty() || is_whole,
            "after {count} operations: {files:#?}"
        );
        seen[usize::from(is_whole)] = true;
    }
    assert_eq!(seen, [true; 2]);
}

#[test]
fn what_others_put_into_a_directory_of_a_dead_write_stays() {
    let file = "managed-services/fluxcd/notes.yaml";
    let mut seen = 0;
    for_every_death(|world, count| {
        let is_moved = world.path("managed-services/fluxcd").exists();
        if is_moved {
            world.put(file, "mine");
            seen += 1;
        }
        world.overlay().recover(&Unwatched).unwrap();
        assert_eq!(
            world.get(file).is_some(),
            is_moved,
            "after {count} operations"
        );
    });
    assert!(seen > 0);
}

#[test]
fn a_write_that_is_held_keeps_others_out() {
    let world = prepared();
    let tree = Tree::open(world.directory.path(), &Unwatched).unwrap();
    let lock = Lock::take(&tree, &layout::overlay("shop"), &layout::staging(1, 1)).unwrap();
    assert!(matches!(
        world.write(&desired(SECOND)),
        Err(Error::Busy { .. })
    ));
    assert_eq!(
        world.get("services/fluxcd/kustomization.yaml").unwrap(),
        "flux: 1\n"
    );
    lock.release(&tree).unwrap();
    world.write(&desired(SECOND)).unwrap();
}

#[test]
fn a_lock_file_of_somebody_else_is_respected_for_ten_minutes() {
    let world = prepared();
    let path = world.path(layout::LOCK);
    fs::write(&path, "").unwrap();
    assert!(matches!(
        world.write(&desired(SECOND)),
        Err(Error::Busy { .. })
    ));
    let eleven_minutes_ago = SystemTime::now() - Duration::from_mins(11);
    fs::File::open(&path)
        .unwrap()
        .set_modified(eleven_minutes_ago)
        .unwrap();
    world.write(&desired(SECOND)).unwrap();
    assert!(!path.exists());
}

#[test]
fn writers_side_by_side_never_mix() {
    let world = World::new();
    std::thread::scope(|scope| {
        for number in 0..4 {
            let overlay = world.overlay();
            scope.spawn(move || {
                let files = if number % 2 == 0 { FIRST } else { SECOND };
                for _ in 0..5 {
                    match overlay.write(&desired(files), &WriteOptions::default(), &Unwatched) {
                        Ok(_) | Err(Error::Busy { .. }) => {}
                        Err(other) => panic!("{other}"),
                    }
                }
            });
        }
    });
    let files = world.files();
    assert!(
        files == expected(FIRST) || files == expected(SECOND),
        "{files:#?}"
    );
}
