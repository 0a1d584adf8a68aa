//! Reading what test programs print.

use crate::step::Tally;

/// What `cargo test` printed, taken apart.
#[derive(Debug, Default)]
pub(super) struct Results {
    /// The sum of all `test result:` lines, and one failure for each program that crashed before it printed one.
    pub(super) tally: Tally,
    /// What the failed tests printed, everything from crashed programs, and cargo's own errors.
    pub(super) failures: String,
}

/// Takes apart what `cargo test` printed.
pub(super) fn read(output: &str) -> Results {
    let mut results = Results::default();
    let lines: Vec<&str> = output.lines().collect();
    for section in lines.chunk_by(|_, next| !starts_program(next)) {
        results.add(section);
    }
    results
}

/// Cargo's line before each test program. A test that runs cargo itself has lines with a command in backticks.
fn starts_program(line: &str) -> bool {
    let line = line.trim_start();
    let running = line.strip_prefix("Running ");
    running.is_some_and(|program| !program.starts_with('`')) || line.starts_with("Doc-tests ")
}

impl Results {
    /// Adds what one program printed, with cargo's line before it. What cargo says before the first counts as well.
    fn add(&mut self, section: &[&str]) {
        let [title, lines @ ..] = section else { return };
        let mut counted: Vec<Tally> = lines.iter().copied().filter_map(result_line).collect();
        let crashed = starts_program(title) && counted.is_empty();
        if crashed {
            counted.push(Tally {
                passed: 0,
                failed: 1,
            });
        }
        let mut in_failures = false;
        for line in section {
            if *line == "failures:" && !in_failures {
                in_failures = true;
                self.failures.extend([title, "\n"]);
            }
            if crashed || in_failures || line.starts_with("error") {
                self.failures.extend([line, "\n"]);
            }
            if line.starts_with("test result:") {
                in_failures = false;
            }
        }
        for one in counted {
            self.tally.add(one);
        }
    }
}

/// `test result: ok. 5 passed; 0 failed; …`.
fn result_line(line: &str) -> Option<Tally> {
    let (_, counts) = line.strip_prefix("test result: ")?.split_once(". ")?;
    let number = |word: &str| {
        counts.split("; ").find_map(|count| {
            let (number, what) = count.split_once(' ')?;
            (what == word).then(|| number.parse().ok())?
        })
    };
    Some(Tally {
        passed: number("passed")?,
        failed: number("failed")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTPUT: &str = "
    Finished `test` profile [unoptimized] target(s) in 0.03s
     Running unittests src/lib.rs (target/debug/deps/one-1)

running 2 tests
test works ... ok
test breaks ... FAILED

failures:

---- breaks stdout ----
thread 'breaks' panicked at src/lib.rs:1:1:
left is not right

failures:
    breaks

test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s

error: test failed, to rerun pass `-p one --lib`
     Running tests/two.rs (target/debug/deps/two-2)

running 3 tests
     Running `target/debug/xtask control-plane up`
test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 7 filtered out; finished in 12.01s

     Running tests/three.rs (target/debug/deps/three-3)

running 1 test
memory allocation of 8 bytes failed
error: test failed, to rerun pass `-p one --test three`
   Doc-tests one

running 1 test
test src/lib.rs - (line 3) ... ok

test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.11s

error: 2 targets failed:
    `-p one --lib`
    `-p one --test three`
";

    #[test]
    fn sums_the_results_of_all_programs_and_counts_a_crash_as_a_failure() {
        let expected = Tally {
            passed: 5,
            failed: 2,
        };
        assert_eq!(read(OUTPUT).tally, expected);
    }

    #[test]
    fn counts_nothing_where_a_line_only_looks_like_a_result() {
        assert_eq!(result_line("test result: unclear"), None);
        assert_eq!(result_line("test result::tests::ok ... ok"), None);
    }

    #[test]
    fn keeps_the_output_of_what_failed_only() {
        let failures = read(OUTPUT).failures;
        assert!(failures.starts_with("     Running unittests src/lib.rs"));
        assert!(failures.contains("left is not right"));
        assert!(failures.contains("tests/three.rs"));
        assert!(failures.contains("memory allocation of 8 bytes failed"));
        assert!(failures.contains("error: 2 targets failed:"));
        assert!(!failures.contains("two.rs"));
        assert!(!failures.contains("works"));
        assert_eq!(failures.matches("Running").count(), 2);
    }
}
