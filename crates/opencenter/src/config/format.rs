//! Formats of text: what is accepted, how the schema says it, an example for the reader.

use std::net::Ipv4Addr;

/// A format that a text must have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A DNS-1123 label: lower-case letters, digits and inner hyphens, at most 63.
    DnsLabel,
    /// A DNS-1123 subdomain: labels joined by dots, at most 253.
    DnsName,
    /// An e-mail address.
    Email,
    /// An address with a scheme.
    Url,
    /// A repository address: ssh, https, or `user@host:path`.
    Repository,
    /// An IPv4 address.
    Ipv4,
    /// An IPv4 network.
    CidrV4,
    /// A semantic version, with or without a leading `v`.
    Version,
    /// A duration such as `5m` or `1h30m`.
    Duration,
    /// A relative path without `..`.
    RelativePath,
    /// Text on one line, without template markers.
    Line,
    /// A Git branch or tag.
    GitRef,
}

impl Format {
    /// The words for messages: "expected …".
    pub fn expectation(self) -> &'static str {
        match self {
            Self::DnsLabel => {
                "a DNS label: lower-case letters, digits and inner hyphens, at most 63 characters"
            }
            Self::DnsName => {
                "a DNS name: lower-case letters, digits, inner hyphens and dots, at most 253 characters"
            }
            Self::Email => "an e-mail address",
            Self::Url => "an address such as https://host/path",
            Self::Repository => {
                "a repository address: https://host/path, ssh://git@host/path or git@host:path"
            }
            Self::Ipv4 => "an IPv4 address",
            Self::CidrV4 => "an IPv4 network such as 10.42.0.0/16",
            Self::Version => "a version such as 1.35.4",
            Self::Duration => "a duration such as 30s, 5m or 1h30m",
            Self::RelativePath => "a relative path without `..`",
            Self::Line => "one line without template markers",
            Self::GitRef => "a branch or tag: no blanks, no `..`, none of ~^:?*[\\",
        }
    }

    /// The `format` word of JSON Schema, where there is one.
    pub fn schema_format(self) -> Option<&'static str> {
        match self {
            Self::Email => Some("email"),
            Self::Url => Some("uri"),
            Self::Ipv4 => Some("ipv4"),
            _ => None,
        }
    }

    /// The `pattern` of JSON Schema, where a pattern says it.
    pub fn schema_pattern(self) -> Option<&'static str> {
        match self {
            Self::DnsLabel => Some("^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$"),
            Self::DnsName => {
                Some("^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$")
            }
            Self::CidrV4 => Some("^([0-9]{1,3}\\.){3}[0-9]{1,3}/([0-9]|[12][0-9]|3[0-2])$"),
            Self::Version => Some("^v?[0-9]+\\.[0-9]+\\.[0-9]+([-+][0-9A-Za-z.+-]+)?$"),
            Self::Duration => Some("^([0-9]+(\\.[0-9]+)?(ms|s|m|h))+$"),
            Self::Email
            | Self::Url
            | Self::Repository
            | Self::Ipv4
            | Self::RelativePath
            | Self::Line
            | Self::GitRef => None,
        }
    }

    /// Whether a text has the format.
    pub fn accepts(self, text: &str) -> bool {
        match self {
            Self::DnsLabel => is_dns_label(text),
            Self::DnsName => is_dns_name(text),
            Self::Email => is_email(text),
            Self::Url => is_url(text),
            Self::Repository => is_repository(text),
            Self::Ipv4 => text.parse::<Ipv4Addr>().is_ok(),
            Self::CidrV4 => parse_cidr(text).is_some(),
            Self::Version => is_version(text),
            Self::Duration => is_duration(text),
            Self::RelativePath => is_relative_path(text),
            Self::Line => is_line(text),
            Self::GitRef => is_git_ref(text),
        }
    }
}

/// Whether a text is a DNS-1123 label.
pub fn is_dns_label(text: &str) -> bool {
    let inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    !text.is_empty()
        && text.len() <= 63
        && text.bytes().all(|byte| inner(byte) || byte == b'-')
        && !text.starts_with('-')
        && !text.ends_with('-')
}

/// Whether a text is a DNS-1123 subdomain.
pub fn is_dns_name(text: &str) -> bool {
    text.len() <= 253 && text.split('.').all(is_dns_label)
}

fn is_email(text: &str) -> bool {
    is_line(text)
        && !text.contains(char::is_whitespace)
        && text.split_once('@').is_some_and(|(local, host)| {
            !local.is_empty() && !host.is_empty() && !host.contains('@')
        })
}

/// Whether a text has a scheme, a host, and nothing that would end a line or a word.
fn is_url(text: &str) -> bool {
    is_word(text)
        && text.split_once("://").is_some_and(|(scheme, rest)| {
            scheme.starts_with(|first: char| first.is_ascii_lowercase())
                && scheme
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
                && !rest.starts_with('/')
                && !rest.is_empty()
        })
}

fn is_repository(text: &str) -> bool {
    let has_scheme = ["https://", "http://", "ssh://"]
        .iter()
        .any(|scheme| text.starts_with(scheme));
    if has_scheme {
        return is_url(text);
    }
    is_word(text)
        && !text.contains("://")
        && text.split_once(':').is_some_and(|(host, path)| {
            let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
            !host.is_empty() && !host.contains('/') && !path.is_empty()
        })
}

