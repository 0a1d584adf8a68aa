//! Rules of MetalLB: pools of addresses that exist, are in order and do not overlap.

use std::{
    collections::BTreeSet,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
};

use crate::{
    config::{Validator, path},
    finding::Code,
};

const POOLS: &str = "opencenter.services.metallb.ip_address_pools";

/// Addresses from the first to the last, as numbers; the flag keeps the two families apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Range {
    is_version_six: bool,
    first: u128,
    last: u128,
}

impl Range {
    fn overlaps(&self, other: &Self) -> bool {
        self.is_version_six == other.is_version_six
            && self.first <= other.last
            && other.first <= self.last
    }
}

pub(super) fn check(validator: &mut Validator<'_>) {
    let Some(service) = &validator.config.services().metallb else {
        return;
    };
    let metallb = &service.settings;
    if metallb.ip_address_pools.is_empty() {
        validator.report(Code::Oc3156, POOLS, "there is no address pool");
    }
    let mut names = BTreeSet::new();
    let mut ranges: Vec<(Range, String)> = Vec::new();
    for (index, pool) in metallb.ip_address_pools.iter().enumerate() {
        let place = path::item(POOLS, index);
        if let Some(name) = &pool.name
            && !names.insert(name.as_str())
        {
            validator.report_text(
                Code::Oc3154,
                format!("{place}.name"),
                "another pool has the same name",
                name,
            );
        }
        for (index, text) in pool.addresses.iter().enumerate() {
            let place = path::item(&format!("{place}.addresses"), index);
            let Some(range) = parse(text) else {
                let message = "expected a range `a-b` in order, a network or an address";
                validator.report_text(Code::Oc3154, place, message, text);
                continue;
            };
            if let Some((_, other)) = ranges.iter().find(|(other, _)| other.overlaps(&range)) {
                let message = format!("the addresses overlap with {other}");
                validator.report_text(Code::Oc3154, place, message, text);
            }
            ranges.push((range, text.clone()));
        }
    }
    for (index, advertisement) in metallb.l2_advertisements.iter().enumerate() {
        let list = path::item("opencenter.services.metallb.l2_advertisements", index);
        for (index, pool) in advertisement.ip_address_pools.iter().enumerate() {
            if !names.contains(pool.as_str()) {
                let place = path::item(&format!("{list}.ip_address_pools"), index);
                validator.report_text(Code::Oc3155, place, "there is no such pool", pool);
            }
        }
    }
}

fn parse(text: &str) -> Option<Range> {
    let range = if let Some((from, to)) = text.split_once('-') {
        let (from, to) = (from.trim().parse().ok()?, to.trim().parse().ok()?);
        let (first, last) = (number(from), number(to));
        (from.is_ipv6() == to.is_ipv6()).then_some(Range {
            is_version_six: from.is_ipv6(),
            first,
            last,
        })?
    } else if let Some((address, length)) = text.split_once('/') {
        network(address.parse().ok()?, length.parse().ok()?)?
    } else {
        let address: IpAddr = text.parse().ok()?;
        Range {
            is_version_six: address.is_ipv6(),
            first: number(address),
            last: number(address),
        }
    };
    (range.first <= range.last).then_some(range)
}

fn number(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => u128::from(Ipv4Addr::to_bits(address)),
        IpAddr::V6(address) => Ipv6Addr::to_bits(address),
    }
}

fn network(address: IpAddr, length: u32) -> Option<Range> {
    let width = if address.is_ipv6() { 128 } else { 32 };
    let host_bits = u32::checked_sub(width, length)?;
    let hosts = 1_u128
        .checked_shl(host_bits)
        .map_or(u128::MAX, |size| size - 1);
    let first = number(address) & !hosts;
    Some(Range {
        is_version_six: address.is_ipv6(),
        first,
        last: first | hosts,
    })
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn reads_ranges_networks_and_addresses() {
        for text in [
            "10.0.0.1-10.0.0.9",
            "10.0.0.0/24",
            "10.0.0.7",
            "fd00::1-fd00::9",
            "fd00::/64",
            "::/0",
            "0.0.0.0/0",
        ] {
            assert!(parse(text).is_some(), "{text}");
        }
        for text in [
            "",
            "10.0.0.9-10.0.0.1",
            "10.0.0.0/33",
            "10.0.0",
            "10.0.0.1-fd00::1",
            "a-b",
            "10.0.0.1/-1",
        ] {
            assert!(parse(text).is_none(), "{text}");
        }
    }

    #[test]
    fn notices_overlaps() {
        let overlap =
            |left: &str, right: &str| parse(left).unwrap().overlaps(&parse(right).unwrap());
        assert!(overlap("10.0.0.1-10.0.0.9", "10.0.0.9"));
        assert!(overlap("10.0.0.0/24", "10.0.0.128/25"));
        assert!(!overlap("10.0.0.1-10.0.0.9", "10.0.0.10-10.0.0.20"));
        assert!(!overlap("0.0.0.0/0", "::/0"));
    }
}
