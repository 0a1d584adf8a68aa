//! Proxies, as the environment names them.

use std::net::IpAddr;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use http::{HeaderValue, Uri};

/// Which requests go through which proxy. By default none does.
#[derive(Clone, Default)]
pub struct Proxy {
    http: Option<Server>,
    https: Option<Server>,
    except: Vec<String>,
}

/// A proxy that is reached in plain text; what goes through it to https is encrypted end to end.
#[derive(Clone)]
pub(crate) struct Server {
    pub(crate) host: String,
    pub(crate) port: u16,
    /// Value of `proxy-authorization`, if the URL of the proxy has credentials.
    pub(crate) authorization: Option<HeaderValue>,
}

/// Credentials are not shown.
impl std::fmt::Debug for Proxy {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let shown = |server: &Option<Server>| server.as_ref().map(Server::target);
        formatter
            .debug_struct("Proxy")
            .field("http", &shown(&self.http))
            .field("https", &shown(&self.https))
            .field("except", &self.except)
            .finish()
    }
}

impl Server {
    pub(crate) fn target(&self) -> String {
        format!("{}:{}", self.host, self.port)
    }

    fn parse(text: &str) -> Option<Self> {
        let url: Uri = if text.contains("://") {
            text.parse().ok()?
        } else {
            format!("http://{text}").parse().ok()?
        };
        let authority = url
            .authority()
            .filter(|_| url.scheme_str() == Some("http"))?;
        let credentials = authority.as_str().rsplit_once('@').map(|(user, _)| user);
        let authorization = credentials.and_then(|credentials| {
            let encoded = BASE64_STANDARD.encode(credentials);
            let mut value = HeaderValue::from_str(&format!("Basic {encoded}")).ok()?;
            value.set_sensitive(true);
            Some(value)
        });
        Some(Self {
            host: authority.host().to_owned(),
            port: authority.port_u16().unwrap_or(80),
            authorization,
        })
    }
}

impl Proxy {
    /// Reads `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`, in capitals or not, from the environment of the process. A
    /// proxy that is itself spoken to over TLS is not supported and counts as none.
    pub fn from_environment() -> Self {
        Self::from_variables(|name| std::env::var(name).ok())
    }

    /// The same from other variables.
    pub fn from_variables(variable: impl Fn(&str) -> Option<String>) -> Self {
        let either = |name: &str| {
            let found = variable(&name.to_lowercase()).or_else(|| variable(name));
            found.filter(|text| !text.is_empty())
        };
        let server = |name: &str| either(name).as_deref().and_then(Server::parse);
        let except = either("NO_PROXY").unwrap_or_default();
        let except = except
            .split(',')
            .map(|entry| entry.trim().to_ascii_lowercase());
        Self {
            http: server("HTTP_PROXY"),
            https: server("HTTPS_PROXY"),
            except: except.filter(|entry| !entry.is_empty()).collect(),
        }
    }

    /// The proxy for a URL.
    pub(crate) fn of(&self, scheme: &str, host: &str, port: u16) -> Option<&Server> {
        let server = if scheme == "https" {
            &self.https
        } else {
            &self.http
        };
        let server = server.as_ref()?;
        let host = host.to_ascii_lowercase();
        let is_excepted = self.except.iter().any(|entry| matches(entry, &host, port));
        let is_own = host == "localhost" || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback());
        (!is_excepted && !is_own).then_some(server)
    }
}

/// `*`, a name with all below it (a leading dot changes nothing), a name with port, an address, or a network.
fn matches(entry: &str, host: &str, port: u16) -> bool {
    if entry == "*" || entry == host {
        return true;
    }
    if let (Some((network, length)), Ok(address)) = (entry.split_once('/'), host.parse::<IpAddr>())
    {
        return in_network(network, length, address);
    }
    let entry = match entry.rsplit_once(':') {
        Some((name, number)) if number.parse() == Ok(port) => name,
        _ => entry,
    };
    let entry = entry.trim_start_matches("*.").trim_start_matches('.');
    host == entry
        || host
            .strip_suffix(entry)
            .is_some_and(|start| start.ends_with('.'))
}

fn in_network(network: &str, length: &str, address: IpAddr) -> bool {
    let bits = |address: IpAddr| match address {
        IpAddr::V4(address) => (u128::from(address.to_bits()) << 96, 32),
        IpAddr::V6(address) => (address.to_bits(), 128),
    };
    let (Ok(network), Ok(length)) = (network.parse::<IpAddr>(), length.parse::<u32>()) else {
        return false;
    };
    let ((network, width), (address, other)) = (bits(network), bits(address));
    let mask = u128::MAX
        .checked_shl(128_u32.saturating_sub(length))
        .unwrap_or(0);
    width == other && length <= width && network & mask == address & mask
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proxy(except: &str) -> Proxy {
        Proxy::from_variables(|name| match name {
            "HTTPS_PROXY" => Some("http://me:word@proxy.example:3128".to_owned()),
            "http_proxy" => Some("plain.example:8080".to_owned()),
            "NO_PROXY" => Some(except.to_owned()),
            _ => None,
        })
    }

    fn target(proxy: &Proxy, scheme: &str, host: &str) -> Option<String> {
        proxy.of(scheme, host, 443).map(Server::target)
    }

    #[test]
    fn each_scheme_has_its_proxy_and_its_credentials_are_not_shown() {
        let proxy = proxy("");
        assert_eq!(
            target(&proxy, "https", "a.example").unwrap(),
            "proxy.example:3128"
        );
        assert_eq!(
            target(&proxy, "http", "a.example").unwrap(),
            "plain.example:8080"
        );
        assert_eq!(target(&proxy, "https", "localhost"), None);
        assert_eq!(target(&proxy, "https", "127.0.0.1"), None);
        assert!(!format!("{proxy:?}").contains("word"));
        let header = proxy
            .of("https", "a", 443)
            .unwrap()
            .authorization
            .clone()
            .unwrap();
        assert_eq!(header, "Basic bWU6d29yZA==");
        assert!(Server::parse("https://proxy.example").is_none());
    }

    #[test]
    fn exceptions_are_names_addresses_and_networks() {
        let proxy = proxy("a.example, .b.example,10.0.0.0/8,fd00::/8,c.example:443,d.example:80");
        for direct in [
            "a.example",
            "x.a.example",
            "x.b.example",
            "b.example",
            "10.9.9.9",
            "fd12::1",
            "c.example",
        ] {
            assert_eq!(target(&proxy, "https", direct), None, "{direct}");
        }
        for through in ["xa.example", "11.0.0.1", "fe00::1", "d.example"] {
            assert!(target(&proxy, "https", through).is_some(), "{through}");
        }
        let none = super::Proxy {
            except: vec!["*".to_owned()],
            ..proxy
        };
        assert_eq!(target(&none, "https", "anything"), None);
    }
}