/// An IPv4 network as address and prefix length.
pub fn parse_cidr(text: &str) -> Option<(Ipv4Addr, u8)> {
    let (address, length) = text.split_once('/')?;
    let length = length
        .parse()
        .ok()
        .filter(|parsed: &u8| *parsed <= 32 && parsed.to_string() == length)?;
    Some((address.parse().ok()?, length))
}

fn is_version(text: &str) -> bool {
    let text = text.strip_prefix('v').unwrap_or(text);
    let core = text.split(['-', '+']).next().unwrap_or_default();
    let numbers: Vec<_> = core.split('.').collect();
    numbers.len() == 3
        && numbers
            .iter()
            .all(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b".+-".contains(&byte))
}

fn is_duration(text: &str) -> bool {
    let mut rest = text;
    while !rest.is_empty() {
        let digits = rest.trim_start_matches(|digit: char| digit.is_ascii_digit() || digit == '.');
        let number = rest.get(..rest.len() - digits.len()).unwrap_or_default();
        if number.parse::<f64>().is_err() {
            return false;
        }
        let Some(after) = ["ms", "s", "m", "h"]
            .iter()
            .find_map(|unit| digits.strip_prefix(unit))
        else {
            return false;
        };
        rest = after;
    }
    !text.is_empty()
}

/// Whether a path stays below the directory that it is joined to.
pub fn is_relative_path(text: &str) -> bool {
    is_line(text)
        && !text.is_empty()
        && !text.starts_with(['/', '~'])
        && !text.contains(['\\', ':'])
        && text.split('/').all(|step| step != "..")
}

/// Whether a text is one line that no template engine or shell-like expansion would touch.
pub fn is_line(text: &str) -> bool {
    !text.contains(char::is_control)
        && !["{{", "}}", "${"]
            .iter()
            .any(|marker| text.contains(marker))
}

fn is_word(text: &str) -> bool {
    is_line(text) && !text.contains(char::is_whitespace)
}

fn is_git_ref(text: &str) -> bool {
    is_word(text)
        && !text.is_empty()
        && !text.contains("..")
        && !text.contains(['~', '^', ':', '?', '*', '[', '\\'])
        && !text.starts_with(['-', '/'])
        && !text.ends_with(['/', '.'])
}

#[cfg(test)]
mod tests {
    use super::Format::{self, *};

    fn check(format: Format, good: &[&str], bad: &[&str]) {
        for text in good {
            assert!(format.accepts(text), "{format:?} refuses {text}");
        }
        for text in bad {
            assert!(!format.accepts(text), "{format:?} accepts {text:?}");
        }
    }

    #[test]
    fn knows_dns_names() {
        check(
            DnsLabel,
            &["a", "k8s-dev", "0"],
            &["", "-a", "a-", "A", "a.b", "a_b", "a\n", "{{a}}"],
        );
        check(
            DnsName,
            &["a.b", "k8s-dev"],
            &["", "a..b", ".a", "a.", "a.-b"],
        );
        assert!(!DnsLabel.accepts(&"a".repeat(64)));
        assert!(!DnsName.accepts(&"a.".repeat(130)));
    }

    #[test]
    fn knows_addresses() {
        check(
            Email,
            &["a@b", "a.b@c.de"],
            &["", "a", "@b", "a@", "a@b@c", "a b@c", "a\n@b"],
        );
        check(
            Url,
            &["https://a", "ds://b/c", "http://a:80/b"],
            &["", "a", "https://", "https:///a", "https://a b"],
        );
        check(
            Repository,
            &[
                "https://h/p.git",
                "ssh://git@h:22/p",
                "git@h:p/q.git",
                "h:p",
            ],
            &["", "h/p", "ftp://h/p", "git@h", ":p", "https://h/\np"],
        );
        check(Ipv4, &["10.0.0.1"], &["10.0.0", "10.0.0.256", "::1"]);
        check(
            CidrV4,
            &["10.0.0.0/8", "1.2.3.4/32", "0.0.0.0/0"],
            &["10.0.0.0", "10.0.0.0/33", "10.0.0.0/08", "x/8"],
        );
    }

    #[test]
    fn knows_versions_and_durations() {
        check(
            Version,
            &["1.35.4", "v1.2.3", "1.2.3-rc.1"],
            &["1.35", "", "a.b.c", "1.2.3 "],
        );
        check(
            Duration,
            &["5m", "30s", "1h30m", "1.5h", "100ms"],
            &["", "5", "m", "5d", "5 m", "-5m"],
        );
    }

    #[test]
    fn keeps_paths_and_references_in_bounds() {
        check(
            RelativePath,
            &["a", "a/b.yaml", "a/..b"],
            &["", "/a", "../a", "a/../b", "~/a", "a\\b", "a\nb", "{{a}}"],
        );
        check(
            GitRef,
            &["main", "release/1.2", "2026.01"],
            &["", "a b", "a..b", "-a", "a~1", "a:", "a/"],
        );
        check(Line, &["", "any text"], &["a\nb", "a{{b", "${a}", "a\tb"]);
    }
}
