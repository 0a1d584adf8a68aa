//! What a process uses, as the kernel counts it.

use std::{fs, time::Duration};

use anyhow::Context;

/// Memory of a process, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Memory {
    /// Resident now.
    pub(crate) resident: u64,
    /// The most that was ever resident.
    pub(crate) peak: u64,
    /// The part of the resident memory that belongs to no file: heap and stacks.
    pub(crate) anonymous: u64,
    /// The part that maps files: the program itself, mostly.
    pub(crate) file: u64,
    /// Threads.
    pub(crate) threads: usize,
}

/// Memory of a running process.
pub(crate) fn memory(process: u32) -> anyhow::Result<Memory> {
    let path = format!("/proc/{process}/status");
    let text = fs::read_to_string(&path).with_context(|| format!("could not read {path}"))?;
    parse_memory(&text).with_context(|| format!("could not understand {path}"))
}

/// Time on a processor of a running process with all its threads, since its start.
pub(crate) fn processor_time(process: u32) -> anyhow::Result<Duration> {
    let path = format!("/proc/{process}/stat");
    let text = fs::read_to_string(&path).with_context(|| format!("could not read {path}"))?;
    let ticks = parse_ticks(&text).with_context(|| format!("could not understand {path}"))?;
    let per_second = rustix::param::clock_ticks_per_second().max(1);
    Ok(Duration::from_millis(ticks * 1000 / per_second))
}

fn parse_memory(status: &str) -> Option<Memory> {
    let field = |name: &str| -> Option<u64> {
        let line = status.lines().find(|line| line.starts_with(name))?;
        line.split_whitespace().nth(1)?.parse().ok()
    };
    let bytes = |name: &str| field(name).map(|kibibytes| kibibytes * 1024);
    Some(Memory {
        resident: bytes("VmRSS:")?,
        peak: bytes("VmHWM:")?,
        anonymous: bytes("RssAnon:")?,
        file: bytes("RssFile:")?,
        threads: field("Threads:").and_then(|count| usize::try_from(count).ok())?,
    })
}

/// User and system time. The name of the program, in parentheses, may contain anything.
fn parse_ticks(stat: &str) -> Option<u64> {
    let (_, after_name) = stat.rsplit_once(')')?;
    let mut times = after_name.split_whitespace().skip(11);
    let user: u64 = times.next()?.parse().ok()?;
    let system: u64 = times.next()?.parse().ok()?;
    Some(user + system)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adds_user_and_system_time_whatever_the_name_of_the_program() {
        let stat =
            "42 (a) b) S 1 42 42 0 -1 4194560 900 0 3 0 120 30 7 8 20 0 4 0 100 22000 500 1844";
        assert_eq!(parse_ticks(stat), Some(150));
        assert_eq!(parse_ticks("42 (a"), None);
    }

    #[test]
    fn reads_memory_in_bytes() {
        let status = "Name:\tmainstay\nVmHWM:\t   15000 kB\nVmRSS:\t   14000 kB\nRssAnon:\t    4000 kB\n\
                      RssFile:\t   10000 kB\nThreads:\t2\n";
        let memory = parse_memory(status).unwrap();
        assert_eq!(memory.resident, 14000 * 1024);
        assert_eq!(memory.peak, 15000 * 1024);
        assert_eq!(memory.anonymous + memory.file, memory.resident);
        assert_eq!(memory.threads, 2);
        assert_eq!(parse_memory("Name:\tkthreadd\n"), None);
    }

    #[test]
    fn knows_its_own_usage() {
        let own = std::process::id();
        assert!(memory(own).unwrap().resident > 0);
        assert!(processor_time(own).unwrap() < Duration::from_hours(1));
    }
}
