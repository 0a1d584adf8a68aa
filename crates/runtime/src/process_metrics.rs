//! `process_*` as every Prometheus client reports them, read from `/proc`.

use std::{fmt, fs};

use prometheus_client::{
    collector::Collector,
    encoding::{DescriptorEncoder, EncodeMetric},
    metrics::{counter::ConstCounter, gauge::ConstGauge},
};
use rustix::param::page_size;

/// Linux reports CPU time in hundredths of a second.
const TICKS_PER_SECOND: f64 = 100.0;

/// Reads `/proc/self` when scraped.
#[derive(Debug, Default)]
pub struct ProcessCollector {}

impl Collector for ProcessCollector {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let Some(stat) = fs::read_to_string("/proc/self/stat")
            .ok()
            .and_then(|text| Stat::parse(&text, page_size() as u64))
        else {
            return Ok(());
        };
        let cpu = ConstCounter::new(stat.cpu_seconds);
        cpu.encode(encoder.encode_descriptor(
            "process_cpu_seconds",
            "User and system CPU time",
            None,
            cpu.metric_type(),
        )?)?;
        let resident = ConstGauge::new(stat.resident_bytes);
        resident.encode(encoder.encode_descriptor(
            "process_resident_memory_bytes",
            "Resident memory",
            None,
            resident.metric_type(),
        )?)?;
        let open = fs::read_dir("/proc/self/fd").map_or(0, Iterator::count);
        let open = ConstGauge::new(u64::try_from(open).unwrap_or_default());
        open.encode(encoder.encode_descriptor(
            "process_open_fds",
            "Open file descriptors",
            None,
            open.metric_type(),
        )?)?;
        if let Some(boot) = boot_time() {
            let since_epoch = ConstGauge::new(boot + stat.start_seconds);
            since_epoch.encode(encoder.encode_descriptor(
                "process_start_time_seconds",
                "Start of the process since the epoch",
                None,
                since_epoch.metric_type(),
            )?)?;
        }
        Ok(())
    }
}

struct Stat {
    cpu_seconds: f64,
    start_seconds: f64,
    resident_bytes: u64,
}

impl Stat {
    /// Fields are counted from behind the command name, which may contain spaces and parentheses.
    fn parse(text: &str, page_bytes: u64) -> Option<Self> {
        let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
        let number = |position: usize| {
            fields
                .get(position)
                .and_then(|field| field.parse::<u32>().ok())
                .map(f64::from)
        };
        Some(Self {
            cpu_seconds: (number(11)? + number(12)?) / TICKS_PER_SECOND,
            start_seconds: number(19)? / TICKS_PER_SECOND,
            resident_bytes: fields.get(21)?.parse::<u64>().ok()? * page_bytes,
        })
    }
}

fn boot_time() -> Option<f64> {
    let text = fs::read_to_string("/proc/stat").ok()?;
    text.lines()
        .find_map(|line| line.strip_prefix("btime "))?
        .trim()
        .parse()
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_a_stat_line_with_a_hostile_command_name() {
        let line =
            "42 (a) b (c)) S 1 1 1 0 -1 4194560 1 0 0 0 150 50 0 0 20 0 3 0 1000 9999 256 1 0";
        let stat = Stat::parse(line, 65536).unwrap();
        assert!((stat.cpu_seconds - 2.0).abs() < 1e-9 && (stat.start_seconds - 10.0).abs() < 1e-9);
        assert_eq!(stat.resident_bytes, 256 * 65536);
    }
}
