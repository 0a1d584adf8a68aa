//! Requests side by side.

use futures::{StreamExt, TryStreamExt, stream};

/// Requests that the bench keeps in flight; HTTP/1.1, so as many connections.
pub(crate) const LANES: usize = 16;

/// Runs the work for every item, in so many lanes; ends at the first error. The results are in the order of the items.
pub(crate) async fn in_lanes<'items, I, T, Fut>(
    items: &'items [I],
    work: impl Fn(&'items I) -> Fut,
) -> anyhow::Result<Vec<T>>
where
    Fut: Future<Output = anyhow::Result<T>>,
{
    let numbered = items.iter().enumerate().map(|(number, item)| {
        let work = work(item);
        async move { work.await.map(|result| (number, result)) }
    });
    // Answers are taken as they come: a slow one keeps its own lane busy and no other.
    let mut results: Vec<(usize, T)> = stream::iter(numbered)
        .buffer_unordered(LANES)
        .try_collect()
        .await?;
    results.sort_by_key(|(number, _)| *number);
    Ok(results.into_iter().map(|(_, result)| result).collect())
}
