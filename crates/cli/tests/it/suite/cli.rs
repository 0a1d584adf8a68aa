//! The command line: what it prints, what it says, how it ends.

mod admission;
mod errors;
mod explain;
mod golden;
mod names;
mod no_cluster;
mod plan;
mod render;

use std::fs;

use mainstay_testkit::{Program, program::Ended};
use tempfile::TempDir;

use crate::run;

/// A directory with one file.
fn directory_with(name: &str, text: &str) -> TempDir {
    let directory = TempDir::new().unwrap();
    fs::write(directory.path().join(name), text).unwrap();
    directory
}

/// Runs the program in a directory with the file `kaoto.yaml`.
async fn run_with(text: &str, arguments: &[&str]) -> Ended {
    let directory = directory_with("kaoto.yaml", text);
    in_directory(&directory, arguments).run().await
}

fn in_directory(directory: &TempDir, arguments: &[&str]) -> Program {
    run(arguments).in_directory(directory.path())
}

/// A Kaoto as a file.
fn kaoto(name: &str, spec: &str) -> String {
    let head = "apiVersion: designer.kaoto.io/v1alpha1\nkind: Kaoto\n";
    format!("{head}metadata:\n  name: {name}\nspec: {spec}\n")
}
