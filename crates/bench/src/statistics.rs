//! The few statistics that the measurements need.

/// The value below which `percent` of the sample lies, by the nearest rank; zero for an empty sample.
pub(crate) fn percentile(sample: &[f64], percent: usize) -> f64 {
    let mut sorted = sample.to_vec();
    sorted.sort_by(f64::total_cmp);
    let rank = (sorted.len() * percent).div_ceil(100).max(1);
    sorted.get(rank - 1).copied().unwrap_or_default()
}

/// The middle of the sample, the lower of two.
pub(crate) fn median(sample: &[f64]) -> f64 {
    percentile(sample, 50)
}

/// The smallest value; zero for an empty sample.
pub(crate) fn smallest(sample: &[f64]) -> f64 {
    percentile(sample, 0)
}

/// A count as a number to calculate with. Counts here are far below the limit of exactness.
#[expect(
    clippy::cast_precision_loss,
    reason = "counts of objects and requests are small"
)]
pub(crate) fn number(count: usize) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::float_cmp, reason = "values are picked, not calculated")]
    fn percentiles_are_values_of_the_sample_by_nearest_rank() {
        let sample: Vec<f64> = (1..=50_u32).rev().map(f64::from).collect();
        assert_eq!(median(&sample), 25.0);
        assert_eq!(percentile(&sample, 99), 50.0);
        assert_eq!(percentile(&sample, 98), 49.0);
        assert_eq!(smallest(&sample), 1.0);
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[]), 0.0);
    }
}
