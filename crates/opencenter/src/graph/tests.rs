use super::*;

fn graph(edges: &[(&str, &[&str])]) -> FluxGraph {
    FluxGraph::new(edges.iter().map(|(name, targets)| GraphNode {
        name: (*name).to_owned(),
        owner: "test".to_owned(),
        depends_on: targets.iter().map(|target| (*target).to_owned()).collect(),
    }))
}

#[test]
fn waves_follow_the_last_dependency() {
    let graph = graph(&[
        ("sources", &[]),
        ("a", &["sources"]),
        ("b", &["sources", "a"]),
        ("c", &["sources"]),
    ]);
    assert_eq!(graph.waves(), [vec!["sources"], vec!["a", "c"], vec!["b"]]);
    assert_eq!(graph.critical_path(), ["sources", "a", "b"]);
    assert_eq!(graph.cycle(), None);
}

#[test]
fn a_cycle_is_named_from_its_first_unit() {
    let graph = graph(&[("a", &["b"]), ("b", &["c"]), ("c", &["a"]), ("d", &[])]);
    assert_eq!(graph.cycle(), Some(vec!["a", "b", "c", "a"]));
    assert_eq!(graph.waves(), [vec!["d"]]);
}

#[test]
fn a_missing_target_is_named_with_its_unit() {
    assert_eq!(
        graph(&[("a", &["gone"])]).missing_targets(),
        [("a", "gone")]
    );
}

#[test]
fn every_form_shows_every_edge() {
    let graph = graph(&[("sources", &[]), ("a-base", &["sources"])]);
    assert_eq!(
        graph.show(GraphFormat::Text),
        "wave 1\n  sources\nwave 2\n  a-base <- sources\nlongest chain (2): sources -> a-base\n"
    );
    assert_eq!(
        graph.show(GraphFormat::Dot),
        "digraph flux {\n  rankdir=LR;\n  node [shape=box];\n  \"a-base\";\n  \"sources\" -> \"a-base\";\n  \"sources\";\n}\n"
    );
    assert_eq!(
        graph.show(GraphFormat::Mermaid),
        "graph LR\n  a_base[\"a-base\"]\n  sources[\"sources\"]\n  sources --> a_base\n"
    );
    assert_eq!(
        graph.to_json()["waves"],
        serde_json::json!([["sources"], ["a-base"]])
    );
    assert_eq!(
        FluxGraph::default().show(GraphFormat::Text),
        "longest chain (0): \n"
    );
}
