//! Comparison of long lists: twice the items take twice the time.

use std::{hint::black_box, time::Instant};

use anyhow::ensure;
use mainstay_engine::owned::Owned;
use serde_json::{Map, Value, json};

use crate::{
    output::say,
    report::{Figure, Section},
    statistics::{median, number},
};

/// Items in the list. Twice the documented limit is the most.
const SIZES: [usize; 5] = [1_000, 2_500, 5_000, 10_000, 20_000];
/// How often each size is measured.
const ROUNDS: usize = 9;

/// Measures every size.
pub(crate) fn measure() -> anyhow::Result<Section> {
    let mut figures = Vec::new();
    let mut fewest = None;
    for size in SIZES {
        say(&format!("lists: {size} items"));
        let each = seconds(size)? / number(size);
        let floor = *fewest.get_or_insert(each);
        // Given in thousands, because one item takes less than a figure shows.
        let name = format!("{size} items, per thousand");
        let figure = Figure::milliseconds(name, each * 1000.0);
        figures.push(figure.against("fewest", floor * 1000.0).at_most_times(2.0));
    }
    let notes = "\
What our field manager owns of a live object with one keyed list is read off its managedFields, and compared with what
would be applied, in which the last item differs. Medians; no control plane takes part.";
    Ok(Section {
        title: "lists".to_owned(),
        notes: notes.lines().map(str::to_owned).collect(),
        figures,
    })
}

/// Time for one list.
fn seconds(size: usize) -> anyhow::Result<f64> {
    let name = |index: usize| format!("VARIABLE_{index:05}");
    let items = (0..size).map(|index| json!({"name": name(index), "value": "x"}));
    let live = json!({"spec": {"env": items.collect::<Vec<Value>>()}});
    let fields = (0..size).map(|index| {
        let key = format!("k:{}", json!({"name": name(index)}));
        (key, json!({".": {}, "f:name": {}, "f:value": {}}))
    });
    let fields = json!({"f:spec": {"f:env": fields.collect::<Map<String, Value>>()}});
    let mut wanted = live.clone();
    wanted["spec"]["env"][size - 1]["value"] = json!("y");
    let mut samples = Vec::new();
    for _ in 0..ROUNDS {
        let begun = Instant::now();
        let owned = Owned::from_field_set(black_box(&fields), black_box(&live));
        let changes = owned.differences(black_box(&wanted));
        samples.push(begun.elapsed().as_secs_f64());
        ensure!(changes.len() == 1, "one item differs");
    }
    Ok(median(&samples))
}
