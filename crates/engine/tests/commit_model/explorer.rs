//! Breadth-first search through every state of a scenario, with the path to what goes wrong.

use std::collections::{HashMap, HashSet, VecDeque};

use super::{
    events::{self, Event},
    rules,
    scenario::Scenario,
    state::State,
    world::View,
};

/// More than this is a mistake in the scenario, not thoroughness.
const MOST_STATES: usize = 3_000_000;

/// What an exploration found.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    pub(crate) states: usize,
    /// The different encodings among them: all, unless the search tells states apart more finely.
    pub(crate) encodings: usize,
    pub(crate) transitions: usize,
    /// The longest way to the goal from any state, in passes without a fault.
    pub(crate) passes_to_goal: u8,
    /// The first violation, with the path that leads to it.
    pub(crate) violation: Option<String>,
}

struct Node {
    /// The state before and what happened in it; the initial view has none.
    from: Option<(usize, Event)>,
    reached: bool,
    /// Events of a calm run and the states to which they lead.
    calm: Vec<(Event, usize)>,
}

#[derive(Default)]
struct Search {
    nodes: Vec<Node>,
    known: HashMap<Box<[u8]>, usize>,
    /// Encodings seen by a fine search.
    encodings: Option<HashSet<Box<[u8]>>>,
    queue: VecDeque<(usize, State)>,
    initial: Vec<View>,
    transitions: usize,
}

/// Explores a scenario to the end, or to the first violation.
pub(crate) fn explore(scenario: &Scenario) -> Findings {
    search(scenario, None)
}

/// Explores with everything that the commit knows as part of the state, every uid and version
/// included. What it finds more than [`explore`] was wrongly taken for equal there.
pub(crate) fn explore_finely(scenario: &Scenario) -> Findings {
    search(scenario, Some(HashSet::new()))
}

fn search(scenario: &Scenario, encodings: Option<HashSet<Box<[u8]>>>) -> Findings {
    let mut search = Search {
        initial: scenario.initial_views(),
        encodings,
        ..Search::default()
    };
    for view in search.initial.clone() {
        search.visit(State::initial(scenario, view), None);
    }
    let outcome = search.run(scenario).and_then(|()| search.passes_to_goal());
    let (passes_to_goal, violation) = match outcome {
        Ok(passes) => (passes, None),
        Err(violation) => (0, Some(format!("{}: {violation}", scenario.name))),
    };
    Findings {
        states: search.nodes.len(),
        encodings: search
            .encodings
            .map_or(search.nodes.len(), |encodings| encodings.len()),
        transitions: search.transitions,
        passes_to_goal,
        violation,
    }
}

impl Search {
    fn visit(&mut self, state: State, from: Option<(usize, Event)>) -> usize {
        let number = self.nodes.len();
        let mut encoding = state.encode();
        if let Some(encodings) = &mut self.encodings {
            encodings.insert(encoding.clone());
            let commit = state.pass.as_ref().map(|pass| &pass.commit);
            let details = format!("{commit:?} {:?} {:?}", state.world, state.ghosts);
            encoding = [&*encoding, details.as_bytes()].concat().into();
        }
        let known = *self.known.entry(encoding).or_insert(number);
        if known == number {
            let (reached, calm) = (false, Vec::new());
            self.nodes.push(Node {
                from,
                reached,
                calm,
            });
            self.queue.push_back((number, state));
        }
        known
    }

    fn run(&mut self, scenario: &Scenario) -> Result<(), String> {
        while let Some((number, state)) = self.queue.pop_front() {
            let reached = state.pass.is_none() && rules::is_reached(scenario, &state.world);
            if reached && scenario.is_quiet() && state.writes != state.expected_writes {
                let message = format!(
                    "reached the goal with {} writes instead of {}",
                    state.writes, state.expected_writes
                );
                return Err(self.tell(number, None, &message));
            }
            for (event, calm) in events::possible(&state, scenario) {
                self.transitions += 1;
                let next = events::follow(&state, event, scenario);
                let next = next.map_err(|message| self.tell(number, Some(event), &message))?;
                let next = self.visit(next, Some((number, event)));
                if calm && !reached {
                    self.nodes[number].calm.push((event, next));
                }
            }
            self.nodes[number].reached = reached;
            assert!(
                self.nodes.len() <= MOST_STATES,
                "{} has too many states",
                scenario.name
            );
        }
        Ok(())
    }

    /// The most reconciles that any calm run needs. Every calm run, in every order of answers, must end in
    /// a reached state: a dead end or a circle among the others is a violation.
    fn passes_to_goal(&self) -> Result<u8, String> {
        let mut passes: Vec<Option<u8>> = vec![None; self.nodes.len()];
        let mut entered = vec![false; self.nodes.len()];
        for start in 0..self.nodes.len() {
            let mut stack = vec![start];
            while let Some(&number) = stack.last() {
                let node = &self.nodes[number];
                if passes[number].is_some() {
                    stack.pop();
                } else if entered[number] || node.reached {
                    let steps = node.calm.iter().map(|&(event, next)| {
                        let later = passes[next]?;
                        Some(later + u8::from(matches!(event, Event::Pass { .. })))
                    });
                    let Some(most) = steps
                        .collect::<Option<Vec<u8>>>()
                        .map(|all| all.into_iter().max())
                    else {
                        return Err(self.tell(
                            number,
                            None,
                            "goes round in circles and never reaches the goal",
                        ));
                    };
                    if most.is_none() && !node.reached {
                        return Err(self.tell(
                            number,
                            None,
                            "comes to rest without reaching the goal",
                        ));
                    }
                    passes[number] = Some(most.unwrap_or_default());
                    stack.pop();
                } else {
                    entered[number] = true;
                    let unknown = node
                        .calm
                        .iter()
                        .map(|&(_, next)| next)
                        .filter(|&next| passes[next].is_none());
                    let unknown: Vec<usize> = unknown.collect();
                    if let Some(&again) = unknown.iter().find(|&&next| entered[next]) {
                        return Err(self.tell(
                            again,
                            None,
                            "goes round in circles and never reaches the goal",
                        ));
                    }
                    stack.extend(unknown);
                }
            }
        }
        Ok(passes.into_iter().flatten().max().unwrap_or_default())
    }

    /// The events from an initial world to a state, one to a line.
    fn tell(&self, number: usize, last: Option<Event>, message: &str) -> String {
        let mut events: Vec<Event> = last.into_iter().collect();
        let mut at = number;
        while let Some((from, event)) = self.nodes[at].from {
            events.push(event);
            at = from;
        }
        let path = events.iter().rev().map(|event| format!("\n  {event:?}"));
        format!(
            "{message}\n  from {:?}{}",
            self.initial[at],
            path.collect::<String>()
        )
    }
}
