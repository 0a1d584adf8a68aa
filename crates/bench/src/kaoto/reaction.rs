//! One Kaoto at a time: from its creation to the existence of its Service.

use std::path::Path;

use mainstay_testkit::Namespace;

use super::{
    floor::Bench,
    objects::{Prepared, Sample},
    operator,
};
use crate::{
    plane::Plane,
    report::{Figure, Section},
    statistics::percentile,
    watch::{Observer, exists, until_seen},
};

/// Kaotos, one after the other.
const COUNT: usize = 50;

/// Measures the floor, then the operator.
pub(super) async fn measure(
    plane: &Plane,
    binary: &Path,
    namespace: &Namespace,
    sample: &Sample,
) -> anyhow::Result<Section> {
    let bench = Bench::new(plane, namespace, sample, COUNT)?;
    let mut observer = Observer::start(namespace.services(), exists).await?;
    let mut floor = Vec::new();
    for prepared in &bench.prepared {
        let write = async { bench.write(prepared).await.map(drop) };
        floor.push(until_seen(&mut observer, floor.len() + 1, 1, write).await?);
    }
    bench.remove_all().await?;
    let mut operator = plane.start_operator(binary, operator::FLAGS).await;
    let mut observer = Observer::start(namespace.services(), exists).await?;
    let mut product = Vec::new();
    for prepared in &bench.prepared {
        let create = create(namespace, prepared);
        product.push(until_seen(&mut observer, product.len() + 1, 1, create).await?);
        namespace.kaoto_ready(&prepared.name).await;
    }
    operator.terminate().await;
    bench.remove_all().await?;
    let figure = |name, percent| {
        Figure::milliseconds(name, percentile(&product, percent))
            .against("D", percentile(&floor, percent))
    };
    Ok(Section {
        title: format!("kaoto, reaction, {COUNT} objects one at a time"),
        notes: vec![
            "From the moment before the create to the watch event that shows the Service, with an operator that is \
             idle otherwise."
                .to_owned(),
            "Floor D: the bench itself sends create, finalizer patch and the apply of the Service."
                .to_owned(),
        ],
        figures: vec![
            figure("create to Service, median", 50),
            figure("create to Service, 99 of 100", 99).at_most(60.0),
        ],
    })
}

async fn create(namespace: &Namespace, prepared: &Prepared) -> anyhow::Result<()> {
    let params = kube::api::PostParams::default();
    namespace.kaotos().create(&params, &prepared.kaoto).await?;
    Ok(())
}
