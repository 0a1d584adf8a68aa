//! Settings in the config.

use crate::{
    config::{field::section, format::Format},
    finding::Code,
};

section! {
    /// Settings of MetalLB.
    struct MetalLb {
        /// Pools of addresses for load balancers.
        ip_address_pools: Vec<AddressPool>;
        /// Which pools are announced where; absent means all of them everywhere.
        l2_advertisements: Vec<L2Advertisement>;
    }

    /// A pool of addresses.
    struct AddressPool {
        /// Name of the pool.
        name: Option<String> [required, missing(Code::Oc3154), format(Format::DnsName)];
        /// Ranges `a-b`, networks, or single addresses.
        addresses: Vec<String> [required, missing(Code::Oc3154)];
        /// Whether services get addresses of this pool without asking.
        auto_assign: bool [flag(true)];
    }

    /// Which pools are announced where.
    struct L2Advertisement {
        /// Name of the advertisement.
        name: Option<String> [required, format(Format::DnsName)];
        /// Pools; absent means all.
        ip_address_pools: Vec<String> [format(Format::DnsName)];
        /// Network interfaces; absent means all.
        interfaces: Vec<String> [format(Format::Line)];
    }
}
