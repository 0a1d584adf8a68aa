//! Ctrl-C while trees are being written: the real program puts everything back.

use std::{
    fs,
    io::Write as _,
    path::Path,
    process::{Command, Stdio},
    sync::mpsc,
    thread,
    time::Duration,
};

use super::world::{Ended, World, config, files_below};

/// A pipe in the place of a key file: whoever reads it waits until we let the key through.
struct Gate {
    arrived: mpsc::Receiver<()>,
    open: mpsc::Sender<()>,
}

impl Gate {
    fn new(path: &Path, key: String) -> Self {
        let made = Command::new("mkfifo").arg(path).status().unwrap();
        assert!(made.success());
        let (arrive, arrived) = mpsc::channel();
        let (open, opened) = mpsc::channel();
        let path = path.to_owned();
        thread::spawn(move || {
            let mut is_first = true;
            loop {
                // Returns as soon as somebody opens the other end.
                let mut pipe = fs::OpenOptions::new().write(true).open(&path).unwrap();
                if is_first {
                    arrive.send(()).unwrap();
                    opened.recv().unwrap();
                }
                is_first = false;
                let _ = pipe.write_all(key.as_bytes());
            }
        });
        Self { arrived, open }
    }
}

/// Clusters are rendered in groups: the first of each is staged while the second waits for its key.
#[test]
fn an_interrupted_render_puts_every_tree_back() {
    let world = World::new();
    let workers = thread::available_parallelism().unwrap().get();
    fs::remove_file(world.config_path("demo")).unwrap();
    let names: Vec<String> = (0..2 * workers)
        .map(|number| format!("c{number:03}"))
        .collect();
    let with_key =
        |name: &str, key: &str| config(name).replace("~/age-key.txt", &format!("~/{key}"));
    for name in &names {
        world.save(name, &config(name));
    }
    world.success(&["cluster", "render", "--all"]);
    let before = files_below(&world.repository());

    let key = fs::read_to_string(world.path("age-key.txt")).unwrap();
    let mut gates = Vec::new();
    for (number, name) in names.iter().enumerate() {
        let text = if number % 2 == 1 {
            let pipe = format!("{name}.pipe");
            gates.push(Gate::new(&world.path(&pipe), key.clone()));
            with_key(name, &pipe)
        } else {
            config(name)
        };
        world.save(name, &text.replace("2026.01", "2026.02"));
    }
    let child = world
        .command(&["cluster", "render", "--all"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    for gate in &gates {
        gate.arrived.recv_timeout(Duration::from_mins(1)).unwrap();
    }
    let staged = staging(&world);
    assert_eq!(
        staged.len(),
        workers,
        "half of the trees are staged: {staged:?}"
    );
    let process = child.id().to_string();
    let sent = Command::new("kill").args(["-INT", &process]).status();
    assert!(sent.unwrap().success());
    // The program notes the signal in a thread of its own, and nothing outside shows when: it is not only a moment.
    thread::sleep(Duration::from_secs(2));
    for gate in &gates {
        gate.open.send(()).unwrap();
    }
    let ended: Ended = child.wait_with_output().unwrap().into();
    assert_eq!(ended.code, 130, "{ended}");
    assert_eq!(files_below(&world.repository()), before, "{ended}");
    assert_eq!(staging(&world), Vec::<String>::new());
}

fn staging(world: &World) -> Vec<String> {
    let entries = fs::read_dir(world.repository()).unwrap();
    entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.starts_with(".opencenter-staging"))
        .collect()
}
