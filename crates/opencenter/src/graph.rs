//! The dependency graph of a cluster's Flux units: checks, waves and pictures.

mod picture;

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

pub use picture::GraphFormat;

/// One Flux unit in the graph.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GraphNode {
    /// The unit's name.
    pub name: String,
    /// The descriptor that emits it.
    pub owner: String,
    /// The units that must be ready before.
    pub depends_on: Vec<String>,
}

/// The units of a cluster and the edges between them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FluxGraph {
    nodes: BTreeMap<String, GraphNode>,
}

impl FluxGraph {
    /// A graph of these units. Of two units with one name the later one counts.
    pub fn new(nodes: impl IntoIterator<Item = GraphNode>) -> Self {
        Self {
            nodes: nodes
                .into_iter()
                .map(|node| (node.name.clone(), node))
                .collect(),
        }
    }

    /// The units in the order of their names.
    pub fn nodes(&self) -> impl Iterator<Item = &GraphNode> {
        self.nodes.values()
    }

    /// The unit of this name.
    pub fn get(&self, name: &str) -> Option<&GraphNode> {
        self.nodes.get(name)
    }

    /// Edges that lead to a unit which is not there, as (unit, missing unit).
    pub fn missing_targets(&self) -> Vec<(&str, &str)> {
        self.nodes()
            .flat_map(|node| {
                node.depends_on
                    .iter()
                    .filter(|target| !self.nodes.contains_key(*target))
                    .map(|target| (node.name.as_str(), target.as_str()))
            })
            .collect()
    }

    /// A cycle, if there is one: the names along it, the first repeated at the end.
    pub fn cycle(&self) -> Option<Vec<&str>> {
        let mut done = BTreeSet::new();
        for start in self.nodes.keys() {
            let mut trail = Vec::new();
            if let Some(cycle) = self.walk(start, &mut trail, &mut done) {
                return Some(cycle);
            }
        }
        None
    }

    fn walk<'g>(
        &'g self,
        name: &'g str,
        trail: &mut Vec<&'g str>,
        done: &mut BTreeSet<&'g str>,
    ) -> Option<Vec<&'g str>> {
        if done.contains(name) {
            return None;
        }
        if let Some(start) = trail.iter().position(|seen| *seen == name) {
            let mut cycle: Vec<_> = trail.iter().skip(start).copied().collect();
            cycle.push(name);
            return Some(cycle);
        }
        let node = self.nodes.get(name)?;
        trail.push(name);
        for target in &node.depends_on {
            if let Some(cycle) = self.walk(target, trail, done) {
                return Some(cycle);
            }
        }
        trail.pop();
        done.insert(name);
        None
    }

    /// Units in the waves in which Flux can reconcile them: a unit stands one wave after its last dependency.
    ///
    /// Units of a cycle, and those behind it, are in no wave.
    pub fn waves(&self) -> Vec<Vec<&str>> {
        let mut waves: Vec<Vec<&str>> = Vec::new();
        let mut placed: BTreeSet<&str> = BTreeSet::new();
        loop {
            let wave: Vec<&str> = self
                .nodes()
                .filter(|node| !placed.contains(node.name.as_str()))
                .filter(|node| {
                    node.depends_on.iter().all(|target| {
                        placed.contains(target.as_str()) || !self.nodes.contains_key(target)
                    })
                })
                .map(|node| node.name.as_str())
                .collect();
            if wave.is_empty() {
                return waves;
            }
            placed.extend(&wave);
            waves.push(wave);
        }
    }

    /// The longest chain of dependencies, first unit first; empty if there are no units.
    pub fn critical_path(&self) -> Vec<&str> {
        let waves = self.waves();
        let wave_of: BTreeMap<&str, usize> = waves
            .iter()
            .enumerate()
            .flat_map(|(number, wave)| wave.iter().map(move |name| (*name, number)))
            .collect();
        let mut path = Vec::new();
        let mut next = waves.last().and_then(|wave| wave.first().copied());
        while let Some(name) = next {
            path.push(name);
            next = self
                .nodes
                .get(name)
                .into_iter()
                .flat_map(|node| node.depends_on.iter().map(String::as_str))
                .filter(|target| wave_of.contains_key(target))
                .max_by_key(|target| wave_of.get(target).copied());
        }
        path.reverse();
        path
    }
}

#[cfg(test)]
mod tests;
