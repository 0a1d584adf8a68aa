//! `cargo xtask demo`: the operators at work, on a local control plane or a cluster of the user's.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use anyhow::Context;
use lexopt::prelude::*;
use mainstay_control_plane::{
    BoundPlane, Layout, Status, assets::Program, command::default_directory,
};

use crate::{
    Answer, planes,
    printer::{print, say},
    product,
};

mod examples;
mod operator;
mod overlay;

use operator::Operator;

const HELP: &str = "\
Builds Mainstay, starts the local control plane, runs the operators, applies an example of each system, waits until
they are ready and prints what belongs to them. Renders the example of openCenter and prints its tree.

Usage: cargo xtask demo [--once] [--kubeconfig FILE]

  --once             end after that; otherwise stay until Ctrl-C
  --kubeconfig FILE  use this cluster instead of the local control plane; needs `kubectl` on the PATH
";

/// The cluster that the demo runs on.
pub(crate) struct Cluster {
    pub(crate) kubeconfig: PathBuf,
    pub(crate) kubectl: PathBuf,
    /// A control plane that ends with the demo. `None` for a cluster that was there before.
    plane: Option<BoundPlane>,
}

pub(crate) fn run(arguments: Vec<OsString>) -> Answer {
    let mut once = false;
    let mut kubeconfig: Option<PathBuf> = None;
    let mut parser = lexopt::Parser::from_args(arguments);
    while let Some(argument) = parser.next()? {
        match argument {
            Long("once") => once = true,
            Long("kubeconfig") => kubeconfig = Some(std::path::absolute(parser.value()?)?),
            Long("help") | Short('h') => return print(HELP).map(|()| true),
            other => return Err(other.unexpected().into()),
        }
    }
    let binary = product::build_release()?;
    let is_local = kubeconfig.is_none();
    let cluster = match kubeconfig {
        Some(kubeconfig) => Cluster {
            kubeconfig,
            kubectl: "kubectl".into(),
            plane: None,
        },
        None => local_cluster(&default_directory())?,
    };
    examples::define_kinds(&cluster, &binary)?;
    let mut operator = Operator::start(&cluster, &binary)?;
    let shown = operator
        .wait_until_ready()
        .and_then(|()| examples::show_all(&cluster, &binary))
        .and_then(|()| overlay::show(&binary));
    if let Err(error) = shown {
        operator.say_last_words();
        return Err(error);
    }
    if once {
        return Ok(true);
    }
    say("");
    if is_local {
        say("The demo runs until Ctrl-C. To look around in another terminal:");
        say("  eval \"$(cargo xtask control-plane env)\"");
    } else {
        say("The operators run until Ctrl-C.");
    }
    stay(&cluster, &mut operator)
}

/// The control plane that `cargo xtask control-plane` uses; started for the time of the demo if it does not run.
fn local_cluster(directory: &Path) -> anyhow::Result<Cluster> {
    let assets = planes::assets()?;
    let layout = Layout::new(directory)?;
    let running = matches!(mainstay_control_plane::status(&layout)?, Status::Running(_));
    let plane = if running {
        say("using the control plane that runs already");
        None
    } else {
        say("starting the control plane");
        let mut plane = planes::start(directory, &assets)?;
        plane.wait_until_ready()?;
        Some(plane)
    };
    Ok(Cluster {
        kubeconfig: layout.kubeconfig(),
        kubectl: assets.program(Program::Kubectl),
        plane,
    })
}

/// Stays for as long as everything works; Ctrl-C ends this process, and with it all that it has started.
fn stay(cluster: &Cluster, operator: &mut Operator) -> Answer {
    loop {
        if let Some(status) = operator.ended()? {
            operator.say_last_words();
            anyhow::bail!("mainstay ended ({status})");
        }
        if let Some(plane) = &cluster.plane
            && let Some(state) = plane
                .ended()
                .context("could not look after the control plane")?
        {
            anyhow::bail!("the control plane {}", state.phase);
        }
        thread::sleep(Duration::from_millis(200));
    }
}
