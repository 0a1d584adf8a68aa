//! What encryption takes from the outside: chance and time.

use jiff::Timestamp;

/// A source of random bytes.
pub trait Entropy {
    /// Fills `bytes`; says no if there is no chance to be had.
    fn fill(&mut self, bytes: &mut [u8]) -> Result<(), NoEntropy>;
}

/// There are no random bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the operating system has no random bytes")]
pub struct NoEntropy;

/// Random bytes of the operating system.
#[derive(Clone, Copy, Debug, Default)]
pub struct OperatingSystem;

impl Entropy for OperatingSystem {
    fn fill(&mut self, bytes: &mut [u8]) -> Result<(), NoEntropy> {
        getrandom::fill(bytes).map_err(|_| NoEntropy)
    }
}

/// Chance and time, handed in so that tests can fix both.
pub struct Surroundings<'a> {
    /// Where keys and nonces come from.
    pub entropy: &'a mut dyn Entropy,
    /// The time that a changed file says it was changed at.
    pub now: Timestamp,
}

impl std::fmt::Debug for Surroundings<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Surroundings")
            .field("now", &self.now)
            .finish_non_exhaustive()
    }
}

/// An array of random bytes.
pub(crate) fn random<const LENGTH: usize>(
    entropy: &mut dyn Entropy,
) -> Result<zeroize::Zeroizing<[u8; LENGTH]>, NoEntropy> {
    let mut bytes = zeroize::Zeroizing::new([0; LENGTH]);
    entropy.fill(bytes.as_mut_slice())?;
    Ok(bytes)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Counts up, so that every draw differs and every run is the same.
    #[derive(Debug, Default)]
    pub(crate) struct Counter(u64);

    impl Entropy for Counter {
        fn fill(&mut self, bytes: &mut [u8]) -> Result<(), NoEntropy> {
            for byte in bytes {
                self.0 = self
                    .0
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                *byte = self.0.to_be_bytes()[0];
            }
            Ok(())
        }
    }

    #[test]
    fn the_operating_system_does_not_repeat_itself() {
        let first = random::<32>(&mut OperatingSystem).unwrap();
        let second = random::<32>(&mut OperatingSystem).unwrap();
        assert_ne!(*first, *second);
    }
}
