//! What a request may do.

use std::time::Duration;

use http::StatusCode;

use crate::addresses::{self, AddressRule};

/// Which schemes are allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Schemes {
    /// https alone.
    Https,
    /// http as well.
    HttpAndHttps,
}

/// Which hosts are allowed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hosts {
    patterns: Vec<String>,
}

impl Hosts {
    /// Every host.
    pub fn any() -> Self {
        Self::default()
    }

    /// Only these: exact names, or `*.suffix` for all names below one. No pattern at all means every host.
    pub fn only<P: AsRef<str>>(patterns: impl IntoIterator<Item = P>) -> Self {
        let patterns = patterns.into_iter();
        Self {
            patterns: patterns
                .map(|pattern| pattern.as_ref().to_ascii_lowercase())
                .collect(),
        }
    }

    pub(crate) fn allow(&self, host: &str) -> bool {
        let host = host.to_ascii_lowercase();
        let host = host.strip_suffix('.').unwrap_or(&host);
        let matches = |pattern: &String| match pattern.strip_prefix('*') {
            Some(suffix) if suffix.starts_with('.') => {
                host.len() > suffix.len() && host.ends_with(suffix)
            }
            _ => pattern == host,
        };
        self.patterns.is_empty() || self.patterns.iter().any(matches)
    }
}

/// The rules of a request. The defaults suit a URL that a user wrote: https to other machines, 10 MiB, 30 seconds, 5
/// redirects.
#[derive(Clone, Debug)]
pub struct Rules {
    /// Schemes, also after redirects.
    pub schemes: Schemes,
    /// Hosts, also after redirects.
    pub hosts: Hosts,
    /// Addresses of the first host.
    pub addresses: AddressRule,
    /// Addresses of hosts that a redirect leads to.
    pub redirected_addresses: AddressRule,
    /// Most redirects; none if answers that redirect are wanted as they are.
    pub redirects: usize,
    /// Whether the body of an answer with this status is read.
    pub reads_body: fn(StatusCode) -> bool,
    /// Largest body that is read.
    pub body_limit: usize,
    /// Longest time until a connection stands.
    pub connect_timeout: Duration,
    /// Longest time for all of it.
    pub total_timeout: Duration,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            schemes: Schemes::Https,
            hosts: Hosts::any(),
            addresses: addresses::remote,
            redirected_addresses: addresses::remote,
            redirects: 5,
            reads_body: |status| status.is_success(),
            body_limit: 10 * 1024 * 1024,
            connect_timeout: Duration::from_secs(10),
            total_timeout: Duration::from_secs(30),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_stands_for_names_below_it_and_for_nothing_else() {
        let hosts = Hosts::only(["a.example", "*.B.example"]);
        for allowed in [
            "a.example",
            "A.EXAMPLE",
            "a.example.",
            "x.b.example",
            "x.y.b.example",
        ] {
            assert!(hosts.allow(allowed), "{allowed}");
        }
        for refused in [
            "b.example",
            "xb.example",
            ".b.example",
            "x.a.example",
            "a.example.evil",
            "",
        ] {
            assert!(!hosts.allow(refused), "{refused}");
        }
        assert!(Hosts::any().allow("anything"));
        assert!(
            !Hosts::only(["*"]).allow("anything"),
            "an asterisk needs its suffix"
        );
    }
}
