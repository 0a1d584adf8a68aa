//! Numbers that look random and are the same in every run.

/// The n-th number of a seed.
pub fn mixed(seed: u64, number: u64) -> u64 {
    // The finalizer of SplitMix64: every bit of the input reaches every bit of the output.
    let mut value = seed.wrapping_add(number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}
