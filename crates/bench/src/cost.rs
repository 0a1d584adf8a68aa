//! What a piece of work takes.

use std::time::Duration;

use crate::statistics::{median, number};

/// What a phase took. The operator's part is zero where there is none.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cost {
    pub(crate) wall: Duration,
    pub(crate) server: Duration,
    pub(crate) operator: Duration,
    pub(crate) requests: usize,
    pub(crate) writes: usize,
}

/// The median of a duration over the rounds, in seconds.
pub(crate) fn middle(costs: &[Cost], part: fn(&Cost) -> Duration) -> f64 {
    let seconds: Vec<f64> = costs.iter().map(|cost| part(cost).as_secs_f64()).collect();
    median(&seconds)
}

/// The largest count of all rounds.
pub(crate) fn most(costs: &[Cost], part: fn(&Cost) -> usize) -> f64 {
    number(costs.iter().map(part).max().unwrap_or_default())
}

/// The same per object.
pub(crate) fn worst(costs: &[Cost], count: usize, part: fn(&Cost) -> usize) -> f64 {
    most(costs, part) / number(count)
}
