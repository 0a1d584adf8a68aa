//! Every case gives exactly the tree beside it. `UPDATE_GOLDEN=1` rewrites the trees; review the difference like code.

use std::{fs, path::Path};

use mainstay_opencenter::overlay::Contents;

use crate::fixture::{cases, config_text, must_render, read_tree};

fn write_tree(directory: &Path, files: &Contents) {
    let _ = fs::remove_dir_all(directory);
    for (path, bytes) in files {
        let file = directory.join(path);
        fs::create_dir_all(file.parent().expect("the file has a directory"))
            .expect("the directory can be made");
        fs::write(file, bytes).expect("the file can be written");
    }
}

#[test]
fn every_case_gives_its_tree() {
    let update = std::env::var_os("UPDATE_GOLDEN").is_some();
    let mut failures = Vec::new();
    let cases = cases();
    assert!(cases.len() >= 35, "only {} cases were found", cases.len());
    for (name, case) in cases {
        let actual = must_render(&config_text(&case)).tree.contents();
        if update {
            write_tree(&case.expected, &actual);
        }
        let expected = read_tree(&case.expected);
        for path in actual.keys().chain(expected.keys()) {
            if actual.get(path) != expected.get(path) {
                failures.push(format!("{name}: {path}"));
            }
        }
    }
    failures.sort();
    failures.dedup();
    assert!(
        failures.is_empty(),
        "these files differ:\n{}",
        failures.join("\n")
    );
}
