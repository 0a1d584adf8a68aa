//! What the product costs before it does anything: on disk, at its start, and idle.

use std::{
    collections::BTreeSet,
    env,
    ffi::OsString,
    fs,
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context, ensure};
use mainstay_control_plane::sources;

use crate::{
    output::say,
    plane::Plane,
    report::{Figure, Section},
    statistics::{median, number, smallest},
    usage,
};

/// Starts of each program.
const STARTS: usize = 50;
/// Time for an idle operator to come to rest.
const REST: Duration = Duration::from_secs(3);

/// Measures the binary, its start and an operator without objects.
pub(crate) async fn measure(plane: &Plane, binary: &Path) -> anyhow::Result<Section> {
    say("size: program and start");
    let size = fs::metadata(binary)
        .with_context(|| format!("could not read {}", binary.display()))?
        .len();
    let (mut product, mut nothing) = (Vec::new(), Vec::new());
    for _ in 0..STARTS {
        nothing.push(start_seconds(Path::new("/bin/true"), &[])?);
        product.push(start_seconds(binary, &["version"])?);
    }
    let mut figures = vec![
        Figure::bytes("program", size).at_most(15.0),
        Figure::count("crates in the program", number(crates()?)),
        Figure::milliseconds("`mainstay version`, fastest", smallest(&product))
            .against("true", smallest(&nothing)),
        Figure::milliseconds("`mainstay version`, median", median(&product))
            .against("true", median(&nothing))
            .at_most(20.0),
    ];
    say("size: idle operator");
    figures.extend(idle_figures(plane, binary).await?);
    Ok(Section {
        title: "size".to_owned(),
        notes: vec![
            format!("Start: from spawn to exit, {STARTS} times each, in turns with /bin/true."),
            "Idle: `mainstay run` without election and without objects, 3 seconds after it is ready."
                .to_owned(),
        ],
        figures,
    })
}

async fn idle_figures(plane: &Plane, binary: &Path) -> anyhow::Result<Vec<Figure>> {
    let begun = Instant::now();
    let mut operator = plane.start_operator(binary, &[]).await;
    let ready = begun.elapsed().as_secs_f64();
    tokio::time::sleep(REST).await;
    let memory = usage::memory(operator.id())?;
    operator.terminate().await;
    Ok(vec![
        Figure::milliseconds("operator, start to ready", ready),
        Figure::bytes("idle memory", memory.resident).at_most(16.0),
        Figure::bytes("idle memory, heap and stacks", memory.anonymous),
        Figure::bytes("idle memory, program and libraries", memory.file),
        Figure::bytes("idle memory, peak", memory.peak),
        Figure::count("threads", number(memory.threads)),
    ])
}

fn start_seconds(program: &Path, arguments: &[&str]) -> anyhow::Result<f64> {
    let begun = Instant::now();
    let status = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status()
        .with_context(|| format!("could not run {}", program.display()))?;
    ensure!(status.success(), "{} failed", program.display());
    Ok(begun.elapsed().as_secs_f64())
}

/// Crates in the normal dependency tree of the program, itself included.
fn crates() -> anyhow::Result<usize> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
    let output = Command::new(cargo)
        .args(["tree", "--locked", "--package", "mainstay-cli"])
        .args(["--edges", "normal", "--prefix", "none"])
        .current_dir(sources::workspace())
        .output()
        .context("could not run cargo")?;
    ensure!(output.status.success(), "cargo tree failed");
    Ok(distinct(&String::from_utf8_lossy(&output.stdout)))
}

/// Different lines, without the mark of a repeated subtree.
fn distinct(tree: &str) -> usize {
    let lines = tree.lines().map(|line| line.trim_end_matches(" (*)"));
    let lines: BTreeSet<&str> = lines.filter(|line| !line.is_empty()).collect();
    lines.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crate_counts_once_per_version() {
        let tree = "mainstay-cli v0.1.0 (/w/cli)\nlibc v0.2.1\nbase v1.0.0\nbase v2.0.0\nlibc v0.2.1\n\
                    base v2.0.0 (*)\n\n";
        assert_eq!(distinct(tree), 4);
    }

    #[test]
    fn a_program_that_fails_is_no_start() {
        assert!(start_seconds(Path::new("/bin/true"), &[]).unwrap() > 0.0);
        let error = start_seconds(Path::new("/bin/false"), &[]).unwrap_err();
        assert_eq!(error.to_string(), "/bin/false failed");
    }
}
