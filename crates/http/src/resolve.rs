//! Other addresses for host names: an operator outside its cluster cannot look up the names of Services.

use std::{
    collections::BTreeMap,
    net::{IpAddr, SocketAddr},
};

/// Where hosts really are, by `host` or `host:port`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Resolve {
    addresses: BTreeMap<String, SocketAddr>,
}

impl Resolve {
    /// Reads `HOST=ADDRESS:PORT` or `HOST:PORT=ADDRESS:PORT`; several are separated by commas.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut resolve = Self::default();
        for entry in text
            .split(',')
            .map(str::trim)
            .filter(|entry| !entry.is_empty())
        {
            let (host, address) = entry
                .split_once('=')
                .filter(|(host, _)| !host.is_empty())
                .ok_or_else(|| format!("`{entry}` is not of the form HOST=ADDRESS:PORT"))?;
            let address = address
                .parse()
                .map_err(|_| format!("`{address}` in `{entry}` is not of the form ADDRESS:PORT"))?;
            resolve.addresses.insert(host.to_ascii_lowercase(), address);
        }
        Ok(resolve)
    }

    /// Adds the entries of another; they win.
    pub fn extend(&mut self, other: Self) {
        self.addresses.extend(other.addresses);
    }

    /// The address that is given for a host, if any. An entry with the port is closer than one without.
    pub fn address(&self, host: &str, port: u16) -> Option<SocketAddr> {
        let host = host.to_ascii_lowercase();
        self.addresses
            .get(&format!("{host}:{port}"))
            .or_else(|| self.addresses.get(&host))
            .copied()
    }

    /// What to connect to: the given address, or the name itself.
    pub fn target(&self, host: &str, port: u16) -> (String, u16) {
        match self.address(host, port) {
            Some(address) => (address.ip().to_string(), address.port()),
            None => (unbracketed(host), port),
        }
    }
}

/// The brackets of an IPv6 address belong to addresses of pages, not to the host.
pub(crate) fn unbracketed(host: &str) -> String {
    let inner = host
        .strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'));
    inner
        .filter(|inner| inner.parse::<IpAddr>().is_ok())
        .unwrap_or(host)
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closest_entry_wins_and_others_keep_their_name() {
        let resolve =
            Resolve::parse("minio.market.svc=127.0.0.1:1, MINIO.market.svc:9000=[::1]:2").unwrap();
        assert_eq!(
            resolve.target("minio.market.svc", 80),
            ("127.0.0.1".to_owned(), 1)
        );
        assert_eq!(
            resolve.target("Minio.Market.svc", 9000),
            ("::1".to_owned(), 2)
        );
        assert_eq!(resolve.target("other", 9000), ("other".to_owned(), 9000));
        assert_eq!(resolve.target("[::1]", 9000), ("::1".to_owned(), 9000));
    }

    #[test]
    fn a_later_entry_replaces_an_earlier_one() {
        let mut resolve = Resolve::parse("a=127.0.0.1:1").unwrap();
        resolve.extend(Resolve::parse("a=127.0.0.1:2").unwrap());
        assert_eq!(
            resolve.address("a", 5).map(|address| address.port()),
            Some(2)
        );
    }

    #[test]
    fn says_what_is_wrong_with_an_entry() {
        assert_eq!(
            Resolve::parse("minio").unwrap_err(),
            "`minio` is not of the form HOST=ADDRESS:PORT"
        );
        assert_eq!(
            Resolve::parse("minio=there").unwrap_err(),
            "`there` in `minio=there` is not of the form ADDRESS:PORT"
        );
        assert_eq!(Resolve::parse("").unwrap(), Resolve::default());
    }
}
