//! Which addresses a connection may go to.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Judges an address that a name was resolved to.
pub type AddressRule = fn(IpAddr) -> bool;

/// Any address.
pub const fn any(_: IpAddr) -> bool {
    true
}

/// No link-local address: these belong to the node, and the metadata service of the cloud, with the credentials of the
/// node, is among them.
pub fn not_link_local(address: IpAddr) -> bool {
    match plain(address) {
        IpAddr::V4(address) => !address.is_link_local(),
        IpAddr::V6(address) => !address.is_unicast_link_local() && address != METADATA,
    }
}

/// No address of the node or of this very pod, and none that is many: no link-local, loopback, unspecified, broadcast
/// or multicast address.
pub fn remote(address: IpAddr) -> bool {
    let address = plain(address);
    let is_special = match address {
        // All of 0.0.0.0/8 means this host.
        IpAddr::V4(address) => address.is_broadcast() || matches!(address.octets(), [0, ..]),
        IpAddr::V6(_) => false,
    };
    not_link_local(address)
        && !is_special
        && !address.is_loopback()
        && !address.is_unspecified()
        && !address.is_multicast()
}

/// The metadata service of AWS speaks IPv6 at a unique local address.
const METADATA: Ipv6Addr = Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254);

/// The IPv4 address inside an IPv6 address: mapped, compatible, translated (`64:ff9b::/96`) or tunnelled (`2002::/16`).
fn plain(address: IpAddr) -> IpAddr {
    let IpAddr::V6(wide) = address.to_canonical() else {
        return address.to_canonical();
    };
    let from = |high: u16, low: u16| {
        let [a, b] = high.to_be_bytes();
        let [c, d] = low.to_be_bytes();
        IpAddr::V4(Ipv4Addr::new(a, b, c, d))
    };
    match wide.segments() {
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] | [0x2002, high, low, ..] => from(high, low),
        [0, 0, 0, 0, 0, 0, high, low] if high != 0 => from(high, low),
        _ => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(text: &str) -> (bool, bool) {
        let address = text.parse().unwrap();
        (not_link_local(address), remote(address))
    }

    #[test]
    fn nobody_is_asked_who_only_the_node_may_ask() {
        for metadata in [
            "169.254.169.254",
            "fe80::1",
            "::ffff:169.254.169.254",
            "::169.254.169.254",
            "64:ff9b::a9fe:a9fe",
            "2002:a9fe:a9fe::1",
            "fd00:ec2::254",
        ] {
            assert_eq!(judged(metadata), (false, false), "{metadata}");
        }
    }

    #[test]
    fn own_and_shared_addresses_are_not_remote() {
        for own in [
            "127.0.0.1",
            "127.8.8.8",
            "::1",
            "::ffff:127.0.0.1",
            "0.0.0.0",
            "0.1.2.3",
            "::",
            "224.0.0.1",
            "ff02::1",
            "255.255.255.255",
            "64:ff9b::7f00:1",
        ] {
            assert_eq!(judged(own), (true, false), "{own}");
        }
        for other in [
            "10.1.2.3",
            "52.216.1.1",
            "fd00::1",
            "2600::1",
            "64:ff9b::808:808",
        ] {
            assert_eq!(judged(other), (true, true), "{other}");
        }
    }
}
