//! Every bundle of Knative's operator, as it is released: it loads, passes the transformers and comes back as it was.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::{
    collections::BTreeMap,
    fs,
    path::Path,
    time::{Duration, Instant},
};

use mainstay_control_plane::definitions;
use mainstay_manifest::{
    LoadLimits, ManifestSet, Object, Scopes, parse,
    render::{Adjustments, Rendered, render},
    source::application,
    transform::Images,
};
use serde_json::Value;

/// What one bundle came to.
struct Row {
    bundle: String,
    objects: usize,
    definitions: usize,
    load: Duration,
    render: Duration,
    hash: Duration,
}

fn directories(path: &Path) -> Vec<String> {
    let entries = fs::read_dir(path).unwrap().map(|entry| entry.unwrap());
    let names = entries
        .filter(|entry| entry.path().is_dir())
        .map(|entry| entry.file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

fn adjustments() -> Adjustments {
    let map = |key: &str| BTreeMap::from([(key.to_owned(), "x".to_owned())]);
    Adjustments {
        namespace: "team".to_owned(),
        labels: map("example.com/label"),
        annotations: map("example.com/annotation"),
        images: Images::new().with_registry("registry.example.com"),
        ..Adjustments::default()
    }
}

fn rendered(set: &ManifestSet) -> Rendered {
    render(
        set,
        &ManifestSet::default(),
        &adjustments(),
        &Scopes::default(),
    )
    .unwrap()
}

fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let started = Instant::now();
    let result = work();
    (result, started.elapsed())
}

fn check(root: &Path, name: &str, version: &str) -> Row {
    let bundle = format!("{name} {version}");
    let payload = application::find(root, name, Some(version)).unwrap();
    assert_eq!(payload.version.as_deref(), Some(version));
    let (loaded, load) = timed(|| application::load(root, &payload, &LoadLimits::default()));
    let loaded = loaded.unwrap();
    let read_again = ManifestSet::new(parse::text(&loaded.to_yaml(), &bundle).unwrap());
    assert_eq!(
        loaded.objects(),
        read_again.objects(),
        "{bundle} round-trips"
    );

    let (first, render) = timed(|| rendered(&loaded));
    assert_eq!(
        first.set.objects(),
        rendered(&first.set).set.objects(),
        "{bundle} once is enough"
    );
    let (hash, time) = timed(|| first.set.hash());
    let reversed = first.set.objects().iter().rev().cloned().collect();
    assert_eq!(
        hash,
        ManifestSet::new(reversed).hash(),
        "{bundle} in another order"
    );
    for object in &first.set {
        assert!(
            object.namespace() == "team" || object.namespace().is_empty(),
            "{bundle}: {object}"
        );
        assert_eq!(
            object.label("example.com/label"),
            Some("x"),
            "{bundle}: {object}"
        );
        for image in images(object) {
            assert!(
                image.starts_with("registry.example.com/"),
                "{bundle}: {object}: {image}"
            );
        }
    }
    let definitions = first
        .set
        .iter()
        .filter(|object| object.is_definition())
        .count();
    Row {
        bundle,
        objects: first.set.len(),
        definitions,
        load,
        render,
        hash: time,
    }
}

/// Images of the containers of a workload.
fn images(object: &Object) -> Vec<String> {
    let containers = object.value().pointer("/spec/template/spec/containers");
    let containers = containers.and_then(Value::as_array).into_iter().flatten();
    let images = containers.filter_map(|container| container["image"].as_str());
    images.map(str::to_owned).collect()
}

#[test]
fn every_released_bundle_loads_passes_the_transformers_and_round_trips() {
    let root = definitions::knative().unwrap();
    let mut rows = Vec::new();
    for name in directories(&root) {
        for version in directories(&root.join(&name)) {
            rows.push(check(&root, &name, &version));
        }
    }
    println!(
        "{:24} {:>8} {:>12} {:>9} {:>9} {:>9}",
        "bundle", "objects", "definitions", "load", "render", "hash"
    );
    for row in &rows {
        println!(
            "{:24} {:>8} {:>12} {:>6} ms {:>6} ms {:>6} ms",
            row.bundle,
            row.objects,
            row.definitions,
            row.load.as_millis(),
            row.render.as_millis(),
            row.hash.as_millis()
        );
    }
    assert!(rows.len() > 40, "{} bundles", rows.len());
    assert!(rows.iter().all(|row| row.objects > 0));
}

#[test]
fn the_hash_of_a_bundle_survives_other_file_names_and_orders() {
    let root = definitions::knative().unwrap();
    let payload = application::find(&root, "knative-serving", Some("1.12.0")).unwrap();
    let original = application::load(&root, &payload, &LoadLimits::default()).unwrap();
    let copy = tempfile::tempdir().unwrap();
    for (index, object) in original.objects().iter().enumerate() {
        // JSON has its keys in another order, and the files are one per object and in reverse.
        let path = copy.path().join(format!("{:05}.json", 99_999 - index));
        fs::write(path, serde_json::to_string_pretty(object.value()).unwrap()).unwrap();
    }
    let source = mainstay_manifest::Source::tree(copy.path());
    let again = source.load_local(&LoadLimits::default()).unwrap();
    assert_eq!(original.hash(), again.hash());
    let changed = again.objects().iter().cloned().map(|mut object| {
        if object.is("", "Namespace") {
            object.set_label("one", "more");
        }
        object
    });
    let changed = ManifestSet::new(changed.collect());
    assert_ne!(changed.hash(), again.hash());
}
