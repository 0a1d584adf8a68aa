//! The graph as text for people and programs.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::FluxGraph;

/// The forms in which a graph can be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GraphFormat {
    /// Waves and dependencies, for people.
    Text,
    /// Graphviz.
    Dot,
    /// JSON.
    Json,
    /// Mermaid, which many Git hosts draw.
    Mermaid,
}

impl FluxGraph {
    /// The graph in one of the forms; ends with a newline.
    pub fn show(&self, format: GraphFormat) -> String {
        match format {
            GraphFormat::Text => self.to_text(),
            GraphFormat::Dot => self.to_dot(),
            GraphFormat::Json => format!("{:#}\n", self.to_json()),
            GraphFormat::Mermaid => self.to_mermaid(),
        }
    }

    fn to_text(&self) -> String {
        let mut out = String::new();
        for (number, wave) in self.waves().iter().enumerate() {
            // Writing to a String cannot fail.
            let _ = writeln!(out, "wave {}", number + 1);
            for name in wave {
                let _ = write!(out, "  {name}");
                let targets = self.get(name).map(|node| node.depends_on.join(", "));
                match targets.filter(|targets| !targets.is_empty()) {
                    Some(targets) => {
                        let _ = writeln!(out, " <- {targets}");
                    }
                    None => out.push('\n'),
                }
            }
        }
        let path = self.critical_path();
        let _ = writeln!(out, "longest chain ({}): {}", path.len(), path.join(" -> "));
        out
    }

    fn to_dot(&self) -> String {
        let mut out = String::from("digraph flux {\n  rankdir=LR;\n  node [shape=box];\n");
        for node in self.nodes() {
            let _ = writeln!(out, "  \"{}\";", node.name);
            for target in &node.depends_on {
                let _ = writeln!(out, "  \"{target}\" -> \"{}\";", node.name);
            }
        }
        out.push_str("}\n");
        out
    }

    fn to_mermaid(&self) -> String {
        let mut out = String::from("graph LR\n");
        let id = |name: &str| name.replace(['.', '-'], "_");
        for node in self.nodes() {
            let _ = writeln!(out, "  {}[\"{}\"]", id(&node.name), node.name);
        }
        for node in self.nodes() {
            for target in &node.depends_on {
                let _ = writeln!(out, "  {} --> {}", id(target), id(&node.name));
            }
        }
        out
    }

    /// The graph as JSON: units, waves and the longest chain.
    pub fn to_json(&self) -> Value {
        json!({
            "units": self.nodes().collect::<Vec<_>>(),
            "waves": self.waves(),
            "critical_path": self.critical_path(),
        })
    }
}
