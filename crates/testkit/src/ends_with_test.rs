//! Processes that end with the test that started them, however it ends.
//!
//! A test that is killed runs no destructor, and an operator that it leaves behind goes on working on the planes that
//! the next tests use. So a shell outlives the test: it hears through a pipe which processes there are, and kills them
//! when the pipe ends, which it does with the test.

use std::{
    io::Write as _,
    os::unix::process::CommandExt as _,
    process::{Child, Command, Stdio},
    sync::{LazyLock, Mutex},
};

/// Keeps a list of the processes that run, and kills them at the end of its input.
const SCRIPT: &str = r#"
running=
while read -r word process; do
  others=
  for one in $running; do
    [ "$one" = "$process" ] || others="$others $one"
  done
  case $word in
    started) running="$others $process" ;;
    ended) running=$others ;;
  esac
done
[ -z "$running" ] || kill -KILL $running
"#;

/// The shell of this process.
#[derive(Debug)]
struct Keeper(Child);

impl Keeper {
    fn start() -> Self {
        let shell = Command::new("sh")
            .args(["-c", SCRIPT])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // What ends the test by a signal to its whole group must not end the shell as well.
            .process_group(0)
            .spawn();
        Self(shell.unwrap())
    }

    fn tell(&mut self, word: &str, process: u32) {
        // In one piece: half a line is a line at the end of the input.
        let line = format!("{word} {process}\n");
        let pipe = self.0.stdin.as_mut().unwrap();
        pipe.write_all(line.as_bytes()).unwrap();
    }
}

static KEEPER: LazyLock<Mutex<Keeper>> = LazyLock::new(|| Mutex::new(Keeper::start()));

/// A process that is killed at the end of this test process, unless this is dropped before.
#[derive(Debug)]
pub(crate) struct EndsWithTest(u32);

impl EndsWithTest {
    pub(crate) fn of(child: &Child) -> Self {
        let process = child.id();
        KEEPER.lock().unwrap().tell("started", process);
        Self(process)
    }
}

impl Drop for EndsWithTest {
    fn drop(&mut self) {
        if let Ok(mut keeper) = KEEPER.lock() {
            keeper.tell("ended", self.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt as _;

    use super::*;

    #[test]
    fn who_still_runs_when_the_test_is_gone_is_killed_and_nobody_else() {
        let sleep = || Command::new("sleep").arg("600").spawn().unwrap();
        let (mut left_behind, mut ended, mut never_told) = (sleep(), sleep(), sleep());
        let mut keeper = Keeper::start();
        keeper.tell("started", ended.id());
        keeper.tell("started", left_behind.id());
        keeper.tell("ended", ended.id());
        // What the kernel does to a process that is killed.
        drop(keeper);
        assert_eq!(left_behind.wait().unwrap().signal(), Some(9));
        for other in [&mut ended, &mut never_told] {
            assert!(other.try_wait().unwrap().is_none());
            other.kill().unwrap();
            other.wait().unwrap();
        }
    }
}
