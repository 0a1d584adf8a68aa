//! Bundles at the edge of what is allowed.

use std::fmt::Write as _;

use mainstay_manifest::{
    LoadError, LoadLimits, ManifestSet, Scopes, Source,
    render::{Adjustments, render},
};

fn load(text: &str) -> Result<ManifestSet, LoadError> {
    Source::text(text, "large.yaml").load_local(&LoadLimits::default())
}

fn objects(count: usize, kinds: usize) -> String {
    (0..count).fold(String::new(), |mut text, number| {
        let name = number % kinds;
        let _ = writeln!(text, "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: n{name}}}\ndata: {{number: '{number}'}}");
        text
    })
}

#[test]
fn ten_thousand_objects_are_rendered_and_twenty_thousand_and_one_are_refused() {
    let set = load(&objects(10_000, 10_000)).unwrap();
    let adjustments = Adjustments {
        namespace: "team".to_owned(),
        ..Adjustments::default()
    };
    let rendered = render(
        &set,
        &ManifestSet::default(),
        &adjustments,
        &Scopes::default(),
    );
    assert_eq!(rendered.unwrap().set.len(), 10_000);
    let failure = load(&objects(20_001, 20_001)).unwrap_err();
    assert!(
        failure.to_string().contains("20000") || failure.to_string().contains("20001"),
        "{failure}"
    );
}

#[test]
fn ten_thousand_repetitions_are_told_in_time() {
    let set = load(&objects(10_000, 5_000)).unwrap();
    let nothing = ManifestSet::default();
    let rendered = render(&set, &nothing, &Adjustments::default(), &Scopes::default()).unwrap();
    assert_eq!(
        (rendered.set.len(), rendered.repeated.len()),
        (5_000, 5_000)
    );
    let first = rendered.set.objects().first().unwrap();
    assert_eq!(
        first.value()["data"]["number"],
        "5000",
        "the last one counts"
    );
}

#[test]
fn objects_of_a_mebibyte_are_loaded_and_a_load_of_more_than_64_is_not() {
    let object = |number: usize| {
        let data = "x".repeat(1024 * 1024);
        format!(
            "---\n{{apiVersion: v1, kind: ConfigMap, metadata: {{name: n{number}}}, data: {{x: {data}}}}}\n"
        )
    };
    let some: String = (0..8).map(object).collect();
    assert_eq!(load(&some).unwrap().len(), 8);
    let many: String = (0..64).map(object).collect();
    let failure = load(&many).unwrap_err();
    assert!(matches!(failure, LoadError::TooLarge { .. }), "{failure}");
}
